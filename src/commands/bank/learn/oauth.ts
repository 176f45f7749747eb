import type { With } from '../../../bank/ports/questions.ts';
import { Psd2Error } from '../../../errors.ts';
import type { Asker } from './asker.ts';
import type { Change } from './draft.ts';

/** What may help after a refusal. */
export interface Remedy {
  change: Change;
  more?: With;
  /** It did not help. */
  otherwise?: () => void;
}

/** How a server writes the ways in which an application proves who it is (RFC 8414; RFC 8705, section 2). */
const METHODS = [
  ['mtls', ['tls_client_auth', 'self_signed_tls_client_auth']],
  ['basic', ['client_secret_basic']],
  ['post', ['client_secret_post']],
] as const;

/**
 * Which token the bank wants before everything: its OAuth server says so, and whether the application's own is enough.
 *
 * @returns what may help with the consent: the application's token
 */
export async function learnTokens(asker: Asker): Promise<Remedy[]> {
  const { draft } = asker;
  const { change } = asker.taken;
  if (draft.findings.some(({ field }) => field.startsWith('oauth.'))) return [];
  const { oauth } = await draft.describe();
  const reply = await asker.ask((bank) => bank.oauthServer(oauth.metadata));
  if (!reply?.server) {
    draft.lack(
      'oauth.mode',
      'the bank wants a token before a consent, and has no OAuth server where the standard puts its metadata',
      reply ?? undefined,
    );
    return [];
  }
  const { address, grantTypes, clientAuth: methods, hasAuthorization } = reply.server;
  const own = METHODS.find(([, names]) => names.some((name) => methods?.includes(name)))?.[0];
  const common = { metadata: address, ...(own && { clientAuth: own }) };
  const customers = (says: string) => {
    if (hasAuthorization) draft.learn({ oauth: { ...common, mode: 'pre-step' } }, { ...reply, says });
    else draft.lack('oauth.mode', `the bank wants a token, and none of the application's: ${says}`, reply);
  };
  const trial: Change = { oauth: { ...common, mode: 'client-credentials' } };
  try {
    const client = (await asker.at({ ...change, ...trial })).client();
    const bearer = await (await asker.questions({ ...change, ...trial })).applicationToken(client);
    const otherwise = () => customers("the application's own token is not enough");
    return [{ change: trial, more: { bearer }, otherwise }];
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    const isOther = grantTypes !== null && !grantTypes.includes('client_credentials');
    if (isOther || NOT_THIS_GRANT.includes(error.bankCode ?? ''))
      customers(`no token for the application: ${error.message}`);
    else
      draft.lack(
        'oauth.mode',
        `the bank wants a token, and gave the application none: ${error.message}`,
        reply,
      );
    return [];
  }
}

/** The server has no tokens for the application alone (RFC 6749, section 5.2). */
const NOT_THIS_GRANT = ['unsupported_grant_type', 'unauthorized_client'];

import type { Bank } from '../../bank.ts';
import { isSameSecret } from '../../same-secret.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { organizationIdOf } from '../strict/key-id.ts';

/** An OAuth error of the token endpoint (RFC 6749, section 5.2). */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The client id of the TPP: the organization identifier of its QWAC, or the one in the bank file. */
export function clientIdOf({ rules, tppCertificates }: Bank): string {
  const { clientId } = rules.description.oauth;
  return clientId === 'organization-id' ? (organizationIdOf(tppCertificates.qwac) ?? '') : clientId;
}

/**
 * Checks who calls the token endpoint (`oauth.clientAuth`): by the client certificate alone (RFC 8705), or with the client secret
 * in the header or in the body. Another way than the bank file's is refused.
 *
 * @throws OAuthError `invalid_client`
 */
export function authenticateClient(bank: Bank, request: RawRequest, form: ReadonlyMap<string, string>): void {
  const { clientAuth } = bank.rules.description.oauth;
  const clientId = clientIdOf(bank);
  const { clientSecret } = bank.applications.authorizationCode;
  const refuse = (message: string): never => {
    throw new OAuthError('invalid_client', message, 401);
  };
  const basic = header(request, 'authorization');
  const secret = form.get('client_secret');
  if (clientAuth !== 'basic' && basic !== undefined) refuse('The bank takes no Authorization here');
  if (clientAuth !== 'post' && secret !== undefined) refuse('The bank takes no client_secret in the body');
  if (clientAuth === 'basic') {
    const [id = '', basicSecret = ''] = basicOf(basic);
    if (id !== clientId || !isSameSecret(basicSecret, clientSecret))
      refuse('Client id and client secret are wrong');
    return;
  }
  if (form.get('client_id') !== clientId) refuse(`client_id is not ${clientId}`);
  if (clientAuth === 'post' && !isSameSecret(secret, clientSecret)) refuse('The client secret is wrong');
}

/** Id and secret, each form-encoded (RFC 6749, section 2.3.1). */
function basicOf(value: string | undefined): string[] {
  const base64 = /^Basic (\S+)$/.exec(value ?? '')?.[1] ?? '';
  const [id = '', ...secret] = Buffer.from(base64, 'base64').toString('utf8').split(':');
  return [id, secret.join(':')].map((part) => new URLSearchParams(`x=${part}`).get('x') ?? '');
}

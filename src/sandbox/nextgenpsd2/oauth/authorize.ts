import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { returnUrl } from '../../access/logins.ts';
import { expectedAndReceived } from '../../answers/bank-refusal.ts';
import type { Bank } from '../../bank.ts';
import type { WrongAddress } from '../../customer-site/access-side.ts';
import { isReturnAddress, RETURN_ADDRESS } from '../../strict/query.ts';
import { doorOf } from '../door-state.ts';
import { customerPage, doorUrl } from '../links.ts';
import type { Authorisation, ScaSubject } from '../sca/authorisations.ts';
import { clientIdOf } from './client.ts';
import type { AuthorizationRequest } from './grant.ts';

/** A challenge of PKCE with S256 (RFC 7636, section 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/**
 * Begins an authorization request (RFC 6749, section 4.1.1): checks it, and sends the browser to the page on which the
 * customer decides. With a wrong request it sends the browser back to the client.
 *
 * @returns where the browser goes; or what is wrong, if it cannot be sent back either
 */
export function authorize(bank: Bank, received: URLSearchParams): URL | WrongAddress {
  const { names } = bank.rules.description.oauth;
  const standard = new Map(Object.entries(names).map(([name, its]) => [its, name]));
  const parameters = [...received].filter(([name]) => !Object.keys(names).includes(name));
  const sent = parameters.map(([name, value]): [string, string] => [standard.get(name) ?? name, value]);
  const query = new URLSearchParams(sent);
  const redirectUri = query.get('redirect_uri') ?? '';
  const clientId = clientIdOf(bank);
  const wrong = (name: 'client_id' | 'redirect_uri', expected: string): WrongAddress => ({
    wrong: `${names[name] ?? name} is not what the bank needs. ${expectedAndReceived(expected, query.get(name) ?? 'nothing')}`,
  });
  if (query.get('client_id') !== clientId) return wrong('client_id', clientId);
  if (!isReturnAddress(redirectUri)) return wrong('redirect_uri', RETURN_ADDRESS);
  const state = query.get('state') ?? undefined;
  const begun = begin(bank, query);
  if ('error' in begun) {
    const answer = { error: begun.error, error_description: begun.says };
    return returnUrl({ redirectUri, state }, answer, doorUrl(bank));
  }
  const request = doorOf(bank).logins.start({ ...begun, redirectUri, state });
  bank.calls.tellChange();
  return new URL(customerPage(bank, request.id));
}

type Begun = Omit<AuthorizationRequest, 'redirectUri' | 'state'> | { error: string; says: string };

function begin(bank: Bank, query: URLSearchParams): Begun {
  const { oauth } = bank.rules.description;
  if (oauth.mode !== 'integrated' && oauth.mode !== 'pre-step')
    return { error: 'unauthorized_client', says: 'The bank has no login with OAuth' };
  if (query.get('response_type') !== oauth.responseType)
    return { error: 'unsupported_response_type', says: `response_type is ${oauth.responseType}` };
  const challenge = query.get('code_challenge') ?? undefined;
  const isS256 = CHALLENGE.test(challenge ?? '') && query.get('code_challenge_method') === 'S256';
  if (oauth.pkce === 'S256' ? !isS256 : challenge !== undefined)
    return {
      error: 'invalid_request',
      says:
        oauth.pkce === 'S256'
          ? 'The bank needs a code_challenge with S256'
          : 'The bank takes no code_challenge',
    };
  const scope = query.get('scope') ?? '';
  if (oauth.mode === 'pre-step') {
    const { preStep } = oauth.scope;
    const scopes = typeof preStep === 'string' ? [preStep] : Object.values(preStep);
    if (!scopes.includes(scope))
      return { error: 'invalid_scope', says: `The scope of a login is "${scopes.join('" or "')}"` };
    const lacking = lackingParameter(oauth.parameters, query, {});
    return lacking ?? { scope, challenge, authorisationId: undefined };
  }
  const authorisation = doorOf(bank)
    .authorisations.list()
    .findLast((one) => one.approach === 'oauth' && scopeOf(oauth.scope, one.subject) === scope);
  const subject = authorisation?.subject;
  const id = { [subject?.kind.includes('consent') ? 'consentId' : 'paymentId']: subject?.id ?? '' };
  const lacking = subject && lackingParameter(oauth.parameters, query, id);
  if (lacking) return lacking;
  const isOpen = authorisation && doorOf(bank).authorisations.isOpen(authorisation);
  return authorisation && (isOpen || mayLogInAgain(bank, authorisation))
    ? { scope, challenge, authorisationId: authorisation.id }
    : {
        error: 'invalid_scope',
        says: `The scope of a waiting consent is "${oauth.scope.ais}", that of a payment "${oauth.scope.pis}"`,
      };
}

/** A parameter of the bank's own that is missing, or has another value (`oauth.parameters`). */
function lackingParameter(
  expected: BankDescription['oauth']['parameters'],
  query: URLSearchParams,
  id: Readonly<Record<string, string>>,
): { error: string; says: string } | undefined {
  for (const [name, text] of Object.entries(expected)) {
    const value = text.replace(/\{(\w+)\}/g, (all, which: string) => id[which] ?? all);
    if (!value.includes('{') && query.get(name) !== value)
      return { error: 'invalid_request', says: `The bank needs the parameter ${name}` };
  }
  return undefined;
}

/**
 * Whether a customer who has authorised a payment may log in for it again. Where each call about the payment needs the token of
 * that login, a client that has lost it learns the status in no other way.
 */
export function mayLogInAgain(bank: Bank, { approach, status, subject }: Authorisation): boolean {
  const needsToken = bank.rules.variations.includes('payment-tokens') && !subject.kind.includes('consent');
  return needsToken && approach === 'oauth' && status === 'finalised';
}

/** The standard has PIIS where other consents have AIS. */
function fundsScope(ais: string): string {
  return ais.replace(/^AIS\b/, 'PIIS').replace(/^ais\b/, 'piis');
}

/** The scope with which a customer authorises. A cancellation has that of its payment. */
function scopeOf({ ais, pis }: BankDescription['oauth']['scope'], { kind, id }: ScaSubject): string {
  if (kind === 'funds-consent') return fundsScope(ais).replaceAll('{consentId}', id);
  return kind === 'consent' ? ais.replaceAll('{consentId}', id) : pis.replaceAll('{paymentId}', id);
}

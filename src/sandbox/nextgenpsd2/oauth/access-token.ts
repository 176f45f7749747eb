import { bearerToken } from '../../access/tokens.ts';
import type { Bank } from '../../bank.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { doorOf } from '../door-state.ts';
import type { Addressed } from '../operations.ts';
import { DoorRefusal } from '../refusal.ts';
import type { DoorGrant } from './grant.ts';

/**
 * What the access token of a call gives (`oauth.tokenHeader`). A bank with a login before everything, or with client credentials,
 * wants a token with every call. A bank whose authorisation is OAuth wants it for readings. Others take none.
 *
 * @param isStale whether a fault makes the token expire
 * @throws DoorRefusal `TOKEN_INVALID`, `TOKEN_UNKNOWN`, `TOKEN_EXPIRED`, `FORMAT_ERROR`
 */
export function grantOfCall(
  bank: Bank,
  request: RawRequest,
  { id, kind, parameters }: Addressed,
  isStale: boolean,
): DoorGrant | undefined {
  const { mode, tokenHeader, applicationToken } = bank.rules.description.oauth;
  const own = Object.keys(bank.rules.description.headers.perOperation[id] ?? {});
  if (own.some((name) => name.toLowerCase() === tokenHeader.toLowerCase())) return undefined;
  const value = header(request, tokenHeader.toLowerCase());
  const others = tokenHeader.toLowerCase() === 'authorization' ? [] : ['authorization'];
  const foreign = mode === 'none' ? [tokenHeader, ...others] : others;
  for (const name of foreign) {
    if (header(request, name.toLowerCase()) === undefined) continue;
    throw new DoorRefusal('FORMAT_ERROR', `The bank does not take the header ${name}`, '', { path: name });
  }
  const isFree = mode === 'integrated' && kind !== 'reading' && !applicationToken;
  if (mode === 'none' || (value === undefined && isFree)) return undefined;
  const token = bearerToken(value);
  if (token === undefined)
    throw new DoorRefusal(
      'TOKEN_INVALID',
      'The call has no access token',
      `Expected: ${tokenHeader}: Bearer <token>.`,
      { path: tokenHeader },
    );
  const { tokens } = doorOf(bank);
  if (isStale) tokens.expire(token);
  const issued = tokens.accessToken(token);
  if (!issued) throw new DoorRefusal('TOKEN_UNKNOWN', 'The bank does not know this access token');
  const { preStep } = bank.rules.description.oauth.scope;
  const isPayment = parameters.has('payment-service') || id.includes('SigningBasket');
  if (
    mode === 'pre-step' &&
    typeof preStep === 'object' &&
    issued.grant.scope !== preStep[isPayment ? 'pis' : 'ais']
  )
    throw new DoorRefusal('TOKEN_INVALID', 'The access token has another scope');
  if (!tokens.isOver(issued)) return issued.grant;
  const endedAt = issued.expiresAt.toISOString();
  throw new DoorRefusal('TOKEN_EXPIRED', 'The access token has expired', `It ended at ${endedAt}.`);
}

/**
 * Whether a call about a payment or a basket must have the token of a login with it, and has another one: the customer has logged in
 * with one of these.
 */
export function lacksTokenOf(bank: Bank, grant: DoorGrant | undefined, ids: readonly string[]): boolean {
  const { tokens } = doorOf(bank);
  const logins = ids.filter((id) => tokens.some((grant) => grant.paymentId === id));
  return (
    bank.rules.variations.includes('payment-tokens') &&
    logins.length > 0 &&
    !logins.includes(grant?.paymentId ?? '')
  );
}

import type { Bank } from '../../bank.ts';
import { header } from '../../strict/headers.ts';
import { isReturnAddress } from '../../strict/query.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import type { DoorCall } from '../door-call.ts';
import type { OperationId } from '../operations.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import type { Approach } from './authorisations.ts';

/** The calls that ask for something that a customer has to authorise. */
const ASKING: readonly OperationId[] = [
  'createConsent',
  'createConsentConfirmationOfFunds',
  'initiatePayment',
  'createSigningBasket',
];

/** What a call asks for about SCA. */
export interface ScaWish {
  approach: Approach;
  /** The TPP starts the authorisation with a call of its own. */
  explicit: boolean;
  redirectUri: string | undefined;
  nokRedirectUri: string | undefined;
  psuId: string | undefined;
  /** The id of the customer whose access token the call has. */
  tokenOf: string | undefined;
}

/**
 * Reads the headers of a call that starts SCA, or that prepares it (NextGenPSD2, "SCA approaches").
 *
 * @throws DoorRefusal `FORMAT_ERROR`, `PSU_CREDENTIALS_INVALID`
 */
export function readScaWish(bank: Bank, { request, operation, grant }: DoorCall): ScaWish {
  const { description, variations, strict } = bank.rules;
  const isExplicit = description.sca.start === 'explicit';
  const asksExplicit = readPreference(request, 'TPP-Explicit-Authorisation-Preferred');
  const isAsking = ASKING.includes(operation.id);
  if (strict && isAsking && isExplicit && asksExplicit !== true)
    throw unexpected(
      'FORMAT_ERROR',
      'TPP-Explicit-Authorisation-Preferred',
      'The bank starts the authorisation by a call of its own only',
      'true',
      header(request, 'tpp-explicit-authorisation-preferred'),
    );
  const wish: ScaWish = {
    approach: approachFor(bank, request),
    explicit:
      isAsking && (asksExplicit === true || isExplicit || EXPLICIT.some((one) => variations.includes(one))),
    redirectUri: readRedirectUri(request, 'TPP-Redirect-URI'),
    nokRedirectUri: readRedirectUri(request, 'TPP-Nok-Redirect-URI'),
    psuId: namedPsu(bank, { request, grant }),
    tokenOf: grant?.customerId,
  };
  if (!wish.explicit) checkStart(wish);
  return wish;
}

/** The variations with which the TPP starts each authorisation itself. */
const EXPLICIT = ['start-link', 'embedded-atruvia'] as const;

/** The wish of a `DELETE`, which names no customer: how the TPP begins the authorisation. */
export function cancellationWish(bank: Bank, { request, grant }: DoorCall): ScaWish {
  const nowhere = { redirectUri: undefined, nokRedirectUri: undefined };
  const token = { psuId: userOf(bank, grant?.customerId), tokenOf: grant?.customerId };
  return { ...nowhere, ...token, approach: approachFor(bank, request), explicit: true };
}

/** The approach that the TPP prefers, or the bank's first. @throws DoorRefusal `FORMAT_ERROR` */
function approachFor(bank: Bank, request: RawRequest): Approach {
  const prefersRedirect = readPreference(request, 'TPP-Redirect-Preferred');
  const prefersDecoupled = readPreference(request, 'TPP-Decoupled-Preferred');
  const offered = approachesOf(bank);
  return offered.find((one) => isWished(one, prefersDecoupled, prefersRedirect)) ?? offered[0] ?? 'redirect';
}

function isWished(one: Approach, decoupled: boolean | undefined, redirect: boolean | undefined): boolean {
  const isAtBank = one === 'redirect' || one === 'oauth';
  if (decoupled) return one === 'decoupled';
  if (decoupled === false && one === 'decoupled') return false;
  return redirect === undefined ? decoupled === false : redirect === isAtBank;
}

/** With OAuth in the authorisation there is no other redirect. */
function approachesOf({ rules }: Bank): Approach[] {
  const { oauth, sca } = rules.description;
  const browser: Approach = oauth.mode === 'integrated' ? 'oauth' : 'redirect';
  const ofBrowser = ['redirect', 'oauth'];
  return [...new Set(sca.approaches.map((approach) => (ofBrowser.includes(approach) ? browser : approach)))];
}

function checkStart({ approach, redirectUri, psuId }: ScaWish): void {
  if (approach === 'redirect' && redirectUri === undefined)
    throw new DoorRefusal('FORMAT_ERROR', 'The bank needs to know where the customer goes back to', '', {
      path: 'TPP-Redirect-URI',
    });
  if (approach === 'decoupled' && psuId === undefined)
    throw new DoorRefusal('FORMAT_ERROR', 'The bank needs to know which customer to ask', '', {
      path: 'PSU-ID',
    });
}

function readPreference(request: RawRequest, name: string): boolean | undefined {
  const value = header(request, name.toLowerCase());
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  throw unexpected('FORMAT_ERROR', name, `${name} is not a boolean`, 'true or false', value);
}

function readRedirectUri(request: RawRequest, name: string): string | undefined {
  const value = header(request, name.toLowerCase());
  if (value === undefined || isReturnAddress(value)) return value;
  throw unexpected(
    'FORMAT_ERROR',
    name,
    `${name} is not an address that the bank redirects to`,
    'an https address, or http on this machine, without a fragment',
    value,
  );
}

/** The user whom a call names, or whose token it has. @throws DoorRefusal `PSU_CREDENTIALS_INVALID` */
export function namedPsu(
  bank: Bank,
  { request, grant }: Pick<DoorCall, 'request' | 'grant'>,
): string | undefined {
  return readPsuId(bank, request, grant) ?? userOf(bank, grant?.customerId);
}

/** `PSU-ID` is the name with which the customer logs in, or the `sub` of the customer's token. */
function readPsuId(
  { customers, rules }: Bank,
  request: RawRequest,
  grant: DoorCall['grant'],
): string | undefined {
  const value = header(request, 'psu-id') || undefined;
  if (rules.description.psu.id === 'token-sub') {
    if (value !== undefined && value === grant?.customerId) return undefined;
    throw unexpected('PSU_CREDENTIALS_INVALID', 'PSU-ID', "PSU-ID is not the token's sub", 'the sub', value);
  }
  if (value === undefined || customers.byUser(value)) return value;
  throw unexpected(
    'PSU_CREDENTIALS_INVALID',
    'PSU-ID',
    'The bank has no such customer',
    'a user of the bank',
    value,
  );
}

function userOf({ customers }: Bank, customerId: string | undefined): string | undefined {
  return customerId === undefined ? undefined : customers.find(customerId)?.user;
}

import type { Bank } from '../../bank.ts';
import { header } from '../../strict/headers.ts';
import { isReturnAddress } from '../../strict/query.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import type { DoorCall } from '../door-call.ts';
import { customerPage, type Href, linkTo, metadataUrl, waitingPage } from '../links.ts';
import type { OperationId } from '../operations.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import type { Approach, Authorisation, ScaSubject } from './authorisations.ts';

/** The calls that ask for something that a customer has to authorise. */
const ASKING: readonly OperationId[] = [
  ...(['createConsent', 'createConsentConfirmationOfFunds'] as const),
  ...(['initiatePayment', 'createSigningBasket'] as const),
];

/** The call for the state of an authorisation, by what it authorises. */
export const SCA_STATUS_CALLS = {
  consent: 'getConsentScaStatus',
  'funds-consent': 'getConsentConfirmationOfFundsScaStatus',
  payment: 'getPaymentInitiationScaStatus',
  cancellation: 'getPaymentCancellationScaStatus',
  basket: 'getSigningBasketScaStatus',
} as const satisfies Record<ScaSubject['kind'], OperationId>;

/** What a call asks for about SCA. */
export interface ScaWish {
  approach: Approach;
  /** The TPP starts the authorisation with a call of its own. */
  explicit: boolean;
  redirectUri: string | undefined;
  nokRedirectUri: string | undefined;
  psuId: string | undefined;
}

/**
 * Reads the headers of a call that starts SCA, or that prepares it (NextGenPSD2, "SCA approaches").
 *
 * @throws DoorRefusal `FORMAT_ERROR`, `PSU_CREDENTIALS_INVALID`
 */
export function readScaWish(bank: Bank, { request, operation, grant }: DoorCall): ScaWish {
  const { description, variations, strict } = bank.rules;
  const isExplicit = description.sca.start === 'explicit';
  const prefersRedirect = readPreference(request, 'TPP-Redirect-Preferred');
  const prefersDecoupled = readPreference(request, 'TPP-Decoupled-Preferred');
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
  const offered = approachesOf(bank);
  const wished =
    prefersDecoupled || prefersRedirect === false
      ? 'decoupled'
      : prefersRedirect
        ? offered.find((one) => one !== 'decoupled')
        : undefined;
  const approach = offered.find((one) => one === wished) ?? offered[0] ?? 'redirect';
  const wish: ScaWish = {
    approach,
    explicit: isAsking && (asksExplicit === true || isExplicit || variations.includes('start-link')),
    redirectUri: readRedirectUri(request, 'TPP-Redirect-URI'),
    nokRedirectUri: readRedirectUri(request, 'TPP-Nok-Redirect-URI'),
    psuId: readPsuId(bank, request, grant) ?? userOf(bank, grant?.customerId),
  };
  if (!wish.explicit) checkStart(wish);
  return wish;
}

/** With OAuth in the authorisation there is no other redirect. */
function approachesOf({ rules }: Bank): Approach[] {
  const { oauth, sca } = rules.description;
  const browser: Approach = oauth.mode === 'integrated' ? 'oauth' : 'redirect';
  return [...new Set(sca.approaches.map((approach) => (approach === 'decoupled' ? approach : browser)))];
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

/** What an answer says of an authorisation that has started: links, and what the customer has to do. */
export function startedSca(
  bank: Bank,
  authorisation: Authorisation,
): { links: Record<string, Href>; psuMessage?: string; approach: 'REDIRECT' | 'DECOUPLED' } {
  const { id, subject, approach } = authorisation;
  const self = linkTo(bank, SCA_STATUS_CALLS[subject.kind], { ...subject.path, authorisationId: id });
  switch (approach) {
    case 'redirect':
      return {
        approach: 'REDIRECT',
        links: {
          scaRedirect: { href: customerPage(bank, id) },
          ...(bank.rules.variations.includes('confirmation-codes') && { confirmation: self }),
          scaStatus: self,
        },
      };
    case 'oauth':
      return { approach: 'REDIRECT', links: { scaOAuth: { href: metadataUrl(bank) }, scaStatus: self } };
    case 'decoupled':
      return {
        approach: 'DECOUPLED',
        links: { scaStatus: self },
        psuMessage: `Log in at ${waitingPage(bank)} and approve the request.`,
      };
  }
}

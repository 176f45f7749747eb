import * as z from 'zod/mini';
import type { Customers } from '../../customers/customers.ts';
import { addDays, bankDay, type IsoDate } from '../../ledger/bank-time.ts';
import type { BankRules } from '../../rules.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { readBody } from '../strict/body.ts';

/** How a request refers to an account. */
export const reference = z
  .strictObject({
    iban: z.optional(z.string()),
    bban: z.optional(z.string()),
    maskedPan: z.optional(z.string()),
    msisdn: z.optional(z.string()),
    pan: z.optional(z.string()),
    currency: z.optional(z.literal('EUR')),
  })
  .check(
    z.refine(({ currency: _, ...named }) => Object.values(named).filter(Boolean).length === 1, {
      message: 'An account has one of iban, bban, maskedPan, pan and msisdn',
    }),
  );
const references = z.optional(z.array(reference));
const allAccounts = z.optional(z.enum(['allAccounts', 'allAccountsWithOwnerName']));

const accessFields = z.strictObject({
  accounts: references,
  balances: references,
  transactions: references,
  availableAccounts: allAccounts,
  availableAccountsWithBalance: allAccounts,
  allPsd2: allAccounts,
  additionalInformation: z.optional(
    z.strictObject({ ownerName: references, trustedBeneficiaries: references }),
  ),
  restrictedTo: z.optional(z.array(z.string())),
});

const consentBody = z.strictObject({
  access: accessFields,
  recurringIndicator: z.boolean(),
  validUntil: z.iso.date(),
  frequencyPerDay: z.int().check(z.minimum(1)),
  combinedServiceIndicator: z.boolean(),
});

export type Access = z.infer<typeof accessFields>;
export type AccountReference = z.infer<typeof reference>;

/** What a consent may show of an account. */
export const RIGHTS = ['accounts', 'balances', 'transactions'] as const;

export type Right = (typeof RIGHTS)[number];

/** The types of the bank file (`consent.types`). */
type ReadingType = 'dedicated' | 'bank-offered' | 'all-accounts' | 'list-only' | 'list-with-balances';

/** `funds`: for confirmations of funds of one account, and for no reading. */
export type ConsentType = ReadingType | 'funds';

/** A consent as the TPP asks for it, with the end that the bank allows. */
export interface ConsentOrder {
  access: Access;
  type: ConsentType;
  recurring: boolean;
  validUntil: IsoDate;
  frequencyPerDay: number;
  /** With `funds`: what the request says of a card and of the customer's registration. */
  card?: Readonly<Record<string, string>>;
}

/** What the request of a consent is held against. */
interface ConsentingBank {
  rules: BankRules;
  now: () => Date;
  customers: Customers;
}

/**
 * Reads the body of `POST /consents` ("Establish account information consent"), and holds it against the bank file.
 *
 * @throws DoorRefusal `FORMAT_ERROR` with the path of the field, `PARAMETER_NOT_SUPPORTED`, `SESSIONS_NOT_SUPPORTED`
 */
export function readConsentOrder(bank: ConsentingBank, request: RawRequest): ConsentOrder {
  const { consent } = bank.rules.description;
  const body = readBody(request, consentBody);
  const { recurringIndicator: recurring, frequencyPerDay } = body;
  checkMore(bank.rules, body.access);
  const access = withoutBeneficiaries(body.access);
  const type = typeOf(access);
  const isList = type === 'list-with-balances' && consent.types.includes('list-only');
  if (!consent.types.includes(type) && !isList)
    throw unexpected(
      'PARAMETER_NOT_SUPPORTED',
      'access',
      'The bank has no such consent',
      consent.types.join(', '),
      type,
    );
  checkAccounts(bank, access);
  if (!recurring && !consent.once)
    throw unexpected(
      'FORMAT_ERROR',
      'recurringIndicator',
      'The bank gives recurring consents only',
      'true',
      'false',
    );
  const mostFrequent = recurring ? consent.frequencyPerDay : 1;
  if (frequencyPerDay > mostFrequent)
    throw unexpected(
      'FORMAT_ERROR',
      'frequencyPerDay',
      'The bank allows fewer readings a day',
      `at most ${mostFrequent}`,
      String(frequencyPerDay),
    );
  if (body.combinedServiceIndicator)
    throw new DoorRefusal('SESSIONS_NOT_SUPPORTED', 'The bank has no sessions of several services', '', {
      path: 'combinedServiceIndicator',
    });
  return { access, type, recurring, frequencyPerDay, validUntil: endOf(bank, body.validUntil) };
}

const fundsBody = z.strictObject({
  account: reference,
  cardNumber: z.optional(z.string().check(z.maxLength(35))),
  cardExpiryDate: z.optional(z.iso.date()),
  cardInformation: z.optional(z.string().check(z.maxLength(140))),
  registrationInformation: z.optional(z.string().check(z.maxLength(140))),
});

/** Such a consent has no last day. */
const FOR_GOOD: IsoDate = '9999-12-31';

/**
 * Reads the body of `POST /v2/consents/confirmation-of-funds`.
 *
 * @throws DoorRefusal `FORMAT_ERROR` with the path of the field
 */
export function readFundsOrder(bank: ConsentingBank, request: RawRequest): ConsentOrder {
  const { account, ...card } = readBody(request, fundsBody);
  checkAccount(bank, account, 'account');
  const cardFields = Object.entries(card).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    access: { accounts: [account] },
    type: 'funds',
    recurring: true,
    frequencyPerDay: 0,
    validUntil: FOR_GOOD,
    card: Object.fromEntries(cardFields),
  };
}

/** The last day of the consent: as asked for, or earlier if the bank gives no such long consents. */
function endOf(bank: ConsentingBank, wanted: IsoDate): IsoDate {
  const today = bankDay(bank.now());
  if (wanted < today)
    throw unexpected('FORMAT_ERROR', 'validUntil', 'validUntil is in the past', `${today} or later`, wanted);
  const latest = addDays(today, bank.rules.description.consent.maxDays);
  return wanted < latest ? wanted : latest;
}

/** The bank shows no trusted beneficiaries, and the consent says so. */
function withoutBeneficiaries({ additionalInformation, ...access }: Access): Access {
  const ownerName = additionalInformation?.ownerName;
  return { ...access, ...(ownerName && { additionalInformation: { ownerName } }) };
}

/** What psd2 never asks for, and what belongs to other kinds of consent. */
function checkMore({ strict }: BankRules, access: Access): void {
  const { additionalInformation, restrictedTo } = access;
  const listed = RIGHTS.some((right) => (access[right]?.length ?? 0) > 0);
  const wrong = [
    ...(additionalInformation && (strict || RIGHTS.every((right) => !access[right]))
      ? ['additionalInformation']
      : []),
    ...(restrictedTo && (strict || listed) ? ['restrictedTo'] : []),
  ];
  for (const name of wrong)
    throw new DoorRefusal('FORMAT_ERROR', `This consent has no ${name}`, '', { path: `access.${name}` });
}

function typeOf(access: Access): ReadingType {
  const { availableAccounts, availableAccountsWithBalance, allPsd2 } = access;
  const listed = RIGHTS.flatMap((right) => (access[right] ? [access[right]] : []));
  const whole = [availableAccounts ?? availableAccountsWithBalance, allPsd2].filter(Boolean);
  if (whole.length + (listed.length > 0 ? 1 : 0) !== 1)
    throw new DoorRefusal(
      'FORMAT_ERROR',
      'access is not one kind of consent',
      'Expected: accounts, balances, transactions; or allPsd2; or availableAccounts.',
      { path: 'access' },
    );
  if (allPsd2) return 'all-accounts';
  if (whole.length > 0) return availableAccounts ? 'list-only' : 'list-with-balances';
  const filled = listed.filter((accounts) => accounts.length > 0).length;
  if (filled > 0 && filled < listed.length)
    throw new DoorRefusal('FORMAT_ERROR', 'access has accounts in one list and none in another', '', {
      path: 'access',
    });
  return filled > 0 ? 'dedicated' : 'bank-offered';
}

/** The bank knows its own accounts before the customer has logged in. */
function checkAccounts({ customers }: Pick<ConsentingBank, 'customers'>, access: Access): void {
  for (const right of RIGHTS) {
    for (const [index, account] of (access[right] ?? []).entries())
      checkAccount({ customers }, account, `access.${right}[${index}]`);
  }
}

function checkAccount(
  { customers }: Pick<ConsentingBank, 'customers'>,
  { iban }: AccountReference,
  path: string,
): void {
  if (iban === undefined || customers.accountByIban(iban)) return;
  throw new DoorRefusal('FORMAT_ERROR', 'The bank has no such account', `Received: ${iban}.`, {
    path: `${path}.iban`,
  });
}

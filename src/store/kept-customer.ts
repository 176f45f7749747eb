import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { type IsoDate, isIsoDate } from '../domain/calendar.ts';
import { untilSca } from '../domain/consent.ts';
import { Psd2Error } from '../errors.ts';
import type { KeptCustomer, LastingConsent } from './ports/customers.ts';

const text = z.nullable(z.string());
export const isoDate = z.custom<IsoDate>((value) => typeof value === 'string' && isIsoDate(value));
const time = z.string().check(z.refine((value) => !Number.isNaN(Date.parse(value))));

const keptAccounts = z.array(
  z.object({
    accountId: z.string(),
    iban: text,
    kind: z.exactOptional(z.literal('card')),
    currency: z.exactOptional(z.string()),
    name: z.exactOptional(z.string()),
    productCode: z.exactOptional(z.string()),
    status: z.exactOptional(z.string()),
  }),
);

/** The record of a customer, as a backend stores it. */
export const keptCustomer: z.ZodMiniType<KeptCustomer> = z.object({
  psu: z.object({ id: text, idType: text, corporateId: text, corporateIdType: text }),
  consents: z.array(
    z.object({
      flow: z.string(),
      consentId: z.string(),
      accounts: z.nullable(z.array(z.string())),
      reads: z.array(z.enum(['accounts', 'balances', 'transactions'])),
      validUntil: z.nullable(isoDate),
      recurring: z.boolean(),
      frequencyPerDay: z.int(),
      grantedAt: time,
      cards: z.exactOptional(z.literal('none')),
      listed: z.exactOptional(keptAccounts),
      report: z.exactOptional(z.enum(['json', 'camt', 'mt940'])),
      lists: z.exactOptional(z.array(z.enum(['booked', 'pending']))),
    }),
  ),
  funds: z.exactOptional(
    z.array(
      z.object({
        flow: z.string(),
        transactionId: z.string(),
        consentId: z.string(),
        account: z.string(),
        validUntil: z.nullable(isoDate),
        grantedAt: time,
      }),
    ),
  ),
  accounts: z.exactOptional(keptAccounts),
  scaMethod: z.exactOptional(z.string()),
});

/** The consents of a customer for {@link LastingConsent}. Of those for funds of one account the newest comes first, and counts. */
export function lastingOf(customer: string, { consents, funds = [] }: KeptCustomer): LastingConsent[] {
  const readings = consents
    .filter(({ recurring }) => recurring)
    .map((each) => ({ ...each, validUntil: untilSca(each) }));
  const newest = funds.filter((each) => funds.find(({ account }) => account === each.account) === each);
  return [...readings, ...newest].flatMap(({ flow, validUntil }) =>
    validUntil !== null ? [{ customer, flow, validUntil }] : [],
  );
}

const EMPTY: KeptCustomer = {
  psu: { id: null, idType: null, corporateId: null, corporateIdType: null },
  consents: [],
};

/** One version of a customer's record. Each change adds the next one, and newer versions are never replaced by older ones. */
export interface CustomerVersion {
  /** Never decreases, even if psd2 forgets the customer. 0: there is none yet. */
  generation: number;
  /** Random ids of the changes that led to this generation and to those before it, this one first. Only the last ones. */
  changes: readonly string[];
  /** Null if psd2 has forgotten the customer. */
  kept: KeptCustomer | null;
}

/** The record of one customer in a backend. */
interface Versions {
  newest(): Promise<CustomerVersion>;
  /**
   * Adds a version, durably, unless the backend has this generation or a later one.
   *
   * @returns false if it may not have been added
   */
  add(version: CustomerVersion): Promise<boolean>;
}

/** A change of a record. Null: psd2 forgets the customer. */
export type Update = (before: KeptCustomer) => KeptCustomer | null;

/** A worker that stands still while others make more changes than this cannot tell whether its own was made. */
const KNOWN_CHANGES = 16;

/**
 * Adds the next version of a record, until no other worker came first. If a worker was stopped, or an answer was lost, the
 * ids of the last changes say whether its own version was added. So each change is made once.
 *
 * @param what the record, as the beginning of a sentence
 * @param update null: forgets the customer
 * @throws Psd2Error `config` if it is unclear whether the version was added
 */
export async function changeRecord(
  what: string,
  { newest, add }: Versions,
  update: Update | null,
): Promise<void> {
  const change = randomBytes(9).toString('base64url');
  for (let tried: number | undefined; ; ) {
    const { generation, changes, kept: record } = await newest();
    if (changes.includes(change)) return;
    if (tried !== undefined && tried <= generation - changes.length) throw unclear(what);
    tried = generation + 1;
    const after = update?.(record ?? EMPTY) ?? null;
    const next = {
      generation: tried,
      changes: [change, ...changes].slice(0, KNOWN_CHANGES),
      kept: after && newestFirst(keptCustomer.parse(after)),
    };
    if (await add(next)) return;
  }
}

/** The record of a customer at one bank. */
export interface MovableRecord {
  /** @returns null if there is none */
  read(): Promise<KeptCustomer | null>;
  /** @param update null: forgets the customer */
  change(update: (before: KeptCustomer) => KeptCustomer | null): Promise<void>;
}

/**
 * Moves the record of a customer to another bank. Both banks have it for a moment, so a process that is killed loses nothing. If
 * another worker changes it in the meantime, that is moved too.
 *
 * @returns whether there was a record
 * @throws Psd2Error `config`
 */
export async function moveRecord(from: MovableRecord, to: Pick<MovableRecord, 'change'>): Promise<boolean> {
  for (let isMoved = false; ; isMoved = true) {
    const record = await from.read();
    if (record === null) return isMoved;
    await to.change((here) => withMoved(here, record));
    await from.change((before) =>
      [record, EMPTY].some((same) => isDeepStrictEqual(before, same)) ? null : before,
    );
  }
}

/** A record together with what was kept of the same customer at another base URL. */
function withMoved(here: KeptCustomer, moved: KeptCustomer): KeptCustomer {
  const isKnown = Object.values(here.psu).some((value) => value !== null);
  const scaMethod = here.scaMethod ?? moved.scaMethod;
  const listed = here.accounts ?? moved.accounts;
  const funds = united(here.funds, moved.funds);
  return {
    psu: isKnown ? here.psu : moved.psu,
    ...(scaMethod !== undefined && { scaMethod }),
    ...(listed && { accounts: listed }),
    ...(funds.length > 0 && { funds }),
    consents: united(here.consents, moved.consents),
  };
}

function united<Kept extends { consentId: string }>(
  here: readonly Kept[] = [],
  moved: readonly Kept[] = [],
): Kept[] {
  const idsHere = new Set(here.map(({ consentId }) => consentId));
  return [...here, ...moved.filter(({ consentId }) => !idsHere.has(consentId))];
}

function newestFirst({ consents, funds, ...rest }: KeptCustomer): KeptCustomer {
  const byGrant = (one: { grantedAt: string }, other: { grantedAt: string }) =>
    Date.parse(other.grantedAt) - Date.parse(one.grantedAt);
  return {
    ...rest,
    ...(funds && { funds: funds.toSorted(byGrant) }),
    consents: consents.toSorted(byGrant),
  };
}

function unclear(what: string): Psd2Error {
  return new Psd2Error('config', `It is unclear whether ${what} was written`, {
    hint: 'Other workers have changed it many times meanwhile. Run this again.',
  });
}

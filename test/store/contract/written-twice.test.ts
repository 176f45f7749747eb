import { beforeEach, describe, expect, it } from 'vitest';
import { type IsoDate, isIsoDate } from '../../../src/domain/calendar.ts';
import { type Decimal, isDecimal } from '../../../src/domain/decimal.ts';
import type {
  KeptAccount,
  KeptConsent,
  KeptCustomer,
  KeptFundsConsent,
} from '../../../src/store/ports/customers.ts';
import type { Doubt } from '../../../src/store/ports/read-results.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import type { Progress, SyncTarget } from '../../../src/store/ports/sync.ts';
import type { StoredTokens } from '../../../src/store/ports/tokens.ts';
import { type Place, useBackends } from './backends.ts';

// What is stored is written again with every value another one. A column that the second writing forgets keeps its first value.

const day = (text: string): IsoDate => (isIsoDate(text) ? text : expect.unreachable());
const decimal = (text: string): Decimal => (isDecimal(text) ? text : expect.unreachable());

/** `Required`: a new field must stand here. */
const progress: readonly Required<Progress>[] = [
  {
    ...{ from: day('2026-10-01'), through: day('2026-11-01'), newest: 'N-1' },
    ...{ balance: { amount: decimal('97.50'), currency: 'EUR' }, difference: decimal('0.50') },
    contradictions: [{ says: 'one', from: day('2026-10-01'), through: day('2026-10-31') }],
  },
  {
    ...{ from: day('2026-09-01'), through: day('2026-11-02'), newest: 'N-2' },
    ...{ balance: { amount: decimal('12.00'), currency: 'CHF' }, difference: decimal('-3.00') },
    contradictions: [{ says: 'two', from: day('2026-09-01'), through: day('2026-09-30') }],
  },
];

const tokens: readonly Required<StoredTokens>[] = [
  {
    ...{ accessToken: 'access-1', refreshToken: 'refresh-1', scope: 'ais' },
    ...{
      accessTokenExpiresAt: '2026-11-01T10:00:00.000Z',
      refreshTokenExpiresAt: '2026-12-01T10:00:00.000Z',
    },
    ...{ apiTrackId: 'track-1', unproven: true, server: 'https://one.example/', consent: 'consent-1' },
  },
  {
    ...{ accessToken: 'access-2', refreshToken: 'refresh-2', scope: 'pis' },
    ...{
      accessTokenExpiresAt: '2026-11-02T10:00:00.000Z',
      refreshTokenExpiresAt: '2026-12-02T10:00:00.000Z',
    },
    ...{ apiTrackId: 'track-2', unproven: true, server: 'https://two.example/', consent: 'consent-2' },
  },
];

const doubts: readonly Required<Omit<Doubt, 'at' | 'productId'>>[] = [
  { balanced: true, difference: '1.00', complete: true, certainFrom: '2026-10-01', message: 'one' },
  { balanced: false, difference: '-2.00', complete: false, certainFrom: '2026-11-01', message: 'two' },
];

const kept: readonly Required<KeptCustomer>[] = [
  {
    psu: { id: 'ada', idType: 'card', corporateId: 'firm', corporateIdType: 'CORP' },
    consents: [consent('1', { reads: ['accounts'], cards: 'none', report: 'camt', lists: ['booked'] })],
    funds: [funds('1')],
    accounts: [account('1')],
    scaMethod: 'sms',
  },
  {
    psu: { id: 'bob', idType: 'key', corporateId: 'other', corporateIdType: 'LTD' },
    consents: [consent('2', { reads: ['balances'], cards: 'none', report: 'mt940', lists: ['pending'] })],
    funds: [funds('2')],
    accounts: [account('2')],
    scaMethod: 'chip',
  },
];

function account(of: string): Required<KeptAccount> {
  return {
    ...{ accountId: `A${of}`, iban: `IBAN ${of}`, kind: 'card', currency: `CU${of}`, name: `name ${of}` },
    ...{ productCode: `code ${of}`, status: `status ${of}` },
  };
}

function consent(
  of: string,
  more: Pick<Required<KeptConsent>, 'reads' | 'cards' | 'report' | 'lists'>,
): Required<KeptConsent> {
  return {
    ...{ flow: `co-${of}`, consentId: `consent-${of}`, accounts: [`IBAN ${of}`], ...more },
    ...{ validUntil: day(`2099-05-0${of}`), recurring: of === '1', frequencyPerDay: Number(of) },
    ...{ grantedAt: `2026-11-0${of}T10:00:00.000Z`, listed: [account(of)] },
  };
}

function funds(of: string): Required<KeptFundsConsent> {
  return {
    ...{ flow: `fu-${of}`, consentId: `funds-${of}`, validUntil: day(`2099-06-0${of}`) },
    ...{ grantedAt: `2026-11-0${of}T11:00:00.000Z`, transactionId: `t-${of}`, account: `IBAN ${of}` },
  };
}

/** The paths of values that are the same in both. */
function same(one: unknown, other: unknown, path = ''): string[] {
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other)
    return one === other ? [path] : [];
  const others = new Map(Object.entries(other));
  return Object.entries(one).flatMap(([key, value]) => same(value, others.get(key), `${path}.${key}`));
}

interface Row {
  /** Two values. Everything in the second is another one, but for what can have one value alone. */
  values: readonly object[];
  alike?: string[];
  /** Stores a value, and reads it with another worker. */
  store(data: ProfileData, value: number, out: string | undefined): Promise<void>;
  read(data: ProfileData, out: string | undefined): Promise<unknown>;
}

const inSync = <T>(data: ProfileData, out: string | undefined, work: (to: SyncTarget) => Promise<T>) =>
  data.sync(out).run(new AbortController().signal, (run) => run.customer('1048262', work));

const ROWS: Record<string, Row> = {
  'the progress of a sync': {
    values: progress,
    store: (data, nth, out) =>
      inSync(data, out, async (to) => to.remember('A1', at(progress, nth), day('2026-09-01'))),
    read: (data, out) => inSync(data, out, (to) => to.progress('A1')),
  },
  tokens: {
    values: tokens,
    alike: ['.unproven'],
    store: ({ tokens: store }, nth) => store.change('ada', (slot) => slot.write(at(tokens, nth))),
    read: ({ tokens: store }) => store.read('ada'),
  },
  'a customer': {
    values: kept,
    alike: ['.consents.0.cards', '.consents.0.listed.0.kind', '.accounts.0.kind'],
    store: async ({ customers }, nth) => {
      await customers.change('ada', () => at(kept, nth));
    },
    read: ({ customers }) => customers.read('ada'),
  },
  'what a sync could not know': {
    values: doubts,
    store: ({ results }, nth) =>
      results.add([
        {
          ...{ customerId: '1048262', at: `2026-11-0${nth + 1}T10:00:00.000Z`, failures: [], skipped: [] },
          doubts: [{ productId: 'A1', ...at(doubts, nth) }],
        },
      ]),
    read: async ({ results }) => (await results.doubts())[0],
  },
};

const at = <T>(values: readonly T[], nth: number): T => values[nth] ?? expect.unreachable();

describe.each(useBackends())('$name', ({ open }) => {
  let place: Place;
  beforeEach(async () => {
    place = await open();
  });
  const worker = async () => (await place.worker()).open('bank', new URL('https://bank.example'));

  it.each(Object.entries(ROWS))('%s: the second writing keeps nothing of the first', async (_, row) => {
    const [first, second] = row.values;
    expect(same(first, second)).toEqual(row.alike ?? []);
    for (const nth of [0, 1, 0]) {
      await row.store(await worker(), nth, place.out);
      expect(await row.read(await worker(), place.out)).toMatchObject(at(row.values, nth));
    }
  });
});

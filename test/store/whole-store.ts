import type { Batch } from '../../src/domain/batch/batch.ts';
import type { BatchLine } from '../../src/domain/batch/line.ts';
import { parseDate } from '../../src/domain/calendar.ts';
import { parseSepaIban } from '../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../src/domain/order/payment-amount.ts';
import type { KeptConsent, KeptCustomer } from '../../src/store/ports/customers.ts';
import type { Store } from '../../src/store/ports/store.ts';
import type { ReadTokens, StoredTokens } from '../../src/store/ports/tokens.ts';
import { TRANSFER_BEGIN } from './flows.ts';

export const BANK = new URL('https://bank.example');
const DAY = parseDate('--date', '2026-11-21');
export const login: StoredTokens = {
  accessToken: 'secret-access',
  accessTokenExpiresAt: '2026-11-21T11:00:00.000Z',
  refreshToken: 'secret-refresh',
  refreshTokenExpiresAt: null,
  scope: 'oob',
};
export const refusal = { at: '2026-11-21T10:00:00.000Z', message: 'The bank said no' };

const UNREAD = {
  ...{ customerId: '42', at: refusal.at, skipped: [] },
  failures: [{ productId: 'A', code: 'forbidden', message: refusal.message }],
  doubts: [
    {
      ...{ productId: 'B', balanced: false, difference: '-1.50', complete: false, certainFrom: '2026-11-20' },
      message: 'The bank does not show all rows',
    },
  ],
};
/** What a login with a consent leaves with its tokens. */
export const LINKED = { server: 'https://login.bank.example/metadata', consent: 'co-1' };

const PERSON = { by: 'ada', user: 'ada', machine: 'm' };
/** A line of a batch. */
export const batchLine = (line = 1, amount = '12.50'): BatchLine => ({
  ...{ line, place: `line ${line + 1}`, customer: null, from: null, fromIban: null, name: 'Ada Lovelace' },
  ...{ iban: parseSepaIban('DE89370400440532013000'), amount: parsePaymentAmount(amount), currency: 'EUR' },
  ...{ description: '', reference: null, executionDate: null, instant: false, urgent: false },
  ...{ payeeVerified: false, address: null },
  ids: { paymentInformationId: null, instructionId: null, endToEndId: null },
});

const HOUR_MS = 60 * 60_000;
/** Not long ago: a consent ends some months after its SCA. */
const LATELY = Date.now() - HOUR_MS;

/** A consent that a customer granted lately, in this minute. */
export function granted(flow: string, minute = 0): KeptConsent {
  return {
    ...{ flow, consentId: `consent of ${flow}`, accounts: ['IT60X0542811101000000123456', 'acc-1'] },
    ...{ reads: ['accounts', 'balances'], validUntil: parseDate('--until', '2099-05-01'), recurring: true },
    ...{ frequencyPerDay: 4, grantedAt: new Date(LATELY + minute * 60_000).toISOString() },
  };
}

/** A change that adds a consent of this flow. */
export const granting =
  (flow: string, minute?: number) =>
  (before: KeptCustomer): KeptCustomer => ({
    ...before,
    consents: [...before.consents, granted(flow, minute)],
  });

/** Fills a store with data of each kind. @returns the flow that is under way */
export async function fillStore(store: Store): Promise<string> {
  const { tokens, customers, flows, calls, notes, reads, results, batches } = store.open('bank', BANK);
  await tokens.change('42', (slot) => slot.write({ ...login, ...LINKED }));
  await tokens.change(null, (slot) => slot.write({ ...login, accessToken: 'secret-own' }));
  await tokens.change('43', (slot) => slot.write(login));
  await tokens.forget('43');
  await tokens.remember('42');
  await customers.change('ada', granting('co-1'));
  await customers.change('bob', granting('co-2'));
  await customers.forget('bob');
  await flows.begin('transfer', TRANSFER_BEGIN('Rent'), async (open) => {
    await open.record({ type: 'verify-sent', requestId: 'r', digest: null });
  });
  await calls.count(DAY);
  await notes.callRefused('42', refusal);
  await notes.refreshRefused('42', login, refusal);
  await reads.take({ day: DAY, customerId: '42', productId: null });
  await results.add([UNREAD]);
  const told = { messageId: 'MSG-1', note: null, retryOf: null, payees: [], approvalsNeeded: 0, ...PERSON };
  const { batch, sha256 } = await batches.add({
    added: { format: 'csv', ...told },
    lines: [batchLine()],
    again: false,
  });
  await batches.change(batch, () => ({ type: 'approved', ...PERSON, by: 'bob', sha256 }));
  const failing = flows.begin('transfer', TRANSFER_BEGIN('Power'), async (open) => {
    await open.record({ type: 'verify-sent', requestId: 'r', digest: null });
    throw new Error(open.current.flow);
  });
  return failing.catch((error: Error) => error.message);
}

/** The tokens and their generation, without what differs between backends. */
function shown(tokens: ReadTokens | undefined) {
  if (!tokens) return undefined;
  const { accessToken, refreshToken, accessTokenExpiresAt, refreshTokenExpiresAt, scope, generation } =
    tokens;
  const times = { accessTokenExpiresAt, refreshTokenExpiresAt };
  const { server, consent } = tokens;
  return { accessToken, refreshToken, ...times, scope, server, consent, generation };
}

/** Each database gives the role of its own worker, so an approval counts only in the database that it was given in. Files have none. */
function withoutRoles({ addedRole: _, approvals, ...batch }: Batch) {
  return { ...batch, approvals: approvals.map(({ role: __, ...approval }) => approval) };
}

/** What a worker of a store finds. */
export async function foundIn(store: Store) {
  const { tokens, customers, flows, calls, notes, reads, results, batches } = store.open('bank', BANK);
  const orders = [];
  for await (const batch of batches.list())
    orders.push({ batch: withoutRoles(batch), lines: await batches.lines(batch) });
  const list = [];
  for await (const { flow, state, order } of flows.list('transfer')) list.push({ flow, state, order });
  return {
    login: shown(await tokens.read('42')),
    own: shown(await tokens.read(null)),
    loggedOut: shown(await tokens.read('43')),
    customers: await tokens.customers(),
    last: await tokens.last(),
    kept: [await customers.list(), await customers.read('ada'), await customers.read('bob')],
    list,
    histories: await Promise.all(list.map(({ flow }) => flows.history(flow))),
    calls: await calls.on(DAY),
    note: await notes.read('42', login),
    orders,
    unread: await results.failed(new Date(0)),
    doubts: await results.doubts(),
    mayRead: await reads.take({ day: DAY, customerId: '42', productId: null }, { budget: 1 }),
  };
}

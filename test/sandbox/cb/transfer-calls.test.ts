import { expect, inject, test } from 'vitest';
import { type Bank, openBank } from '../../../src/sandbox/bank.ts';
import { transferCalls } from '../../../src/sandbox/cb/transfer-calls.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { targetHolidays, writeBankDate } from '../../../src/sandbox/ledger/bank-time.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { accountOf, seeded } from '../seeded.ts';
import { rawRequest } from '../strict/raw.ts';
import { TestClock } from '../tpp.ts';

const registration = await loadOrCreateRegistration(inject('registration'));
const anna = seeded('anna');
const current = accountOf(anna);
const ROOT = '/private/customers/{customerId}/products/{productId}/moneyTransfer';

async function newBank(at: string) {
  const clock = new TestClock(at);
  const rules = { ...defaultRules, now: clock.now, consents: 'recorded' } as const;
  return { clock, bank: await openBank(registration, rules, undefined, new Map()) };
}

/** Makes a call of anna, without the checks of every call. */
function call(bank: Bank, name: string, { resourceId = '', body = '' } = {}) {
  const serve = transferCalls[name];
  if (!serve) throw new Error(`There is no call ${name}`);
  const application = bank.applications.authorizationCode;
  const headers: [string, string][] = body === '' ? [] : [['Content-Type', 'application/json']];
  const answer = serve(bank, {
    ...{ request: rawRequest({ method: 'PUT', headers, body }), faults: [], keyId: 'psd2-sandbox' },
    parameters: new Map(
      Object.entries({ customerId: anna.customerId, productId: current.productId, resourceId }),
    ),
    caller: { application, customerId: anna.customerId },
  });
  return JSON.parse(answer.body.toString());
}

const order = {
  ...{ beneficiaryIban: 'IT60X', beneficiaryName: 'Ada', description: '', amount: 1_00, commissions: 50 },
  ...{ instant: false, executionDay: '2026-11-20' },
};

function executed(bank: Bank, changes: Partial<typeof order>): string {
  const transfer = bank.resources.addTransfer(anna, current, { ...order, ...changes });
  bank.resources.startSca(transfer, 'https://tpp.example/');
  bank.resources.decide(transfer.id, 'AUTHORIZED');
  return call(bank, `PUT ${ROOT}/{resourceId}/execute`, { resourceId: transfer.id, body: '{}' }).data.cro;
}

// 20 November 2026 is a Friday, and 25 December a holiday on a Friday.
test.each<[now: string, executionDay: string, booked: string]>([
  ['2026-11-20', '2026-11-20', '2026-11-23'],
  ['2026-11-20', '2026-11-19', '2026-11-23'],
  ['2026-11-20', '2026-11-21', '2026-11-23'],
  ['2026-11-20', '2026-11-22', '2026-11-23'],
  ['2026-11-20', '2026-11-23', '2026-11-23'],
  ['2026-11-20', '2026-11-24', '2026-11-24'],
  ['2026-11-19', '2026-11-19', '2026-11-20'],
  ['2026-11-19', '2026-11-20', '2026-11-20'],
  ['2026-11-22', '2026-11-22', '2026-11-23'],
  ['2026-11-22', '2026-11-20', '2026-11-23'],
  ['2026-12-24', '2026-12-24', '2026-12-28'],
  ['2026-11-20', '2026-12-25', '2026-12-28'],
  ['2026-12-31', '2026-12-31', '2027-01-04'],
])('executed on %s for %s, a transfer is booked on %s', async (now, executionDay, booked) => {
  const { bank } = await newBank(`${now}T11:00:00Z`);
  const cro = executed(bank, { executionDay });
  const { pending } = bank.ledger.entries(current, { from: now, to: now }, bank.now());
  const own = pending.filter(({ transferReference }) => transferReference === cro);
  expect(own.map((one) => [one.amount, one.bookingDay, one.valueDay, one.bookedFrom.toISOString()])).toEqual(
    [-50, -1_00].map((amount) => [amount, booked, booked, `${booked}T04:00:00.000Z`]),
  );
});

test.each<[name: string, milliseconds: number, ends: string, why: string, isPaid: boolean]>([
  ['Ada', 500, 'OK', '', true],
  ['INSTANT NOW', 0, 'OK', '', true],
  ['INSTANT SLOW', 1500, 'OK', '', true],
  ['INSTANT PENDING', 30_000, 'OK', '', true],
  ['INSTANT KO', 500, 'KO', "The payee's bank refused the instant transfer", false],
])('an instant transfer to %s ends after %i ms with %s', async (beneficiaryName, ms, ends, why, isPaid) => {
  const { bank, clock } = await newBank('2026-11-20T11:00:00Z');
  const before = bank.ledger.balance(current, bank.now());
  executed(bank, { instant: true, beneficiaryName });
  const [resource] = bank.resources.list();
  const status = () =>
    call(bank, `GET ${ROOT}/{resourceId}/execution/status`, { resourceId: resource?.id ?? '' }).data;
  const balance = () => {
    const now = bank.ledger.balance(current, bank.now());
    return [now.booked - before.booked, now.available - before.available];
  };
  const cost = isPaid ? -1_50 : 0;
  if (ms > 0) {
    clock.advance(ms - 1);
    expect(status()).toEqual({ executionStatus: 'PENDING', executionStatusDescription: '' });
    expect(balance()).toEqual([0, cost]);
    clock.advance(1);
  }
  expect(status()).toEqual({ executionStatus: ends, executionStatusDescription: why });
  expect(balance()).toEqual([cost, cost]);
  expect(resource?.finishedAt).toEqual(clock.now());
});

test.each<[iban: string, bank: string, branch: string, address: string]>([
  ['IT60X0542811101000000123456', 'BANCA ABI 05428', 'FILIALE CAB 11101', 'ITALIA'],
  ['DE89370400440532013000', 'BANK DE 3704', '', ''],
  ['RS35260005601001611379', 'BANK RS 2600', '', ''],
])("verify names the payee's bank of %s", async (ibanBeneficiary, bankName, branchName, address) => {
  const { bank } = await newBank('2026-11-20T11:00:00Z');
  const data = {
    ...{ moneyTransferAmount: { currency: 'EUR', amount: '1.00' }, flagUrgency: false, ibanBeneficiary },
    ...{ moneyTransferExecutionDate: '20/11/2026', beneficiaryName: 'Ada', description: '' },
  };
  const answer = call(bank, `POST ${ROOT}/verify`, { body: JSON.stringify({ data }) });
  expect(answer.data).toMatchObject({ bankName, branchName, address, additionalChecks: [] });
  data.beneficiaryName = 'VERIFY WARNING';
  const warned = call(bank, `POST ${ROOT}/verify`, { body: JSON.stringify({ data }) });
  const message = 'This is the first transfer to this payee';
  expect([warned.data.additionalChecks, warned.result.messages]).toEqual([
    [message],
    [{ code: 'BENEFICIARY_NEW', message, type: 'WARNING', detail: "The payee's name causes this warning." }],
  ]);
});

test.each(['2026-11-20T11:00:00Z', '2026-12-31T22:59:59Z', '2026-12-31T23:00:00Z', '2028-02-29T11:00:00Z'])(
  'at %s prepare has the holidays of two years, the later one first, and days up to a year ahead',
  async (at) => {
    const { bank } = await newBank(at);
    const { data } = call(bank, `GET ${ROOT}/prepare`);
    const [day = '', month = '', year = ''] = String(data.today).split('/');
    const next = String(Number(year) + 1);
    expect(data.holidays).toEqual(
      [...targetHolidays(Number(next)), ...targetHolidays(Number(year)).toReversed()].map(writeBankDate),
    );
    expect(data.executionDateLimit).toBe(`${day === '29' ? '28' : day}/${month}/${next}`);
    expect([data.executionDateMinimumWireTransferAtBank, data.currency.updated.date]).toEqual([
      ...[data.today, data.today],
    ]);
  },
);

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BatchEvent } from '../../../src/domain/batch/batch.ts';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import type { PayeeCheck, PayeeResult } from '../../../src/domain/order/payee-check.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import { Initiations } from '../../../src/flows/batch/initiations.ts';
import {
  checkedPayee,
  orRefused,
  ProblemsOfLines,
  referenceHolder,
  refuseDuplicate,
  refuseLine,
  takesLine,
  throwProblems,
} from '../../../src/flows/batch/lines.ts';
import { PinsOfRun } from '../../../src/flows/batch/pins.ts';
import type { BatchRun } from '../../../src/flows/batch/ports.ts';
import { document, information, transaction } from '../../batch-file/reading.ts';
import { BankHere, OWN_ACCOUNT, OWN_IBAN } from '../../commands/bank-here.ts';
import {
  beginLine,
  IBAN,
  payeeCheck,
  RUN,
  storeOf,
  takingIbans,
  told,
  withFile,
  withPayees,
} from '../../commands/batch/with-batch.ts';
import { payerAt, TODAY } from '../../commands/payer-here.ts';
import { batchLine } from '../../domain/batch/lines.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';

// What must hold before a line is paid: its order, its payee, and why psd2 does not pay it.

const temporary = temporaryFolder();
const LINKED = { commits: 'by the customer' } as const;
const BOB = { by: 'bob', user: 'bob', machine: 'm' };

/** The payment of a pain.001 whose payee has this address. */
function payee(name: string, address: string): string {
  const account = `<CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`;
  return transaction({
    ...{ id: `<EndToEndId>${name}</EndToEndId>`, amount: '<InstdAmt Ccy="EUR">10</InstdAmt>' },
    payee: `<Cdtr><Nm>${name}</Nm>${address}</Cdtr>${account}`,
  });
}

/** What the transfers of a run say of the addresses of their payees. */
async function addressesAt(bank: BankHere): Promise<unknown[]> {
  const town = '<TwnNm>Berlin</TwnNm><Ctry>DE</Ctry>';
  const payments = [
    payee('Whole', `<PstlAdr><StrtNm>Allee</StrtNm><BldgNb>7</BldgNb><PstCd>10115</PstCd>${town}</PstlAdr>`),
    payee('Empty', `<PstlAdr><StrtNm/><BldgNb/><PstCd/>${town}</PstlAdr>`),
    payee('None', ''),
  ];
  const text = document([
    information(payments, {
      ReqdExctnDt: `<ReqdExctnDt><Dt>${TODAY}</Dt></ReqdExctnDt>`,
      DbtrAcct: `<DbtrAcct><Id><IBAN>${OWN_IBAN}</IBAN></Id></DbtrAcct>`,
    }),
  ]);
  const { payer } = await withFile(temporary, bank, text);
  await payer.run(RUN);
  const { flows, read } = await storeOf(payer);
  const found: unknown[] = [];
  for (const flow of (await read()).flows.values())
    found.push((await flows.find('transfer', flow)).order.payeeAddress ?? null);
  return found;
}

it("a bank that takes the payee's address gets what the file says of it, without empty elements", async () => {
  expect(await addressesAt(takingIbans(new BankHere(LINKED)))).toMatchInlineSnapshot(`
    [{ building: "7", country: "DE", postcode: "10115", street: "Allee", town: "Berlin" },
     { country: "DE", town: "Berlin" }, null]
  `);
  expect(await addressesAt(new BankHere())).toEqual([null, null, null]);
});

it.each([
  ['match', 'settled', null, 1],
  ['close', 'waiting', 'The payee check of payment 1 says: close match, the account is held by Other', 0],
  [undefined, 'waiting', 'Payment 1 is instant, and nobody has verified its payee', 0],
])('an instant payment whose payee check says %s is %s', async (result, state, reason, payments) => {
  const { bank, payer } = await withPayees(temporary, new BankHere(), ['Ada'], ['--instant']);
  const env = result === undefined ? {} : { PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: result }) };
  const { data } = await payer.run(RUN, { env });
  expect(data).toMatchObject([{ state, reason }]);
  expect(bank.payments).toHaveLength(payments);
});

it('what a payee check said when the batch was added counts, whatever another one says now', async () => {
  const bank = new BankHere();
  const check = (result: string) => ({ PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: result }) });
  const payer = await payerAt(bank, temporary, check('close'));
  const path = join(temporary, 'payees.csv');
  writeFileSync(path, `name,iban,amount\nAda,${IBAN},10\n`);
  await payer.run(['batch', 'add', path, '--from', OWN_ACCOUNT]);
  const run = await payer.run(RUN, { env: check('match') });
  expect(told(run).at(0)).toBe(
    '1 waiting  The payee check of payment 1 says: close match, the account is held by Other',
  );
  expect(bank.payments).toEqual([]);
});

/** A stored batch of one payment, and what refusing its line needs. */
async function oneLine() {
  const { bank, payer } = await withPayees(temporary, new BankHere(), ['Ada']);
  const store = await storeOf(payer);
  const payment: BatchRun = {
    ...{ batches: store.batches, flows: store.flows, batch: store.batch },
    ...{ links: null, acceptsClose: false, person: undefined },
    initiations: new Initiations(),
    pins: new PinsOfRun(),
    payerOf: () => Promise.reject(new TypeError('Nobody pays here')),
    whileWaiting: (_, work) => work,
    tidy: async () => {},
    tidyGroup: async () => {},
  };
  const [line] = await store.batches.lines(await store.read());
  if (!line) throw new TypeError('The batch has one line');
  return { bank, payer, store, payment, line };
}

it.each<ErrorCode>([
  ...(['usage', 'invalid_iban', 'invalid_amount', 'invalid_date'] as const),
  ...(['invalid_product_id', 'invalid_text'] as const),
])('an order that is wrong refuses its line for good (%s)', async (code) => {
  const { payer, payment, line } = await oneLine();
  const work = () => Promise.reject(new Psd2Error(code, 'This is wrong'));
  expect(await orRefused(payment, line, work)).toBeNull();
  expect(told(await payer.run(RUN)).at(0)).toBe('1 failed  This is wrong');
});

it.each([new Psd2Error('bank_failing', 'The bank is failing'), new TypeError('A bug')])(
  'what is not about the order refuses no line: %s',
  async (error) => {
    const { store, payment, line } = await oneLine();
    await expect(orRefused(payment, line, () => Promise.reject(error))).rejects.toBe(error);
    expect((await store.read()).refused.size).toBe(0);
  },
);

it.each<[string, BatchEvent]>([
  ['another run has refused', { type: 'line-refused', line: 1, reason: 'First' }],
  ['somebody has cancelled', { type: 'lines-cancelled', lines: [1], ...BOB }],
])('a line that %s is not refused again', async (_, event) => {
  const { store, payment, line } = await oneLine();
  await store.change(event);
  const before = await store.read();
  await refuseLine(payment, line, 'Second');
  expect(await store.read()).toEqual(before);
});

it('a reference that a payment took which is in no batch is named without one', async () => {
  const { store, payment, line } = await oneLine();
  await refuseDuplicate(payment, line, new Psd2Error('usage', 'The reference was used'), undefined);
  expect((await store.read()).refused.get(1)).toBe(
    'The reference was used. psd2 pays a reference once. To pay this too, add it with another reference',
  );
});

const CLOSE = {
  ...{ code: 'confirmation_needed', hint: 'If the payee is right after all, add --accept-close.' },
  message: 'The payee check of payment 1 says: close match, the account is held by Other',
};
const UNVERIFIED = {
  ...{ code: 'confirmation_needed', message: 'Payment 1 is instant, and nobody has verified its payee' },
  hint: 'Set PSD2_PAYEE_CHECK, or add the payments again with --payee-verified.',
};
const verified = { payeeVerified: true };
const instant = { instant: true };
const NOT_ASKED: string[] = [];
interface Payee extends Partial<Pick<BatchLine, 'instant' | 'payeeVerified'>> {
  acceptsClose?: boolean;
  /** What a check said when the batch was added. */
  kept?: PayeeResult;
}

it.each<[PayeeResult | null, Payee, PayeeResult | 'refused' | null | object, asked?: string[]]>([
  [null, {}, null, NOT_ASKED],
  [null, instant, UNVERIFIED, NOT_ASKED],
  [null, { ...instant, acceptsClose: true }, UNVERIFIED, NOT_ASKED],
  [null, { ...instant, ...verified }, null, NOT_ASKED],
  ['match', {}, 'match'],
  ['match', instant, 'match'],
  ['none', {}, 'refused'],
  ['none', { acceptsClose: true }, 'refused'],
  ['none', verified, null, NOT_ASKED],
  ['close', {}, CLOSE],
  ['close', instant, CLOSE],
  ['close', { acceptsClose: true }, 'close'],
  ['close', { ...instant, acceptsClose: true }, 'close'],
  ['close', { ...instant, ...verified }, null, NOT_ASKED],
  ['unavailable', {}, 'unavailable'],
  ['unavailable', { acceptsClose: true }, 'unavailable'],
  ['unavailable', instant, UNVERIFIED],
  ['unavailable', { ...instant, acceptsClose: true }, UNVERIFIED],
  ['match', { kept: 'none' }, 'refused', NOT_ASKED],
  ['match', { kept: 'none', ...verified }, 'refused', NOT_ASKED],
  ['none', { kept: 'close' }, CLOSE, NOT_ASKED],
  ['none', { kept: 'close', ...verified }, 'close', NOT_ASKED],
  ['none', { kept: 'match', ...instant }, 'match', NOT_ASKED],
  ['none', { kept: 'unavailable', ...verified, ...instant }, 'unavailable', NOT_ASKED],
])(
  'if the payee check says %s of a payment with %o, it is paid with that, or not',
  async (says, payee, end, asked = ['R-1']) => {
    const { store, payment, line } = await oneLine();
    const { acceptsClose = false, kept, ...changes } = payee;
    const answer = (result: PayeeResult): PayeeCheck => ({ result, name: 'Other', problem: null });
    const did: string[] = [];
    const checkPayee =
      says &&
      (async ({ reference }: BatchLine) => {
        did.push(`${reference}`);
        return answer(says);
      });
    const batch = await store.read();
    const payees =
      kept === undefined
        ? []
        : [
            { line: 2, ...answer('match') },
            { line: 1, ...answer(kept) },
          ];
    const run = { ...payment, acceptsClose };
    const payer = Object.assign(Object.create({}), { checkPayee });
    const work = checkedPayee(run, payer, { ...batch, payees }, { ...line, ...changes });
    const result = await work.catch(({ code, message, hint }: Psd2Error) => ({ code, message, hint }));
    const hasResult = result !== null && typeof result !== 'string' && 'result' in result;
    expect([hasResult ? result.result : result, did]).toEqual([end, asked]);
    const refusal = 'The payee check says: no match, the account is held by Other';
    expect((await store.read()).refused).toEqual(new Map(end === 'refused' ? [[1, refusal]] : []));
  },
);

it.each([
  ['none', []],
  ['one', [2]],
  ['two, the later one first', [3, 1]],
])(
  'what is wrong with some lines of a share is told of each, and the first speaks for all: %s',
  (_, wrong) => {
    const problemOf = (line: number) => new Psd2Error('usage', `No ${line}`, { hint: `See ${line}` });
    const work = () => throwProblems(new Map(wrong.map((line) => [line, problemOf(line)])));
    if (wrong.length === 0) return expect(work).not.toThrow();
    const thrown = thrownBy(work);
    if (!(thrown instanceof ProblemsOfLines)) throw new TypeError('It is about lines');
    expect(thrown).toMatchObject({ code: 'usage', message: `No ${wrong[0]}`, hint: `See ${wrong[0]}` });
    const told = [1, 2, 3].map((line) => thrown.of(batchLine({ line }))?.message ?? null);
    return expect(told).toEqual([1, 2, 3].map((line) => (wrong.includes(line) ? `No ${line}` : null)));
  },
);

it.each<[string, BatchEvent | null, before: string | undefined, boolean]>([
  ['that has none', null, undefined, true],
  ['that has another one since', { type: 'line-begun', line: 1, flow: 'tr-1' }, undefined, false],
  ['that has the one of before', { type: 'line-begun', line: 1, flow: 'tr-1' }, 'tr-1', true],
  ['that has none any more', null, 'tr-1', false],
  ['that psd2 has refused', { type: 'line-refused', line: 1, reason: 'No' }, undefined, false],
  ['beside one that psd2 has refused', { type: 'line-refused', line: 2, reason: 'No' }, undefined, true],
  ['that is cancelled', { type: 'lines-cancelled', lines: [1], ...BOB }, undefined, false],
  ['beside one that is cancelled', { type: 'lines-cancelled', lines: [2], ...BOB }, undefined, true],
  ['of a batch that is rejected', { type: 'rejected', note: 'No', sha256: 'x', ...BOB }, undefined, false],
])('a transfer takes a line %s: %#', async (_, event, before, takes) => {
  const { store, payment, line } = await oneLine();
  if (event) await store.change(event);
  const flow = (await store.read()).flows.get(1);
  expect(await takesLine(payment, line, 'tr-9', before)).toBe(takes);
  expect((await store.read()).flows.get(1)).toBe(takes ? 'tr-9' : flow);
});

it.each<[string, line: number, isOther: boolean, isHolder: boolean]>([
  ['this line', 1, false, true],
  ['another line', 2, false, false],
  ['the line with this number in another batch', 1, true, false],
])('a reference that the transfer of %s has taken', async (_, number, isOther, isHolder) => {
  const { store, payment, line } = await oneLine();
  const batch = isOther ? 'b'.repeat(64) : store.batch;
  const order = { batch: { batch, line: number } };
  const flow = await beginLine(store, 2, { isNoted: false, order });
  const taken = new Psd2Error('duplicate_reference', 'It was used', { flow });
  const holder = await referenceHolder(payment, line, taken);
  expect(holder?.flow ?? null).toBe(isHolder ? flow : null);
  const where = `That is payment ${number} of the batch ${batch}. psd2 pays a reference once.`;
  expect([...(await store.read()).refused.values()]).toEqual(
    isHolder ? [] : [expect.stringContaining(`It was used. ${where}`)],
  );
});

it.each([new Psd2Error('usage', 'It was used'), new TypeError('A bug')])(
  'what says nothing of a reference is no taken one: %s',
  async (error) => {
    const { store, payment, line } = await oneLine();
    await expect(referenceHolder(payment, line, error)).rejects.toBe(error);
    expect((await store.read()).refused.size).toBe(0);
  },
);

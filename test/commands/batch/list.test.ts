import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { referenceOfLine } from '../../../src/domain/batch/batch.ts';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, type Fate } from '../bank-here.ts';
import { openCommand, runIn, useFolder } from '../command.ts';
import { payerAt } from '../payer-here.ts';
import { failing, RUN, refused, useBatches } from './with-batch.ts';

const { payees, temporary } = useBatches();
const folder = useFolder(temporaryFolder());
const ADA = { by: 'ada', user: 'ada', machine: 'm' };
const APPROVED = { env: { PSD2_APPROVALS: '1' } };
const ids = { first: '', second: '' };

const line = (number: number, name: string, amount: string, more: Partial<BatchLine> = {}): BatchLine =>
  batchLine({ line: number, name, amount: parsePaymentAmount(amount), ...more });

beforeEach(async () => {
  const { batches } = await openCommand(folder, '2026-03-01T10:00:00.000Z').context.store();
  const added = batchAdded(ADA);
  const add = async (...lines: BatchLine[]) => (await batches.add({ added, lines, again: false })).batch;
  ids.first = await add(line(1, 'Ada Lovelace', '12.50', { reference: 'INV-7', customer: '1048262' }));
  ids.second = await add(line(1, 'Alan Turing', '1.00'), line(2, 'Grace Hopper', '2.00'));
});

async function listed(args: string[], globals: { customer?: string } = {}): Promise<string[]> {
  const { context, printed } = openCommand(folder, '2026-03-02T10:00:00.000Z', { ...APPROVED, globals });
  await runIn(context, 'batch', 'list', ...args);
  const rows: { batch: string }[] = JSON.parse(printed());
  return rows.map(({ batch }) => batch);
}

it('a list of batches has those with a payment that is asked for', async () => {
  expect((await listed([])).toSorted()).toEqual([ids.first, ids.second].toSorted());
  expect(await listed(['--payee', 'lovelace'])).toEqual([ids.first]);
  expect(await listed(['--payee', 'grace', '--amount', '2'])).toEqual([ids.second]);
  // Both must hold for the same payment.
  expect(await listed(['--payee', 'grace', '--amount', '1'])).toEqual([]);
  expect(await listed(['--reference', 'inv-7'])).toEqual([ids.first]);
  expect(await listed([], { customer: '1048262' })).toEqual([ids.first]);
  // A payment whose file gives it no reference has one of psd2.
  expect(await listed(['--reference', referenceOfLine({ batch: ids.second }, 2)])).toEqual([ids.second]);
  expect(await listed(['--reference', referenceOfLine({ batch: ids.first }, 1)])).toEqual([]);
});

it('a list of batches has those of some days', async () => {
  expect(await listed(['--until', '2026-02-28'])).toEqual([]);
  expect(await listed(['--since', '2026-03-01', '--until', '2026-03-01'])).toHaveLength(2);
  expect(await listed(['--since', '2026-03-02'])).toEqual([]);
});

it('an empty filter is refused, since it would match every batch', async () => {
  await expect(listed(['--payee', ''])).rejects.toMatchObject({ code: 'usage' });
});

it('a list of batches and the status name a batch that somebody has changed, and show the others', async () => {
  const place = newConfigFolder(temporaryFolder());
  const { batches } = await openCommand(place, '2026-03-01T10:00:00.000Z').context.store();
  const added = batchAdded(ADA);
  const add = async (one: BatchLine) => (await batches.add({ added, lines: [one], again: false })).batch;
  const whole = await add(line(1, 'Ada Lovelace', '1.00'));
  const edited = await add(line(1, 'Alan Turing', '2.00'));
  const cut = await add(line(1, 'Grace Hopper', '3.00'));
  const at = (batch: string) => join(place.flows('env'), 'batches', batch);
  const lines = join(at(edited), 'lines.ndjson');
  writeFileSync(lines, readFileSync(lines, 'utf8').replace('"2.00"', '"9.00"'));
  rmSync(join(at(cut), 'events', '1'));

  const env = { PSD2_APPROVALS: '1', PSD2_MAX_AMOUNT: '100' };
  const list = openCommand(place, '2026-03-02T10:00:00.000Z', { env });
  await runIn(list.context, 'batch', 'list');
  expect(JSON.parse(list.printed())).toMatchObject([{ batch: whole }]);
  const status = openCommand(place, '2026-03-02T10:00:00.000Z', { env });
  await expect(runIn(status.context, 'status')).rejects.toMatchObject({ code: 'needs_attention' });
  const { attention } = JSON.parse(status.printed());
  expect(attention).toHaveLength(3);
  for (const item of [
    { id: whole, state: 'added', message: '1 payment, 0 of 1 approvals' },
    { id: edited, state: 'damaged', message: expect.stringContaining('not those that were added') },
    { id: cut, state: 'damaged', message: expect.stringContaining('events of its journal are missing') },
  ])
    expect(attention).toContainEqual(expect.objectContaining(item));
  expect(list.said()).toMatch(
    new RegExp(`cannot show ${edited}\\. The lines of the batch ${edited} .* not those that were added`),
  );
  expect(list.said()).toMatch(new RegExp(`cannot show ${cut}\\. .* events of its journal are missing`));
  const show = openCommand(place, '2026-03-02T10:00:00.000Z');
  await expect(runIn(show.context, 'batch', 'show', edited)).rejects.toMatchObject({ code: 'config' });
  rmSync(join(at(whole), 'events', '1'));
  const rest = openCommand(place, '2026-03-02T10:00:00.000Z', { env, format: 'table' });
  await runIn(rest.context, 'batch', 'list');
  expect(rest.said()).toContain('psd2 can show no other batch.');
});

it('a table of batches shows the number of a batch that has the content of another', async () => {
  const { context, printed } = openCommand(folder, '2026-03-02T10:00:00.000Z', { format: 'table' });
  const { batches } = await context.store();
  const added = batchAdded(ADA);
  const lines = [line(1, 'Ada Lovelace', '12.50', { reference: 'INV-7', customer: '1048262' })];
  await batches.add({ added, lines, again: true });
  await runIn(context, 'batch', 'list');
  expect(printed()).toContain(`${ids.first.slice(0, 12)}-2\t`);
});

it('a batch that was added at midnight is one of the day that begins', async () => {
  const place = newConfigFolder(temporaryFolder());
  const midnight = '2026-02-28T23:00:00.000Z';
  const { batches } = await openCommand(place, midnight).context.store();
  const added = batchAdded(ADA);
  await batches.add({ added, lines: [line(1, 'Ada', '1.00')], again: false });
  const count = async (...words: string[]) => {
    const { context, printed } = openCommand(place, midnight);
    await runIn(context, 'batch', 'list', ...words);
    return JSON.parse(printed()).length;
  };
  expect([await count('--since', '2026-03-01'), await count('--since', '2026-03-02')]).toEqual([1, 0]);
  expect([await count('--until', '2026-02-28'), await count('--until', '2026-03-01')]).toEqual([0, 1]);
});

// Which batches psd2 batch list --attention shows, and what an empty list says.

const RUN_BRIEFLY = { globals: { scaTimeout: '1' } };
/** The answer to `execute` of the first payment is this, and then the bank does not say what became of it. */
const answersExecute = (bank: BankHere, fate: Fate) => {
  bank.next = { becomes: null };
  bank.meets('execute', fate);
};

it.each<[string, boolean, string[], (bank: BankHere) => void]>([
  ['that waits for its run', false, ['batch', 'show', 'batch-1'], () => {}],
  ['that is paid', false, RUN, () => {}],
  ['that the bank has refused in part, for sure', false, RUN, (bank) => bank.meets('verify', refused())],
  ['with a refusal by one answer alone', true, RUN, (bank) => answersExecute(bank, refused())],
  ['with a payment that is unknown', true, RUN, (bank) => answersExecute(bank, 'lost')],
  ['with a payment that is unfinished', true, RUN, (bank) => bank.meets('verify', failing())],
  ['whose customers are undecided', false, RUN, (bank) => Object.assign(bank, { customersAgree: false })],
  ['that somebody has rejected', false, ['batch', 'reject', 'batch-1', '--note', 'No'], () => {}],
  ['that was cancelled', false, ['batch', 'cancel', 'batch-1'], () => {}],
])('a batch %s needs a person: %s', async (_, needs, words, prepare) => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea');
  prepare(bank);
  await payer.run(words, RUN_BRIEFLY);
  const { printed } = await payer.run(['batch', 'list', '--attention']);
  expect(JSON.parse(printed)).toHaveLength(needs ? 1 : 0);
});

it('a batch needs a person until enough people have approved it', async () => {
  const { payer } = await payees({}, 'Ada');
  const env = { PSD2_APPROVALS: '2' };
  const found = async () =>
    JSON.parse((await payer.run(['batch', 'list', '--attention'], { env })).printed).length;
  const counts = [await found()];
  for (const by of ['bea', 'cleo']) {
    await payer.run(['batch', 'approve', 'batch-1', '--by', by], { env });
    counts.push(await found());
  }
  expect(counts).toEqual([1, 1, 0]);
});

it('an empty list says whether there is no batch, or none that matches', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  const said = async (more: string[], globals = {}) =>
    (await payer.run(['batch', 'list', ...more], { format: 'table', globals })).said;
  expect(await said([])).toBe('This profile has no batches.\n');
  expect(await said(['--attention'])).toBe('No batch matches.\n');
  expect(await said([], { customer: '2073915' })).toBe('No batch matches.\n');
});

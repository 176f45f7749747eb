import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { BATCH } from '../../../src/commands/batch/batches.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { transferOrder } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T10:00:00.000Z';
const IBAN = 'DE89370400440532013000';

let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

/** Runs a command of `ada`, with a profile that has these settings. @returns what it printed and said, and its error */
async function run(words: string[], env: Record<string, string> = {}) {
  const command = openCommand(folder, NOW, { env: { PSD2_OPERATOR: 'ada', ...env }, globals: { yes: true } });
  const error = await runIn(command.context, 'batch', ...words).then(
    () => null,
    (thrown: { code: string; message: string }) => thrown,
  );
  const printed = command.printed();
  const data = printed.startsWith('{') ? JSON.parse(printed) : null;
  if (data) expect(BATCH.shape.is(data)).toBe(true);
  return { error, data, said: command.said() };
}

/** Writes payments as CSV and adds them. @returns the outcome of `psd2 batch add` */
function add(text: string, words: string[] = [], env: Record<string, string> = {}) {
  const path = join(temporary, 'payments.csv');
  writeFileSync(path, text);
  return run(['add', path, ...words], env);
}

const TWO = `name,iban,amount,from\nAda,${IBAN},60,0000012345\nBob,${IBAN},60,0000012345\n`;

/** A batch of two payments of 60 EUR that `ada` has added. @returns its id */
async function added(env: Record<string, string> = {}): Promise<string> {
  return (await add(TWO, [], env)).data.batch;
}

it.each([
  [{}, 0],
  [{ PSD2_ENVIRONMENT: 'production' }, 1],
  [{ PSD2_ENVIRONMENT: 'production', PSD2_APPROVALS: '0' }, 0],
  [{ PSD2_APPROVALS: '2' }, 2],
  [{ PSD2_MAX_AMOUNT: '120' }, 0],
  [{ PSD2_MAX_AMOUNT: '119.99' }, 1],
  [{ PSD2_MAX_AMOUNT: '119.99', PSD2_APPROVALS: '2' }, 3],
  [{ PSD2_MAX_AMOUNT: '119.99', PSD2_ENVIRONMENT: 'production', PSD2_APPROVALS: '0' }, 1],
])(
  'of a profile with %j, a batch of two times 60 EUR needs %i approvals',
  async (env: Record<string, string>, needed) => {
    const batch = await added(env);
    const { data } = await run(['show', batch], env);
    expect(data).toMatchObject({ approvalsNeeded: needed, state: 'added' });
    const ran = await run(['run', batch], env);
    if (needed > 0)
      expect(ran.error).toMatchObject({
        code: 'usage',
        message: `The batch needs ${needed} ${needed === 1 ? 'approval' : 'approvals'}, and has 0`,
      });
  },
);

it.each([
  ['reject', '--note', ''],
  ['reject', '--note', ' '],
  ['approve', '--by', ''],
  ['approve', '--by', ' '],
  ['approve', '--by', 'x'.repeat(101)],
])('psd2 batch %s with %s %j records nothing', async (verb, option, value) => {
  const batch = await added();
  const { error } = await run([verb, batch, option, value]);
  expect(error).toMatchObject({ code: expect.stringMatching(/^(usage|invalid_text)$/) });
  expect((await run(['show', batch])).data).toMatchObject({ approvals: [], rejection: null });
});

it('a batch that was cancelled is cancelled once, and the audit log says so once', async () => {
  const batch = await added();
  expect((await run(['cancel', batch])).data).toMatchObject({ state: 'cancelled', counts: { cancelled: 2 } });
  expect((await run(['cancel', batch])).data).toMatchObject({ state: 'cancelled', counts: { cancelled: 2 } });
  const { context, printed } = openCommand(folder, NOW);
  await runIn(context, 'audit');
  const actions = JSON.parse(printed()).map(({ action }: { action: string }) => action);
  expect(actions).toEqual(['added', 'cancelled']);
});

it('what a line says counts more than the options, and the options fill in what it does not say', async () => {
  const text = `name,iban,amount,from,customer,date\nAda,${IBAN},1,0000012345,1000002,2026-03-09\nBob,${IBAN},2,,,\n`;
  const { data } = await add(text, ['--from', '0000099999', '--date', '2026-03-05']);
  expect(data.customers).toEqual(['1000002']);
  expect(data.totals.map(({ from, amount }: { from: string; amount: string }) => [from, amount])).toEqual([
    ['0000012345', '1.00'],
    ['0000099999', '2.00'],
  ]);
});

it.each([
  ['--from', ''],
  ['--from', ' '],
  ['--date', ''],
  ['--date', '2026-02-30'],
  ['--date', '2026-02-28'],
  ['--note', ''],
])('psd2 batch add with %s %j stores nothing', async (option, value) => {
  const { error, data } = await add(TWO, [option, value]);
  expect([error?.code, data]).toEqual([expect.stringMatching(/^(usage|invalid_)/), null]);
});

it('the same content again is refused until --again, and then is another batch each time', async () => {
  const first = await added();
  expect((await add(TWO)).error).toMatchObject({
    code: 'usage',
    message: expect.stringContaining(first.slice(0, 12)),
  });
  const second = (await add(TWO, ['--again'])).data;
  const third = (await add(TWO, ['--again'])).data;
  expect(second.sha256).toBe(third.sha256);
  expect(new Set([first, second.batch, third.batch]).size).toBe(3);
});

/** Begins a transfer for a line of a batch, as a run does. @param bulk the bulk payment that it is in, if it is in one */
async function begin(batch: string, line: number, bulk: string | null): Promise<string> {
  const { context } = openCommand(folder, NOW);
  const { flows, batches } = await context.store();
  const order = transferOrder({ instant: false, reference: `L-${line}`, batch: { batch, line } });
  const transactionId = `aaaaaaaa-bbbb-4ccc-8ddd-00000000000${line}`;
  const begun = { transactionId, commits: 'by the customer' as const, order, furtherData: [] };
  const flow = await flows.begin('transfer', begun, async (open) => {
    if (bulk !== null) {
      await open.record({ type: 'bulk-joined', bulk });
      await open.record({ type: 'sca-started' });
    }
    return open.current.flow;
  });
  await batches.change(batch, () => ({ type: 'line-begun', line, flow }));
  return flow;
}

it.each([
  [[null, null], /^psd2 has cancelled no payment\. As long as nothing irreversible was sent:$/, 2],
  [[null], /^1 payment is cancelled\. As long as nothing irreversible was sent:$/, 1],
  [['op-1', null], /^psd2 has cancelled no payment\. .*bulk payment.* was sent for the others:$/, 1],
  [['op-1'], /^1 payment is cancelled\. .*in a bulk payment.* See the payments with:$/, 0],
] satisfies [(string | null)[], RegExp, number][])(
  'psd2 batch cancel, with lines begun in %j, advises only what is possible',
  async (bulks, hint, alone) => {
    const batch = await added();
    const flows: string[] = [];
    for (const [index, bulk] of bulks.entries()) flows.push(await begin(batch, index + 1, bulk));
    const { error } = await run(['cancel', batch]);
    const cancellable = flows.filter((_, index) => bulks[index] === null);
    expect(cancellable).toHaveLength(alone);
    expect(error).toMatchObject({
      code: 'usage',
      hint: expect.stringMatching(hint),
      next:
        alone > 0 ? cancellable.map((flow) => ['transfer', 'cancel', flow]) : [['batch', 'status', batch]],
    });
  },
);

it('psd2 transfer cancel names the batch of a payment that is in a bulk payment', async () => {
  const batch = await added();
  const flow = await begin(batch, 1, 'op-1');
  const { context } = openCommand(folder, NOW, { globals: { yes: true } });
  await expect(runIn(context, 'transfer', 'cancel', flow)).rejects.toMatchObject({
    code: 'usage',
    next: [['batch', 'run', batch]],
  });
});

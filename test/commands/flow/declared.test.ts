import { expect, it } from 'vitest';
import { buildProgram, COMMANDS } from '../../../src/cli/program.ts';
import { printedBy } from '../../../src/commands/schema/schema.ts';

// What the commands that pay say of themselves.

const NOUNS = ['transfer', 'operation', 'funds', 'batch'];

it('the list of schemas says in a few words what each command prints', async () => {
  const paying = Object.entries(COMMANDS).filter(([noun]) => NOUNS.includes(noun));
  const printed = [...(await printedBy(Object.fromEntries(paying)))];
  expect(
    printed
      .filter(([name]) => NOUNS.includes(name.split(' ')[0] ?? ''))
      .map(([name, { what }]) => `${name}: ${what}`),
  ).toMatchInlineSnapshot(`
    ["funds check: whether an account has an amount", "transfer create: a transfer",
     "transfer standing: a transfer", "transfer prepare: what the bank allows",
     "transfer list: transfers", "transfer show: a transfer", "transfer status: a transfer",
     "transfer resume: a transfer", "transfer resume --all: the transfers that were continued",
     "transfer cancel: a transfer", "transfer resolve: a transfer",
     "transfer receipt: the file that was saved", "batch check: a file of payments, checked",
     "batch add: a batch", "batch approve: a batch", "batch reject: a batch",
     "batch run: the lines of a batch", "batch list: batches", "batch show: a batch",
     "batch status: the lines of a batch", "batch report: the lines of a batch", "batch retry: a batch",
     "batch cancel: a batch", "batch resolve: the lines of a batch", "operation run: an operation",
     "operation resume: an operation", "operation cancel: an operation",
     "operation resolve: an operation", "operation list: operations", "operation show: an operation",
     "operation prepare: the bank's own data", "operation verify: an operation",
     "operation sca: an operation", "operation execute: an operation",
     "operation status: the bank's status of an operation"]
  `);
});

it.each([
  ['operation status standingOrder --account 1 --resource x', 'inquiry'],
  ['operation prepare standingOrder --account 1', 'inquiry'],
  ['transfer prepare 1', 'inquiry'],
  // Their data is not what the bank answered.
  ['transfer status tr-1', undefined],
  ['funds check --account 1 --amount 1', undefined],
])('psd2 %s has the kind %s: only an inquiry takes --raw', async (line, kind) => {
  const kinds: unknown[] = [];
  const words = line.split(' ');
  const runInstead = async (_command: unknown, itsKind: unknown) => void kinds.push(itsKind);
  await (await buildProgram('0.0.0', { words, runInstead })).parseAsync(words, { from: 'user' });
  expect(kinds).toEqual([kind]);
});

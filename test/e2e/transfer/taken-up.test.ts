import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { type Environment, keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { stepsOf } from '../support/verbose.ts';

// The checks of a new transfer also apply to one that was killed right after its beginning and is resumed.

const operator = keepRunning(useLoggedIn());
const ORDER = [
  ...['transfer', 'create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '5.00'],
];
const flows = join(operator.config, 'flows', 'sandbox');
const journal = (flow: string) => join(flows, `${flow}.ndjson`);
const eventsOf = (flow: string) => readFileSync(journal(flow), 'utf8').match(/"type":"[a-z-]+"/g) ?? [];

/** A transfer that was killed right after the event that is now the last in its journal. */
async function killedAfter(event: string, args: string[]): Promise<string> {
  const { flow } = await operator.json(shapes.transfer, [...ORDER, ...args]);
  const lines = readFileSync(journal(flow), 'utf8').split('\n');
  const last = lines.findIndex((line) => line.includes(`"type":"${event}"`));
  writeFileSync(journal(flow), `${lines.slice(0, last + 1).join('\n')}\n`);
  // The index has what came later. psd2 makes a new one from the journals.
  rmSync(join(flows, 'index'));
  return flow;
}

const resume = (flow: string, args: string[] = [], env: Environment = {}) =>
  operator.psd2(['transfer', 'resume', flow, '--yes', '--json', '--verbose', ...args], { env });

/** Changes the order of a transfer in its journal. */
function change(flow: string, from: string, to: string): void {
  const before = readFileSync(journal(flow), 'utf8');
  expect(before).toContain(from);
  writeFileSync(journal(flow), before.replace(from, to));
}

/** Gives a transfer another reference, as if it had stopped before it took the reference. */
const giveReference = (flow: string, from: string, to: string) =>
  change(flow, `"reference":"${from}"`, `"reference":"${to}"`);

it('psd2 cancels a transfer whose reference another transfer has taken in the meantime', async () => {
  const { flow: paid } = await operator.json(shapes.transfer, [...ORDER, '--reference', 'INV-1']);
  const flow = await killedAfter('created', ['--reference', 'LATE-1']);
  giveReference(flow, 'LATE-1', 'INV-1');
  const refused = await resume(flow);
  expect(readError(refused)).toMatchObject({
    code: 'duplicate_reference',
    exitCode: 2,
    message: `The reference "INV-1" was used by transfer ${paid}, which is executed`,
  });
  expect(stepsOf(refused)).toEqual([]);
  expect(eventsOf(flow)).toEqual(['"type":"created"', '"type":"cancelled"']);
});

it('psd2 asks the bank about a transfer that may be paid, whichever transfer has its reference', async () => {
  await operator.json(shapes.transfer, [...ORDER, '--reference', 'INV-2']);
  const flow = await killedAfter('execute-sent', ['--reference', 'LATE-2']);
  giveReference(flow, 'LATE-2', 'INV-2');
  const resumed = await resume(flow);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(stepsOf(resumed)).toEqual(['status']);
  expect(eventsOf(flow).at(-1)).toBe('"type":"executed"');
});

import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { bankDate, untilWorkday } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const terminal = terminalOf(operator);
const ORDER = [
  ...['transfer', 'create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '5.00'],
];
/** A customer who never comes back. */
const ABSENT = { PSD2_BROWSER: 'none' };
const eventsOf = (flow: string) =>
  [
    ...readFileSync(join(operator.config, 'flows', 'sandbox', `${flow}.ndjson`), 'utf8').matchAll(
      /"type":"([a-z-]+)"/g,
    ),
  ].map(([, type]) => type);

const standingOrder = () =>
  JSON.stringify({
    amount: { currency: 'EUR', amount: '2.00' },
    frequency: 'WEEKLY',
    firstExecutionDate: bankDate(untilWorkday()),
    ibanBeneficiary: 'DE89370400440532013000',
    beneficiaryName: 'Ada Lovelace',
    description: '',
  });

async function begun(args: string[] = ORDER): Promise<string> {
  // A flow is unfinished when the process that began it has ended.
  const ended = await operator.psd2(['--sca-timeout', '1', ...args, '--json'], {
    env: ABSENT,
    ownProcess: true,
  });
  expect(ended.code, ended.stderr).toBe(6);
  return JSON.parse(ended.stdout).flow;
}

it('an operation can be cancelled too', async () => {
  const verify = [
    'operation',
    'verify',
    'standingOrder',
    '--account',
    '0010482620',
    '--data',
    standingOrder(),
  ];
  const { flow } = await operator.json(shapes.operation, verify);
  const cancelled = await operator.psd2(['operation', 'cancel', flow, '--yes', '--json']);
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ flow, state: 'cancelled' });
  const resumed = await operator.psd2(['operation', 'resume', flow, '--yes', '--json']);
  expect(readError(resumed)).toMatchObject({ code: 'cancelled', exitCode: 2 });
});

it('resume without an id continues the only unfinished transfer; without a terminal it lists several', async () => {
  const [first, second] = [await begun(), await begun()];
  // An unfinished flow of another kind is none of them.
  const consent = await begun(['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts']);
  const several = await operator.psd2(['transfer', 'resume', '--yes', '--json']);
  expect(readError(several)).toMatchObject({
    exitCode: 2,
    message: 'There are 2 unfinished transfers. Name the one to continue',
    hint: `Run:\n  psd2 transfer resume ${second}\n  psd2 transfer resume ${first}`,
  });

  const chosen = await terminal(['transfer', 'resume', '--yes']);
  await chosen.prints(/Which transfer do you want to continue\?/);
  await chosen.write('\u001b[B\r');
  const { code, stdout } = await chosen.ended;
  expect(code, stdout).toBe(0);
  expect(eventsOf(first).at(-1)).toBe('executed');

  const asked = await terminal(['transfer', 'cancel', second]);
  await asked.prints(/Cancel the transfer for good\?/);
  await asked.write('n\r');
  expect((await asked.ended).code).toBe(2);
  expect(eventsOf(second)).not.toContain('cancelled');

  const only = await operator.psd2(['transfer', 'resume', '--yes', '--json']);
  expect(only.code, only.stderr).toBe(0);
  expect(JSON.parse(only.stdout)).toMatchObject({ flow: second, state: 'executed' });
  const none = await operator.psd2(['transfer', 'resume', '--yes', '--json']);
  expect(readError(none)).toMatchObject({
    exitCode: 2,
    message: 'There is no unfinished transfer',
  });
  expect(await operator.psd2(['consent', 'cancel', consent, '--yes'])).toMatchObject({ code: 0 });
});

it('psd2 ends a transfer that never reached the bank, and does not name it again', async () => {
  const env = { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` };
  const failed = await operator.psd2([...ORDER, '--reference', 'NEVER-LEFT', '--json'], { env });
  expect(readError(failed)).toMatchObject({ exitCode: 11, hint: expect.not.stringContaining('resume') });
  const { flow, state } = JSON.parse(failed.stdout);
  expect(state).toBe('cancelled');
  expect(eventsOf(flow).slice(-3)).toEqual(['verify-sent', 'verify-not-begun', 'cancelled']);

  // The state that a process leaves if it is killed before it sends anything.
  const folder = join(operator.config, 'flows', 'sandbox');
  const [created] = readFileSync(join(folder, `${flow}.ndjson`), 'utf8').split('\n');
  writeFileSync(join(folder, `${flow}.ndjson`), `${created}\n`);
  writeFileSync(join(folder, 'open', flow), `${2 ** 22} ${hostname()}`);
  const next = await (await terminal(['transfer', 'list'])).ended;
  expect(stripVTControlCharacters(next.stdout)).not.toContain('Interrupted');
  expect(eventsOf(flow)).toEqual(['created', 'cancelled']);
});

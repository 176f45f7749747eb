import { expect, it } from 'vitest';
import { terminalOf } from '../support/in-terminal.ts';
import { ADDRESS, keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = words`transfer create --json --yes --from ${ACCOUNT} --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 2.00`;
const operator = keepRunning(useLoggedIn());

const terminal = terminalOf(operator);

/** The lines about interrupted flows that a command at a terminal prints. */
async function linesOf(args: string[]): Promise<string[]> {
  const { stdout } = await (await terminal(args)).ended;
  const lines = stdout.split(/\r?\n/);
  const from = lines.findIndex((line) => line.startsWith('Waiting: '));
  if (from < 0) return [];
  const end = lines.findIndex((line, at) => at > from && !line.startsWith('  '));
  return lines.slice(from, end < 0 ? undefined : end);
}
const next = (...args: string[]) => linesOf(['accounts', 'list', ...args]);

it('each command at a terminal names a killed flow until someone resumes it', async () => {
  const psd2 = await operator.start(ORDER, { PSD2_BROWSER: 'none' });
  await psd2.prints(ADDRESS);
  const [{ flow = '' } = {}] = await operator.json(shapes.transfers, ['transfer', 'list']);
  expect(await next(), 'a process still works on it').toEqual([]);

  psd2.kill('SIGKILL');
  await psd2.ended;
  const lines = [
    `Waiting: transfer ${flow} (authorizing). Ask the bank with:`,
    `  psd2 transfer resume ${flow}`,
  ];
  expect(await next()).toEqual(lines);
  expect(await linesOf(['transfer', 'show', flow])).toEqual(lines);
  // They are for a person.
  expect(await next('--quiet')).toEqual([]);
  expect(await next('--json')).toEqual([]);
  expect((await operator.psd2(['accounts', 'list'])).stderr).toBe('');

  const resume = ['transfer', 'resume', flow, '--yes'];
  expect(await linesOf(resume), 'resume does not name its own flow').toEqual([]);
  const shown = await operator.json(shapes.transfer, ['transfer', 'show', flow]);
  expect(shown).toMatchObject({ state: 'executed' });
  expect(await next()).toEqual([]);
});

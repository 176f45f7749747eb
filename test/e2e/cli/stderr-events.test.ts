import { expect, it } from 'vitest';
import * as z from 'zod';
import { type Ended, keepRunning, useLoggedIn, words } from '../support/psd2.ts';

const ORDER = words`transfer create --from 0010482620 --to DE89370400440532013000 --name ${'Ada Lovelace'}
  --amount 3.00 --yes --json --verbose`;
const operator = keepRunning(useLoggedIn());

const said = z.object({ event: z.string() });

/** The kind of each line on stderr; every line must be an object. */
function linesOf({ stderr }: Ended): string[] {
  const lines = stderr === '' ? [] : stderr.replace(/\n$/, '').split('\n');
  return lines.map((line) => said.parse(JSON.parse(line)).event);
}

it('with --json and no terminal on stderr, a transfer reports what it asks the customer, and each call, as objects', async () => {
  const lines = linesOf(await operator.succeeds(ORDER));
  expect(lines.filter((line) => line !== 'call')).toEqual(['flow', 'note', 'open']);
  expect(lines).toContain('call');
});

it('the warnings of Node.js are objects too', async () => {
  const env = { NODE_OPTIONS: '--pending-deprecation --trace-warnings', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const ended = await operator.succeeds(['accounts', 'list', '--json'], { env });
  expect(linesOf(ended).every((line) => line === 'warning')).toBe(true);
});

it('-q prints only the error', async () => {
  expect((await operator.succeeds([...ORDER, '--quiet'])).stderr).toBe('');
  const refused = await operator.psd2([...ORDER, '--name', 'SCA REFUSED', '--quiet']);
  expect(linesOf(refused)).toEqual(['error']);
});

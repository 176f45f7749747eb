import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { ADDRESS, type Ended, keepRunning, useLoggedIn, words } from '../support/psd2.ts';

const ACCOUNT = '0010482620';
const ORDER = words`--from ${ACCOUNT} --to DE89370400440532013000 --name ${'Ada Lovelace'} --amount 3.00`;
const operator = keepRunning(useLoggedIn());

const said = z.object({ event: z.string(), error: z.object({ code: z.string() }).optional() });

/** The kind of each line on stderr, one word per line; every line must be an object. */
function linesOf({ stderr }: Ended): string[] {
  const lines = stderr === '' ? [] : stderr.replace(/\n$/, '').split('\n');
  return lines.map((line) => {
    const { event, error } = said.parse(JSON.parse(line));
    return error ? `${event} ${error.code}` : event;
  });
}

describe('with --json and no terminal on stderr, every line of it is an object', () => {
  it('a transfer reports what it asks the customer, and each call, as objects', async () => {
    const ended = await operator.succeeds(['transfer', 'create', ...ORDER, '--yes', '--json', '--verbose']);
    const lines = linesOf(ended);
    expect(lines.filter((line) => line !== 'call')).toEqual(['flow', 'note', 'open']);
    expect(lines).toContain('call');
  });

  it.each([
    [['transfer', 'create', '--insant'], 'error usage'],
    [['accounts', 'lst'], 'error usage'],
    [['transfer', 'create', ...ORDER, '--amount', 'x'], 'error invalid_amount'],
    [['transfer', 'show', 'tr-none'], 'error flow_not_found'],
    [['accounts', 'list', '--profile', 'none'], 'error no_profile'],
  ])('psd2 %j reports its error as an object', async (args, error) => {
    for (const format of [['--json'], ['-o', 'ndjson']])
      expect(linesOf(await operator.psd2([...args, ...format]))).toEqual([error]);
  });

  it('the last object of an interrupted command is the error, with its flow and the commands that continue', async () => {
    const psd2 = await operator.start(['transfer', 'create', ...ORDER, '--yes', '--json'], {
      PSD2_BROWSER: 'none',
    });
    await psd2.prints(ADDRESS);
    psd2.kill('SIGINT');
    const ended = await psd2.ended;
    expect(linesOf(ended)).toEqual(['flow', 'note', 'open', 'error interrupted']);
    const { flow, next, exitCode } = readError(ended);
    expect({ next, exitCode }).toEqual({ next: [['psd2', 'transfer', 'resume', flow]], exitCode: 130 });
    const [program = '', ...args] = next[0] ?? [];
    expect(program).toBe('psd2');
    await operator.succeeds([...args, '--yes']);
  });

  it('the warnings of Node.js are objects too', async () => {
    const env = { NODE_OPTIONS: '--pending-deprecation --trace-warnings', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const ended = await operator.succeeds(['accounts', 'list', '--json'], { env });
    expect(linesOf(ended).every((line) => line === 'warning')).toBe(true);
  });
});

it('-q prints only the error', async () => {
  const quiet = ['--json', '--quiet', '--verbose'];
  expect((await operator.psd2(['transfer', 'create', ...ORDER, '--yes', ...quiet])).stderr).toBe('');
  const refused = await operator.psd2(words`transfer create ${ORDER} --name ${'SCA REFUSED'} --yes
    ${quiet}`);
  expect(linesOf(refused)).toEqual(['error not_authorised']);
});

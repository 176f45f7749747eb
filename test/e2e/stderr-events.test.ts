import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from './errors.ts';
import { ADDRESS, type Ended, useLoggedIn } from './psd2.ts';

const ACCOUNT = '0010482620';
const ORDER = [
  ...['--from', ACCOUNT, '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '3.00'],
];
const operator = useLoggedIn();

const said = z.union([z.object({ event: z.string() }), z.object({ error: z.object({ code: z.string() }) })]);

/** What was said on stderr, a word for each line; every line has to be an object. */
function linesOf({ stderr }: Ended): string[] {
  const lines = stderr === '' ? [] : stderr.replace(/\n$/, '').split('\n');
  return lines.map((line) => {
    const object = said.parse(JSON.parse(line));
    return 'error' in object ? `error ${object.error.code}` : object.event;
  });
}

describe('with --json and no terminal on stderr, every line of it is an object', () => {
  it('of a transfer that is made, with what it asks the customer and each call', async () => {
    const ended = await operator.psd2(['transfer', 'create', ...ORDER, '--yes', '--json', '--verbose']);
    expect(ended.code, ended.stderr).toBe(0);
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
  ])('of psd2 %j, which fails', async (args, error) => {
    for (const format of [['--json'], ['-o', 'ndjson']])
      expect(linesOf(await operator.psd2([...args, ...format]))).toEqual([error]);
  });

  it('of one that is interrupted: the error is last, with its flow and the commands that go on', async () => {
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
    expect((await operator.psd2([...args, '--yes'])).code).toBe(0);
  });

  it('of warnings that Node gives by itself', async () => {
    const env = { NODE_OPTIONS: '--pending-deprecation --trace-warnings', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env });
    expect(ended.code, ended.stderr).toBe(0);
    expect(linesOf(ended).every((line) => line === 'warning')).toBe(true);
  });
});

it('-q leaves the error alone', async () => {
  const quiet = ['--json', '--quiet', '--verbose'];
  expect((await operator.psd2(['transfer', 'create', ...ORDER, '--yes', ...quiet])).stderr).toBe('');
  const refused = await operator.psd2([
    'transfer',
    'create',
    ...ORDER,
    '--name',
    'SCA REFUSED',
    '--yes',
    ...quiet,
  ]);
  expect(linesOf(refused)).toEqual(['error not_authorised']);
});

import { describe, expect, it } from 'vitest';
import { printBankData } from '../../../src/commands/shared/bank-data.ts';
import { type Check, finding, printChecks, writeFix } from '../../../src/commands/shared/checks.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
/** Opens a command that prints JSON, or tables: in a pipe, or at a terminal of this width. */
const open = (to: 'json' | 'pipe' | number) =>
  openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', {
    format: to === 'json' ? 'json' : 'table',
    ...(typeof to === 'number' && { columns: to }),
  });
async function print(checks: Check[], to: Parameters<typeof open>[0]) {
  const { context, printed } = open(to);
  const ok = await printChecks(context, checks);
  return { ok, printed: printed() };
}
const check = (name: string, ...found: Parameters<typeof finding>): Check => ({ name, ...finding(...found) });
const FIX = { hint: 'Log in with:', next: [['auth', 'login']] };
const FIX_TEXT = 'Log in with: psd2 auth login';
const CHECKS = [
  check('Profile', 'ok', 'bank'),
  check('Login of the customer', 'warn', 'It ends soon', FIX),
  check('Last', 'skip', 'The check before it did not pass'),
];

describe('checks', () => {
  it.each<[string, Check[], boolean]>([
    ['without a failure', CHECKS, true],
    ['of which one failed', [...CHECKS, check('Bank', 'fail', 'It does not answer')], false],
    ['of which the first failed', [check('Bank', 'fail', 'It does not answer'), ...CHECKS], false],
    ['that are none', [], true],
  ])('%s are good or not as a whole', async (_, checks, ok) => {
    const shown = await print(checks, 'json');
    expect(shown.ok).toBe(ok);
    expect(JSON.parse(shown.printed)).toEqual({
      ok,
      checks: checks.map((each) => ({ ...each, fix: each.fix && FIX_TEXT })),
    });
  });

  it('are a line each in a pipe', async () => {
    const { printed } = await print(CHECKS, 'pipe');
    expect(printed.split('\n')).toEqual([
      'ok\tProfile\tbank\t',
      `warn\tLogin of the customer\tIt ends soon\t${FIX_TEXT}`,
      'skip\tLast\tThe check before it did not pass\t',
      '',
    ]);
  });

  it('are in columns at a terminal, and what is long goes on below', async () => {
    const long = check('ä', 'warn', `${'word '.repeat(12)}end`, FIX);
    const { printed } = await print([...CHECKS, long], 80);
    expect(printed.split('\n')).toEqual([
      'ok    Profile                bank',
      'warn  Login of the customer  It ends soon',
      `                             → ${FIX_TEXT}`,
      'skip  Last                   The check before it did not pass',
      'warn  ä                      word word word word word word word word word word',
      '                             word word end',
      `                             → ${FIX_TEXT}`,
      '',
    ]);
  });

  it('have the detail below the name if there is no room beside it', async () => {
    const { printed } = await print(CHECKS, 76);
    expect(printed.split('\n')).toEqual([
      'ok    Profile',
      '      bank',
      'warn  Login of the customer',
      '      It ends soon',
      `      → ${FIX_TEXT}`,
      'skip  Last',
      '      The check before it did not pass',
      '',
    ]);
    // There is just enough room.
    expect((await print(CHECKS, 77)).printed).toContain('ok    Profile                bank\n');
  });

  it('have 80 columns at a terminal that does not say how many it has', async () => {
    const detail = 'x'.repeat(67);
    const shown = async (text: string) => (await print([check('Bank', 'ok', text)], 0)).printed;
    expect(await shown(detail)).toBe(`ok    Bank  ${detail}\n`);
    expect(await shown(`${detail} y`)).toBe(`ok    Bank  ${detail}\n            y\n`);
  });
});

it('what to do about a check repeats the options of the command', () => {
  const repeated = { profile: 'bank' };
  expect(writeFix({ fix: FIX }, { repeated })).toBe('Log in with: psd2 --profile bank auth login');
  expect(writeFix({ fix: null }, { repeated })).toBeNull();
  expect(writeFix({ fix: {} }, { repeated })).toBeNull();
});

it('data of the bank that psd2 does not know is printed unchanged, or a line for each value', () => {
  const data = {
    ...{ name: 'Ada', isPrivate: false, since: 1815, none: null },
    address: { town: 'London', lines: ['one', { two: 2 }] },
    empty: {},
  };
  const [json, pipe] = [open('json'), open('pipe')];
  for (const { context } of [json, pipe]) printBankData(context, data);
  expect(JSON.parse(json.printed())).toEqual(data);
  expect(pipe.printed().split('\n')).toEqual([
    ...['name\tAda', 'isPrivate\tfalse', 'since\t1815', 'none\t'],
    ...['address.town\tLondon', 'address.lines.0\tone', 'address.lines.1.two\t2', ''],
  ]);
});

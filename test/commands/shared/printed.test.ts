import { describe, expect, it } from 'vitest';
import { printBankData } from '../../../src/commands/shared/bank-data.ts';
import { type Check, finding, printChecks, writeFix } from '../../../src/commands/shared/checks.ts';
import { errorData } from '../../../src/commands/shared/error-data.ts';
import { isFirst, wasSaid } from '../../../src/commands/shared/once.ts';
import { drawBar, writeLeft } from '../../../src/commands/shared/progress.ts';
import { sayNext } from '../../../src/commands/shared/say-next.ts';
import { Psd2Error } from '../../../src/errors.ts';
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

describe('an error for programs', () => {
  const NOTHING = {
    ...{ flow: null, httpStatus: null, bankCode: null, requestId: null },
    ...{ tppRequestId: null, transactionId: null },
  };
  const ALL = {
    ...{ flow: 'tr-1', httpStatus: 409, bankCode: 'CONSENT_INVALID', requestId: 'r-1' },
    ...{ tppRequestId: 'r-2', transactionId: 't-1' },
  };
  const next = [['auth', 'login'], ['doctor']];

  it.each<[string, unknown, object]>([
    ['that says nothing more', new Psd2Error('usage', 'No'), { code: 'usage', message: 'No', exitCode: 2 }],
    [
      'that says all',
      new Psd2Error('outcome_unknown', 'No', {
        ...ALL,
        hint: 'Look:',
        next: [['doctor']],
        differs: ['a', 'b'],
      }),
      {
        ...{ code: 'outcome_unknown', message: 'No', exitCode: 9, ...ALL, differs: ['a', 'b'] },
        ...{ hint: 'Look: psd2 --profile bank doctor', next: [['psd2', '--profile', 'bank', 'doctor']] },
      },
    ],
    [
      'with two commands',
      new Psd2Error('usage', 'No', { hint: 'Do:', next }),
      {
        ...{ code: 'usage', message: 'No', exitCode: 2 },
        hint: expect.stringMatching(/^Do:\n {2}.+auth login\n {2}.+doctor$/),
        next: next.map((words) => ['psd2', '--profile', 'bank', ...words]),
      },
    ],
    [
      'of psd2 itself',
      new TypeError('x is undefined'),
      { code: 'bug', message: 'x is undefined', exitCode: 1 },
    ],
    ['that is no error', 'thrown', { code: 'bug', message: 'thrown', exitCode: 1 }],
  ])('%s has all fields', (_, error, data) => {
    expect(errorData(error, { profile: 'bank' })).toEqual({ ...NOTHING, hint: null, next: [], ...data });
  });
});

it('what the bank says is told once by each command, and after 1000 texts again', () => {
  const { terminal } = open('pipe').context;
  const tell = (count: number) =>
    Array.from({ length: count }, (_, index) => isFirst(terminal, `text ${index}`)).filter(Boolean).length;
  expect([wasSaid(terminal, 'text 0'), tell(1), tell(1), wasSaid(terminal, 'text 0')]).toEqual([
    ...[false, 1, 0, true],
  ]);
  expect([wasSaid(terminal, 'text 1'), wasSaid(open('pipe').context.terminal, 'text 0')]).toEqual([
    ...[false, false],
  ]);
  // Those of the first thousand are all known, and the next text forgets them.
  expect([tell(1000), tell(1000), tell(1001), tell(1)]).toEqual([999, 0, 1, 1]);
});

it.each([
  [0, 0, '[====================]'],
  [3, 0, '[>                   ]'],
  [40, 1, '[>                   ]'],
  [40, 2, '[=>                  ]'],
  [3, 1, '[======>             ]'],
  [3, 2, '[=============>      ]'],
  [40, 39, '[===================>]'],
  [3, 3, '[====================]'],
])('of %i, %i are done: %s', (all, done, bar) => {
  expect(drawBar(all, done)).toBe(bar);
});

it.each([
  [2, 0, 1000, ''],
  [2, 2, 1000, ', 0 s left'],
  [2, 1, 1, ', 1 s left'],
  [3, 1, 1000, ', 2 s left'],
  [2, 1, 89_000, ', 89 s left'],
  [2, 1, 89_001, ', 90 s left'],
  [2, 1, 90_000, ', 2 min left'],
  [4, 1, 50_000, ', 3 min left'],
  [2, 1, 5_399_000, ', 90 min left'],
  [2, 1, 5_400_000, ', 1.5 h left'],
  [11, 1, 3_600_000, ', 10.0 h left'],
])('of %i, %i are done after %i ms%s', (all, done, milliseconds, text) => {
  expect(writeLeft(all, done, milliseconds)).toBe(text);
});

it('a person reads what to run next, a line for each command, and a program reads nothing of it', () => {
  const commands = [
    ['accounts', 'list'],
    ['consent', 'show', 'co-1'],
  ];
  const says = (to: Parameters<typeof open>[0], next: string[][]) => {
    const { context, said } = open(to);
    sayNext(context, next, { profile: 'bank' });
    return said();
  };
  expect(says(80, commands)).toBe(
    'Next:\n  psd2 --profile bank accounts list\n  psd2 --profile bank consent show co-1\n',
  );
  expect([says(80, []), says('pipe', commands), says('json', commands)]).toEqual(['', '', '']);
});

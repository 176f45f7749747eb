import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from '../../src/cli/program.ts';
import { storeFolder } from '../../src/store/machine/folder.ts';
import { openCommand } from '../commands/command.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();
let printed = '';
let said = '';

// Other test files load this module too, so it is reloaded.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
vi.mock(import('../../src/cli/print-at-once.ts'), async (original) => ({
  ...(await original()),
  printAtOnce: (text: string) => {
    printed += text;
  },
  columnsOfStdout: () => undefined,
}));

beforeEach(() => {
  [printed, said] = ['', ''];
  const { argv, exitCode } = process;
  vi.stubEnv('PSD2_CONFIG_DIR', newConfigFolder(temporary).root);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(
    (signal) => [signal, process.listeners(signal)] as const,
  );
  vi.spyOn(process.stderr, 'on').mockReturnThis();
  onTestFinished(() => {
    process.argv = argv;
    process.exitCode = exitCode;
    for (const [signal, before] of listeners)
      for (const listener of process.listeners(signal))
        if (!before.includes(listener)) process.off(signal, listener);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });
});

/** Runs psd2 with these arguments. */
async function psd2(...words: string[]) {
  process.exitCode = undefined;
  process.argv = ['node', 'psd2', ...words];
  await parse('1.2.3');
  return { printed, said, exitCode: process.exitCode };
}

describe('wrong use', () => {
  const HELP = 'Add --help to see how the command is used.';
  const LIST = 'List the commands with: psd2 --help';
  it.each([
    [['transfr'], "Unknown command 'transfr'", 'Did you mean transfer?'],
    [['qqqqqqqq'], "Unknown command 'qqqqqqqq'", HELP],
    [['login'], "Unknown command 'login'", 'A customer logs in with: psd2 auth login'],
    [['logout'], "Unknown command 'logout'", 'A customer logs out with: psd2 auth logout'],
    [
      ['whoami'],
      "Unknown command 'whoami'",
      'See who works here:\n    Whose login psd2 uses:  psd2 auth status\n    What needs a person:    psd2 status',
    ],
    [['version'], "Unknown command 'version'", 'Print the version with: psd2 --version'],
    [['--profile', 'x', 'pay'], "Unknown command 'pay'", 'Make a payment with: psd2 transfer create --help'],
    // A word after a command is none of its own.
    [['accounts', 'version'], "Unknown command 'version'", HELP],
    [['toString'], "Unknown command 'toString'", HELP],
    [['auth', 'logn'], "Unknown command 'logn'", 'Did you mean login?'],
    [['auth', 'qqqqqqqq', '--help'], "Unknown command 'qqqqqqqq'", LIST],
    [['auth', 'logn', '--help'], "Unknown command 'logn'", 'Did you mean login?'],
    [['transfer', 'creat'], "Unknown command 'creat'", 'Did you mean create?'],
    [['transfer', 'qqqqqqqq'], "Unknown command 'qqqqqqqq'", LIST],
    [['help', 'exit-code'], "There is no help on 'exit-code'", 'Did you mean exit-codes?'],
    [['help', 'auth', 'logn'], "There is no help on 'auth logn'", 'Did you mean login?'],
    [['help', 'auth', 'privacy'], "There is no help on 'auth privacy'", LIST],
    [['help', 'options', 'all'], "There is no help on 'options all'", 'Did you mean options?'],
    [['accounts', 'list', '--josn'], "Unknown option '--josn'", 'Did you mean --json?'],
    [['accounts', 'list', '--qqqqqqqq'], "Unknown option '--qqqqqqqq'", HELP],
    [['accounts', 'balance'], "Missing required argument 'account'", HELP],
    [['accounts', 'report', 'x'], 'The option --file <path> is missing', HELP],
    [['accounts', 'list', 'x'], "Too many arguments for 'list'. Expected 0 arguments but got 1", HELP],
    [
      ['--grant', 'password', 'accounts', 'list'],
      "Option '--grant <type>' argument 'password' is invalid. Allowed choices are authorization_code, client_credentials",
      HELP,
    ],
    [
      ['--grant', 'authorization-code', 'accounts', 'list'],
      "Option '--grant <type>' argument 'authorization-code' is invalid. Allowed choices are authorization_code, client_credentials",
      'Did you mean authorization_code?',
    ],
    // The operator's own words may contain line breaks.
    [['a\n(b)'], "Unknown command 'a (b)'", HELP],
  ])('psd2 %j is wrong use, and says what to do', async (words, message, hint) => {
    expect(await psd2(...words)).toEqual({
      printed: '',
      said: `psd2: ${message}.\n  ${hint}\n`,
      exitCode: 2,
    });
  });

  it('for a program, the error is one line of JSON', async () => {
    const { said: line, ...rest } = await psd2('--json', 'whoami');
    expect(rest).toEqual({ printed: '', exitCode: 2 });
    expect(line).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(line)).toEqual({
      event: 'error',
      error: {
        code: 'usage',
        message: "Unknown command 'whoami'",
        exitCode: 2,
        hint: 'See who works here:\n  Whose login psd2 uses:  psd2 auth status\n  What needs a person:    psd2 status',
        next: [
          ['psd2', 'auth', 'status'],
          ['psd2', 'status'],
        ],
        ...{ flow: null, httpStatus: null, bankCode: null, requestId: null },
        ...{ tppRequestId: null, transactionId: null },
      },
    });
  });

  it('a group without a command shows its help on stderr', async () => {
    const missing = 'psd2: A command is missing.\n  Add --help to see all commands.\n';
    const { said: text, ...rest } = await psd2('auth');
    expect(rest).toEqual({ printed: '', exitCode: 2 });
    expect(text).toMatch(/^Usage: psd2 auth \[options\] \[command\]\n/);
    expect(text.endsWith(`\n${missing}`)).toBe(true);
    said = '';
    expect(JSON.parse((await psd2('-o', 'ndjson', 'auth')).said)).toMatchObject({
      error: { code: 'usage', message: 'A command is missing', hint: 'Add --help to see all commands.' },
    });
  });
});

describe('help', () => {
  it('psd2 alone shows its help, and so do psd2 --help and psd2 help', async () => {
    const alone = await psd2();
    expect(alone).toEqual({
      printed: expect.stringMatching(/^Usage: psd2 \[options\] \[command\]\n/),
      said: '',
      exitCode: undefined,
    });
    for (const words of [['--help'], ['help']]) {
      printed = '';
      expect(await psd2(...words)).toEqual(alone);
    }
  });

  it('psd2 --version prints the version', async () => {
    expect(await psd2('--version')).toEqual({ printed: '1.2.3\n', said: '', exitCode: undefined });
    printed = '';
    expect(await psd2('-V')).toEqual({ printed: '1.2.3\n', said: '', exitCode: undefined });
  });

  it('psd2 help <command> shows what <command> --help shows', async () => {
    for (const words of [['auth'], ['transfer'], ['auth', 'login']]) {
      printed = '';
      const help = await psd2('help', ...words);
      printed = '';
      expect(help).toEqual(await psd2(...words, '--help'));
      expect(help.printed).toMatch(new RegExp(`^Usage: psd2 ${words.join(' ')} `));
      expect(help.printed).toMatch(
        /For the global options \(--profile, --json, --yes, ...\), see psd2 help options\.\n$/,
      );
    }
  });

  it('psd2 help <topic> shows the topic, with the folders of this machine', async () => {
    const { printed: text, ...rest } = await psd2('help', 'files');
    expect(rest).toEqual({ said: '', exitCode: undefined });
    expect(text).toMatch(/^What psd2 keeps on this machine, and where\n\n {2}/);
    expect(text).toContain(`  ${process.env.PSD2_CONFIG_DIR} `);
    expect(text).toMatch(/[^\n]\n$/);
  });
});

it.each<[words: string[], env: Record<string, string>, current: string | undefined, shows: boolean]>([
  // Without a profile, the help shows all.
  [[], {}, undefined, true],
  [['--profile', 'nobody'], {}, 'linked', true],
  [['--profile', 'steps'], {}, undefined, true],
  [['--profile', 'linked'], {}, undefined, false],
  [['--profile=linked'], {}, undefined, false],
  [[], { PSD2_PROFILE: 'linked' }, undefined, false],
  [[], {}, 'linked', false],
  // The option counts most, then the environment, then what was chosen.
  [['--profile', 'steps'], { PSD2_PROFILE: 'linked' }, 'linked', true],
  [['--profile', 'linked'], { PSD2_PROFILE: 'steps' }, 'steps', false],
  [['--profile=linked'], { PSD2_PROFILE: 'steps' }, 'steps', false],
  [[], { PSD2_PROFILE: 'steps' }, 'linked', true],
  [[], { PSD2_PROFILE: 'linked' }, 'steps', false],
  [[], { PSD2_PROFILE: '' }, 'linked', false],
  // A bank file in the environment is that of any profile.
  [[], { PSD2_BANK: 'adorsys' }, undefined, false],
  [['--profile', 'steps'], { PSD2_BANK: 'adorsys' }, undefined, false],
  [['--profile', 'linked'], { PSD2_BANK: '' }, undefined, false],
  [['--profile', 'linked'], { PSD2_BANK: '/nowhere.json' }, undefined, true],
])(
  'with %j, %j and the profile %s in use, help shows what only other banks have: %s',
  async (words, env, current, shows) => {
    const { context } = openCommand(storeFolder(process.env.PSD2_CONFIG_DIR), '2026-11-21T12:00:00Z');
    const { profiles } = context;
    await profiles.write('steps', { baseUrl: 'https://psd2.bank.example' });
    await profiles.write('linked', { baseUrl: 'https://xs2a.bank.example', bank: 'adorsys' });
    if (current !== undefined) await profiles.use(current);
    for (const name of ['PSD2_PROFILE', 'PSD2_BANK']) vi.stubEnv(name, undefined);
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const { printed: help } = await psd2(...words, '--help');
    expect(/^ {2}operation /m.test(help)).toBe(shows);
    expect(help).toMatch(/^ {2}transfer /m);
  },
);

it.each([
  [
    'the profile and the customer of the options',
    ['--profile', 'blue', '--customer', '7'],
    {},
    ' of customer 7',
    '--profile blue --customer 7 ',
  ],
  ['not the profile of the environment', [], { PSD2_PROFILE: 'blue' }, '', ''],
  [
    'the customer of the environment',
    [],
    { PSD2_PROFILE: 'blue', PSD2_CUSTOMER: '7' },
    ' of customer 7',
    '--customer 7 ',
  ],
])('a command that is advised repeats %s', async (_, words, env, whose, repeated) => {
  const { context } = openCommand(storeFolder(process.env.PSD2_CONFIG_DIR), '2026-11-21T12:00:00Z');
  await context.profiles.write('blue', { baseUrl: 'https://psd2.bank.example' });
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(await psd2(...words, 'transfer', 'resume')).toEqual({
    printed: '',
    said: `psd2: There is no unfinished transfer${whose}.\n  See all of them with: psd2 ${repeated}transfer list\n`,
    exitCode: 2,
  });
});

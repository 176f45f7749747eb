import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Surroundings } from '../../../src/commands/context.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { ANNA, NOW, payerWith } from '../payer-here.ts';
import { IN_MEMORY, smokeAt } from './smoke-here.ts';

// How the steps follow each other, at a bank in memory: what is left out, tried again, known, slow, stopped.

const temporary = temporaryFolder();
const DAY_MS = 86_400_000;
const EUR = { amount: decimalOf(1250), currency: 'EUR' };
const NO = new Psd2Error('bank_refused', 'No');
const PAGE = 'transactions: 0 on the first page';
const CONSENT = 'skip consent: psd2 has no record of a consent that is in force';
const END = 'pass clean-up: nothing to end';

/** An operator at a bank with a balance. */
async function operatorAt(environment?: string) {
  const own = environment === undefined ? {} : { PSD2_ENVIRONMENT: environment };
  const { bank, payer } = await payerWith(temporary, {}, own);
  bank.balances = { accountBalance: EUR };
  return { bank, payer };
}

/** Uses up today's reads of the list, or of an account, each in a command of its own. */
async function useUp(payer: Awaited<ReturnType<typeof operatorAt>>['payer'], account: string | null) {
  for (let read = 0; read < 4; read += 1) await (await payer.open().context.reads()).take(ANNA, account);
}

/** A clock that moves when the test moves it. */
function movingClock() {
  let at = Date.parse(NOW);
  const pass = (milliseconds: number) => {
    at += milliseconds;
  };
  const changes = ({ world }: Surroundings) => ({ world: { ...world, now: () => new Date(at) } });
  return { changes, pass };
}

it.each<[what: string, failures: number, options: string[], exitCode: number, line: string, calls: number]>([
  ['once', 1, [], 7, 'fail balance: No (bank_refused, exit 7)', 1],
  [
    'once, and may be tried again',
    1,
    ['--retry', '1'],
    0,
    'warn balance [again,flaky]: passed only when it was tried again',
    2,
  ],
  ['twice, and may be tried once', 2, ['--retry', '1'], 7, 'fail balance: No (bank_refused, exit 7)', 2],
  [
    'twice, and may be tried twice',
    2,
    ['--retry', '2'],
    0,
    'warn balance [again,flaky]: passed only when it was tried again',
    3,
  ],
  ['never', 0, ['--retry', '2'], 0, 'pass balance', 1],
  [
    'once, which counts',
    1,
    ['--retry', '1', '--fail-on', 'flaky'],
    12,
    'warn balance [again,flaky]: passed only when it was tried again',
    2,
  ],
  ['once, as known', 1, ['--known', 'balance'], 0, 'known balance: No (bank_refused, exit 7)', 1],
  [
    'never, although known',
    0,
    ['--known', 'balance'],
    0,
    'warn balance [known_passes]: it passes, although --known names it',
    1,
  ],
  [
    'once, where another is known',
    1,
    ['--known', 'accounts'],
    7,
    'fail balance: No (bank_refused, exit 7)',
    1,
  ],
])('a reading that fails %s', async (_, failures, options, exitCode, line, calls) => {
  const { bank, payer } = await operatorAt();
  bank.meets('balance', ...Array.from({ length: failures }, () => NO));
  const smoked = await smokeAt(payer, options);
  expect([smoked.exitCode, smoked.lines.find((each) => / balance/.test(each))]).toEqual([exitCode, line]);
  expect(bank.calls.filter((call) => call.startsWith('balance'))).toHaveLength(calls);
  // The others run, whatever became of it.
  expect(smoked.lines).toContain(
    options.includes('accounts')
      ? 'warn accounts [known_passes]: it passes, although --known names it; 1'
      : 'pass accounts: 1',
  );
  expect(smoked.lines).toContain(`pass ${PAGE}`);
});

it.each<[what: string, failures: number, options: string[], shapes: string]>([
  ['passes', 0, [], 'skip shapes: no answer was read'],
  ['fails', 1, [], 'skip shapes: after balance'],
  ['fails as known', 1, ['--known', 'balance'], 'skip shapes: after balance'],
  ['passes when it is tried again', 1, ['--retry', '1'], 'skip shapes: no answer was read'],
  ['passes, although it is known', 0, ['--known', 'balance'], 'skip shapes: no answer was read'],
])('the forms of the answers are compared or not if a reading %s', async (_, failures, options, shapes) => {
  const { bank, payer } = await operatorAt();
  bank.meets('balance', ...Array.from({ length: failures }, () => NO));
  expect((await smokeAt(payer, options)).lines.at(-2)).toBe(shapes);
});

it('the result of a run is a warning for what is known, flaky or slow, and a failure for each exit code but 0', async () => {
  const result = async (failures: number, ...options: string[]) => {
    const { bank, payer } = await operatorAt();
    bank.meets('balance', ...Array.from({ length: failures }, () => NO));
    const { ran } = await smokeAt(payer, options);
    return [ran.data.result, ran.data.exitCode, ran.data.lastSuccessAt];
  };
  expect(await result(0)).toEqual(['pass', 0, 'NOW']);
  expect(await result(1, '--known', 'balance')).toEqual(['warn', 0, 'NOW']);
  expect(await result(1, '--retry', '1')).toEqual(['warn', 0, 'NOW']);
  expect(await result(1)).toEqual(['fail', 7, null]);
});

it.each<[milliseconds: number, options: string[], exitCode: number, line: string]>([
  [2_000, [], 0, 'pass balance'],
  [2_001, [], 0, 'warn balance [slow]: slower than 2 s'],
  [2_001, ['--fail-on', 'slow'], 12, 'warn balance [slow]: slower than 2 s'],
  [2_001, ['--slow', '3s'], 0, 'pass balance'],
  [2_001, ['--slow', '3s', '--max', '2s'], 12, 'pass balance'],
])('a balance that takes %i ms, with %j', async (milliseconds, options, exitCode, line) => {
  const { bank, payer } = await operatorAt();
  const clock = movingClock();
  bank.meanwhile = async (call) => (call.startsWith('balance') ? clock.pass(milliseconds) : undefined);
  const { lines, ran, exitCode: code } = await smokeAt(payer, options, { changes: clock.changes });
  expect([code, lines[3]]).toEqual([exitCode, line]);
  expect(ran.data.milliseconds).toBe(milliseconds);
  const [balance] = Object.values(ran.data.steps ?? {}).filter(({ id }) => id === ('balance' as unknown));
  expect(balance?.milliseconds).toBe(milliseconds);
});

it('a step that fails is no slow one', async () => {
  const { bank, payer } = await operatorAt();
  const clock = movingClock();
  bank.meanwhile = async () => clock.pass(5_000);
  bank.meets('balance', NO);
  const { lines } = await smokeAt(payer, [], { changes: clock.changes });
  expect(lines[3]).toBe('fail balance: No (bank_refused, exit 7)');
});

const USED = "today's reads without the customer are used up";
const LATER = `(not_read, exit 12)`;
it('reads at most four times a day in production, and then says that nobody looked', async () => {
  const { bank, payer } = await operatorAt('production');
  await useUp(payer, null);
  const { exitCode, lines, end } = await smokeAt(payer, []);
  expect([exitCode, lines]).toEqual([
    12,
    [
      ...['pass login', CONSENT],
      `fail accounts: Not read: ${USED} ${LATER}`,
      ...['skip balance: after accounts', 'skip transactions: after accounts', 'skip shapes: after accounts'],
      END,
    ],
  ]);
  expect(end).toEqual([
    `exit 12, not_read: Not read: ${USED}`,
    'Pass --psu-ip <address> if the customer is present, run it on another day, or give it a consent of its own.',
  ]);
  expect(bank.calls).toEqual([]);
  await useUp(payer, '0000012345');
  // Without the list, the last reading says it.
  const only = async (steps: string) =>
    (await smokeAt(payer, ['--steps', steps, '--account', '0000012345'])).end;
  expect([await only('transactions'), await only('balance')]).toEqual([end, end]);
  // Nor are both of them skipped for another reason.
  expect(await only('balance,transactions')).toEqual([`${end[0]} (and 1 more)`, end[1]]);
});

it.each<[used: 'the list' | 'the account', step: string, isRead: boolean]>([
  ['the list', 'accounts', false],
  ['the list', 'balance', true],
  ['the list', 'transactions', true],
  ['the account', 'accounts', true],
  ['the account', 'balance', false],
  ['the account', 'transactions', false],
])('where the reads of %s are used up, the step %s reads: %s', async (used, step, isRead) => {
  const { bank, payer } = await operatorAt('production');
  await useUp(payer, used === 'the list' ? null : '0000012345');
  const { exitCode } = await smokeAt(payer, ['--steps', step, '--account', '0000012345']);
  expect([exitCode, bank.calls.length]).toEqual(isRead ? [0, 1] : [12, 0]);
});

it('a reading that was left out beside one that was read is a warning', async () => {
  const { payer } = await operatorAt('production');
  await useUp(payer, '0000012345');
  const { exitCode, lines, ran } = await smokeAt(payer, []);
  const left = (step: string) => `skip ${step} [not_read]: not read: ${USED}`;
  expect([exitCode, ran.data.result, lines.slice(2)]).toEqual([
    ...[0, 'warn'],
    ['pass accounts: 1', left('balance'), left('transactions'), 'skip shapes: no answer was read', END],
  ]);
});

it('the profile of a sandbox may read as often as it likes', async () => {
  const { payer } = await operatorAt('sandbox');
  for (const account of [null, '0000012345']) await useUp(payer, account);
  expect((await smokeAt(payer, [])).exitCode).toBe(0);
});

it.each<[what: string, options: string[], how: object, exitCode: number, lines: string[]]>([
  [
    'the customer is not logged in',
    [],
    { globals: { customer: '7777777' } },
    0,
    [
      'skip login [skipped]: customer 7777777 is not logged in',
      ...['consent', 'accounts', 'balance', 'transactions', 'shapes'].map((id) => `skip ${id}: after login`),
    ],
  ],
  [
    'the customer who is named is not logged in',
    [],
    { globals: { customer: '7777777' }, given: ['customer'] },
    4,
    [
      'fail login: Customer 7777777 is not logged in (not_logged_in, exit 4)',
      ...['consent', 'accounts', 'balance', 'transactions', 'shapes'].map((id) => `skip ${id}: after login`),
    ],
  ],
  [
    'the customer is not logged in, and the steps are named',
    ['--steps', 'login,accounts,balance'],
    { globals: { customer: '7777777' } },
    12,
    [
      'fail login: Asked for with --steps, and did not run: customer 7777777 is not logged in (skipped, exit 12)',
      'fail accounts: Asked for with --steps, and did not run: after login (skipped, exit 12)',
      'fail balance: Asked for with --steps, and did not run: after login (skipped, exit 12)',
    ],
  ],
  [
    'the customer is not logged in, and a range of steps is named',
    ['--steps', 'login..accounts'],
    { globals: { customer: '7777777' } },
    12,
    ['login', 'consent', 'accounts'].map(
      (id) =>
        `fail ${id}: Asked for with --steps, and did not run: ${id === 'login' ? 'customer 7777777 is not logged in' : 'after login'} (skipped, exit 12)`,
    ),
  ],
  [
    'no login is wanted',
    ['--no-login', '--fail-on', 'skip'],
    {},
    0,
    [
      ...['login', 'consent', 'accounts', 'balance', 'transactions'].map(
        (id) => `skip ${id}: no login is wanted (--no-login)`,
      ),
      'skip shapes: no answer was read',
    ],
  ],
  [
    'shapes are off',
    ['--shapes', 'off', '--steps', 'accounts..shapes'],
    {},
    0,
    ['pass accounts: 1', 'pass balance', `pass ${PAGE}`],
  ],
  [
    'a payment is asked for, and the customer is not logged in',
    ['--initiate', '--to', 'DE89370400440532013000', '--name', 'Ada'],
    { globals: { customer: '7777777' } },
    12,
    [
      'skip login [skipped]: customer 7777777 is not logged in',
      ...['consent', 'accounts', 'balance', 'transactions'].map((id) => `skip ${id}: after login`),
      'fail initiate: Asked for with --initiate, and did not run: after login (skipped, exit 12)',
      'skip shapes: after login',
    ],
  ],
])('if %s', async (_, options, how, exitCode, lines) => {
  const { payer } = await operatorAt();
  const smoked = await smokeAt(payer, options, how);
  expect([smoked.exitCode, smoked.lines]).toEqual([exitCode, [...lines, END]]);
});

it.each<[at: string, options: string[], stopped: string[]]>([
  ['accounts', [], ['skip balance: interrupted', 'skip transactions: interrupted']],
  ['balance', ['--retry', '3'], ['skip transactions: interrupted']],
])(
  'Ctrl-C during the step %s leaves out the others, cleans up, and ends with 130',
  async (at, options, stopped) => {
    const { bank, payer } = await operatorAt();
    const gentle = new AbortController();
    bank.meanwhile = async (call) => {
      if (!call.startsWith(at)) return;
      gentle.abort();
      throw new Psd2Error('interrupted', 'Interrupted');
    };
    const { exitCode, lines, end } = await smokeAt(payer, options, {
      changes: () => ({ stopGently: () => gentle.signal }),
    });
    expect([exitCode, end]).toEqual([130, ['exit 130, interrupted: Interrupted. The clean-up has run']]);
    expect(lines).toContain(`fail ${at}: Interrupted (interrupted, exit 130)`);
    const others = ['funds', 'initiate', 'pay', 'shapes'].map((id) => `skip ${id}: interrupted`);
    expect(lines.slice(-5 - stopped.length)).toEqual([...stopped, ...others, END]);
    expect(bank.calls.filter((call) => call.startsWith(at))).toHaveLength(1);
  },
);

it('a fault of psd2 fails its step as a bug, and is thrown as it is', async () => {
  const { bank, payer } = await operatorAt();
  const bug = new TypeError('A bug');
  bank.meanwhile = (call) => (call.startsWith('balance') ? Promise.reject(bug) : Promise.resolve());
  await expect(smokeAt(payer, [])).rejects.toBe(bug);
  const { data } = await payer.run(['smoke', 'show', '--json']);
  expect(Object.values(data.steps ?? {})[7]).toMatchObject({
    status: 'fail',
    error: { code: 'bug', exitCode: 1 },
  });
  expect(data.exitCode).toBe(1);
});

it('shows a run again by its id, in lines or as a report, with its exit code only for a monitoring plugin', async () => {
  const { bank, payer } = await operatorAt();
  bank.meets('balance', new Psd2Error('bank_refused', 'No', { tppRequestId: 'q-1' }));
  const clock = movingClock();
  const first = await payer.run(['smoke', ...IN_MEMORY], { format: 'table', changes: clock.changes });
  clock.pass(DAY_MS);
  await payer.run(['smoke', ...IN_MEMORY], { format: 'table', changes: clock.changes });
  const run = /run (sm-\w+)/.exec(first.printed)?.[1] ?? '';
  const shown = await payer.run(['smoke', 'show', run], { format: 'table' });
  expect(shown.failure).toBeNull();
  expect(first.printed).toBe(shown.printed.replace('The bank refused the request', 'No'));
  expect(shown.printed.split('\n').map((line) => line.trimEnd())).toEqual([
    `${'env  here'.padEnd(64)}  run ${run}`,
    ...['settings', 'certificates', 'connection', 'signature'].map(
      (id) => `  - ${id.padEnd(23)}  not chosen`,
    ),
    '  ✓ login',
    `  - consent                  psd2 has no record of a consent that is in force`,
    '  ✓ accounts                 1',
    `  ✗ balance                  The bank refused the request (exit 7)  psd2 log --run ${run}`,
    '  ✓ transactions             0 on the first page',
    '  - funds                    not asked for (--funds)',
    '  - initiate                 not asked for (--initiate)',
    '  - pay                      not asked for (--pay)',
    '  - shapes                   after balance',
    '  ✓ clean-up                 nothing to end',
    '4 passed, 1 failed, 9 skipped; 0.0 s, 0 calls',
    '',
  ]);
  const last = await payer.run(['smoke', 'show'], { format: 'table' });
  expect(last.printed).toContain('  ✓ balance');
  const { data } = await payer.run(['smoke', 'show', run, '--json']);
  expect(data).toMatchObject({ run, exitCode: 7, next: [['psd2', 'log', '--run', run]] });
  const file = join(payer.folder.root, 'r.tap');
  await payer.run(['smoke', 'show', run, '--report', file]);
  expect(readFileSync(file, 'utf8')).toContain('not ok 8 - balance');
  const nagios = await payer.run(['smoke', 'show', run, '--report', `nagios=${file}`], { format: 'table' });
  expect([process.exitCode, nagios.said]).toEqual([
    2,
    'Exit code 2 for the monitoring plugin, instead of 7.\n',
  ]);
  process.exitCode = undefined;
  const ascii = await payer.run(['smoke', 'show', run], { format: 'table', env: { LC_ALL: 'C' } });
  expect(ascii.printed).toMatch(/\n {2}ok {3}login\n.*\n.*\n {2}FAIL balance/);
});

it.each<[env: Record<string, string>, isAscii: boolean]>([
  [{ LC_ALL: 'POSIX' }, true],
  [{ LC_ALL: '', LC_CTYPE: 'C', LANG: 'de_DE.UTF-8' }, true],
  [{ LANG: 'C' }, true],
  [{ LC_ALL: 'en_US.UTF-8', LANG: 'C' }, false],
  [{ LANG: 'C.UTF-8' }, false],
  [{}, false],
])('in the locale %j, the signs are ASCII: %s', async (env, isAscii) => {
  const { payer } = await operatorAt();
  const ran = await payer.run(['smoke', '--steps', 'login'], { format: 'table', env });
  expect(ran.printed).toContain(isAscii ? '  ok   login' : '  ✓ login');
});

it('a step that has failed leads to its calls only if the bank was asked', async () => {
  const { bank, payer } = await operatorAt();
  const failed = async (tppRequestId?: string) => {
    bank.meets('balance', new Psd2Error('bank_refused', 'No', tppRequestId ? { tppRequestId } : {}));
    const ran = await payer.run(['smoke', ...IN_MEMORY], { format: 'table' });
    const shown = await payer.run(['smoke', 'show'], { format: 'table' });
    return [ran, shown].map(({ printed }) => / {2}✗ balance .*/.exec(printed)?.[0].replace(/sm-\w+/, 'sm-1'));
  };
  const said = '(exit 7)';
  expect(await failed()).toEqual(
    ['No', 'The bank refused the request'].map((text) => expect.stringMatching(`${text} \\(exit 7\\)$`)),
  );
  expect(await failed('q-1')).toEqual(
    ['No', 'The bank refused the request'].map((text) =>
      expect.stringContaining(`${text} ${said}  psd2 log --run sm-1`),
    ),
  );
});

it('the last success stays what it was after failures, and each run is one of its own', async () => {
  const { bank, payer } = await operatorAt();
  const clock = movingClock();
  const run = async (...fates: Psd2Error[]) => {
    bank.meets('balance', ...fates);
    const { startedAt, lastSuccessAt } = (await smokeAt(payer, [], { changes: clock.changes })).ran.data;
    clock.pass(60_000);
    return { startedAt, lastSuccessAt };
  };
  expect((await run(NO)).lastSuccessAt).toBeNull();
  const second = await run();
  expect(second.lastSuccessAt).toBe(second.startedAt);
  expect((await run(NO)).lastSuccessAt).toBe(second.startedAt);
  // The run before it was no success either.
  expect((await run(NO)).lastSuccessAt).toBe(second.startedAt);
  const last = await run();
  expect([last.lastSuccessAt, last.startedAt]).toEqual([last.startedAt, expect.not.stringMatching(/NOW/)]);
  expect(last.startedAt).not.toBe(second.startedAt);
});

it('a report that cannot be written is exit code 3, unless a step says more', async () => {
  const { bank, payer } = await operatorAt();
  const nowhere = join(payer.folder.root, 'none', 'r.xml');
  const words = ['--report', nowhere];
  expect((await smokeAt(payer, words)).exitCode).toBe(3);
  expect((await smokeAt(payer, [...words, '--funds', '--account', 'x'])).exitCode).not.toBe(0);
  bank.meets('balance', NO);
  const { exitCode, ran } = await smokeAt(payer, words);
  expect([exitCode, ran.said]).toEqual([7, expect.stringContaining(nowhere)]);
  // What was not done counts less.
  const undone = await smokeAt(payer, [...words, '--steps', 'balance']);
  expect(undone.exitCode).toBe(3);
});

it('the exit code of a monitoring plugin is told only if it is another', async () => {
  const { payer } = await operatorAt();
  const file = join(payer.folder.root, 'nagios');
  const ran = await payer.run(['smoke', ...IN_MEMORY, '--report', `nagios=${file}`], { format: 'table' });
  expect([process.exitCode, ran.said, ran.failure]).toEqual([0, '', null]);
  process.exitCode = undefined;
});

it('says before a run what it would leave out, and asks no bank', async () => {
  const { bank, payer } = await operatorAt();
  const foreseen = async (words: string[], how = {}) => {
    const { data } = await payer.run(['smoke', '--dry-run', '--json', ...words], how);
    return Object.values(data).flatMap(({ step, runs }) =>
      String(runs) === 'yes' ? [] : [`${step}: ${runs}`],
    );
  };
  const asked = ['funds', 'initiate', 'pay'].map((id) => `${id}: not asked for (--${id})`);
  const nobody = { globals: { customer: '7777777' } };
  const after = ['consent', 'accounts', 'balance', 'transactions'].map((id) => `${id}: after login`);
  expect(await foreseen([])).toEqual(asked);
  expect(await foreseen(['--steps', 'login..accounts'])).toHaveLength(10);
  expect(await foreseen([], nobody)).toEqual([
    'login: customer 7777777 is not logged in',
    ...after,
    ...asked,
    'shapes: after login',
  ]);
  expect((await foreseen(['--fail-on', 'skip'], nobody))[0]).toBe(
    'login: fails: Customer 7777777 is not logged in',
  );
  expect(await foreseen(['--login'], nobody)).toEqual(asked);
  const payee = ['--to', 'DE89370400440532013000', '--name', 'Ada'];
  expect(await foreseen(['--funds', '--initiate', ...payee])).toEqual([asked[2]]);
  Object.assign(bank.interface, {
    has: new Set(),
    refuseGivingUp: () => {
      throw new Psd2Error('usage', 'It may execute it');
    },
  });
  expect(await foreseen(['--funds', '--initiate', ...payee])).toEqual([
    ...['funds: this bank has no confirmation of funds', 'initiate: fails: It may execute it', asked[2]],
  ]);
  expect((await foreseen(['--pay', '1', ...payee]))[1]).toBe(
    'initiate: this bank may not let psd2 give it up: the step pay makes a whole one',
  );
  expect(bank.calls).toEqual([]);
  const { printed } = await payer.run(['smoke', '--list'], { format: 'table' });
  expect(printed.split('\n').slice(0, -1)).toHaveLength(14);
  expect(printed.split('\n')[13]?.split('\t').slice(0, 2)).toEqual(['clean-up', '0 to 2']);
  const { data } = await payer.run(['smoke', '--list', '--json']);
  expect(Object.values(data)[11]).toEqual({
    ...{ step: 'pay', calls: 'many', checks: 'a whole payment, settled (--pay)', runs: 'yes' },
  });
  expect(existsSync(payer.folder.smoke('env'))).toBe(false);
});

it('a second run of the profile ends at once', async () => {
  const { bank, payer } = await operatorAt();
  let second: Awaited<ReturnType<typeof smokeAt>> | undefined;
  bank.meanwhile = async (call) => {
    if (call.startsWith('balance')) second = await smokeAt(payer, []);
  };
  expect((await smokeAt(payer, [])).exitCode).toBe(0);
  expect(second?.end).toEqual([
    expect.stringMatching(/^exit 12, smoke_running: Another smoke test of the profile env runs: /),
    'Wait for it to end.',
  ]);
  expect(bank.calls.filter((call) => call.startsWith('balance'))).toHaveLength(1);
});

it('whom a payment is to and from is in no report', async () => {
  const { bank, payer } = await operatorAt();
  Object.assign(bank.interface, { readAccountId: (text: string) => text });
  const names = ['acc-x', 'Ada Lovelace', 'DE89370400440532013000'];
  bank.meets('verify', new Psd2Error('config', `Of ${names.join(', ')} and Current account`));
  const file = join(payer.folder.root, 'r.json');
  const [from = '', name = '', to = ''] = names;
  const words = ['--steps', 'accounts,initiate', '--initiate', '--from', from, '--name', name, '--to', to];
  const { lines } = await smokeAt(payer, [...words, '--report', file]);
  expect(lines[1]).toContain(`Of ${names.join(', ')} and Current account`);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  expect(report.steps[10].error.message).toBe('Of …, …, … and …');
});

it('what a customer is called is in no report, and in the JSON of the run', async () => {
  const { bank, payer } = await operatorAt();
  bank.meets('balance', new Psd2Error('config', 'Of 1048262, Ada, 0000012345 and Current account'));
  const file = join(payer.folder.root, 'r.json');
  const { lines } = await smokeAt(payer, ['--report', file, '--account', '0000012345']);
  expect(lines[3]).toContain('Of 1048262, Ada, 0000012345 and Current account');
  expect(JSON.parse(readFileSync(file, 'utf8')).steps[7].error.message).toBe('Of …, Ada, … and …');
});

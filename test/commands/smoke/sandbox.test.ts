import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import * as z from 'zod';
import { smokeRun } from '../../../src/commands/smoke/shape.ts';
import { order } from '../../sandbox/tpp.ts';
import { runIn } from '../command.ts';
import { failureIfAny } from '../failure.ts';
import { type OperatorHere, useOperatorOfEachTest } from '../operator.ts';
import { linesOf } from './smoke-here.ts';

// Whole runs at a sandbox in the process of the test: the way to the bank, the calls, and the forms of its answers.

const operator = useOperatorOfEachTest();
type How = Parameters<OperatorHere['open']>[0];
afterEach(() => order(operator.bank.sandbox, 'DELETE', '/faults'));
const fault = (text: string, on: string) =>
  order(operator.bank.sandbox, 'POST', '/faults', { fault: text, on });

async function smoke(words: string[], { env, ...how }: NonNullable<How> = {}) {
  const command = operator.open({ ...how, env: { PSD2_ENVIRONMENT: 'sandbox', ...env } });
  const failure = await failureIfAny(runIn(command.context, 'smoke', '--json', ...words));
  const data = JSON.parse(command.printed());
  // Whether psd2 has compiled code depends on the machine.
  const lines = linesOf(data).map((line) =>
    line.replace(/^warn settings \[compiled_code\].*/, 'pass settings'),
  );
  return { lines, failure, exitCode: failure?.exitCode ?? 0, run: smokeRun.read(data) };
}

it('a whole run reads with four calls, and each of its calls has its id', async () => {
  await operator.logIn('anna');
  const { exitCode, lines, run } = await smoke([]);
  expect([exitCode, lines]).toEqual([
    0,
    [
      'pass settings',
      expect.stringMatching(/^pass certificates: \d+ days left$/),
      expect.stringMatching(/^pass connection: TLS 1.3, clock \d+ s, the bank's certificate \d+ days$/),
      ...['pass signature', 'pass login', 'skip consent: psd2 has no record of a consent that is in force'],
      ...[
        'pass accounts: 3',
        'pass balance',
        expect.stringMatching(/^pass transactions: \d+ on the first page$/),
      ],
      ...['pass shapes: learning, 1 of 3', 'pass clean-up: nothing to end'],
    ],
  ]);
  const calls = run.steps.flatMap(({ id, calls: each }) =>
    each.map(({ method, route, status }) => [id, method, route, status].join(' ')),
  );
  expect(calls).toEqual([
    'signature GET /auth/oauth/v2/authorize 302',
    'accounts GET /private/customers/{customer}/accounts 200',
    'balance GET /private/customers/{customer}/products/{product}/balance/retrieve 200',
    'transactions GET /private/customers/{customer}/products/{product}/transactions/retrieve 200',
  ]);
  for (const { calls: each } of run.steps)
    for (const { tppRequestId, milliseconds } of each)
      expect([tppRequestId.length, milliseconds >= 0]).toEqual([36, true]);
  const { ends } = run;
  for (const end of [ends.qwac, ends.qsealc, ends.bank]) expect(end).toMatch(/^20\d\d-/);
  const logged = await operator.json(z.array(z.looseObject({ run: z.string() })), ['log', '--run', run.run]);
  expect(logged.map(({ run: id }) => id)).toEqual(Array(4).fill(run.run));
});

const REST = ['login', 'consent', 'accounts', 'balance', 'transactions', 'shapes'];
it.each<[step: string, env: Record<string, string>, exitCode: number, line: RegExp, after: string[]]>([
  [
    'settings',
    { PSD2_MAX_AMOUNT: 'much' },
    3,
    /^fail settings: The largest amount "much" is not an amount \(config, exit 3\)$/,
    ['certificates', 'connection', 'signature', ...REST],
  ],
  [
    'certificates',
    { PSD2_QWAC_KEY: '/nowhere' },
    3,
    /^fail certificates: .*\/nowhere.*exit 3\)$/,
    ['connection', 'signature', ...REST],
  ],
  [
    'connection',
    { PSD2_BASE_URL: 'https://127.0.0.1:1' },
    11,
    /^fail connection: .*\(bank_unreachable, exit 11\)$/,
    ['signature', ...REST],
  ],
])('the step %s fails, and stops what needs it', async (step, env, exitCode, line, after) => {
  const smoked = await smoke([], { env });
  expect(smoked.exitCode).toBe(exitCode);
  const at = smoked.lines.findIndex((each) => each.startsWith('fail'));
  expect(smoked.lines[at]).toMatch(line);
  expect(smoked.lines.slice(at + 1)).toEqual([
    ...after.map((id) => `skip ${id}: after ${step}`),
    'pass clean-up: nothing to end',
  ]);
});

it('a call that the bank refuses is the failure of the signature, and the connection passes', async () => {
  await operator.logIn('anna');
  await fault('status=400', 'authorize');
  const { exitCode, lines, run } = await smoke(['--steps', 'settings..accounts', '--skip', 'consent']);
  expect([exitCode, lines[3], lines[5]]).toEqual([
    7,
    expect.stringMatching(/^fail signature: .*exit 7\)$/),
    'pass accounts: 3',
  ]);
  // The refusal has the date of this machine, and not that of the sandbox.
  expect(lines[2]).toMatch(/^(pass|warn) connection/);
  expect(run.steps[3]?.calls).toMatchObject([{ status: 400 }]);
  const alone = await smoke(['--steps', 'signature']);
  expect([alone.exitCode, alone.lines[0]]).toEqual([
    ...[
      12,
      'fail signature: Asked for with --steps, and did not run: the connection was not tested (skipped, exit 12)',
    ],
  ]);
});

it.each<[failures: number, retries: string, statuses: number[], line: RegExp]>([
  [0, '1', [200], /^pass balance/],
  [1, '0', [400], /^fail balance/],
  [1, '1', [400, 200], /^warn balance \[again,flaky\]/],
  [2, '1', [400, 400], /^fail balance/],
  [2, '2', [400, 400, 200], /^warn balance \[again,flaky\]/],
])(
  'a reading that fails %i times, with --retry %s, has the calls of all tries',
  async (times, retries, statuses, line) => {
    await operator.logIn('anna');
    if (times > 0)
      await order(operator.bank.sandbox, 'POST', '/faults', { fault: 'status=400', on: 'balance', times });
    const { lines, run } = await smoke(['--steps', 'accounts..transactions', '--retry', retries]);
    const of = (id: string) => run.steps.find((step) => step.id === id)?.calls.map(({ status }) => status);
    expect(lines.find((each) => / balance/.test(each))).toMatch(line);
    // The steps around it have their own.
    expect(['accounts', 'balance', 'transactions'].map(of)).toEqual([[200], statuses, [200]]);
  },
);

it('what ends soon is told with its days, of each certificate', async () => {
  const { lines, exitCode } = await smoke(['--steps', 'certificates..connection', '--within', '400d']);
  const days = /(\d+) days/.exec(lines[0] ?? '')?.[1];
  expect([exitCode, lines]).toEqual([
    0,
    [
      `warn certificates [${Array(4).fill('certificate_ends')}]: ${['QWAC', 'QSealC', 'CA', 'bank signing certificate'].map((name) => `${name} ends in ${days} days; `).join('')}${days} days left`,
      expect.stringMatching(
        /^warn connection \[bank_certificate\]: the bank's certificate ends in \d+ days; TLS/,
      ),
      'pass clean-up: nothing to end',
    ],
  ]);
  const edge = async (within: number) =>
    (await smoke(['--steps', 'certificates', '--within', `${within}d`])).lines[0];
  expect(await edge(Number(days))).toBe(`pass certificates: ${days} days left`);
  expect(await edge(Number(days) + 1)).toMatch(/^warn/);
});

it('logs a test customer in, reads as them, and ends that login', async () => {
  const words = ['smoke', '--json', '--login', '--skip', 'settings..signature'];
  const command = await operator.runApproved(words, 'anna');
  const lines = linesOf(JSON.parse(command.printed()));
  expect([lines[0], lines[2], lines.at(-1)]).toEqual([
    ...['pass login: a new login, which this run ends', 'pass accounts: 3', 'pass clean-up: ended the login'],
  ]);
  expect((await smoke(['--skip', 'settings..signature'])).lines[0]).toBe(
    'skip login [skipped]: nobody is logged in',
  );
});

const answers = z.array(z.looseObject({ answer: z.string(), fields: z.number(), runs: z.number() }));
it('learns the forms in three runs, tells what has changed, and takes it when it is accepted', async () => {
  await operator.logIn('anna');
  const file = join(operator.folder.root, 'shapes.json');
  const run = (...more: string[]) => smoke(['--steps', 'accounts..shapes', '--shapes-file', file, ...more]);
  const shapes = async (...more: string[]) => (await run(...more)).lines.at(-2);
  for (const nth of [1, 2, 3]) expect(await shapes()).toBe(`pass shapes: learning, ${nth} of 3`);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ interface: 'cb', bank: 'env', runs: 3 });
  expect(await shapes()).toBe('pass shapes: as before');
  const balance = 'GET /private/customers/{customer}/products/{product}/balance/retrieve 200';
  const change = (of: (fields: Record<string, { kinds: string[]; in: number[] }>) => void) => {
    const known = JSON.parse(readFileSync(file, 'utf8'));
    of(known.shapes[balance]);
    writeFileSync(file, JSON.stringify(known));
  };
  const path = '$.data.accountBalance.currency';
  change((fields) => Object.assign(fields[path] ?? {}, { kinds: ['integer'] }));
  const { exitCode, failure, lines, run: found } = await run();
  const says = `${path} of ${balance}: string:text instead of integer`;
  expect([exitCode, failure?.code, lines.at(-2)]).toEqual([
    12,
    'drift',
    `fail shapes: The answers have changed: ${says} (drift, exit 12)`,
  ]);
  expect(failure?.next).toEqual([
    ['smoke', 'show', '--json'],
    ['smoke', 'shapes', 'accept'],
    ['log', '--run', found.run],
  ]);
  expect(found.drift).toMatchObject([{ answer: balance, path, severity: 'breaking' }]);
  // It stays as it was until somebody accepts it.
  expect((await run()).exitCode).toBe(12);
  const accepted = await operator.json(z.object({ changed: z.number() }), [
    ...['smoke', 'shapes', 'accept', found.drift[0]?.id ?? '', '--shapes-file', file, '--json'],
  ]);
  expect([accepted.changed, await shapes()]).toEqual([1, 'pass shapes: 1 new and harmless']);
  expect(await shapes()).toBe('pass shapes: as before');
  // Learning never fails, and takes it too.
  change((fields) => Object.assign(fields[path] ?? {}, { kinds: ['integer'] }));
  expect([await shapes('--shapes', 'learn'), await shapes()]).toEqual(
    Array(2).fill('pass shapes: as before'),
  );
  // What psd2 does not read is a warning. `accept` takes all as it is now.
  change((fields) => {
    for (const field of Object.values(fields)) if (field.kinds[0] === 'object') field.kinds = ['boolean'];
  });
  expect((await run()).exitCode).toBe(12);
  expect(await shapes('--shapes', 'accept')).toBe('pass shapes: as before');
  expect(await shapes()).toBe('pass shapes: as before');
  change((fields) => Object.assign(fields, { '$.gone': { in: [90, 90], runs: 9, kinds: ['null'] } }));
  const known = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...known, days: 2 }));
  change((fields) => Object.assign(fields.$ ?? {}, { in: [90, 90] }));
  const lost = `$.gone of ${balance}: missing; it was in all of 90`;
  const warned = await run('--fail-on', 'drift');
  expect([warned.exitCode, warned.lines.at(-2)]).toEqual([12, `warn shapes [drift]: ${lost}`]);
  const list = await operator.json(answers, ['smoke', 'shapes', 'list', '--shapes-file', file]);
  expect(list.map(({ answer }) => answer.split('/').at(-1)).toSorted()).toEqual([
    'accounts 200',
    'retrieve 200',
    'retrieve 200',
  ]);
  expect(list.every(({ runs, fields }) => runs > 0 && fields > 1)).toBe(true);
  const fields = z.array(
    z.object({
      answer: z.string(),
      path: z.string(),
      seen: z.number(),
      parents: z.number(),
      runs: z.number(),
      kinds: z.array(z.string()),
    }),
  );
  const shown = await operator.json(fields, ['smoke', 'shapes', 'show', 'balance', '--shapes-file', file]);
  expect(new Set(shown.map(({ answer }) => answer))).toEqual(new Set([balance]));
  expect(shown.find((each) => each.path === '$.gone')).toMatchObject({ kinds: ['null'], seen: 90 });
  const all = await operator.json(fields, ['smoke', 'shapes', 'show', '--shapes-file', file]);
  expect(all.length).toBeGreaterThan(shown.length);
  const table = await operator.run(['smoke', 'shapes', 'show', 'balance', '--shapes-file', file], {
    format: 'table',
  });
  expect(table.printed()).toContain('$.gone\t90 of ');
});

it('forms that were not learnt, or are damaged, are told of, and can be forgotten', async () => {
  await operator.logIn('anna');
  const words = (verb: string) => ['smoke', 'shapes', verb];
  const failed = (verb: string) => failureIfAny(operator.run(words(verb)));
  for (const verb of ['list', 'show', 'accept'])
    expect(await failed(verb)).toMatchObject({
      ...{ code: 'usage', message: 'psd2 has not learned the shapes of the profile env yet' },
      ...{ hint: 'It learns them with each run of:', next: [['smoke']] },
    });
  const changed = z.object({ changed: z.number() });
  expect(await operator.json(changed, words('forget'))).toEqual({ changed: 0 });
  await smoke(['--steps', 'accounts..shapes']);
  const path = operator.folder.shapes('env');
  const known = JSON.parse(readFileSync(path, 'utf8'));
  for (const damaged of [
    '',
    '{',
    { ...known, version: 2 },
    { ...known, runs: '1' },
    { ...known, shapes: { x: { $: { in: [1], runs: 1, kinds: [] } } } },
  ]) {
    writeFileSync(path, typeof damaged === 'string' ? damaged : JSON.stringify(damaged));
    expect(await failed('list')).toMatchObject({
      ...{ code: 'config', message: `The shapes in ${path} are damaged`, hint: 'Learn them anew with:' },
      next: [['smoke', 'shapes', 'forget']],
    });
  }
  const forgot = await operator.run(words('forget'), { format: 'table' });
  expect(forgot.printed()).toBe(`Removed\t${path}\n`);
  expect((await operator.run(words('forget'), { format: 'table' })).printed()).toBe('Removed\tnothing\n');
  expect((await smoke(['--steps', 'accounts..shapes'])).lines.at(-2)).toBe('pass shapes: learning, 1 of 3');
});

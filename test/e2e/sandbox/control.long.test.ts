import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { keepRunning, logIn, useLoggedIn, useOperator, useSandbox } from '../support/psd2.ts';

const CURRENT = '0010482620';
const balance = z.object({ availableBalance: z.object({ amount: z.string() }) });
const faultRecord = z.object({
  fault: z.string(),
  on: z.string().nullable(),
  times: z.int().nullable(),
  fired: z.int(),
});
const transfer = z.object({ flow: z.string(), state: z.string() });
const PAY = [
  ...['transfer', '--instant', '--from', CURRENT, '--to', 'DE89370400440532013000', '--name', 'Ada'],
  ...['--amount', '12.50', '--payee-verified', '--yes'],
];

describe('a running sandbox', () => {
  const operator = keepRunning(useLoggedIn());
  const { psd2, json } = operator;
  afterEach(async () => {
    await psd2(['sandbox', 'fault', 'clear']);
  });

  test('the sandbox fails on request, and psd2 finds out the outcome of the payment', async () => {
    const before = (await json(balance, ['accounts', 'balance', CURRENT])).availableBalance.amount;
    const added = ['sandbox', 'fault', 'add', 'cut-after-effect', '--on', 'execute', '--times', '1'];
    expect(await json(faultRecord, added)).toMatchObject({
      fault: 'cut-after-effect',
      on: 'execute',
      times: 1,
    });
    const paid = await psd2(PAY);
    expect([0, 9], paid.stderr).toContain(paid.code);
    const [made] = await json(z.array(transfer), ['transfer', 'list']);
    if (paid.code === 9) await psd2(['transfer', 'resume', made?.flow ?? '']);
    expect((await json(z.array(transfer), ['transfer', 'list']))[0]?.state).toBe('settled');
    const after = (await json(balance, ['accounts', 'balance', CURRENT])).availableBalance.amount;
    expect(Math.round((Number(before) - Number(after)) * 100)).toBe(1300);
    expect(await json(z.array(faultRecord), ['sandbox', 'fault', 'list'])).toEqual([
      expect.objectContaining({ fault: 'cut-after-effect', fired: 1 }),
    ]);
  });

  test('a header makes one call fail', async () => {
    const call = ['api', 'GET', '/private/customers/customerid-info', '--header', 'X-Sandbox-Fault:firewall'];
    expect((await psd2(call)).code).toBe(5);
    expect((await psd2(call.slice(0, 3))).code).toBe(0);
  });

  test('the commands move the time of the bank, and add, reset and revoke for a customer', async () => {
    const status = z.object({ time: z.iso.datetime() });
    const before = (await json(status, ['sandbox', 'status'])).time;
    const clock = z.object({ time: z.iso.datetime(), aheadSeconds: z.int() });
    const moved = await json(clock, ['sandbox', 'clock', '+1h']);
    expect(moved.aheadSeconds).toBe(3600);
    expect(Date.parse(moved.time)).toBeGreaterThanOrEqual(Date.parse(before) + 3_600_000);
    const wrong = await psd2(['sandbox', 'clock', '90d']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('is not a time of the bank')]);
    const added = await json(z.object({ customerId: z.string() }), ['sandbox', 'customer', 'add', 'dora']);
    expect(added.customerId).toBe('6000001');
    expect((await psd2(['sandbox', 'customer', 'reset', 'dora'])).code).toBe(0);
    const revoked = await json(z.object({ revoked: z.int() }), [
      'sandbox',
      'customer',
      'revoke-consent',
      '6000001',
    ]);
    expect(revoked).toEqual({ revoked: 0 });
    expect((await psd2(['sandbox', 'customer', 'reset', 'nobody'])).stderr).toContain(
      'There is no customer nobody',
    );
    const fault = ['sandbox', 'fault', 'add', 'status=503', '--for', '2h', '--customer', 'bruno'];
    expect(await json(z.object({ customer: z.string(), until: z.string() }), fault)).toMatchObject({
      customer: 'bruno',
    });
  });

  test('the sandbox lists and clears its faults', async () => {
    expect((await psd2(['sandbox', 'fault', 'list'])).stderr).toContain('There are no faults.');
    await psd2(['sandbox', 'fault', 'add', 'delay=5', '--on', 'GET /private/*', '--after', '2']);
    const { stdout } = await psd2(['sandbox', 'fault', 'list']);
    expect(stdout.split('\t').slice(1)).toEqual([
      'delay=5',
      'GET /private/*',
      'everyone',
      'after 2, always',
      '0',
      '0\n',
    ]);
    const cleared = await json(z.object({ cleared: z.int() }), ['sandbox', 'fault', 'clear']);
    expect(cleared).toEqual({ cleared: 1 });
    expect(await psd2(['sandbox', 'fault', 'clear', '99'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no fault 99'),
    });
  });

  test.each([
    [['explode'], /There is no fault "explode"[\s\S]*cut-before-effect, .*status=<status>/],
    [['status'], /needs its HTTP status, a whole number from 400 to 599/],
    [['status=200'], /needs its HTTP status/],
    [['empty=1'], /The fault empty has no value/],
    [['empty', '--on', 'nowhere'], /There is no call "nowhere"[\s\S]*execute/],
    [['empty', '--times', '0'], /--times "0" is not a whole number from 1/],
    [['empty', '--after', '-1'], /--after "-1" is not a whole number from 0/],
    [['empty', '--probability', '1.5'], /--probability "1.5" is not a decimal/],
    [['empty', '--seed', 'x'], /--seed needs --probability/],
  ])('sandbox fault add %j is a usage error', async (words, message) => {
    expect(await psd2(['sandbox', 'fault', 'add', ...words])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });

  test('a reset gives the money back and ends the logins', async () => {
    const amount = async () =>
      (await json(balance, ['accounts', 'balance', CURRENT])).availableBalance.amount;
    await psd2(['sandbox', 'reset']);
    await logIn(operator);
    const before = await amount();
    expect((await psd2(PAY)).code).toBe(0);
    expect(await amount()).not.toBe(before);
    expect(await psd2(['sandbox', 'reset'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/is reset to its start[\s\S]*auth login/),
    });
    expect((await psd2(['accounts', 'list'])).code).toBe(4);
    await logIn(operator);
    expect(await amount()).toBe(before);
    expect(await json(z.object({ reset: z.boolean() }), ['sandbox', 'reset'])).toEqual({ reset: true });
    await logIn(operator);
  });

  test('only its user can read the control token of the sandbox', async () => {
    const path = join(operator.config, 'sandbox', 'running.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { controlToken } = z
      .object({ controlToken: z.string() })
      .parse(JSON.parse(readFileSync(path, 'utf8')));
    for (const { stdout, stderr } of operator.history) expect(stdout + stderr).not.toContain(controlToken);
  });
});

describe('a sandbox that is started when no profile is chosen', () => {
  const operator = keepRunning(useOperator());
  const { psd2, json } = operator;

  test('commands talk to that sandbox, and say so when it has ended', async () => {
    expect(await psd2(['sandbox', 'start', '--detach', '--port', '0'])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/now uses the profile sandbox by default\.[\s\S]*Try: psd2 auth login\./),
    });
    expect(await psd2(['auth', 'login'])).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('Next:'),
    });

    const { consoleUrl } = await json(z.object({ consoleUrl: z.string() }), ['sandbox', 'status']);
    expect(await psd2(['sandbox', 'console', '--no-browser'])).toMatchObject({
      code: 0,
      stdout: `${consoleUrl}\n`,
      stderr: '',
    });
    const opened = join(operator.folder, 'opened');
    const env = { PSD2_BROWSER: `sh -c 'echo "$0" > "${opened}"'` };
    const console = await psd2(['sandbox', 'console', '--json'], { env });
    expect(JSON.parse(console.stdout)).toEqual({ url: consoleUrl });
    await vi.waitFor(() => expect(readFileSync(opened, 'utf8')).toBe(`${consoleUrl}\n`));

    await psd2(['sandbox', 'stop']);
    expect(await psd2(['accounts', 'list'])).toMatchObject({
      code: 11,
      stderr: expect.stringMatching(
        /^psd2: The sandbox is not running\.\n {2}Start it with: psd2 sandbox start --detach\n/,
      ),
    });

    // An operator who has chosen another profile keeps it.
    const keep = (path: string, content: object) =>
      writeFileSync(join(operator.config, path), JSON.stringify(content), { mode: 0o600 });
    keep('profiles/mybank.json', { baseUrl: 'https://bank.example' });
    keep('config.json', { currentProfile: 'mybank' });
    expect(await psd2(['sandbox', 'start', '--detach', '--port', '0'])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^The sandbox is ready\. Try: psd2 --profile sandbox auth login\./),
    });
    await psd2(['sandbox', 'stop']);
  });
});

describe('a sandbox that is not running', () => {
  const { psd2, json } = useOperator();

  test('a sandbox that is not running has nothing to reset or stop', async () => {
    expect(await psd2(['sandbox', 'reset'])).toMatchObject({
      code: 0,
      stderr: 'The sandbox is not running.\n',
    });
    expect(await json(z.object({ reset: z.boolean() }), ['sandbox', 'reset'])).toEqual({ reset: false });
  });

  test.each([['fault', 'add', 'empty'], ['fault', 'list'], ['fault', 'clear'], ['console']])(
    'sandbox %s %s needs a running sandbox',
    async (...words) => {
      expect(await psd2(['sandbox', ...words])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('The sandbox is not running'),
      });
    },
  );
});

describe('a sandbox with generated customers', () => {
  const operator = keepRunning(
    useSandbox(['--customers', '200', '--transactions', '2500', '--page-size', '500']),
  );
  const { psd2, json } = operator;

  test('each generated customer can log in, and their transactions add up', async () => {
    const env = { PSD2_BROWSER: `${operator.env.PSD2_BROWSER} --user customer-000123` };
    expect((await psd2(['auth', 'login'], { env })).code).toBe(0);
    expect((await json(z.object({ customerId: z.string() }), ['customer', 'id'])).customerId).toBe('5000123');
    const consent = ['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts'];
    expect((await psd2(consent, { env })).code).toBe(0);
    const rows = await json(z.array(z.object({ amount: z.string(), status: z.string() })), [
      ...['accounts', 'transactions', '0050001230'],
    ]);
    expect(rows.filter(({ status }) => status === 'booked')).toHaveLength(2500);
  });

  test('a customer who does not exist cannot log in', async () => {
    const shown = await psd2(['auth', 'login', '--no-browser', '--sca-timeout', '1']);
    expect(shown.code, shown.stderr).toBe(6);
    const [url = ''] = /http:\S+/.exec(shown.stderr) ?? [];
    const customer = ['sandbox', 'customer', url, '--user', 'customer-000201'];
    expect(await psd2(customer)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('User and password do not match'),
    });
  });

  test.each([
    ['--customers', '0'],
    ['--customers', '1000000'],
    ['--transactions', 'many'],
    ['--page-size', '10001'],
  ])('sandbox start %s %s is a usage error', async (option, value) => {
    expect(await psd2(['sandbox', 'start', option, value])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${option} "${value}" is not a whole number from 1 to`),
    });
  });
});

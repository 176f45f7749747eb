import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { isBlockedPort } from '../../../src/domain/local-address.ts';
import { keepRunning, useLoggedIn, useOperator, useSandbox, words } from '../support/psd2.ts';

const CURRENT = '0010482620';
const balance = z.object({ availableBalance: z.object({ amount: z.string() }) });
const faultRecord = z.object({
  fault: z.string(),
  on: z.string().nullable(),
  times: z.int().nullable(),
  fired: z.int(),
});
const transfer = z.object({ flow: z.string(), state: z.string() });
const PAY = words`transfer --instant --from ${CURRENT} --to DE89370400440532013000 --name Ada --amount
  12.50 --payee-verified --yes`;

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

describe('a sandbox at a port beside one that browsers block', () => {
  const { json } = keepRunning(useSandbox(['--port', '6565']));

  test('has its customer site at another one', async () => {
    const addresses = z.looseObject({ baseUrl: z.string(), customerSiteUrl: z.string() });
    const { baseUrl, customerSiteUrl } = await json(addresses, ['sandbox', 'status']);
    expect(baseUrl).toBe('https://127.0.0.1:6565');
    expect(isBlockedPort(Number(new URL(customerSiteUrl).port))).toBe(false);
  });
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
});

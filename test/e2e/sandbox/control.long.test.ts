import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { isBlockedPort } from '../../../src/domain/local-address.ts';
import { keepRunning, useLoggedIn, useOperator, useSandbox } from '../support/psd2.ts';

describe('a running sandbox', () => {
  const operator = keepRunning(useLoggedIn());

  test('only its user can read the control token of the sandbox', () => {
    const path = join(operator.config, 'sandbox', 'running.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const token = z.object({ controlToken: z.string() });
    const { controlToken } = token.parse(JSON.parse(readFileSync(path, 'utf8')));
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

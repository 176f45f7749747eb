import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isBlockedPort } from '../../../src/domain/local-address.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const BLOCKED = 'http://127.0.0.1:10080/callback';
const REFUSAL = {
  code: 'config',
  exitCode: 3,
  message: `The redirect URI "${BLOCKED}" has the port 10080, which browsers refuse to open`,
  hint: expect.stringContaining('registered at the bank'),
};

it('a base URL with http is stored if it is on this computer, and only then', async () => {
  const settings = { PSD2_CLIENT_SECRET: 'hush', PSD2_CLIENT_ID: 'x', PSD2_APP_NAME: 'x' };
  const add = async (name: string, baseUrl: string) => {
    const made = join(operator.config, 'sandbox/certificates');
    const [certificate = '', key = ''] = ['qwac.pem', 'qwac-key.pem'].map((file) => join(made, file));
    return operator.psd2(
      [
        'profile',
        'add',
        name,
        '--base-url',
        baseUrl,
        '--qwac-cert',
        certificate,
        '--qwac-key',
        key,
        '--json',
      ],
      { env: settings },
    );
  };
  const ended = await add('gateway', 'http://127.0.0.1:8080/api');
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(ended.stdout)).toMatchObject({ name: 'gateway', baseUrl: 'http://127.0.0.1:8080/api' });
  expect(readError(await add('elsewhere', 'http://bank.example/api'))).toMatchObject({
    code: 'config',
    message: 'The base URL "http://bank.example/api" is not https',
  });
});

describe('a redirect URI with a port that browsers block', () => {
  it('psd2 does not store a redirect URI with a blocked port', async () => {
    const certificate = join(operator.config, 'sandbox/certificates/ca.pem');
    const add = ['profile', 'add', 'blocked', '--base-url', 'https://bank.example', '--json'];
    const ended = await operator.psd2(
      [...add, '--redirect-uri', BLOCKED, '--qwac-cert', certificate, '--client-id', 'x', '--app-name', 'x'],
      { env: { PSD2_CLIENT_SECRET: 'hush', PSD2_QWAC_KEY: certificate } },
    );
    expect(readError(ended)).toMatchObject(REFUSAL);
    const { stdout } = await operator.psd2(['profile', 'list', '--json']);
    expect(stdout).not.toContain('blocked');
  });

  it.each([
    ['a login', ['auth', 'login']],
    [
      'a transfer',
      [
        ...['transfer', '--from', '0010482620', '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'],
        ...['--amount', '3.00', '--yes'],
      ],
    ],
  ])('a redirect URI with a blocked port stops %s before psd2 sends anything', async (_, args) => {
    const ended = await operator.psd2([...args, '--json', '--verbose'], {
      env: { PSD2_REDIRECT_URI: BLOCKED },
    });
    expect(readError(ended)).toMatchObject(REFUSAL);
    expect(ended.stderr).not.toContain('authorize');
  });

  it('psd2 doctor finds a redirect URI with a blocked port', async () => {
    const ended = await operator.psd2(['doctor', '--json'], { env: { PSD2_REDIRECT_URI: BLOCKED } });
    const { checks } = shapes.checks.parse(JSON.parse(ended.stdout));
    expect(checks.find(({ name }) => name === 'settings')).toMatchObject({
      status: 'fail',
      detail: REFUSAL.message,
    });
    expect(readError(ended)).toMatchObject({ code: 'config', exitCode: 3 });
  });
});

describe('the sandbox', () => {
  const env = { PSD2_CONFIG_DIR: join(operator.folder, 'other-config') };

  it('the sandbox refuses a port that browsers block', async () => {
    const ended = await operator.psd2(['sandbox', 'start', '--detach', '--port', '6666', '--json'], { env });
    expect(readError(ended)).toMatchObject({
      code: 'usage',
      exitCode: 2,
      message: '--port 6666 is a port that browsers and fetch refuse to open',
    });
  });

  it('the sandbox uses another port for its customer site if the next one is blocked', async () => {
    const addresses = z.looseObject({ baseUrl: z.string(), customerSiteUrl: z.string() });
    const start = ['sandbox', 'start', '--detach', '--port', '6565'];
    const { baseUrl, customerSiteUrl } = await operator.json(addresses, start, { env });
    try {
      expect(baseUrl).toBe('https://127.0.0.1:6565');
      expect(isBlockedPort(Number(new URL(customerSiteUrl).port))).toBe(false);
    } finally {
      await operator.psd2(['sandbox', 'stop'], { env });
    }
  });
});

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readError } from '../e2e/support/errors.ts';
import { type Environment, PROGRAM } from '../e2e/support/psd2.ts';
import { PRODUCT, success, useHostileBank, write } from './hostile-bank.ts';
import { useResident } from './resident.ts';

const bank = useHostileBank();
const resident = useResident(bank.operator);
const run = async (args: string[], env: Environment = {}) => ({
  ...(await resident.run([...args, '--json'], { env })),
  signal: null,
});
/** A call in which the bank sees every value of the environment. */
const CALL = ['api', 'GET', '/x', '--no-token'];

describe('psd2 refuses a wrong value of the environment before it sends anything', () => {
  const long = 'a'.repeat(100_000);
  it.each<[variable: string, value: string, exitCode: number, said: RegExp]>([
    ['PSD2_BASE_URL', 'http://bank.example', 3, /is not https/],
    ['PSD2_BASE_URL', 'javascript:alert(1)', 3, /is not https/],
    ['PSD2_BASE_URL', 'https://user:hush@bank.example', 3, /^The base URL contains a user name or password$/],
    ['PSD2_BASE_URL', 'https://bank.ex\nample', 3, /The base URL contains a line break/],
    ['PSD2_APP_NAME', 'a\r\nX-Evil: 1', 3, /contains a line break/],
    ['PSD2_REDIRECT_URI', 'javascript:alert(1)', 3, /is not an http or https URL/],
    ['PSD2_CLIENT_SECRET', 'a\nhush', 3, /The client secret contains a line break/],
    ['PSD2_LANG', long, 2, /is not a language tag/],
    ['PSD2_TIMEOUT', '9'.repeat(400), 2, /is not a number of seconds/],
    ['PSD2_GRANT', 'client_credentials\n', 2, /is invalid/],
    ['PSD2_PROFILE', '../../etc/passwd', 2, /is not usable/],
    ['PSD2_PROFILE', '', 4, /Nobody is logged in/],
    ['PSD2_CUSTOMER', '../1', 2, /is not a number/],
    ['PSD2_CONFIG_DIR', 'y'.repeat(300), 3, /cannot be used: ENAMETOOLONG/],
    ['HTTPS_PROXY', 'socks5://127.0.0.1:1', 3, /The proxy that the environment names/],
  ])('psd2 refuses %s=%j before it sends anything', async (variable, value, exitCode, said) => {
    bank.behave((socket) => write(socket, success()));
    // A login needs all of the settings.
    const reads = ['PSD2_CUSTOMER', 'PSD2_PROFILE', 'PSD2_CONFIG_DIR'];
    const args = reads.includes(variable) ? ['accounts', 'list'] : ['auth', 'login'];
    const env = variable === 'PSD2_PROFILE' && value === '' ? { PSD2_BASE_URL: `${bank.baseUrl}/other` } : {};
    const ended = await run(args, { ...env, [variable]: value });
    expect(readError(ended)).toMatchObject({ exitCode, message: expect.stringMatching(said) });
    expect(ended.stderr).not.toContain('hush');
    expect(ended.crash).toBeUndefined();
    expect(ended.stdout).toBe('');
    expect(bank.heard).toEqual([]);
  });

  it.each(['X-A: b\r\nX-Evil: 1', 'X-A: \u0000', 'X-A: é', 'transfer-encoding: chunked'])(
    'psd2 refuses --header %j before it sends anything',
    async (header) => {
      bank.behave((socket) => write(socket, success()));
      const ended = await run([...CALL, '--header', header]);
      expect(readError(ended)).toMatchObject({ exitCode: 2 });
      expect(bank.heard).toEqual([]);
    },
  );
});

describe('unusual values of the environment', () => {
  it('psd2 refuses an unknown format before it sends anything', async () => {
    bank.behave((socket) => write(socket, success()));
    const ended = await bank.operator.psd2(CALL, { env: { PSD2_OUTPUT: 'json\n' } });
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is not known') });
    expect(bank.heard).toEqual([]);
  });

  it('psd2 ignores names that mean something only to JavaScript', async () => {
    bank.behave((socket) => write(socket, success()));
    const odd = {
      __proto__x: '1',
      constructor: '1',
      toString: '1',
      PSD2_: '1',
      'PSD2_BASE_URL ': 'x',
      '=': '=',
    };
    expect(await run(CALL, odd)).toMatchObject({ code: 0 });
    expect(await run(CALL, { PSD2_UNKNOWN: 'a'.repeat(100_000) })).toMatchObject({ code: 0 });
  });

  it('psd2 uses a proxy whose user name is not percent-encoded, and does not show it', async () => {
    const env = { HTTPS_PROXY: 'http://%zz:%zz@127.0.0.1:1', PSD2_TIMEOUT: '0.5' };
    const ended = await run(['api', 'GET', '/x'], env);
    const message = expect.stringContaining('127.0.0.1:1, the proxy');
    expect(readError(ended)).toMatchObject({ exitCode: 11, message });
    expect(ended.stderr).not.toContain('%zz');
  });
});

it('a clock that is set back again and again delays no call', async () => {
  bank.behave((socket, { target }) =>
    write(
      socket,
      success(
        target.endsWith('/accounts')
          ? `{"accounts":[{"accountId":"${PRODUCT}","currency":"EUR"}]}`
          : '{"accountBalance":{"amount":"1.00","currency":"EUR"},"transactionsAccounting":[]}',
      ),
    ),
  );
  const code = `let back = 0; globalThis.Date = class extends Date {
    constructor(...given) { given.length > 0 ? super(...given) : super(Date.now() - 600_000 * back++); }
  }`;
  await bank.operator.succeeds(['accounts', 'export', PRODUCT, '--format', 'csv', '--file', '-'], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` },
  });
  expect(bank.heard).toHaveLength(4);
});

it('a product id or a path cannot leave its place', async () => {
  bank.behave((socket) => write(socket, success()));
  for (const [args, exitCode] of [
    [['accounts', 'show', '../../../x'], 2],
    [['api', 'GET', '/x\r\nX-Evil: 1'], 2],
    [['api', 'GET', 'https://evil.example/x'], 2],
    [['api', 'GET', '//evil.example/x'], 0],
    [['operation', 'prepare', '../../x', '--account', PRODUCT], 2],
  ] as const) {
    expect([args, (await run([...args])).code]).toEqual([args, exitCode]);
  }
  expect(bank.heard.map(({ target }) => target)).toEqual(['//evil.example/x']);
});

describe('a limit on virtual memory that is too small for WebAssembly', () => {
  const LIMIT = 'ulimit -v 8000000; exec';
  const limited = async (env: Record<string, string>) => {
    const words = ['-c', `${LIMIT} "$0" "$@"`, process.execPath, PROGRAM, ...CALL, '--json'];
    const running = await bank.operator.startProgram('bash', words, env);
    running.closeInput();
    return running.ended;
  };

  it('psd2 names the limit and its remedy before it sends anything; newer Node.js needs less memory', async () => {
    bank.behave((socket) => write(socket, success()));
    const probe = ['-c', `${LIMIT} "$0" -e 'new WebAssembly.Memory({ initial: 1 })'`, process.execPath];
    const fits = spawnSync('bash', probe).status === 0;
    const ended = await limited({});
    const error = {
      code: 'config',
      exitCode: 3,
      message: 'The limit on virtual memory (ulimit -v) is too small for WebAssembly',
      hint: 'Raise it to 16 GiB or more, or set NODE_OPTIONS=--disable-wasm-trap-handler.',
    };
    expect(ended.code).toBe(fits ? 0 : 3);
    if (!fits) expect(readError(ended)).toMatchObject(error);
    expect(bank.heard).toHaveLength(fits ? 1 : 0);
  });

  it('the remedy that the error names works', async () => {
    bank.behave((socket) => write(socket, success()));
    const ended = await limited({ NODE_OPTIONS: '--disable-wasm-trap-handler' });
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(bank.heard).toHaveLength(1);
  });
});

import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { assertOpenable, openInBrowser, reason } from '../../src/terminal/browser.ts';

const URL_OF_BANK = 'https://bank.example/login?request=1&state=a%20b';

let folder: string;
let script: string;
let reports: Server;
let report: Promise<{ argv: string[]; env: Record<string, string>; pid: number; group: number }>;
const onFailure = vi.fn<(message: string, said: string) => void>();

/** The browser is a real program. It posts its arguments and environment to a server of the test. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'psd2-browser-'));
  script = join(folder, 'the browser.mjs');
  reports = createServer().listen(0, '127.0.0.1');
  await once(reports, 'listening');
  report = once(reports, 'request').then(async ([request, response]) => {
    const body = await text(request);
    response.end();
    return JSON.parse(body);
  });
  const address = reports.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  await writeFile(
    script,
    `#!${process.execPath}
import { readFileSync } from 'node:fs';
const group = process.platform === 'linux' ? Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[2]) : process.pid;
const body = JSON.stringify({ argv: process.argv.slice(2), env: process.env, pid: process.pid, group });
await fetch('http://127.0.0.1:${port}/', { method: 'POST', body });
`,
  );
  await chmod(script, 0o755);
  onFailure.mockReset();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  reports.close();
  await rm(folder, { recursive: true });
});

describe('openInBrowser', () => {
  it('the browser gets the address as its last argument without a shell, no secrets, and no Ctrl-C of psd2', async () => {
    for (const name of ['CLIENT_SECRET', 'KEY_PASSPHRASE', 'SIGNER', 'PAYEE_CHECK', 'PAGER'])
      vi.stubEnv(`PSD2_${name}`, 'hush');
    vi.stubEnv('PSD2_CONFIG_DIR', '/some/folder');
    vi.stubEnv('DISPLAY', ':7');
    const url = 'https://bank.example/$(id)?a=1;touch&b=`id`|x';
    await openInBrowser(url, `"${script}" --new 'a b' c\\ d $HOME ;`, onFailure);
    const { argv, env, pid, group } = await report;
    expect(argv).toEqual(['--new', 'a b', 'c d', '$HOME', ';', new URL(url).href]);
    expect(Object.values(env)).not.toContain('hush');
    expect(env).toMatchObject({ PSD2_CONFIG_DIR: '/some/folder', DISPLAY: ':7' });
    expect(process.env).toHaveProperty('PSD2_CLIENT_SECRET', 'hush');
    // Its own process group, which the terminal does not interrupt.
    expect(group).toBe(pid);
    expect(onFailure).not.toHaveBeenCalled();
  });

  it.runIf(process.platform === 'linux')(
    "openInBrowser keeps the secrets from the system's browser too",
    async () => {
      // The system's opener runs the program in BROWSER.
      vi.stubEnv('PSD2_CLIENT_SECRET', 'hush');
      vi.stubEnv('PSD2_PAYEE_CHECK', 'hush');
      vi.stubEnv('BROWSER', join(folder, 'link'));
      await writeFile(join(folder, 'link'), `#!/bin/sh\nexec '${script}' "$@"\n`, { mode: 0o755 });
      vi.stubEnv('DISPLAY', '');
      await openInBrowser(URL_OF_BANK, undefined, onFailure);
      const { argv, env } = await report;
      expect(argv).toEqual([URL_OF_BANK]);
      expect(Object.values(env)).not.toContain('hush');
      expect(process.env).toHaveProperty('PSD2_CLIENT_SECRET', 'hush');
    },
  );

  it("openInBrowser opens nothing for 'none', but still refuses a bad address", async () => {
    await openInBrowser(URL_OF_BANK, 'none', onFailure);
    expect(onFailure).not.toHaveBeenCalled();
    await expect(openInBrowser('file:///etc/passwd', 'none', onFailure)).rejects.toMatchObject({
      code: 'bank_answer',
    });
  });

  it('openInBrowser reports a program that does not exist or is not executable', async () => {
    await openInBrowser(URL_OF_BANK, '/nowhere/browser', onFailure);
    await writeFile(join(folder, 'text'), 'text', { mode: 0o644 });
    await openInBrowser(URL_OF_BANK, `'${join(folder, 'text')}'`, onFailure);
    expect(onFailure.mock.calls).toEqual([
      ['The browser command "/nowhere/browser" could not be started: there is no such program.', ''],
      [expect.stringMatching(/could not be started: it is not executable\.$/), ''],
    ]);
  });

  it.each([
    ['process.exit(3)', 'ended with the exit code 3.', ''],
    ['console.error("no\\ndisplay"); process.exit(3)', 'ended with the exit code 3.', 'no display'],
    [
      'console.error("x".repeat(9000) + "end"); process.exit(3)',
      'ended with the exit code 3.',
      `${'x'.repeat(497)}end`,
    ],
    ['process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)', 'was ended by SIGTERM.', ''],
  ])('openInBrowser reports a browser that fails: %s', async (program, words, said) => {
    await writeFile(script, `#!${process.execPath}\n${program}\n`);
    await openInBrowser(URL_OF_BANK, `'${script}'`, onFailure);
    await vi.waitFor(() => expect(onFailure).toHaveBeenCalled(), { timeout: 20_000, interval: 2 });
    expect(onFailure.mock.calls).toEqual([[`The browser command ${JSON.stringify(script)} ${words}`, said]]);
  });

  it("openInBrowser says no more of the system's browser than that none opened", async () => {
    await writeFile(script, `#!${process.execPath}\nprocess.exit(3)\n`);
    vi.stubEnv('BROWSER', script);
    vi.stubEnv('DISPLAY', '');
    await openInBrowser(URL_OF_BANK, undefined, onFailure);
    await vi.waitFor(() => expect(onFailure).toHaveBeenCalled(), { timeout: 20_000, interval: 2 });
    expect(onFailure.mock.calls).toEqual([['No browser could be opened here.', '']]);
  });

  it('openInBrowser refuses a command with an open quote', async () => {
    await expect(openInBrowser(URL_OF_BANK, "firefox 'x", onFailure)).rejects.toMatchObject({
      code: 'config',
      message: 'A quote is not closed in PSD2_BROWSER or BROWSER',
    });
  });
});

describe('assertOpenable', () => {
  it.each([
    ['https://bank.example/x?y=1'],
    ['http://127.0.0.1:8080/login'],
    ['http://localhost/'],
    ['https://[::1]:1/'],
    // The longest that servers accept.
    [`https://bank.example/${'x'.repeat(8_171)}`],
    // What is opened is ASCII, without quotes or spaces.
    ['https://bank.example/a b"\u202e?c="d', 'https://bank.example/a%20b%22%E2%80%AE?c=%22d'],
  ])('assertOpenable allows %s', (url, href = url) => {
    expect(assertOpenable(url).href).toBe(href);
  });

  const [SCHEME, CONTROLS, USER, RELATIVE] = [
    'it is neither https: nor http: on this computer',
    'it contains control characters',
    'it contains a user name or a password',
    'it is not an absolute URL',
  ];
  it.each([
    ['javascript:alert(1)', SCHEME],
    ['JaVaScRiPt:alert(1)', SCHEME],
    ['java\nscript:alert(1)', CONTROLS],
    ['file:///etc/passwd', SCHEME],
    ['data:text/html,x', SCHEME],
    ['ftp://bank.example/', SCHEME],
    ['ftp://127.0.0.1/', SCHEME],
    ['http://bank.example/login', SCHEME],
    ['http://127.0.0.1.bank.example/', SCHEME],
    ['https://user:secret@bank.example/', USER],
    ['https://user@bank.example/', USER],
    ['https://:secret@bank.example/', USER],
    ['https://bank.example/\nx', CONTROLS],
    ['https://bank.example/\r\nSet-Cookie: x', CONTROLS],
    ['https://bank.example/\tx', CONTROLS],
    ['https://bank.example/\u001b[2J', CONTROLS],
    ['https://bank.example/\u009b2J', CONTROLS],
    ['https://bank.example/\u0000', CONTROLS],
    ['\u0001https://bank.example/', CONTROLS],
    ['https://other.example\\@bank.example/', 'it contains a backslash'],
    [`https://bank.example/${'x'.repeat(8_172)}`, 'it is longer than 8192 characters'],
    ['/login', RELATIVE],
    ['//bank.example/login', RELATIVE],
    ['--version', RELATIVE],
    ['', RELATIVE],
  ])('assertOpenable refuses %j without repeating it: %s', (url, why) => {
    expect(() => assertOpenable(url)).toThrow(
      new Psd2Error('bank_answer', `psd2 does not open the address from the bank in a browser: ${why}`, {
        hint: 'Check the base URL of the profile. If it is right, ask the bank.',
      }),
    );
  });
});

it.each([
  [Object.assign(new Error('no'), { code: 'ENOENT' }), ': there is no such program'],
  [Object.assign(new Error('no'), { code: 'EACCES' }), ': it is not executable'],
  [Object.assign(new Error('no'), { code: 'EMFILE' }), ''],
  [{ code: 'ENOENT' }, ''],
  [new Error('no'), ''],
  ['ENOENT', ''],
  [undefined, ''],
])('why a program could not be started, as the end of a sentence: %j', (error, end) => {
  expect(reason(error)).toBe(end);
});

import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readError } from '../e2e/support/errors.ts';
import { freePort } from '../support/free-port.ts';
import { words } from '../support/words.ts';
import { type Behaviour, PRODUCT, success, useHostileBank, write } from './hostile-bank.ts';
import { useResident } from './resident.ts';

const bank = useHostileBank();
const { operator } = bank;
const resident = useResident(operator);
const run = async (args: string[]) => ({ ...(await resident.run(args)), signal: null });
const opened = join(operator.folder, 'opened');
const TRANSFER = words`transfer create --yes --from ${PRODUCT} --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 6.00 --json`;

beforeAll(() => {
  const browser = join(operator.folder, 'browser');
  writeFileSync(
    browser,
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`,
  );
  chmodSync(browser, 0o755);
  Object.assign(operator.env, { PSD2_BROWSER: browser, PSD2_SCA_TIMEOUT: '0.5' });
});
beforeEach(() => rmSync(opened, { force: true }));

/** A bank whose customer site is at `address`. */
const withSite =
  (address: string): Behaviour =>
  (socket, { target }) => {
    const last = target.split('?', 1)[0]?.split('/').at(-1);
    if (last === 'verify') write(socket, success('{}', `,"resources":{"resourceId":"${randomUUID()}"}`));
    else if (last === 'approach')
      write(socket, success(`{"chosenScaApproach":"REDIRECT","scaRedirectURL":${JSON.stringify(address)}}`));
    else if (last === 'status') write(socket, success('{"authorizationStatus":"PENDING"}'));
    else if (last === 'authorize')
      write(socket, { status: 302, headers: { location: Buffer.from(address).toString('latin1') } });
    else write(socket, { status: 404 });
  };

// test/terminal/browser.test.ts has the others.
const BAD = [
  ['a script', 'javascript:alert(1)'],
  ['a user name', 'https://bank.example@evil.example/'],
  ['an option of the browser', '--load-extension=/tmp/evil'],
] as const;
/** These end a header, or make it invalid. */
const BAD_IN_JSON = [
  ['a line break', 'https://bank.example/\nSet-Cookie: x'],
  ['an escape sequence', 'https://bank.example/\u001b[2J'],
] as const;

describe('psd2 opens only addresses of the bank that are web pages', () => {
  it.each([...BAD, ...BAD_IN_JSON])('psd2 does not open a wrong address for SCA: %s', async (_, address) => {
    operator.env.PSD2_REDIRECT_URI = `http://127.0.0.1:${await freePort()}/callback`;
    bank.behave(withSite(address));
    const ended = await run(TRANSFER);
    expect(readError(ended)).toMatchObject({
      code: 'bank_answer',
      exitCode: 11,
      message: expect.stringContaining('psd2 does not open the address from the bank in a browser'),
      hint: expect.stringContaining('transfer resume'),
    });
    expect(ended.stderr).not.toContain(address);
    expect(existsSync(opened)).toBe(false);
  });

  it('the flow can be resumed when the bank gives a correct address', async () => {
    const { stdout } = await resident.run(['transfer', 'list', '--json']);
    const [{ flow, state }] = JSON.parse(stdout);
    expect(state).toBe('authorizing');
    bank.behave(withSite('https://bank.example/sca?request=1'));
    const resumed = await run(['transfer', 'resume', flow, '--yes', '--json']);
    expect(readError(resumed)).toMatchObject({ code: 'authorisation_timeout', exitCode: 6 });
    await whenOpened();
    expect(readFileSync(opened, 'utf8')).toBe('https://bank.example/sca?request=1\n');
  });

  it.each(BAD)('psd2 does not open a wrong address for a login: %s', async (_, address) => {
    operator.env.PSD2_REDIRECT_URI = `http://127.0.0.1:${await freePort()}/callback`;
    bank.behave(withSite(address));
    const ended = await run(['auth', 'login', '--json']);
    expect(readError(ended)).toMatchObject({ code: 'bank_answer', exitCode: 11 });
    expect(ended.stderr).not.toContain(address);
    expect(existsSync(opened)).toBe(false);
  });

  it('a login fails if the bank gives no address, or two', async () => {
    for (const headers of ['', 'Location: https://a.example/\r\nLocation: https://b.example/\r\n']) {
      bank.behave((socket) => socket.write(`HTTP/1.1 302 Found\r\n${headers}Content-Length: 0\r\n\r\n`));
      const ended = await run(['auth', 'login', '--json']);
      expect([headers, ended.code]).toEqual([headers, headers === '' ? 11 : 6]);
    }
  });

  it('psd2 shows and opens an address in plain characters', async () => {
    operator.env.PSD2_REDIRECT_URI = `http://127.0.0.1:${await freePort()}/callback`;
    bank.behave(withSite('https://bänk.example/a b"\u202e?x=ö'));
    const ended = await resident.run(TRANSFER);
    expect(ended.code).toBe(6);
    const url = 'https://xn--bnk-qla.example/a%20b%22%E2%80%AE?x=%C3%B6';
    expect(ended.stderr.split('\n')).toContain(JSON.stringify({ event: 'open', url }));
    await whenOpened();
    expect(readFileSync(opened, 'utf8')).toBe(`${url}\n`);
  });
});

/** Waits for the browser, which is a separate process. */
async function whenOpened(): Promise<void> {
  while (!existsSync(opened)) await delay(10);
}

describe('links of the bank never choose the host', () => {
  it.each([
    'https://evil.example/steal',
    '//evil.example/steal',
    'https://user:pw@evil.example/private/x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '\\\\evil.example\\x',
    'r1/../../../x',
    '\u001b[2J\ud800',
  ])("psd2 stays at the bank's host if the next page is at %j", async (href) => {
    const page = success(
      '{"transactionsAccounting":[]}',
      `,"_links":{"next":{"href":${JSON.stringify(href)}}}`,
    );
    bank.behave((socket) => write(socket, bank.heard.length > 1 ? success('{}') : page));
    const ended = await resident.run(['accounts', 'transactions', PRODUCT]);
    expect([0, 11]).toContain(ended.code);
    expect(ended.crash).toBeUndefined();
    for (const { target } of bank.heard) {
      expect(target).toMatch(/^\/[\x21-\x7e]*$/);
      expect(target).not.toMatch(/^\/\/|:\/\//);
    }
  });

  it('psd2 takes only one part of a path as the next step of an operation', async () => {
    const href = 'https://evil.example/a/verify9?x#y';
    const next = `,"resources":{"resourceId":"r1/../x?y"},"_links":{"next":{"href":"${href}","method":"PUT"}}`;
    bank.behave((socket) => write(socket, bank.heard.length > 1 ? { status: 404 } : success('{}', next)));
    const ended = await resident.run([...TRANSFER, '--verify-data', '{}']);
    expect(ended.code).toBe(7);
    expect(bank.heard.at(-1)?.target).toMatch(/\/moneyTransfer\/r1%2F\.\.%2Fx%3Fy\/verify9$/);
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IDENTITY_PATH } from '../../../src/sandbox/folder/running.ts';
import { type FakeBank, fakeBank, RESOURCE, type Served, serve, serveSite } from '../../sandbox/fake-bank.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-25T10:00:00.000Z';

let folder = newConfigFolder(temporary);
let bank: FakeBank;
let callback: Served;
let site: Served;
beforeEach(async () => {
  folder = newConfigFolder(temporary);
  callback = await serve((_, response) => response.end('<title>Back</title>'));
  bank = fakeBank(`${callback.origin}/callback`);
  site = await serveSite(bank);
});
afterEach(() => Promise.all([site.close(), callback.close()]));

/** Runs `psd2 sandbox customer …`. @returns what it printed and said */
async function play(words: string[], how: Parameters<typeof openCommand>[2] = {}) {
  const command = openCommand(folder, NOW, how);
  await runIn(command.context, 'sandbox', 'customer', ...words);
  return { printed: command.printed(), said: command.said() };
}
const login = () => `${site.origin}/login?request=L1`;

describe('psd2 sandbox customer', () => {
  it('prints what the customer did, and where the browser ended', async () => {
    const { printed, said } = await play([login()]);
    expect([JSON.parse(printed), said]).toEqual([
      {
        pages: ['Log in · Sandbox Bank', 'Allow access · Sandbox Bank', 'Back'],
        finalUrl: `${callback.origin}/callback`,
      },
      '',
    ]);
    expect(bank.decisions).toEqual(['allow L1 1048262']);
  });

  it('a person reads one line for each page, also with the name of the standard command', async () => {
    const words = ['play', `${site.origin}/sca-authorize/?resourceId=${RESOURCE}`];
    expect(await play(words, { format: 'table' })).toEqual({
      printed: '',
      said: `Authorise an instant payment · Sandbox Bank\nBack\nBack at ${callback.origin}/callback\n`,
    });
    expect(bank.decisions).toEqual([`approve ${RESOURCE}`]);
  });

  it.each([
    [['--user', 'bruno'], 'allow L1 2073915'],
    [['--refuse'], 'refuse L1'],
    [['--refuse', '--user', 'bruno'], 'refuse L1'],
  ])('%j decides otherwise', async (words, decision) => {
    await play([...words, login()]);
    expect(bank.decisions).toEqual([decision]);
  });

  it.each(['nobody', ''])('the user %j cannot log in', async (user) => {
    expect(await failureOf(play(['--user', user, login()]))).toEqual({
      ...{ code: 'sandbox', exitCode: 3, message: `The login page shows no password for ${user}` },
      hint: 'It has these users: anna, bruno.',
    });
    expect(bank.decisions).toEqual([]);
  });

  it.each([
    ['', 'The sandbox customer needs an absolute URL to open'],
    ['/login', 'The sandbox customer needs an absolute URL to open'],
  ])('%j is no address', async (url, message) => {
    expect(await failureOf(play([url]))).toEqual({ code: 'sandbox', exitCode: 3, message });
  });

  it('an interruption ends it', async () => {
    const reason = new TypeError('interrupted');
    const { context } = openCommand(folder, NOW, {
      changes: ({ world }) => ({ world: { ...world, signal: AbortSignal.abort(reason) } }),
    });
    await expect(runIn(context, 'sandbox', 'customer', login())).rejects.toBe(reason);
    expect(bank.decisions).toEqual([]);
  });
});

describe('a sandbox that others reach by its name', () => {
  const OUTSIDE = 'https://bank.example:8444';
  const RUNNING = {
    ...{ pid: process.pid, baseUrl: 'https://bank.example:8443', startedAt: NOW, controlToken: 'secret' },
  };
  let near: Served;
  /** The sandbox of this folder runs, and its site says so. Others have its address. */
  async function runBesides(addresses: object): Promise<void> {
    near = await serve((request, response) => {
      if (request.url === IDENTITY_PATH) response.end(JSON.stringify({ pid: process.pid, startedAt: NOW }));
      else response.writeHead(302, { Location: `${site.origin}${request.url}` }).end();
    });
    mkdirSync(folder.sandbox, { recursive: true, mode: 0o700 });
    const running = { ...RUNNING, customerSiteUrl: near.origin, ...addresses };
    writeFileSync(join(folder.sandbox, 'running.json'), JSON.stringify(running), { mode: 0o600 });
  }
  afterEach(() => near.close());

  it("has the others' address as its site, and the console at this computer's", async () => {
    await runBesides({ outsideUrl: OUTSIDE });
    const command = openCommand(folder, NOW);
    await runIn(command.context, 'sandbox', 'console', '--no-browser');
    expect(JSON.parse(command.printed())).toEqual({ url: `${near.origin}/console` });
  });

  it('the customer of this computer opens its page here, with all of its address', async () => {
    await runBesides({ outsideUrl: OUTSIDE });
    const { printed } = await play([`${OUTSIDE}/login?request=L1`]);
    // The page at the other host is the end of the way.
    expect(JSON.parse(printed)).toEqual({
      ...{ pages: ['Log in · Sandbox Bank'], finalUrl: `${site.origin}/login` },
    });
  });

  it.each([
    ['another site', { outsideUrl: OUTSIDE }, () => login()],
    ['a name that only begins alike', { outsideUrl: 'http://127.0.0.1' }, () => login()],
    ['a sandbox without a name', {}, () => login()],
  ])('the page of %s is opened as it is', async (_, addresses, url) => {
    await runBesides(addresses);
    await play([url()]);
    expect(bank.decisions).toEqual(['allow L1 1048262']);
  });
});

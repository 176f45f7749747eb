import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { openBank } from '../../src/sandbox/bank.ts';
import { DOORS } from '../../src/sandbox/doors.ts';
import { loadOrCreateRegistration } from '../../src/sandbox/folder/registration.ts';
import { openStateFolder } from '../../src/sandbox/folder/state-folder.ts';
import { doorOf } from '../../src/sandbox/nextgenpsd2/door-state.ts';
import { defaultRules } from '../../src/sandbox/rules.ts';
import { codeOf, openTestBank, order, type TestBank } from './tpp.ts';

const ANNA = '1048262';
const CURRENT = '0010482620';
const BALANCE = `/private/customers/${ANNA}/products/${CURRENT}/balance/retrieve`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'psd2-state-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Ends a bank without telling it, and starts one with the state that it left on the disk. */
async function killAndRestart(bank: TestBank): Promise<TestBank> {
  const left = await mkdtemp(join(tmpdir(), 'psd2-left-'));
  await cp(folder, left, { recursive: true });
  await bank.close();
  await rm(folder, { recursive: true });
  await cp(left, folder, { recursive: true });
  await rm(left, { recursive: true });
  return openTestBank({ state: folder, consents: 'enforced' });
}

describe('a sandbox with a state folder', () => {
  test('on any free port, it keeps its ports over a restart, and takes others if they are taken', async () => {
    const addresses = ({ sandbox: { baseUrl, customerSiteUrl } }: TestBank) => [baseUrl, customerSiteUrl];
    const first = await openTestBank({ state: folder });
    const before = addresses(first);
    await first.close();
    const second = await openTestBank({ state: folder });
    expect(addresses(second)).toEqual(before);
    await second.close();

    const others = await Promise.all(
      before.map(async (address) => {
        const other = createServer().listen(Number(new URL(address).port), '127.0.0.1');
        await once(other, 'listening');
        return other;
      }),
    );
    const third = await openTestBank({ state: folder });
    for (const address of addresses(third)) expect(before).not.toContain(address);
    await third.close();
    for (const other of others) other.close();
  });

  test('a killed sandbox has its tokens, consents, payments, ledger, faults, customers and time again', async () => {
    const before = await openTestBank({ state: folder, consents: 'enforced' });
    const { accessToken, refreshToken } = await before.tpp.login();
    await before.tpp.giveConsent(accessToken, ANNA, [
      { name: 'ACCOUNT_INFO', products: [CURRENT] },
      { name: 'PAYMENTS', products: [CURRENT] },
    ]);
    const verified = await before.tpp.verifyTransfer(accessToken, { amount: '12.00' });
    const id = String(verified.json.resources?.resourceId);
    await before.tpp.authorise(accessToken, id);
    expect((await before.tpp.execute(accessToken, id)).status).toBe(200);
    const balance = (await before.tpp.send({ path: BALANCE, token: accessToken })).json.data;
    await order(before.sandbox, 'POST', '/customers', { user: 'dora' });
    await order(before.sandbox, 'POST', '/faults', { fault: 'status=503', on: 'accounts', forSeconds: 7200 });
    await order(before.sandbox, 'POST', '/clock', { forwardSeconds: 600 });
    const faults = (await order(before.sandbox, 'GET', '/faults')).json;
    const customers = (await order(before.sandbox, 'GET', '/customers')).json;
    const token = before.sandbox.running.controlToken;

    const after = await killAndRestart(before);
    expect(after.sandbox.running.controlToken).toBe(token);
    const again = (await after.tpp.send({ path: BALANCE, token: accessToken })).json.data;
    expect(again?.availableBalance).toEqual(balance?.availableBalance);
    expect(codeOf(await after.tpp.execute(accessToken, id))).toBe('ALREADY_EXECUTED');
    expect((await order(after.sandbox, 'GET', '/faults')).json).toEqual(faults);
    expect((await order(after.sandbox, 'GET', '/customers')).json).toEqual(customers);
    expect((await order(after.sandbox, 'GET', '/clock')).json).toEqual({
      time: '2026-11-20T11:10:00.000Z',
      aheadSeconds: 600,
    });
    const renewed = await after.tpp.refresh(refreshToken);
    expect(renewed.status).toBe(200);
    expect(codeOf(await after.tpp.refresh(refreshToken))).toBe('GRANT_INVALID');
    await after.close();
  });

  test('every part of both doors is kept: what a part remembers comes back, whatever it is', async () => {
    const keys = await mkdtemp(join(tmpdir(), 'psd2-keys-'));
    await cp(inject('registration'), keys, { recursive: true });
    const registration = await loadOrCreateRegistration(keys);
    const bank = await openBank(registration, defaultRules, folder, DOORS);
    const { parts, ...state } = bank;
    const named = [...Object.values(state), ...Object.values(doorOf(bank))].filter(
      (value) => typeof value === 'object' && value !== null && 'memory' in value,
    );
    expect(new Set(named)).toEqual(new Set(Object.values(parts)));
    expect(Object.keys(parts).filter((name) => name.startsWith('nextgenpsd2.'))).toHaveLength(
      Object.keys(doorOf(bank)).length,
    );
    for (const [name, part] of Object.entries(parts)) {
      part.memory = {
        ...part.memory,
        sign: { of: name, at: new Date(0), in: new Map([[name, new Set([1])]]) },
      };
    }
    await bank.keep();
    const again = await openBank(registration, defaultRules, folder, DOORS);
    for (const [name, part] of Object.entries(again.parts)) {
      expect(part.memory, name).toMatchObject({ sign: { of: name, at: new Date(0) } });
    }
    await rm(keys, { recursive: true });
  });

  test('a part remembers nothing outside its memory', () => {
    const root = new URL('../../src/sandbox/', import.meta.url);
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [name, readFileSync(new URL(name, root), 'utf8')] as const)
      .filter(([, source]) => source.includes('implements StatePart'));
    expect(sources.length).toBeGreaterThan(10);
    // A private field that has a value from the beginning, or that is assigned later, would be lost.
    for (const [name, source] of sources)
      expect(source, name).not.toMatch(/^ {2}(?:readonly )?#\w+(?:: [^=\n]+)? = |^ {2}#\w+: /m);
  });

  test('a damaged state is refused, and stays as it is', async () => {
    const bank = await openTestBank({ state: folder });
    await bank.close();
    const path = join(folder, 'state.bin');
    const content = await readFile(path);
    content[content.length - 1] = (content.at(-1) ?? 0) ^ 1;
    await writeFile(path, content);
    await expect(openTestBank({ state: folder })).rejects.toThrow('state.bin is damaged');
    expect(await readFile(path)).toEqual(content);
    await writeFile(path, content.subarray(0, 10));
    await expect(openStateFolder(folder)).rejects.toThrow('state.bin is damaged');
  });

  test.runIf(existsSync('/proc'))(
    'a folder that the system does not make is refused in one sentence',
    async () => {
      const refused = openStateFolder('/proc/psd2/state');
      await expect(refused).rejects.toThrow(
        'The sandbox cannot use the folder /proc/psd2/state for its state',
      );
      const made = loadOrCreateRegistration('/proc/psd2/sandbox');
      await expect(made).rejects.toThrow('The sandbox cannot store its certificates in /proc/psd2/sandbox');
    },
  );

  test('two sandboxes cannot use one state folder: the first one says so instead of losing what the other wrote', async () => {
    const first = await openTestBank({ state: folder });
    const second = await openTestBank({ state: folder });
    expect((await order(second.sandbox, 'POST', '/clock', { forwardSeconds: 60 })).status).toBe(200);
    const refused = await first.tpp.send({ path: first.tpp.authorizePath() });
    expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('Another sandbox uses')]);
    await first.close();
    await second.close();
  });
});

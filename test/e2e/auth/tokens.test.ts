import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { keepRunning, readDocument } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { useTappedBank } from '../support/tap.ts';
import { tokensFile } from '../support/tokens-file.ts';
import { callsOf } from '../support/verbose.ts';

const { operator, tap } = useTappedBank();
keepRunning(operator);

it('ten commands at the same time renew an access token once, and all succeed', async () => {
  const file = tokensFile(operator.config);
  const before = JSON.parse(readFileSync(file, 'utf8'));
  const ended = { ...before, accessTokenExpiresAt: new Date(Date.now() - 60_000).toISOString() };
  writeFileSync(file, JSON.stringify(ended));
  const connected = tap.connections();
  const goOn = tap.hold();
  const list = ['accounts', 'list', '--json', '--verbose'];
  const commands = Array.from({ length: 10 }, () => operator.psd2(list));
  await vi.waitFor(() => expect(tap.connections()).toBe(connected + 1), { timeout: 20_000 });
  // Until the bank has answered the first command, no other command asks it.
  const asked = vi.waitUntil(() => tap.connections() > connected + 1, { timeout: 2_000 });
  await expect(asked).rejects.toThrow();
  goOn();
  const all = await Promise.all(commands);
  for (const { code, stdout, stderr } of all) {
    expect(code, stderr).toBe(0);
    expect(readDocument(shapes.accounts, stdout)).toHaveLength(3);
  }
  const renewals = all.flatMap(callsOf).filter(({ path }) => path === '/auth/oauth/v2/token');
  expect(renewals.map(({ outcome }) => outcome)).toEqual(['200']);
  const renewed = tokensFile(operator.config);
  expect(JSON.parse(readFileSync(renewed, 'utf8')).refreshToken).not.toBe(before.refreshToken);
  expect(existsSync(`${renewed}.lock`)).toBe(false);
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, readDocument } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { useTappedBank } from '../support/tap.ts';
import { tokensFile } from '../support/tokens-file.ts';
import { saidBy } from '../support/verbose.ts';

const { operator, tap } = useTappedBank();
keepRunning(operator);

/** The successful token calls that `--verbose` reports. */
const refreshes = (stderr: string) =>
  saidBy({ stderr }).match(/^POST \/auth\/oauth\/v2\/token → 200/gm)?.length ?? 0;
const listAccounts = () => operator.psd2(['accounts', 'list', '--json', '--verbose']);

it('ten commands at the same time renew an access token once, and all succeed', async () => {
  const before = expire();
  const connected = tap.connections();
  const goOn = tap.hold();
  const commands = Array.from({ length: 10 }, listAccounts);
  await vi.waitFor(() => expect(tap.connections()).toBe(connected + 1), { timeout: 20_000 });
  // Until the bank has answered the first command, no other command asks it.
  const asked = vi.waitUntil(() => tap.connections() > connected + 1, { timeout: 2_000 });
  await expect(asked).rejects.toThrow();
  goOn();
  const ended = await Promise.all(commands);
  for (const { code, stdout, stderr } of ended) {
    expect(code, stderr).toBe(0);
    expect(readDocument(shapes.accounts, stdout)).toHaveLength(3);
  }
  expect(ended.reduce((sum, { stderr }) => sum + refreshes(stderr), 0)).toBe(1);
  expect(readTokens().refreshToken).not.toBe(before.refreshToken);
  expect(existsSync(`${file()}.lock`)).toBe(false);
});

it("psd2 uses another customer's tokens for nothing, and deletes them", async () => {
  // The bank takes the refresh token, and gives the tokens of the customer to whom it belongs.
  const [owner = ''] = /customer-\d+/.exec(file()) ?? [];
  const foreign = join(dirname(dirname(file())), 'customer-7000001', '1.json');
  mkdirSync(dirname(foreign), { mode: 0o700 });
  writeFileSync(foreign, JSON.stringify(expire()), { mode: 0o600 });
  const ended = await operator.psd2(['accounts', 'list', '--customer', '7000001', '--json', '--verbose']);
  expect(readError(ended)).toMatchObject({
    ...{ code: 'not_logged_in', exitCode: 4 },
    message: `The bank gave the tokens of ${owner.replace('-', ' ')} for customer 7000001`,
    next: [['psd2', 'auth', 'login', '--customer', '7000001']],
  });
  expect(saidBy(ended)).not.toContain('/accounts');
  const left = await operator.psd2(['auth', 'list', '--json', '--query', '[].customerId', '-r']);
  expect(left.stdout).not.toContain('7000001');
});

interface Tokens {
  accessToken: string;
  accessTokenExpiresAt: string;
  refreshToken: string;
}

/** The file with the customer's tokens. */
function file(): string {
  return tokensFile(operator.config);
}

function readTokens(): Tokens {
  return JSON.parse(readFileSync(file(), 'utf8'));
}

function writeTokens(tokens: Tokens): void {
  writeFileSync(file(), JSON.stringify(tokens));
}

/** Makes the access token end a minute ago. */
function expire(): Tokens {
  const tokens = { ...readTokens(), accessTokenExpiresAt: new Date(Date.now() - 60_000).toISOString() };
  writeTokens(tokens);
  return tokens;
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { useChromium } from '../support/customer.ts';
import { ADDRESS, keepRunning, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { tokensFile } from '../support/tokens-file.ts';
import { callsOf } from '../support/verbose.ts';

const operator = keepRunning(useLoggedIn());
const newCustomer = useChromium();
const ORDER = words`transfer create --yes --from 0010482620 --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 1.00`;
const tokens = join(operator.config, 'tokens', 'sandbox');
/** The files beside the tokens and the counts of reads: a lock, or a half-written file. */
const leftovers = () =>
  readdirSync(tokens, { recursive: true }).filter(
    (name) => !/\d$|\.json$|^unattended-reads$|^read-results\.ndjson$|^known-logins$/.test(String(name)),
  );

/** Starts a login that waits for its customer. */
async function startLogin(port: number) {
  const psd2 = await operator.start(['auth', 'login', '--json'], {
    PSD2_BROWSER: 'none',
    PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
  });
  const [, address = ''] = await psd2.prints(ADDRESS);
  return { psd2, address };
}

it('three payments and a consent with one redirect port all complete', async () => {
  const port = await freePort();
  const env = { PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback` };
  // Another psd2 waits for the browser at this port.
  const first = await startLogin(port);
  const all = await Promise.all([
    ...['7.01', '7.02', '7.03'].map((amount) =>
      operator.psd2([...ORDER.slice(0, -1), amount, '--json'], { env }),
    ),
    operator.psd2(['consent', 'request', '--category', 'PAYMENTS', '--all-accounts', '--json'], { env }),
  ]);
  for (const { code, stderr } of all) {
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("psd2 asks the bank for the customer's decision");
  }
  await operator.succeeds(['sandbox', 'customer', first.address]);
  expect(await first.psd2.ended).toMatchObject({ code: 0 });
});

it('psd2 transfer status --watch asks the bank about its transfer while psd2 works on another one', async () => {
  const env = { PSD2_BROWSER: 'none' };
  const left = await operator.psd2([...ORDER, '--json', '--sca-timeout', '0.2'], { env });
  const { flow } = readDocument(shapes.transfer, left.stdout);
  const other = await operator.start([...ORDER, '--json'], env);
  await other.prints(ADDRESS);
  // Nothing listens any more when the browser comes back, but the customer has approved.
  await operator.psd2(['sandbox', 'customer', ADDRESS.exec(left.stderr)?.[1] ?? '']);
  const watched = await operator.succeeds(['transfer', 'status', flow, '--watch', '--json']);
  expect(readDocument(shapes.transfer, watched.stdout)).toMatchObject({
    state: 'authorizing',
    authorizationStatus: 'AUTHORIZED',
  });
  expect(watched.stderr).toContain(
    `psd2 has not recorded this yet. Continue with: psd2 transfer resume ${flow}`,
  );
  other.kill('SIGINT');
  const { flow: cancelled } = readDocument(shapes.transfer, (await other.ended).stdout);
  await operator.succeeds(['transfer', 'cancel', cancelled, '--yes']);
  expect(await operator.json(shapes.transfer, ['transfer', 'resume', flow])).toMatchObject({
    state: 'executed',
  });
});

describe('two logins at the same time', () => {
  it('with one redirect port the second of two logins waits and says so, and both complete', async () => {
    const port = await freePort();
    const first = await startLogin(port);
    const second = await operator.start(['auth', 'login', '--json'], {
      PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
    });
    await second.prints(/The login waits its turn, at most 300 s\./);
    await operator.succeeds(['sandbox', 'customer', first.address]);
    expect(await first.psd2.ended).toMatchObject({ code: 0 });
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  it('two customers can log in at the same time, and both logins are kept', async () => {
    const names = ['Anna Esposito', 'Bruno Conti'];
    const logins = await Promise.all(
      names.map(async (name) => {
        const { psd2 } = await startLogin(await freePort());
        const customer = await newCustomer();
        await customer.follow(psd2);
        await customer.press(`Continue as ${name}`);
        return { psd2, customer };
      }),
    );
    await Promise.all(logins.map(({ customer }) => customer.press('Allow access')));
    const ended = await Promise.all(logins.map(({ psd2 }) => psd2.ended));
    const ids = ended.map(({ code, stdout, stderr }) => {
      expect(code, stderr).toBe(0);
      return readDocument(shapes.login, stdout).customerId;
    });
    expect(ids).toEqual(['1048262', '2073915']);
    for (const id of ids) {
      const list = await operator.json(shapes.accounts, ['accounts', 'list', '--customer', id ?? '']);
      expect(list).toHaveLength(3);
    }
    const { customerId } = JSON.parse(readFileSync(join(tokens, 'last-login.json'), 'utf8'));
    expect(ids).toContain(customerId);
    expect(leftovers()).toEqual([]);
  });
});

it('a login and a command that reads do not disturb each other', async () => {
  let reading = true;
  const readings: Promise<void> = (async () => {
    while (reading) {
      const args = ['accounts', 'transactions', '0010482620', '--customer', '1048262'];
      const rows = await operator.json(shapes.transactions, args);
      expect(rows.length).toBeGreaterThan(0);
    }
  })();
  try {
    for (let logins = 0; logins < 3; logins += 1) {
      await operator.succeeds(['auth', 'login', '--json']);
    }
  } finally {
    reading = false;
  }
  await readings;
});

it('logins during a sync duplicate no row and corrupt no file', async () => {
  const folder = join(operator.folder, 'synced');
  const sync = () =>
    operator.psd2(['sync', '--unattended-reads', '9999', '--out', folder, '--customer', '1048262', '--json']);
  const logins = async () => {
    for (let times = 0; times < 3; times += 1) {
      await operator.succeeds(['auth', 'login', '--json']);
    }
  };
  const [first] = await Promise.all([sync(), logins()]);
  for (const { code, stderr } of [first, await sync()]) expect(code, stderr).toBe(0);
  for (const file of readdirSync(join(folder, '1048262', 'transactions'))) {
    const lines = readFileSync(join(folder, '1048262', 'transactions', file), 'utf8').split('\n');
    const ids = lines.slice(0, -1).map((line) => JSON.parse(line).id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

it('ten commands that find an ended token and the lock of a killed process renew once, and all succeed', async () => {
  const file = tokensFile(operator.config);
  const before = JSON.parse(readFileSync(file, 'utf8'));
  const ended = { ...before, accessTokenExpiresAt: '2020-01-01T00:00:00.000Z' };
  writeFileSync(file, JSON.stringify(ended), { mode: 0o600 });
  writeFileSync(
    join(tokens, 'customer-1048262.json.lock'),
    '{"pid":1,"host":"gone","since":"2020-01-01T00:00:00.000Z"}',
  );
  const args = ['accounts', 'list', '--customer', '1048262', '--json', '--verbose'];
  const all = await Promise.all(Array.from({ length: 10 }, () => operator.psd2(args)));
  for (const { code, stderr } of all) expect(code, stderr).toBe(0);
  const renewals = all.flatMap(callsOf).filter(({ path }) => path === '/auth/oauth/v2/token');
  expect(renewals).toHaveLength(1);
  expect(leftovers()).toEqual([]);
});

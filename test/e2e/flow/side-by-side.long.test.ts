import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { useChromium } from '../support/customer.ts';
import { ADDRESS, keepRunning, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

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

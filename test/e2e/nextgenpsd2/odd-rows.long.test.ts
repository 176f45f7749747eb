import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { freePort } from '../../support/free-port.ts';
import { words } from '../../support/words.ts';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// What the rows of an account may be like, from the sync to the documents, with the store in files and in a database.

const ACCOUNT = '0010482620';
const PRESENT = ['--psu-ip', '192.0.2.1'];
const INSTANT = words`transfer create --instant --payee-verified --yes --from ${ACCOUNT} --to
  DE89370400440532013000 --name ${'Ada Lovelace'} --amount 2.00`;

let server: Server;
beforeAll(async () => {
  server = startServer(await freePort(), 24);
});
afterAll(() => server.stop());

type Row = [variations: string, first: { code: number; complete: boolean }];
const WHOLE = { code: 0, complete: true };
const ROWS: Row[] = [
  ['row-ids-fresh,value-day-30-february', WHOLE],
  ['row-ids-shared', WHOLE],
  ['row-ids-positional,value-day-30-february', WHOLE],
  ['row-ids-constant', WHOLE],
  ['row-ids-moved', WHOLE],
  ['report-links', WHOLE],
  ['days-ignored', WHOLE],
  ['rows-cut-at-50,days-ignored', { code: 12, complete: false }],
];

describe.each(
  ROWS.flatMap(([name, first]) => [
    { name, first, home: 'files' },
    { name, first, home: 'PostgreSQL' },
  ]),
)('a bank with $name, with the store in $home', ({ name, first, home }) => {
  const operator = useSecondDoor(['--transactions', '400', '--variation', name]);
  const isStored = home === 'PostgreSQL';
  const out = isStored ? [] : ['--out', join(operator.folder, 'out')];
  const sync = async (code: number) => {
    const ended = await operator.psd2(['sync', ...out, ...PRESENT, '--json']);
    expect(ended, ended.stderr).toMatchObject({ code });
    const [customer] = shapes.syncReport.parse(JSON.parse(ended.stdout)).customers;
    const check = customer?.checks.find(({ productId }) => productId === ACCOUNT);
    return { ...ended, check, added: customer?.newTransactions };
  };
  beforeAll(async () => {
    if (isStored) {
      const database = `odd_${name.replace(/\W/g, '_')}`;
      server.create(database);
      Object.assign(operator.env, { PSD2_STORE: server.url(database), PSD2_STORE_PLAIN_TOKENS: '1' });
      await operator.succeeds(['store', 'init', '--plain-tokens']);
    }
    await operator.request();
  });

  it('stores each row once, and says in the status and in documents what is not certain', async () => {
    expect((await sync(first.code)).check).toMatchObject({ complete: first.complete });
    await operator.succeeds(INSTANT);
    const again = await sync(first.code);
    // A transfer, and its fee.
    expect(again.added).toBe(2);
    expect(again.check).toMatchObject({ balanced: true, difference: '0.00', changed: 0, vanished: 0 });
    expect((await sync(first.code)).added).toBe(0);

    const status = await operator.psd2(['sync', 'status', '--json']);
    const shown = await operator.psd2(['sync', 'status']);
    if (first.complete) expect(status).toMatchObject({ code: 2 });
    else {
      const { doubts } = z
        .looseObject({ doubts: z.array(z.looseObject({ productId: z.string() })) })
        .parse(JSON.parse(status.stdout));
      expect(doubts).toMatchObject([{ customerId: 'default', productId: ACCOUNT, complete: false }]);
      expect(shown.stdout).toMatch(/Not certain\tcustomer default, account 0010482620: only days from /);
    }
    const file = join(operator.folder, `${name}.csv`);
    const words = ['accounts', 'export', ACCOUNT, '--from-store', '--format', 'csv', '--file', file];
    expect(await operator.psd2(words)).toMatchObject({ code: first.code });
    const ids = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0]);
    expect(ids.length).toBeGreaterThan(20);
    expect(new Set(ids).size).toBe(ids.length);
    if (name.includes('february')) expect(readFileSync(file, 'utf8')).toMatch(/-02-2[89]/);
  });
});

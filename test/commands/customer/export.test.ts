import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { exportCustomer } from '../../../src/commands/customer/export.ts';
import { rememberSyncFolder } from '../../../src/store/machine/sync-folders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsent, storeLogin } from '../access.ts';
import { runIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { useOperatorHere } from '../operator.ts';
import { addBatch, changeBatch, logCall, storeTransfer } from './stored.ts';

const temporary = temporaryFolder();
const operator = useOperatorHere();
const [ANNA, BRUNO] = ['1048262', '2073915'];
const ACCOUNT = '0010482620';
const PAYEE = 'DE89370400440532013000';

beforeEach(() => {
  operator.folder = newConfigFolder(temporary);
});

const exported = z.looseObject({
  logins: z.array(z.unknown()),
  accounts: z.array(z.string()),
  flows: z.array(z.looseObject({ flow: z.string(), kind: z.string(), events: z.array(z.unknown()) })),
  batches: z.array(z.looseObject({ batch: z.string(), lines: z.array(z.looseObject({ line: z.int() })) })),
  audit: z.array(
    z.looseObject({ action: z.string(), customerId: z.string(), about: z.nullable(z.string()) }),
  ),
  rows: z.array(z.looseObject({ name: z.string() })),
  folders: z.array(z.unknown()),
  calls: z.array(z.looseObject({ transactionId: z.string() })),
});
const exportOf = (customer: string, ...more: string[]) =>
  operator.json(exported, ['customer', 'export', customer, ...more]);

/** A folder of `psd2 sync --out` with a file about a customer, with two lines and one that a crash has cut short. */
function syncedFolder(customer: string, account: string): string {
  const folder = join(operator.folder.root, `out-${account}`);
  mkdirSync(join(folder, customer), { recursive: true });
  writeFileSync(join(folder, customer, 'accounts.ndjson'), `{"productId":"${account}"}\n{"a":1}\n{"a"`);
  return folder;
}
const synced = (folder: string, account: string) => ({
  folder,
  files: [{ name: `${ANNA}/accounts.ndjson`, rows: [{ productId: account }, { a: 1 }] }],
});

it('a customer about whom nothing is stored has an empty document, a warning, and no line in the audit log', async () => {
  const { printed, said, context } = await operator.run(['customer', 'export', ANNA]);
  expect(JSON.parse(printed())).toEqual({
    ...{ format: 'psd2-customer', version: 1, profile: 'env', customerId: ANNA, store: 'files' },
    exportedAt: context.world.now().toISOString(),
    ...{ logins: [], accounts: [], flows: [], batches: [], damagedBatches: [], audit: [] },
    ...{ rows: [], folders: [], calls: [] },
  });
  expect(said()).toContain(`psd2 has nothing stored about customer ${ANNA} of env.`);
  expect((await exportOf(ANNA)).audit).toEqual([]);
});

it('the document has what belongs to the customer, from each place, and nothing of another one', async () => {
  const { context } = operator.open();
  await storeLogin(context, ANNA, { accessTokenExpiresAt: '2026-12-01T00:00:00.000Z', scope: 'all' });
  await storeLogin(context, BRUNO);
  const mine = await storeTransfer(context, ANNA, 'settled', { reference: 'mine' });
  await storeTransfer(context, BRUNO, 'settled', { reference: 'theirs' });
  await storeConsent(context, ANNA, [{ name: 'ACCOUNT_INFO', products: [] }]);
  const { printed } = await operator.run(['customer', 'export', ANNA]);
  const document: unknown = JSON.parse(printed());
  const found = exported.parse(document);
  const baseUrl = new URL(operator.bank.sandbox.baseUrl).href;
  const ends = { accessTokenExpiresAt: '2026-12-01T00:00:00.000Z', refreshTokenExpiresAt: null };
  expect(found.logins).toEqual([{ baseUrl, ...ends, scope: 'all' }]);
  expect(found.flows.map(({ kind, events }) => [kind, events.length])).toEqual([
    ['transfer', 7],
    ['consent', 3],
  ]);
  expect(found.flows[0]?.flow).toBe(mine);
  expect(printed()).not.toContain(BRUNO);
  expect(exportCustomer.prints?.shape.is(document)).toBe(true);
});

it('the export itself is in the audit log, and the next document has it', async () => {
  await storeLogin(operator.open().context, ANNA);
  await exportOf(ANNA);
  await storeLogin(operator.open().context, BRUNO);
  await exportOf(BRUNO);
  expect((await exportOf(ANNA)).audit).toMatchObject([
    { action: 'exported', customerId: ANNA, about: 'customer' },
  ]);
});

it('the folders of earlier syncs are found by themselves, others with --out, and each once', async () => {
  const { folder } = operator;
  const { name } = operator.open().context.profile();
  const [first, second] = [syncedFolder(ANNA, ACCOUNT), syncedFolder(ANNA, '0000000002')];
  const empty = syncedFolder(BRUNO, '0000000003');
  await rememberSyncFolder(folder, name, first);
  await rememberSyncFolder(folder, name, empty);
  expect((await exportOf(ANNA)).folders).toEqual([synced(first, ACCOUNT)]);
  const all = await exportOf(ANNA, '--out', second, '--out', first, '--out', empty);
  expect(all.folders).toEqual([synced(first, ACCOUNT), synced(second, '0000000002')]);
  expect(all.accounts).toEqual([ACCOUNT, '0000000002']);
});

it('the lines of a batch that pay for the customer are found by the customer, the transfer and the account', async () => {
  const { context } = operator.open();
  await storeTransfer(context, ANNA, 'settled');
  const [other, own] = ['0000099999', '0000012345'];
  const named = await addBatch(
    operator,
    `name,iban,amount,from,customer\nAda,${PAYEE},1,${other},${ANNA}\nBob,${PAYEE},2,${own},${BRUNO}\n`,
  );
  const byAccount = await addBatch(
    operator,
    `name,iban,amount,from\nAda,${PAYEE},1,${other}\nBob,${PAYEE},2,${own}\nCid,${PAYEE},3,${own}\n`,
  );
  await addBatch(operator, `name,iban,amount,from\nAda,${PAYEE},1,${other}\n`);
  const { batches } = await exportOf(ANNA);
  const lines = Object.fromEntries(batches.map((each) => [each.batch, each.lines.map(({ line }) => line)]));
  // Not one of the batch that pays for others.
  expect(lines).toEqual({ [named]: [1], [byAccount]: [2, 3] });
});

it.each<[string, boolean, Parameters<typeof logCall>[1]]>([
  ['names the customer in its path', true, { path: `/private/customers/${ANNA}/products` }],
  ['names the customer in its path, encoded', true, { path: '/private/customers/%31048262' }],
  ['names an account of theirs', true, { path: '/private/products/0000012345/balance' }],
  ['is recorded for the customer', true, { customer: ANNA }],
  ['only contains the id in a longer part', false, { path: `/private/customers/9${ANNA}` }],
  ['has a path that cannot be decoded', false, { path: '/private/%E0%A4%A' }],
  ['is recorded for another one', false, { customer: BRUNO }],
  ['is one of another profile', false, { path: `/private/customers/${ANNA}`, profile: 'other' }],
])('of the calls in the log, one that %s: %s', async (_, isTheirs, call) => {
  const { context } = operator.open();
  await storeTransfer(context, ANNA, 'settled');
  logCall(context, { ...call, transactionId: 'one' });
  expect((await exportOf(ANNA)).calls.length).toBe(isTheirs ? 1 : 0);
});

it('with a call of the customer come those of the same transaction and of their payments, the newest first', async () => {
  const { context } = operator.open();
  const flow = await storeTransfer(context, ANNA, 'settled');
  logCall(context, { path: '/auth/oauth/v2/token', transactionId: 'login', tppRequestId: '1' });
  logCall(context, { path: `/private/customers/${ANNA}`, transactionId: 'login', tppRequestId: '2' });
  logCall(context, { path: '/private/status', transactionId: 'payment', flow, tppRequestId: '3' });
  const others = { transactionId: 'another', flow: 'tr-other', tppRequestId: '4' };
  logCall(context, { path: '/private/status', ...others });
  logCall(context, { path: '/private', profile: 'other', transactionId: 'login', tppRequestId: '5' });
  // What another profile has done for the customer makes no other call theirs.
  logCall(context, { path: `/private/customers/${ANNA}`, profile: 'other', transactionId: 'shared' });
  logCall(context, { path: '/private', transactionId: 'shared', tppRequestId: '6' });
  expect((await exportOf(ANNA)).calls.map(({ tppRequestId }) => tppRequestId)).toEqual(['3', '2', '1']);
});

it('--file saves the document for its owner alone, and prints how much is in it', async () => {
  const { context } = operator.open();
  await storeTransfer(context, ANNA, 'settled');
  await storeLogin(context, ANNA);
  const out = syncedFolder(ANNA, ACCOUNT);
  const file = join(operator.folder.root, 'anna.json');
  const saved = await operator.run(['customer', 'export', ANNA, '--file', file, '--out', out]);
  const text = readFileSync(file, 'utf8');
  // Two lines of the sync, and who logged in last.
  const counts = { file, bytes: Buffer.byteLength(text), flows: 1, rows: 3 };
  expect(JSON.parse(saved.printed())).toEqual(counts);
  expect(exportCustomer.printsWith?.['--file']?.shape.is(counts)).toBe(true);
  expect(saved.said()).toContain(`Saved ${counts.bytes} bytes to ${file}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(text.endsWith('}\n')).toBe(true);
  expect(text.split('\n')[1]).toBe('  "format": "psd2-customer",');
  expect(exported.parse(JSON.parse(text)).folders).toHaveLength(1);

  const again = await failureOf(operator.run(['customer', 'export', ANNA, '--file', file]));
  expect(again).toEqual({
    ...{ code: 'usage', exitCode: 2, message: `${file} already exists` },
    hint: 'Name a new file with --file, or remove this one first.',
  });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

it.each([
  [1, ''],
  [2, ' 1 more is damaged.'],
  [3, ' 2 more are damaged.'],
])(
  'with %i damaged batches the document is whole but for them, and the export fails',
  async (count, more) => {
    await storeLogin(operator.open().context, ANNA);
    const damages = new Map<string, string>();
    for (const amount of [1, 2, 3].slice(0, count)) {
      const batch = await addBatch(operator, `name,iban,amount,from\nAda,${PAYEE},${amount},${ACCOUNT}\n`);
      damages.set(batch, changeBatch(operator, batch));
    }
    const command = operator.open();
    const failure = await failureOf(runIn(command.context, 'customer', 'export', ANNA));
    const document: unknown = JSON.parse(command.printed());
    const { damagedBatches } = z.object({ damagedBatches: z.array(z.string()) }).parse(document);
    expect([...damagedBatches].sort()).toEqual([...damages.keys()].sort());
    expect(failure).toEqual({
      ...{ code: 'needs_attention', exitCode: 12 },
      message: `The document may lack payments of customer ${ANNA}. ${damages.get(damagedBatches[0] ?? '')}.${more}`,
      hint: 'It has all else. Restore the batch from a backup, and export again.',
    });
  },
);

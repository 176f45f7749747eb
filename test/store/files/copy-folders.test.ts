import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { copyStore } from '../../../src/store/copy/copy.ts';
import { withLock } from '../../../src/store/disk/lock.ts';
import { openFiles } from '../../../src/store/files/backend.ts';
import { folderSide } from '../../../src/store/files/copy/side.ts';
import { nameOfBank } from '../../../src/store/files/file-names.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { StoredRecord } from '../../../src/store/ports/copy.ts';
import type { Store } from '../../../src/store/ports/store.ts';
import { NO_SOURCES } from '../../../src/store/secrets/vault.ts';
import { thrownBy } from '../../support/thrown.ts';
import { TRANSFER_BEGIN } from '../flows.ts';
import { settingsOf } from '../settings.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { BANK, fillStore, foundIn, granted, LINKED, login, refusal } from '../whole-store.ts';

const temporary = temporaryFolder();
const NOBODY = { id: null, idType: null, corporateId: null, corporateIdType: null };
const world = { signal: NO_SOURCES.signal, sleep: async () => {}, say: () => {}, onRecord: () => {} };
let from: StoreFolder;
let to: StoreFolder;

beforeEach(() => {
  from = newConfigFolder(temporary);
  to = newConfigFolder(temporary);
});

const workerOf = (folder: StoreFolder): Store => openFiles(settingsOf(folder));
const sideOf = (folder: StoreFolder) => folderSide(folder, settingsOf(folder).vaultOf);
const holdingsOf = (folder: StoreFolder) => sideOf(folder).open('bank');
const copy = () => copyStore(sideOf(from), sideOf(to), world);
async function recordsOf(folder: StoreFolder): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const record of holdingsOf(folder).records()) records.push(record);
  return records;
}

describe('a copy from one folder to another', () => {
  it('everything is there: logins, logouts, flows, references, counts and notes', async () => {
    const left = await fillStore(workerOf(from));
    const before = await recordsOf(from);
    const result = await copy();
    expect(result).toMatchObject({ profiles: 1, logins: 2, flows: 2, events: 4, written: before.length });
    expect(await recordsOf(to)).toEqual(before);
    const copied = await foundIn(workerOf(to));
    rmSync(join(from.root, 'store.json'));
    expect(copied).toEqual(await foundIn(workerOf(from)));
    const { flows } = workerOf(to).open('bank', BANK);
    expect((await flows.leftBehind(5)).flows.map(({ flow }) => flow)).toEqual([left]);
    await expect(flows.begin('transfer', TRANSFER_BEGIN(' rent '), async () => {})).rejects.toMatchObject({
      code: 'duplicate_reference',
    });
  });

  it('after the copy, each folder has a mark that only its owner can read, and the old one refuses workers', async () => {
    await fillStore(workerOf(from));
    await copy();
    for (const { root } of [from, to]) expect(statSync(join(root, 'store.json')).mode & 0o777).toBe(0o600);
    expect(thrownBy(() => workerOf(from).open('bank', BANK))).toMatchObject({
      code: 'config',
      message: `The store in ${from.root} was copied to ${to.root}, and is no longer used`,
      hint: 'Use that one: PSD2_STORE chooses the store. To come back, run psd2 store copy in the other direction.',
    });
    workerOf(to).open('bank', BANK);
  });

  it('until the copy is complete, the new folder refuses workers, but keeps its place', async () => {
    await sideOf(to).setMark({ copiedFrom: { id: 'x', place: '/old', isComplete: false } });
    expect(thrownBy(() => workerOf(to).open('bank', BANK))).toMatchObject({
      code: 'config',
      message: `The copy of the store in /old into ${to.root} is not complete`,
      hint: 'Wait for it, or run the same psd2 store copy again. It continues where it stopped.',
    });
    expect(sideOf(to).place).toBe(to.root);
  });

  it('a folder has one mark, whoever asks first', async () => {
    const [one, other] = await Promise.all([sideOf(from).mark(), sideOf(from).mark()]);
    expect(one).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), movedTo: null, copiedFrom: null });
    expect(other).toEqual(one);
    await sideOf(from).setMark({ movedTo: { id: 'x', place: '/new' } });
    expect(await sideOf(from).mark()).toEqual({ ...one, movedTo: { id: 'x', place: '/new' } });
  });

  it('a damaged mark refuses workers', async () => {
    mkdirSync(from.root, { recursive: true, mode: 0o700 });
    writeFileSync(join(from.root, 'store.json'), '{"id":"x","movedTo":null}', { mode: 0o600 });
    expect(() => workerOf(from).open('bank', BANK)).toThrow(
      /store\.json is damaged: copiedFrom is not as psd2/,
    );
  });

  it('psd2 sees who works on a login, on the record of a customer or on a flow, also on one that only begins', async () => {
    const { tokens, flows } = workerOf(from).open('bank', BANK);
    const { atWork } = sideOf(from);
    const me = expect.stringMatching(`^process ${process.pid} on `);
    expect(await atWork()).toEqual([]);
    await tokens.change('42', async () => expect(await atWork()).toEqual([me]));
    await tokens.change(null, async () => {
      await flows.begin('transfer', TRANSFER_BEGIN('Rent'), async () =>
        expect(await atWork()).toEqual([me, me]),
      );
    });
    const record = join(from.tokens('bank'), 'customers', nameOfBank(BANK.href), 'customer-ada');
    await withLock(record, 'It', async () => expect(await atWork()).toEqual([me]), 0);
    expect(await atWork()).toEqual([]);
  });
});

describe('the records of a folder', () => {
  it('a record of each kind is found with all that belongs to it', async () => {
    const left = await fillStore(workerOf(from));
    const records = await recordsOf(from);
    const day = '2026-11-21';
    const known = { kind: 'login', generation: 1, origin: 1, baseUrl: BANK.href } as const;
    expect(records).toEqual([
      { ...known, holder: '', tokens: { ...login, accessToken: 'secret-own', apiTrackId: undefined } },
      { ...known, holder: '42', tokens: { ...login, ...LINKED, apiTrackId: undefined } },
      {
        kind: 'note',
        holder: '42',
        refresh: { ...refusal, of: login.accessTokenExpiresAt },
        call: refusal,
      },
      { ...known, holder: '43', generation: 2, origin: 2, baseUrl: '', tokens: null },
      { kind: 'last-login', customerId: '42' },
      {
        ...{ kind: 'customer', baseUrl: BANK.href, customer: 'ada', generation: 1 },
        kept: { psu: NOBODY, consents: [granted('co-1')] },
      },
      { kind: 'customer', baseUrl: BANK.href, customer: 'bob', generation: 2, kept: null },
      expect.objectContaining({ kind: 'flow', underWay: false }),
      expect.objectContaining({ kind: 'flow', underWay: true, flow: left }),
      expect.objectContaining({ kind: 'pseudonym' }),
      expect.objectContaining({ kind: 'audit', n: 1 }),
      expect.objectContaining({ kind: 'audit', n: 2 }),
      expect.objectContaining({ kind: 'batch', lines: [expect.objectContaining({ line: 1 })] }),
      { kind: 'count', day, read: null, count: 1 },
      { kind: 'count', day, read: { customerId: '42', productId: '' }, count: 1 },
      expect.objectContaining({ kind: 'reads', customerId: '42' }),
    ]);
    const flow = records[7];
    expect(flow?.kind === 'flow' ? flow.events.map(({ event }) => event) : []).toEqual([
      expect.objectContaining({ type: 'created' }),
      expect.objectContaining({ type: 'verify-sent', requestId: 'r', digest: null }),
    ]);
    // Each is its own counterpart, and none is in an empty folder.
    for (const record of records) {
      expect(await holdingsOf(from).counterpart(record)).toEqual(record);
      // A line of the audit log has its place after the one before it.
      if (record.kind === 'audit' && record.n > 1) continue;
      expect(await holdingsOf(to).counterpart(record)).toBeUndefined();
    }
  });

  it('files that psd2 did not write are not counts', async () => {
    const place = (name: string) => join(from.tokens('bank'), name);
    for (const name of ['client-credentials-calls', 'unattended-reads']) {
      mkdirSync(place(name), { recursive: true, mode: 0o700 });
      for (const file of ['notes', '2026-11-21.old', 'x2026-11-21', '2026-11-2'])
        writeFileSync(join(place(name), file), '42 *\n');
    }
    writeFileSync(join(place('client-credentials-calls'), '2026-11-20'), '');
    writeFileSync(
      join(place('unattended-reads'), '2026-11-21'),
      `42 *\n42 A1\n\n42\n42 A1\n+42 A1\n42 A-1\n42 A1 \n42/7 A1\n${'4'.repeat(65)} A1\n${'4'.repeat(20)} ${'A'.repeat(35)}\n42 *`,
    );
    const read = (customerId: string, productId: string, count: number) => {
      const of = { customerId, productId };
      return { kind: 'count', day: '2026-11-21', read: of, count };
    };
    const long = read('4'.repeat(20), 'A'.repeat(35), 1);
    expect(await recordsOf(from)).toEqual([read('42', '', 1), read('42', 'A1', 2), long]);
  });
});

it('copied reads have a line each, in a file of their owner alone, not mixed with one that a kill cut short', async () => {
  const day = '2026-11-21';
  const reads = (productId: string, count: number): StoredRecord => ({
    ...{ kind: 'count', day, count },
    read: { customerId: '42', productId },
  });
  for (const record of [reads('', 2), reads('A1', 1), reads('A1', 4)]) await holdingsOf(to).put(record);
  const file = join(to.tokens('bank'), 'unattended-reads', day);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toBe('42 *\n42 *\n42 A1\n42 A1\n42 A1\n42 A1\n');
  writeFileSync(file, '42 A1\n42 ');
  await holdingsOf(to).put(reads('A1', 2));
  expect(readFileSync(file, 'utf8')).toBe('42 A1\n42 \n42 A1\n');
});

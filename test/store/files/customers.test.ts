import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileCustomers } from '../../../src/store/files/customers.ts';
import { nameOfBank } from '../../../src/store/files/file-names.ts';
import { Generations } from '../../../src/store/files/token-file.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { recordDisk } from '../disk.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
import { heldByAnother } from '../waiting.ts';
import { BANK, granted, granting } from '../whole-store.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;
let notices: string[];

beforeEach(() => {
  folder = newConfigFolder(temporary);
  notices = [];
});

/** The customers, as another process opens them. */
const customers = (bank = BANK) => new FileCustomers(folder, 'bank', bank, (text) => notices.push(text));
const place = (...names: string[]) =>
  join(folder.tokens('bank'), 'customers', nameOfBank(BANK.href), ...names);
const flowsOf = async (customer: string) =>
  (await customers().read(customer))?.consents.map(({ flow }) => flow).sort();

describe('the files of customers', () => {
  it('each change replaces the file by one with the next number, which only the owner can read', async () => {
    for (const flow of ['co-1', 'co-2']) await customers().change('Ada', granting(flow));
    expect(readdirSync(place())).toEqual(['customer-_41da']);
    expect(readdirSync(place('customer-_41da'))).toEqual(['2.json']);
    const path = place('customer-_41da', '2.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (let above = dirname(path); above !== folder.root; above = dirname(above))
      expect(statSync(above).mode & 0o777).toBe(0o700);
    const id = expect.stringMatching(/^[\w-]{12}$/);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      baseUrl: 'https://bank.example/',
      changes: [id, id],
      kept: {
        psu: { id: null, idType: null, corporateId: null, corporateIdType: null },
        consents: [granted('co-1'), granted('co-2')],
      },
    });
  });

  it('a new version has its name only when it is durable, and the folders above a first one are too', async () => {
    const disk = recordDisk();
    await customers().change('ada', granting('co-1'));
    const bank = basename(place());
    const above = [bank, 'customers', 'bank', 'tokens', 'psd2'].map((name) => `fsync ${name}`);
    const written = disk.filter((call) => !call.includes('.lock'));
    expect(written).toEqual(['write .*', 'fsync .*', 'link 1.json', 'fsync customer-ada', ...above]);
    disk.length = 0;
    await customers().change('ada', granting('co-2'));
    expect(disk.filter((call) => !call.includes('.lock'))).toEqual([
      ...['write .*', 'fsync .*', 'link 2.json', 'fsync customer-ada'],
    ]);
  });

  it('a folder that others can write to is refused', async () => {
    await customers().change('ada', granting('co-1'));
    chmodSync(place('customer-ada'), 0o777);
    const refused = { code: 'config', message: expect.stringContaining('can be changed by others') };
    await expect(customers().read('ada')).rejects.toMatchObject(refused);
    await expect(customers().change('ada', granting('co-2'))).rejects.toMatchObject(refused);
  });

  it('names that psd2 does not give are no customers', async () => {
    await customers().change('ada', granting('co-1'));
    for (const name of ['customer-Ada', 'client-credentials', 'notes']) put(place(name, '1.json'), 'x');
    put(join(folder.tokens('bank'), 'customers', 'notes'), '');
    expect(await customers().list()).toEqual(['ada']);
    expect([...customers().records()].map(({ customer }) => customer)).toEqual(['ada']);
  });
});

describe('a record that is damaged', () => {
  const whole = async () => {
    await customers().change('ada', granting('co-1'));
    return JSON.parse(readFileSync(place('customer-ada', '1.json'), 'utf8'));
  };

  it('the error names the file, and the next change keeps it under another name', async () => {
    await whole();
    const path = place('customer-ada', '1.json');
    put(path, 'garbage');
    await expect(customers().read('ada')).rejects.toMatchObject({
      code: 'config',
      message: `${path} is damaged: it is not JSON`,
      hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
    });
    expect(await customers().list()).toEqual(['ada']);
    expect(() => [...customers().records()]).toThrow(`${path} is damaged`);
    await customers().change('ada', granting('co-2'));
    expect(await flowsOf('ada')).toEqual(['co-2']);
    const [damaged = '', newer] = readdirSync(place('customer-ada'));
    expect([damaged, newer]).toEqual([expect.stringMatching(/^1\.json\.damaged-\d+T\d+Z$/), '2.json']);
    expect(readFileSync(place('customer-ada', damaged), 'utf8')).toBe('garbage');
    expect(notices).toEqual([
      `${path} is damaged: it is not JSON. psd2 keeps it as ${place('customer-ada', damaged)} and writes a new one.`,
    ]);
  });

  it('it can be forgotten', async () => {
    put(place('customer-ada', '3.json'), 'garbage');
    await customers().forget('ada');
    expect([await customers().list(), await customers().read('ada')]).toEqual([[], undefined]);
    expect(notices).toHaveLength(1);
  });

  it.each([
    ['of another bank', { baseUrl: 'https://other.example/' }],
    ['without a bank', { baseUrl: undefined }],
    ['without its changes', { changes: undefined }],
    ['without consents', { kept: { psu: {} } }],
    ['without content', { kept: undefined }],
  ])('a record %s is damaged', async (_, change) => {
    put(place('customer-ada', '1.json'), JSON.stringify({ ...(await whole()), ...change }));
    await expect(customers().read('ada')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(`^${place('customer-ada', '1.json')} is damaged: `),
    });
  });

  it.each([
    ['an end that is no day', { validUntil: '2027-02-30' }],
    ['a time that is none', { grantedAt: 'yesterday' }],
    ['something else to read', { reads: ['cards'] }],
    ['accounts that are no list', { accounts: 'all' }],
    ['half a frequency', { frequencyPerDay: 0.5 }],
    ['no id', { consentId: undefined }],
    ['no flow', { flow: undefined }],
    ['a word for recurring', { recurring: 'yes' }],
  ])('a consent with %s is damaged', async (_, change) => {
    const file = await whole();
    file.kept.consents[0] = { ...file.kept.consents[0], ...change };
    put(place('customer-ada', '1.json'), JSON.stringify(file));
    await expect(customers().read('ada')).rejects.toThrow('is damaged: kept.consents.0.');
  });
});

describe('a worker that stands still between reading and writing', () => {
  /** Another worker writes the next version meanwhile, because it has taken the lock over. */
  const meanwhile = (generation: number, kept: object | null) =>
    new Generations(place('customer-ada')).add(
      generation,
      JSON.stringify({ baseUrl: BANK.href, changes: [`other-${generation}`], kept }),
    );

  it.each([
    ['it changes what the other one wrote, and loses nothing', ['co-1', 'co-2'], [1, 2]],
    ['it does not bring back what another one has forgotten', null, [1, 0]],
  ])('%s', async (_what, others, expected) => {
    await customers().change('ada', granting('co-1'));
    const psu = (await customers().read('ada'))?.psu;
    const kept = others && { psu, consents: others.map((flow) => granted(flow)) };
    const seen: number[] = [];
    await customers().change('ada', (before) => {
      seen.push(before.consents.length);
      if (seen.length === 1) meanwhile(2, kept);
      return granting('co-3')(before);
    });
    expect(seen).toEqual(expected);
    expect(await flowsOf('ada')).toEqual([...(others ?? []), 'co-3']);
  });

  it('it says that it does not know, if its version may have been replaced by one that does not tell', async () => {
    await customers().change('ada', granting('co-1'));
    const unclear = customers().change('ada', (before) => {
      meanwhile(3, { psu: before.psu, consents: [granted('co-2')] });
      return granting('co-3')(before);
    });
    await expect(unclear).rejects.toMatchObject({
      code: 'config',
      message: 'It is unclear whether the record of customer ada was written',
    });
    expect(await flowsOf('ada')).toEqual(['co-2']);
  });

  it('it writes nothing after the store was copied away', async () => {
    let isHere = true;
    const assertHere = () => {
      if (!isHere) throw new Error('moved');
    };
    const worker = new FileCustomers(folder, 'bank', BANK, () => {}, assertHere);
    const late = worker.change('ada', (before) => {
      isHere = false;
      return granting('co-1')(before);
    });
    await expect(late).rejects.toThrow('moved');
    await expect(worker.forget('ada')).rejects.toThrow('moved');
    expect(await customers().list()).toEqual([]);
  });
});

describe('a customer whom another worker changes', () => {
  it.each([
    ['is waited for', (of: FileCustomers) => of.change('ada', granting('co-2'))],
    ['is not forgotten meanwhile', (of: FileCustomers) => of.forget('ada')],
    ['is not forgotten with all others meanwhile', (of: FileCustomers) => of.forgetAll()],
  ])('%s', async (_, work) => {
    await customers().change('ada', granting('co-1'));
    const time = heldByAnother(place('customer-ada.lock'));
    await expect(work(customers())).rejects.toMatchObject({
      code: 'config',
      message: 'The record of customer ada is in use by another psd2: process 7 on h since now',
    });
    expect(time.seconds).toBe(31);
    expect(await flowsOf('ada')).toEqual(['co-1']);
    expect(await customers().change('bob', granting('co-3'))).toBeUndefined();
  });
});

it('a copied version replaces none that is as new', async () => {
  const record = { kind: 'customer', baseUrl: BANK.href, customer: 'ada', generation: 7 } as const;
  const kept = (flow: string) =>
    granting(flow)({
      psu: { id: null, idType: null, corporateId: null, corporateIdType: null },
      consents: [],
    });
  customers().keep({ ...record, kept: kept('co-1') });
  for (const generation of [6, 7]) customers().keep({ ...record, generation, kept: kept('co-2') });
  expect(customers().record(BANK.href, 'ada')).toEqual({ ...record, kept: kept('co-1') });
  customers().keep({ ...record, generation: 8, kept: null });
  expect(customers().record(BANK.href, 'ada')).toEqual({ ...record, generation: 8, kept: null });
  expect(customers().record('https://other.example/', 'ada')).toBeUndefined();
});

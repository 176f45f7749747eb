import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Batch, countedApprovals } from '../../../src/domain/batch/batch.ts';
import { FileBatches } from '../../../src/store/files/batches.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once } from '../waiting.ts';
import { batchLine } from '../whole-store.ts';

const temporary = temporaryFolder();

it('a line whose claim cannot be written is not a line that another worker has', async () => {
  const flows = join(newConfigFolder(temporary).root, 'flows');
  mkdirSync(flows, { recursive: true });
  const batches = new FileBatches(flows, { now: () => new Date() });
  const added = { ...batchAdded({ by: 'ada', user: 'ada', machine: 'pisp-1' }), messageId: null };
  const { batch } = await batches.add({ added, lines: [batchLine(1)], again: false });
  const claims = join(flows, 'batches', batch, 'claims');
  writeFileSync(claims, '');
  const work = () => batches.onLine(batch, 1, false, async () => 'ours');
  await expect(work()).rejects.toMatchObject({ code: 'config' });
  rmSync(claims);
  expect(await work()).toBe('ours');
});

const ADA = { by: 'ada', user: 'ada', machine: 'pisp-1' };

it.each([
  ['in one go', [2]],
  ['of which the copy had the beginning', [1, 2]],
  ['that comes twice', [2, 2]],
])('an approval %s, brought by a copy, does not count where it was not given', async (_, counts) => {
  const open = (root: string) => {
    const flows = join(root, 'flows');
    mkdirSync(flows, { recursive: true });
    return new FileBatches(flows, { now: () => new Date() });
  };
  const [from, to] = [open(newConfigFolder(temporary).root), open(newConfigFolder(temporary).root)];
  const added = { ...batchAdded(ADA), messageId: null };
  const { batch, sha256 } = await from.add({ added, lines: [batchLine(1)], again: false });
  const approve = (store: FileBatches) =>
    store.change(batch, () => ({ type: 'approved', sha256, ...ADA, by: 'bea', user: 'bea' }));
  await approve(from);
  const record = from.record(batch);
  if (!record) throw new TypeError('There is no batch');
  for (const count of counts) to.keep({ ...record, events: record.events.slice(0, count) });
  const counted = async (store: FileBatches) => countedApprovals(await store.find(batch)).map(({ by }) => by);
  expect([await counted(from), await counted(to)]).toEqual([['bea'], []]);
  await approve(to);
  expect(await counted(to)).toEqual(['bea']);
});

/** Two batches of two lines, the second one with two events. @returns the second one, and where it is */
async function twoBatches() {
  const flows = join(newConfigFolder(temporary).root, 'flows');
  const open = () => new FileBatches(flows, { now: () => new Date() });
  const order = (amount: string) => ({
    added: { ...batchAdded(ADA), messageId: null },
    lines: [batchLine(1, amount), batchLine(2, amount)],
    again: false,
  });
  const whole = (await open().add(order('1.00'))).batch;
  const { batch, sha256 } = await open().add(order('2.00'));
  await open().change(batch, () => ({ type: 'approved', sha256, ...ADA, by: 'bea' }));
  return { open, whole, batch, folder: join(flows, 'batches', batch), flows };
}

const change = (name: string, content: (text: string) => string) => (folder: string) =>
  writeFileSync(join(folder, name), content(readFileSync(join(folder, name), 'utf8')));
const remove = (name: string) => (folder: string) => rmSync(join(folder, name));

describe('a batch that somebody has damaged', () => {
  it.each<[string, (folder: string) => unknown, string]>([
    ['lacks its first event', remove('events/1'), 'events of its journal are missing'],
    [
      'lacks all events',
      (at) => ['1', '2'].map((n) => remove(`events/${n}`)(at)),
      'events of its journal are missing',
    ],
    [
      'has a gap',
      (at) => renameSync(join(at, 'events/2'), join(at, 'events/3')),
      'events of its journal are missing',
    ],
    [
      'has another first event',
      (at) => cpSync(join(at, 'events/2'), join(at, 'events/1')),
      'psd2 did not write its first event',
    ],
    [
      'begins twice',
      (at) => cpSync(join(at, 'events/1'), join(at, 'events/2')),
      'psd2 did not write the event 2',
    ],
    [
      'has an event that is no JSON',
      change('events/2', () => '{'),
      'the event 2 of its journal cannot be read',
    ],
    [
      'has an event without a time',
      change('events/2', () => '{"event":{}}'),
      'the event 2 of its journal cannot be read',
    ],
    [
      'has an event that psd2 does not know',
      change('events/2', (text) => text.replace('approved', 'x')),
      'psd2 did not write the event 2',
    ],
  ])('and that %s is told, and hides no other one', async (_, damage, what) => {
    const { open, whole, batch, folder } = await twoBatches();
    damage(folder);
    const expected = { code: 'config', message: `The batch ${batch} is damaged: ${what}` };
    await expect(open().find(batch)).rejects.toMatchObject(expected);
    await expect(open().change(batch, () => null)).rejects.toMatchObject(expected);
    const [listed, told]: [string[], unknown[]] = [[], []];
    for await (const each of open().list((error, id) => told.push([error.message, id])))
      listed.push(each.batch);
    expect([listed, told]).toEqual([[whole], [[expected.message, batch]]]);
    await expect(open().list().next()).rejects.toMatchObject(expected);
  });

  it.each<[string, (folder: string) => void, string]>([
    ['lacks its lines', remove('lines.ndjson'), 'is damaged: its lines are missing'],
    [
      'has a line that is no JSON',
      change('lines.ndjson', (text) => `{\n${text}`),
      'is damaged: psd2 did not write its lines',
    ],
    [
      'has a line that is none',
      change('lines.ndjson', (text) => `{}\n${text}`),
      'is damaged: psd2 did not write its lines',
    ],
    [
      'lacks a line',
      change('lines.ndjson', (text) => text.slice(text.indexOf('\n') + 1)),
      'are not those that were added',
    ],
    [
      'lacks the end of a line',
      change('lines.ndjson', (text) => text.trimEnd()),
      'are not those that were added',
    ],
    ['has a line twice', change('lines.ndjson', (text) => text + text), 'are not those that were added'],
    [
      'has another amount',
      change('lines.ndjson', (text) => text.replace('2.00', '9.00')),
      'are not those that were added',
    ],
  ])('and that %s is paid by nobody', async (_, damage, what) => {
    const { open, batch, folder } = await twoBatches();
    damage(folder);
    await expect(open().lines(await open().find(batch))).rejects.toMatchObject({
      ...{ code: 'config', message: expect.stringContaining(what) },
    });
  });

  it('is not one: half of a batch that a kill has left, and a file that psd2 did not write', async () => {
    const { open, whole, batch, folder, flows } = await twoBatches();
    mkdirSync(join(flows, 'batches', '.5f0c', 'events'), { recursive: true });
    mkdirSync(join(flows, 'batches', `${batch}-1`));
    for (const name of ['.5f0c', '3.new', 'x3']) writeFileSync(join(folder, 'events', name), '');
    const listed = [];
    for await (const each of open().list()) listed.push(each.batch);
    expect(listed.toSorted()).toEqual([whole, batch].toSorted());
    expect(open().ids().toSorted()).toEqual([whole, batch].toSorted());
    expect((await open().find(batch)).approvals).toHaveLength(1);
  });
});

it('a worker sees the events of others, and two of them never write the same one', async () => {
  const { open, batch } = await twoBatches();
  const [one, other] = [open(), open()];
  await one.find(batch);
  const begin = (flow: string) => (now: Batch) =>
    now.flows.has(1) ? null : { type: 'line-begun' as const, line: 1, flow };
  expect((await other.change(batch, begin('tr-1'))).recorded).toBe(true);
  const second = await one.change(batch, begin('tr-2'));
  expect([second.recorded, second.batch.flows.get(1)]).toEqual([false, 'tr-1']);
});

it('a batch that cannot be written is not stored, and an event not recorded', async () => {
  const { open, batch, folder } = await twoBatches();
  const adding = () =>
    open().add({
      added: { ...batchAdded(ADA), messageId: null },
      lines: [batchLine(1, '3.00')],
      again: false,
    });
  once('renameSync', failing('ENOSPC'));
  await expect(adding()).rejects.toMatchObject({
    ...{ code: 'config', message: expect.stringMatching(/^The batch cannot be written/) },
  });
  expect(open().ids()).toHaveLength(2);
  once('fsyncSync', failing('ENOSPC'));
  const { sha256 } = await open().find(batch);
  await expect(
    open().change(batch, () => ({ type: 'rejected', sha256, note: '', ...ADA })),
  ).rejects.toMatchObject({
    message: expect.stringContaining(`The journal of the batch ${batch} cannot be written`),
    hint: expect.stringContaining('psd2 has sent nothing for it.'),
  });
  expect(readdirSync(join(folder, 'events')).toSorted()).toEqual(['1', '2']);
  await adding();
  expect(open().ids()).toHaveLength(3);
});

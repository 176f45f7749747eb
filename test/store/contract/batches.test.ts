import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Batch, BatchEvent, Person } from '../../../src/domain/batch/batch.ts';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { Batches, NewBatch } from '../../../src/store/ports/batches.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { named } from '../../support/named.ts';
import { batchLine } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

const ADA: Person = { by: 'ada', user: 'ada', machine: 'pisp-1' };
const BOB: Person = { by: 'bob', user: 'bob', machine: 'pisp-2' };

const approved = (sha256: string): BatchEvent => ({ type: 'approved', sha256, ...ADA });
const rejected = (sha256: string): BatchEvent => ({ type: 'rejected', sha256, note: 'Wrong', ...BOB });

const order = (
  lines: BatchLine[],
  more: Partial<NewBatch> = {},
  messageId: string | null = null,
): NewBatch => ({
  added: { ...batchAdded({ note: 'Salaries', ...ADA }), messageId },
  lines,
  again: false,
  ...more,
});

async function listed(of: Batches): Promise<Batch[]> {
  const all: Batch[] = [];
  for await (const each of of.list()) all.push(each);
  return all;
}

describe.each(named(useBackends()))('the batches in %s', (_name, { open }) => {
  let place: Place;
  let batches: Batches;
  /** The same, as another worker sees it. */
  let others: Batches;
  beforeEach(async () => {
    place = await open();
    batches = (await place.worker()).open('bank').batches;
    others = (await place.worker()).open('bank').batches;
  });

  it('a batch is found by the beginning of its id, which is the hash of its content, with its lines', async () => {
    const lines = [batchLine(1), batchLine(2, '2.50')];
    const { batch, sha256 } = await batches.add(order(lines));
    expect(batch).toBe(sha256);
    const found = await others.find(batch.slice(0, 8));
    expect(found).toMatchObject({ batch, sha256, count: 2, addedBy: 'ada', note: 'Salaries', approvals: [] });
    expect(await others.lines(found)).toEqual(lines);
    await expect(others.find('zz')).rejects.toMatchObject({ code: 'usage' });
    expect(await listed(others)).toEqual([found]);
  });

  it('the batch that was added last comes first, whatever its id', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const added: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) {
      vi.setSystemTime(new Date(`2026-11-21T10:00:0${n}Z`));
      added.push((await batches.add(order([batchLine(1, `${n}.00`)]))).batch);
    }
    expect((await listed(others)).map(({ batch }) => batch)).toEqual(added.toReversed());
    expect([added, added.toReversed()]).not.toContainEqual(added.toSorted());
  });

  it('batches that were added at the same time are in the order of their ids, the last one first', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T10:00:00Z') });
    onTestFinished(() => void vi.useRealTimers());
    for (const n of [1, 2, 3, 4, 5]) await batches.add(order([batchLine(1, `${n}.00`)]));
    const ids = (await listed(others)).map(({ batch }) => batch);
    expect(ids).toHaveLength(5);
    expect(ids).toEqual(ids.toSorted().reverse());
  });

  it('the same content is one batch, also if two workers add it at once, unless it is meant', async () => {
    const both = await Promise.allSettled([
      batches.add(order([batchLine(1)])),
      others.add(order([batchLine(1)])),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [one] = await listed(batches);
    await expect(others.add(order([batchLine(1)]))).rejects.toMatchObject({
      code: 'usage',
      message: `The batch ${one?.batch} has the same content`,
    });
    const again = await others.add(order([batchLine(1)], { again: true }));
    expect(again.batch).toBe(`${one?.batch}-2`);
  });

  it('a batch that was compared with all others is stored, and one of two at once must be compared again', async () => {
    const compared = new Set<string>();
    const both = await Promise.allSettled([
      batches.add(order([batchLine(1)], { compared })),
      others.add(order([batchLine(1, '2.00')], { compared })),
    ]);
    expect(both.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))).toMatchObject([
      { message: 'Another batch was added at the same time' },
    ]);
    const [one] = await listed(batches);
    const lines = one ? await batches.lines(one) : [];
    const next = await others.add(order(lines, { compared: new Set([one?.batch ?? '']) }));
    expect(next.batch).toBe(`${one?.batch}-2`);
  });

  it('an id is found among the ids that begin with it, and a beginning of it with its number', async () => {
    const { batch } = await batches.add(order([batchLine(1)]));
    await batches.add(order([batchLine(1)], { again: true }));
    await batches.add(order([batchLine(1)], { again: true }));
    const idOf = async (reference: string) => (await others.find(reference)).batch;
    expect(await idOf(batch)).toBe(batch);
    expect(await idOf(batch.toUpperCase())).toBe(batch);
    expect(await idOf(`${batch}-2`)).toBe(`${batch}-2`);
    const short = batch.slice(0, 12);
    expect(await idOf(`${short}-3`)).toBe(`${batch}-3`);
    expect(await idOf(`${short}-1`)).toBe(batch);
    await expect(idOf(short)).rejects.toMatchObject({
      code: 'usage',
      message: `3 batches begin with "${short}": ${short}-1, ${short}-2, ${short}-3`,
    });
    for (const none of ['', '-1', '-2', `${short}-4`, `${short}-`])
      await expect(idOf(none)).rejects.toMatchObject({ message: `There is no batch "${none}"` });
  });

  it('a MsgId has one content', async () => {
    const { batch } = await batches.add(order([batchLine(1)], {}, 'MSG-1'));
    await expect(others.add(order([batchLine(1, '7.00')], {}, 'MSG-1'))).rejects.toMatchObject({
      code: 'usage',
      message: `The batch ${batch} has the MsgId "MSG-1" and another content`,
    });
    await others.add(order([batchLine(1)], { again: true }, 'MSG-1'));
  });

  it('of many workers that begin a line at once, one succeeds, and all see the same batch', async () => {
    const { batch } = await batches.add(order([batchLine(1)]));
    const workers = await Promise.all(
      [1, 2, 3, 4].map(async () => (await place.worker()).open('bank').batches),
    );
    const begun = await Promise.all(
      workers.map((worker, index) =>
        worker.change(batch, (now) =>
          now.flows.has(1) ? null : { type: 'line-begun', line: 1, flow: `tr-${index}` },
        ),
      ),
    );
    expect(begun.filter(({ recorded }) => recorded)).toHaveLength(1);
    const flows = await Promise.all(workers.map(async (worker) => (await worker.find(batch)).flows.get(1)));
    expect(new Set(flows).size).toBe(1);
  });

  it('personal data is replaced only after the event that allows it', async () => {
    const batch = await batches.add(order([batchLine(1)]));
    const stopped = vi.spyOn(batches, 'change').mockRejectedValue(new RangeError('psd2 is killed'));
    const anonymous = (each: BatchLine) => ({ ...each, name: 'X' });
    await expect(batches.pseudonymise(batch, anonymous)).rejects.toThrow('psd2 is killed');
    expect(await others.lines(await others.find(batch.batch))).toEqual([batchLine(1)]);
    stopped.mockRestore();
    // It can be repeated, also with what an interrupted run has left.
    for (let time = 0; time < 2; time += 1)
      await batches.pseudonymise(await batches.find(batch.batch), anonymous);
    const after = await others.find(batch.batch);
    expect((await others.lines(after)).map(({ name }) => name)).toEqual(['X']);
    expect(after.note).toBeNull();
  });

  it.each<[string, (sha256: string) => BatchEvent[], (line: BatchLine) => BatchLine]>([
    ['the first event', () => [], (line) => ({ ...line, name: 'X' })],
    ['the last event', (sha256) => [rejected(sha256)], (line) => ({ ...line, name: 'X' })],
    ['the last event, though no line changes', (sha256) => [rejected(sha256)], (line) => line],
    ['an event between', (sha256) => [rejected(sha256), approved(sha256)], (line) => line],
  ])('what people wrote of a batch goes with personal data: in %s', async (_, events, change) => {
    const { batch, sha256 } = await batches.add(order([batchLine(1)]));
    for (const event of events(sha256)) await batches.change(batch, () => event);
    const before = await others.find(batch);
    expect(place.everything()).toMatch(/Salaries/);
    await batches.pseudonymise(before, change);
    expect(place.everything()).not.toMatch(/Salaries|Wrong/);
    const after = await (await place.worker()).open('bank').batches.find(batch);
    expect([after.note, after.rejection?.note]).toEqual([null, before.rejection ? '' : undefined]);
    expect(after.approvals).toEqual(before.approvals);
  });

  it('each event is kept, with the person and the hash', async () => {
    const { batch, sha256 } = await batches.add(order([batchLine(1), batchLine(2)]));
    await batches.change(batch, () => ({ type: 'approved', sha256, ...BOB }));
    await others.change(batch, () => ({ type: 'line-refused', line: 1, reason: 'No' }));
    await batches.change(batch, () => ({ type: 'lines-cancelled', lines: [2], ...ADA }));
    await others.change(batch, () => ({ type: 'link-given', line: 1, flow: 'tr-1' }));
    await batches.change(batch, () => ({ type: 'rejected', sha256, note: 'Wrong', ...BOB }));
    expect(await others.find(batch)).toMatchObject({
      approvals: [{ ...BOB, sha256, at: expect.any(String) }],
      rejection: { ...BOB, note: 'Wrong' },
      refused: new Map([[1, 'No']]),
      cancelled: new Set([2]),
      linked: new Set(['tr-1']),
    });
  });

  it('a line is worked on by one worker at a time', async () => {
    const { batch } = await batches.add(order([batchLine(1), batchLine(2)]));
    const seen = await batches.onLine(batch, 1, false, async () => [
      await others.onLine(batch, 1, false, async () => 'ours'),
      await others.onLine(batch, 2, false, async () => 'ours'),
    ]);
    expect(seen).toEqual(['taken', 'ours']);
    expect(await others.onLine(batch, 1, false, async () => 'ours')).toBe('ours');
    // The second one begins as the error for a line that another worker has.
    for (const inside of [new Error('inside'), new Psd2Error('config', 'The payment 1 of the batch is lost')])
      await expect(others.onLine(batch, 1, false, () => Promise.reject(inside))).rejects.toBe(inside);
  });
});

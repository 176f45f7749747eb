import { describe, expect, it } from 'vitest';
import { newBatch } from '../../../src/domain/batch/batch.ts';
import {
  addedEvent,
  batchId,
  batchIsDamaged,
  chooseBatch,
  contentIsStored,
  hashOf,
  isBatchId,
  messageIsStored,
  refuseEdited,
  refuseUncompared,
  unlessDamaged,
} from '../../../src/store/batch/refusals.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { thrownBy } from '../../support/thrown.ts';
import { batchLine } from '../whole-store.ts';

const ADA = { by: 'ada', user: 'ada', machine: 'pisp-1' };
const HASH = `3f2a9c${'0'.repeat(58)}`;
const OTHER = `3f2b${'0'.repeat(60)}`;

it.each<[string, boolean]>([
  [HASH, true],
  [`${HASH}-2`, true],
  [`${HASH}-9`, true],
  [`${HASH}-10`, true],
  [`${HASH}-9999`, true],
  [`${HASH}-0`, false],
  [`${HASH}-1`, false],
  [`${HASH}-02`, false],
  [`${HASH}-10000`, false],
  [`${HASH}-`, false],
  [`${HASH}-2.new`, false],
  [`${HASH}-2-2`, false],
  [` ${HASH}`, false],
  [HASH.slice(1), false],
  [`${HASH}0`, false],
  [HASH.toUpperCase(), false],
  ['', false],
])('%s is the id of a batch: %s', (text, expected) => {
  expect(isBatchId(text)).toBe(expected);
});

it('the first batch with a content has its hash as id, and the others a number', () => {
  expect([1, 2, 10].map((n) => batchId(HASH, n))).toEqual([HASH, `${HASH}-2`, `${HASH}-10`]);
  for (const n of [1, 2, 10, 9999]) expect(isBatchId(batchId(HASH, n))).toBe(true);
});

describe('the batch that an operator means', () => {
  const ALL = [HASH, `${HASH}-2`, `${HASH}-12`, OTHER];
  it.each([
    [HASH, HASH],
    [`${HASH}-2`, `${HASH}-2`],
    ['3F2A9C-2', `${HASH}-2`],
    ['3f2a9c-12', `${HASH}-12`],
    ['3f2a9c-1', HASH],
    ['3f2b', OTHER],
    ['3f2b-1', OTHER],
  ])('by %s is %s', (reference, id) => {
    expect(chooseBatch(reference, ALL)).toBe(id);
    expect(chooseBatch(reference, ALL.toReversed())).toBe(id);
  });

  it.each(['', '4', '3f2a9c-3', '-2', 'x3f2b-1', '3f2b-1x', ' 3f2b', `${HASH}-02`])(
    'by %j is none',
    (reference) => {
      expect(thrownBy(() => chooseBatch(reference, ALL))).toMatchObject({
        ...{ code: 'usage', message: `There is no batch ${JSON.stringify(reference)}` },
        ...{ hint: 'See all of them with:', next: [['batch', 'list']] },
      });
    },
  );

  it('by what several begin with is none, and five of them are named', () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => batchId(HASH, n + 1));
    const message = (count: number) =>
      Reflect.get(Object(thrownBy(() => chooseBatch('3f2a', ids(count)))), 'message');
    expect(message(2)).toMatch(/^2 batches begin with "3f2a": 3f2a9c0*-1, 3f2a9c0*-2$/);
    expect(message(5)).toMatch(/^5 batches begin with "3f2a": (3f2a9c0*-\d, ){4}3f2a9c0*-5$/);
    expect(message(6)).toMatch(/^6 batches begin with "3f2a": (3f2a9c0*-\d, ){5}\.\.\.$/);
  });
});

describe('a new batch', () => {
  const order = { added: batchAdded(ADA), lines: [batchLine()], again: false };

  it.each<[string, object, string[], boolean]>([
    ['was compared with all', { compared: new Set(['a', 'b']) }, ['a', 'b'], false],
    ['was compared with more than there are', { compared: new Set(['a', 'b']) }, ['a'], false],
    ['was compared with none, and there is none', { compared: new Set() }, [], false],
    ['was not compared with one', { compared: new Set(['a']) }, ['a', 'b'], true],
    ['was compared with none', { compared: new Set() }, ['a'], true],
    ['is meant again', { compared: new Set(), again: true }, ['a'], false],
    ['was not to be compared', {}, ['a'], false],
  ])('that %s', (_, more, stored, isRefused) => {
    const refuse = () => refuseUncompared({ ...order, ...more }, stored);
    if (isRefused)
      expect(thrownBy(refuse)).toMatchObject({
        ...{ code: 'usage', message: 'Another batch was added at the same time' },
        hint: 'psd2 has stored nothing. Run this again.',
      });
    else expect(refuse()).toBeUndefined();
  });

  it('begins with the hashes of its lines: of all they say, and of what they order', () => {
    const [one, other] = [[batchLine()], [{ ...batchLine(), place: 'elsewhere' }]];
    const [first, second] = [one, other].map((lines) => addedEvent({ ...order, lines }));
    expect(first).toMatchObject({ type: 'added', count: 1, sha256: hashOf(one) });
    expect(first?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(addedEvent({ ...order, lines: [batchLine(), batchLine(2)] })).toMatchObject({ count: 2 });
    expect(second?.ordered).toBe(first?.ordered);
    const more = addedEvent({ ...order, lines: [batchLine(1, '12.51')] });
    expect([more.sha256 === first?.sha256, more.ordered === first?.ordered]).toEqual([false, false]);
  });

  it('with the content or the MsgId of another one is refused, with the way to it', () => {
    expect(contentIsStored('b1')).toMatchObject({
      ...{ code: 'usage', message: 'The batch b1 has the same content' },
      hint: 'psd2 has stored nothing. If you want to pay all of it once more, add --again. See the batch with:',
      next: [['batch', 'show', 'b1']],
    });
    expect(messageIsStored('M"1', 'b1')).toMatchObject({
      ...{ code: 'usage', message: 'The batch b1 has the MsgId "M\\"1" and another content' },
      hint: 'psd2 has stored nothing. A new file needs a MsgId of its own. See the batch with:',
      next: [['batch', 'show', 'b1']],
    });
  });
});

describe('the lines of a batch', () => {
  const lines = [batchLine(1), batchLine(2, '2.00'), batchLine(3, '3.00')];
  const event = addedEvent({ added: batchAdded(ADA), lines, again: false });
  const batchOf = (id = event.sha256) => newBatch(id, event, '2026-11-21T10:00:00.000Z');
  const [one = batchLine(), two = batchLine(), three = batchLine()] = lines;

  it('are those that were added, also of a second batch with the content', () => {
    for (const id of [event.sha256, `${event.sha256}-2`])
      expect(() => refuseEdited(batchOf(id), lines, 'in x')).not.toThrow();
  });

  it('may be those that psd2 has written without a customer', () => {
    const changed = lines.map((line) => ({ ...line, name: 'X' }));
    const batch = batchOf();
    batch.pseudonymised.add(hashOf(changed));
    for (const each of [changed, lines]) expect(() => refuseEdited(batch, each, 'in x')).not.toThrow();
    expect(() => refuseEdited(batch, [one, two], 'in x')).toThrow('are not those that were added');
  });

  it.each<[string, (typeof one)[], string?]>([
    ['of which the last is missing', [one, two]],
    ['of which the first is missing', [two, three]],
    ['of which one is there twice', [one, two, two]],
    ['that are more', [...lines, { ...three, line: 4 }]],
    ['in another order', [one, three, two]],
    ['with another amount', [one, two, { ...batchLine(3, '3.01') }]],
    ['with another payee', [one, two, { ...three, name: 'Eve' }]],
    ['that are none', []],
    ['of a batch with another id', lines, HASH],
  ])('%s are refused', (_, edited, id) => {
    const batch = batchOf(id);
    expect(thrownBy(() => refuseEdited(batch, edited, 'in x'))).toMatchObject({
      code: 'config',
      message: `The lines of the batch ${batch.batch} in x are not those that were added`,
      hint: 'Somebody or something has changed them, so psd2 pays none of them. Restore them from a backup.',
    });
  });
});

describe('a damaged batch', () => {
  const damage = batchIsDamaged('b1', 'why');
  const throwing = (error: Error) => () => {
    throw error;
  };

  it('is told, if somebody listens, and what goes wrong otherwise is thrown', async () => {
    expect(damage).toMatchObject({
      ...{ code: 'config', message: 'The batch b1 is damaged: why' },
      hint: 'psd2 pays nothing of it. Restore it from a backup.',
    });
    const told: unknown[] = [];
    const listen = (error: Error, batch: string) => void told.push([error, batch]);
    expect(await unlessDamaged('b1', listen, throwing(damage))).toBeUndefined();
    expect(told).toEqual([[damage, 'b1']]);
    await expect(unlessDamaged('b1', undefined, throwing(damage))).rejects.toBe(damage);
    const other = new RangeError('the disk');
    await expect(unlessDamaged('b1', listen, throwing(other))).rejects.toBe(other);
    expect(await unlessDamaged('b1', listen, async () => 'read')).toBe('read');
    expect(told).toHaveLength(1);
  });
});

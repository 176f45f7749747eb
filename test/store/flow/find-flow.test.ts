import { describe, expect, it } from 'vitest';
import { collectMoments } from '../../../src/store/flow/history.ts';
import { createdAt, findFlow, isFlowId, newFlowId } from '../../../src/store/flow/ids.ts';
import { thrownBy } from '../../support/thrown.ts';

const flows = ['tr-00012345', 'tr-0001', 'tr-0002'];
const resources = [
  { flow: 'tr-0001', resourceId: 'r-10' },
  { flow: 'tr-0002', resourceId: 'r-1' },
  { flow: 'tr-0002', resourceId: '0-tr-' },
];
const find = (reference: string, known = flows) =>
  findFlow(reference, { prefix: 'tr-', flows: () => known, resources: () => resources });

describe('a flow that the operator names', () => {
  it.each([
    ['tr-0002', 'tr-0002'],
    ['tr-00012', 'tr-00012345'],
    // The whole id, even if it begins another one.
    ['tr-0001', 'tr-0001'],
    ['r-10', 'tr-0001'],
    ['r-1', 'tr-0002'],
    ['0-', 'tr-0002'],
    ['0-tr-', 'tr-0002'],
  ])('%s names %s', (reference, flow) => {
    expect(find(reference)).toBe(flow);
  });

  it('for a local id, the resources are not read', () => {
    const unread = () => {
      throw new TypeError('read');
    };
    const places = { prefix: 'tr-', flows: () => flows, resources: unread };
    expect(findFlow('tr-0002', places)).toBe('tr-0002');
    expect(() => findFlow('tr-9', places)).toThrow('No flow of this profile matches "tr-9"');
  });

  it.each([
    ['', 'The id of the flow is empty', 'Give the id that psd2 printed, or the resource id.'],
    ['x', 'No flow of this profile matches "x"', 'Give the id that psd2 printed, or the resource id.'],
    ['r', '"r" matches 2 flows', 'Give more characters of the id: tr-0001, tr-0002.'],
    ['tr-000', '"tr-000" matches 3 flows', 'Give more characters of the id: tr-00012345, tr-0001, tr-0002.'],
  ])('%j names no flow', (reference, message, hint) => {
    expect(thrownBy(() => find(reference))).toMatchObject({ code: 'flow_not_found', message, hint });
  });

  it('of many flows, the error names five', () => {
    const many = Array.from({ length: 9 }, (_, index) => `tr-000${index}`);
    expect(thrownBy(() => find('tr-', many))).toMatchObject({
      message: '"tr-" matches 9 flows',
      hint: 'Give more characters of the id: tr-0000, tr-0001, tr-0002, tr-0003, tr-0004.',
    });
  });
});

describe('the id of a new flow', () => {
  const NOW = Date.parse('2026-11-21T10:00:00.000Z');
  const idAt = (time: number, random: number, newest?: string) =>
    newFlowId({ prefix: 'tr-' }, new Date(time), newest, () => random);

  it.each([
    ['the newest is older', NOW - 1, NOW],
    ['the newest is of this millisecond', NOW, NOW + 1],
    ['the newest is of a clock that was ahead', NOW + 5_000, NOW + 5_001],
  ])('has its time, and comes after the newest: %s', (_, before, time) => {
    // The random characters of the newest one come last.
    const newest = idAt(before, 0.999);
    const id = idAt(NOW, 0, newest);
    expect([createdAt(id), isFlowId(id), id > newest]).toEqual([time, true, true]);
  });

  it.each([
    [0, '00000'],
    [0.5, 'iiiii'],
    [0.999, 'zzzzz'],
  ])('ends with five random characters: %d', (random, tail) => {
    const id = idAt(NOW, random);
    expect([createdAt(id), id.slice(-5), id.length]).toEqual([NOW, tail, 17]);
  });

  it.each(['', 'tr-', 'tr-0mh00000012345x', 'xx-0mh000000abcde', 'tr-0mh000000abcd', 'tr-0MH000000ABCDE'])(
    '%j is none',
    (text) => {
      expect([isFlowId(text), createdAt(text)]).toEqual([false, undefined]);
    },
  );
});

describe('the history of a flow', () => {
  it.each([
    [{}, null],
    [{ bankStatus: 'FINISHED', status: 'AUTHORIZED' }, 'FINISHED'],
    [{ status: 'KO', description: 'No money' }, 'KO: No money'],
    [{ status: 'OK', description: null }, 'OK'],
    [{ description: 'No' }, 'No'],
    [{ outcome: 'executed' }, 'executed'],
    [{ outcome: 'executed', by: 'ada', note: 'asked the bank' }, 'executed, by ada: asked the bank'],
    [{ outcome: 'executed', by: 'ada', note: null }, 'executed, by ada'],
    [{ by: 'ada' }, null],
  ])('an event with %j is shown as %j', (fields, detail) => {
    const before = { at: 'a', type: 'created', detail: null };
    expect(collectMoments([before], { type: 'some', ...fields }, 'b')).toEqual([
      before,
      { at: 'b', type: 'some', detail },
    ]);
    expect(collectMoments(undefined, { type: 'some' }, 'b')).toEqual([
      { at: 'b', type: 'some', detail: null },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { collectMoments } from '../../../src/store/flow/history.ts';
import { findFlow } from '../../../src/store/flow/ids.ts';
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

import { describe, expect, it } from 'vitest';
import {
  idsIn,
  reportOf,
  reportOfPayment,
} from '../../../../../src/bank/interfaces/nextgenpsd2/payments/status-report.ts';
import { errorOf } from '../scripted.ts';

// Whether a pain.002 is about what was paid. What is about another file, or contradicts itself, decides nothing.

const el = (name: string, content: string) => `<${name}>${content}</${name}>`;
/** What the bank says of a file, and of payments in one of its groups. */
function report(
  files: string[],
  status: string,
  groups: string[] = [],
  payments: [id: string, status: string][] = [],
) {
  const ofFiles = files.map((id) => el('OrgnlGrpInfAndSts', el('OrgnlMsgId', id) + el('GrpSts', status)));
  const entries = payments.map(([id, of]) => el('TxInfAndSts', el('OrgnlEndToEndId', id) + el('TxSts', of)));
  const ofGroups =
    groups.length === 0 && entries.length === 0
      ? ''
      : el('OrgnlPmtInfAndSts', groups.map((id) => el('OrgnlPmtInfId', id)).join('') + entries.join(''));
  const content = el('CstmrPmtStsRpt', ofFiles.join('') + ofGroups);
  return Buffer.from(
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03">${content}</Document>`,
  );
}
const HINT = 'psd2 did not use the answer. A gateway on the way may mix up answers.';
const refused = (message: string) => ({ code: 'bank_answer', message, hint: HINT });
const NAMES_NONE = refused("The bank's report does not say which file it is about");
const about = (other: string, ours: string) =>
  refused(`The bank's report is about the file ${other}, not about ${ours}`);
const CONTRADICTS = {
  ...{ code: 'bank_answer', contradicts: true },
  message: expect.stringMatching(
    /^The bank's answer contradicts itself: it says GrpSts ACSC and TxSts RJCT$/,
  ),
};

describe('a report about a file of ours', () => {
  const OURS = ['M-1', 'G-1'];
  it.each<[string, string[], string[]]>([
    ['by the file', ['M-1'], []],
    ['by the group', [], ['G-1']],
    ['by both', ['M-1'], ['G-1']],
  ])('is known %s', (_, files, groups) => {
    expect(reportOf(report(files, 'ACSC', groups, [['E', 'ACSC']]), OURS)).toMatchObject({
      about: [...files, ...groups],
    });
  });

  it.each<[string, string[], string[], object]>([
    ['nothing', [], [], NAMES_NONE],
    ['another file', ['M-2'], [], about('M-2', 'M-1')],
    ['our file and another group', ['M-1'], ['G-2'], about('G-2', 'M-1')],
    ['another file and our group', ['M-2'], ['G-1'], about('M-2', 'M-1')],
    ['two files, the second another one', ['M-1', 'M-2'], [], about('M-2', 'M-1')],
    ['a longer name', ['M-12'], [], about('M-12', 'M-1')],
  ])('is none if it names %s', (_, files, groups, error) => {
    expect(errorOf(() => reportOf(report(files, 'ACSC', groups, [['E', 'ACSC']]), OURS))).toEqual(error);
  });

  it('is none that contradicts itself', () => {
    const body = report(['M-1'], 'ACSC', ['G-1'], [['E', 'RJCT']]);
    expect(errorOf(() => reportOf(body, OURS))).toMatchObject(CONTRADICTS);
    // Of another file, that comes first.
    expect(errorOf(() => reportOf(body, ['M-9']))).toEqual(about('M-1', 'M-9'));
  });

  it.each(['', 'x', '{}', '<Document/>', '<html></html>'])('is none that is no pain.002: %j', (body) => {
    expect(reportOf(Buffer.from(body), OURS)).toBeNull();
    expect(reportOfPayment(Buffer.from(body), 'p1', { endToEndId: 'E' })).toBeNull();
  });
});

describe('a report about a payment that was no file', () => {
  const of = (body: Buffer) => reportOfPayment(body, 'p1', { endToEndId: 'E' });
  it.each<[string, Buffer, string]>([
    [
      'its own id, whatever the bank calls the file',
      report(['B-1'], 'ACSP', ['B-2'], [['E', 'ACSC']]),
      'ACSC',
    ],
    [
      'its own id among others',
      report(
        ['B-1'],
        'PART',
        [],
        [
          ['F', 'RJCT'],
          ['E', 'ACSC'],
        ],
      ),
      'ACSC',
    ],
    ['the id of the payment at the bank', report(['p1'], 'ACSP'), 'ACSP'],
    [
      'the id at the bank, though another payment is in it',
      report(['p1'], 'ACSP', [], [['F', 'ACSC']]),
      'ACSP',
    ],
  ])('is known by %s', (_, body, status) => {
    expect(of(body)).toMatchObject({ status });
  });

  it.each<[string, Buffer, object]>([
    ['of another payment', report(['B-1'], 'ACSC', [], [['F', 'ACSC']]), about('B-1', 'p1')],
    ['of nothing', report([], 'ACSC'), NAMES_NONE],
    ['that contradicts itself', report(['B-1'], 'ACSC', ['G'], [['E', 'RJCT']]), about('B-1', 'p1')],
    [
      'that contradicts itself, by the id at the bank',
      report(['p1'], 'ACSC', [], [['F', 'RJCT']]),
      CONTRADICTS,
    ],
  ])('is none %s', (_, body, error) => {
    expect(errorOf(() => of(body))).toMatchObject(error);
  });
});

it.each([
  ['', []],
  ['<MsgId>M-1</MsgId>', ['M-1']],
  [
    '<MsgId>M-1</MsgId><PmtInf><PmtInfId>G-1</PmtInfId><PmtInfId>G-2</PmtInfId></PmtInf>',
    ['M-1', 'G-1', 'G-2'],
  ],
  ['<MsgId></MsgId>', ['']],
  ['<OrgnlMsgId>M-1</OrgnlMsgId><EndToEndId>E</EndToEndId><MsgIdX>x</MsgIdX>', []],
])('the ids in %s are %j', (body, ids) => {
  expect(idsIn({ body })).toEqual(ids);
});

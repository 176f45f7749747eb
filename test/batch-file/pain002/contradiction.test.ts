import { expect, test } from 'vitest';
import { contradictionIn, type StatusLevel } from '../../../src/batch-file/pain002/contradiction.ts';

/** All statuses of pain.002 (ISO 20022, ExternalPaymentGroupStatus and ExternalPaymentTransactionStatus), and one that is none. */
const ALL = 'ACCC ACCP ACFC ACSC ACSP ACTC ACWC ACWP CANC PART PATC PDNG RCVD RJCT XXXX'.split(' ');
const ended = ['CANC', 'RJCT'];
const unaccepted = ['ACCP', 'ACFC', 'ACTC', 'CANC', 'PART', 'PATC', 'PDNG', 'RCVD', 'RJCT'];

test.each([
  ...['ACCC', 'ACSC'].map((above) => [above, unaccepted] as const),
  ...['ACCP', 'ACFC', 'ACSP', 'ACTC', 'ACWC', 'ACWP', 'PATC', 'PDNG', 'RCVD', 'XXXX'].map(
    (above) => [above, ended] as const,
  ),
  ...ended.map((above) => [above, ALL.filter((below) => below !== above)] as const),
  ['PART', []] as const,
])('below %s cannot be %j, and can be every other status', (above, contradicting) => {
  const between = (below: string) =>
    contradictionIn([
      ['GrpSts', new Set([above])],
      ['TxSts', new Set([below])],
    ]);
  expect(ALL.filter((below) => between(below) !== null)).toEqual(contradicting);
  for (const below of contradicting) expect(between(below)).toBe(`GrpSts ${above} and TxSts ${below}`);
});

test.each([
  [[], [], null],
  [['ACSC'], [], null],
  [[], ['RJCT'], null],
  [['ACSC'], ['ACSC', 'ACCC', 'RJCT'], 'A ACSC and B RJCT'],
  [['ACSC'], ['ACSC', 'PDNG', 'ACCC'], 'A ACSC and B PDNG'],
  [['ACSC'], ['RCVD', 'ACSC', 'ACCC'], 'A ACSC and B RCVD'],
  [['PART', 'ACSC'], ['RJCT'], 'A ACSC and B RJCT'],
  [['ACSC', 'PART'], ['RJCT'], 'A ACSC and B RJCT'],
  [['PART', 'ACSC', 'PART'], ['ACSC', 'RJCT', 'ACSC'], 'A ACSC and B RJCT'],
])('of %j above %j: %s', (above, below, contradiction) => {
  const levels: StatusLevel[] = [
    ['A', new Set(above)],
    ['B', new Set(below)],
  ];
  expect(contradictionIn(levels)).toBe(contradiction);
  // A level without a status stands between them.
  expect(contradictionIn(levels.toSpliced(1, 0, ['C', new Set()]))).toBe(contradiction);
});

import type { Treatment } from '../../crash/relay.ts';
import {
  changed,
  gets,
  ORDER,
  RESUME,
  type Row,
  reporting,
  type Step,
  saying as sayingOf,
  step,
} from '../row.ts';

// Answers of banks of NextGenPSD2 with statuses that cannot be true together: they say nothing.

const IBAN = 'IT89F0999001600000010482620';
const PAY = ORDER.with(5, IBAN);
const AGAIN = step(PAY, '2 duplicate_reference');

/** A pain.002 of the bank, whose own statuses are these instead. */
const saying = (file: string, group: string, ...payments: string[]): Treatment =>
  reporting((text) => {
    const left = payments.values();
    return text
      .replace(/<GrpSts>.*?<\/GrpSts>/, file)
      .replace('</OrgnlPmtInfId>', `</OrgnlPmtInfId>${group}`)
      .replace(/<TxSts>.*?<\/TxSts>/g, () => left.next().value ?? '');
  });
/** It has no status in JSON, and this one in XML. */
const always = (said: Treatment) => ({
  status: Array(200)
    .fill([gets(406), said])
    .flat(),
});
const of = (element: string) => (status: string) => `<${element}>${status}</${element}>`;
const [file, group, payment] = [of('GrpSts'), of('PmtInfSts'), of('TxSts')];

const IN_XML = { file: { payments: { products: { payments: ['pain.001-sepa-credit-transfers'] } } } };
const ofOne = (name: string, paid: number, steps: Step[]): Row => ({
  ...{ name, bank: IN_XML, steps, paid },
});

const NOTHING: [what: string, said: Treatment, names: string][] = [
  [
    'the file is rejected, its group settled',
    saying(file('RJCT'), group('ACSC')),
    'GrpSts RJCT and PmtInfSts ACSC',
  ],
  [
    'the file is settled, its group rejected',
    saying(file('ACSC'), group('RJCT')),
    'GrpSts ACSC and PmtInfSts RJCT',
  ],
  [
    'the file is settled, its payment rejected',
    saying(file('ACSC'), '', payment('RJCT')),
    'GrpSts ACSC and TxSts RJCT',
  ],
  [
    'the group is settled, its payment rejected',
    saying('', group('ACSC'), payment('RJCT')),
    'PmtInfSts ACSC and TxSts RJCT',
  ],
  [
    'there are two statuses of the file',
    saying(file('RJCT') + file('ACSC'), ''),
    'GrpSts RJCT and GrpSts ACSC',
  ],
  [
    'there are two statuses of the group',
    saying('', group('RJCT') + group('ACSC')),
    'PmtInfSts RJCT and PmtInfSts ACSC',
  ],
  [
    'there are two files',
    reporting((text) => text.replace(/<OrgnlGrpInfAndSts>.*?<\/OrgnlGrpInfAndSts>/, '$&$&')),
    'OrgnlGrpInfAndSts 2 times',
  ],
];
const nothing = NOTHING.map(([what, said, names]) => ({
  ...ofOne(`a report contradicts itself, and says nothing: ${what}`, 1, [
    step(PAY, '9 outcome_unknown authorizing', { meets: always(said), says: names }),
    AGAIN,
    step(RESUME, '0 executed'),
  ]),
  waits: true as const,
}));

const SOMETHING: [what: string, said: Treatment, ends: string][] = [
  ['its file alone is rejected', saying(file('RJCT'), ''), '8 payment_failed failed'],
  ['its file and its group are rejected', saying(file('RJCT'), group('RJCT')), '8 payment_failed failed'],
  ['it alone is rejected', saying('', '', payment('RJCT')), '8 payment_failed failed'],
  [
    'it is rejected, of a file of which some are',
    saying(file('PART'), '', payment('RJCT')),
    '8 payment_failed failed',
  ],
  ['its file is settled', saying(file('ACSC'), ''), '0 executed'],
  [
    'it is settled, of a file that is accepted',
    saying(file('ACSP'), group('ACSC'), payment('ACSC')),
    '0 executed',
  ],
];
const something = SOMETHING.map(([what, said, ends]) =>
  ofOne(`a report says of a payment: ${what}`, 1, [step(PAY, ends, { meets: always(said) })]),
);

const BULKS = { bulk: { maxEntries: 4 }, products: { 'bulk-payments': ['sepa-credit-transfers'] } };
/** What the bank says of a bulk payment of two, then in one answer of the whole and of both. */
const OF_BULK: [what: string, status: string, whole: string, both: [string, string], ends: string][] = [
  ['rejected, but one is paid', 'RJCT', 'RJCT', ['RJCT', 'ACSC'], '9 outcome_unknown unknown unknown'],
  ['rejected, but one is open', 'RJCT', 'RJCT', ['RJCT', 'PDNG'], '9 outcome_unknown unknown unknown'],
  ['rejected, but later settled', 'RJCT', 'ACSC', ['RJCT', 'RJCT'], '9 outcome_unknown unknown unknown'],
  ['rejected, and so are both', 'RJCT', 'RJCT', ['RJCT', 'RJCT'], '8 payment_failed failed failed'],
  ['rejected in part, and one is', 'PART', 'PART', ['RJCT', 'ACSC'], '8 payment_failed failed executed'],
];
const ofBulk = OF_BULK.map(([what, transactionStatus, whole, both, ends]): Row => {
  const status = Array<Treatment>(8).fill(sayingOf({ transactionStatus }));
  const payment = Array<Treatment>(8).fill(
    changed((body) => ({
      ...body,
      transactionStatus: whole,
      payments: Reflect.get(body, 'payments').map((each: object, index: number) => ({
        ...each,
        transactionStatus: both[index],
      })),
    })),
  );
  return {
    name: `a bulk payment is ${what}`,
    ...{ bank: { file: { payments: BULKS } }, payments: ['Ada', 'Bea'], paid: 2 },
    steps: [
      step(['batch', 'add', 'FILE', '--from', IBAN, '--json'], '0 added'),
      step(['batch', 'run', 'BATCH', '--yes', '--json', '--as', 'bulk'], ends, {
        meets: { status, payment },
      }),
    ],
  };
});

export const CONTRADICTIONS: Row[] = [...nothing, ...something, ...ofBulk];

import type { Treatment } from '../../crash/relay.ts';
import { bankDay, untilWorkday } from '../../e2e/support/bank-days.ts';
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
/** psd2 asks for the status until the customer's time is over. */
const BRIEFLY = [...PAY, '--sca-timeout', '20'];
const nothing = NOTHING.map(([what, said, names]) => ({
  ...ofOne(`a report contradicts itself, and says nothing: ${what}`, 1, [
    step(BRIEFLY, '9 outcome_unknown authorizing', { meets: always(said), says: names }),
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
/** The bank's own answer about a bulk payment, with this of each payment, and of the whole. */
const ofEach = (payments: readonly object[], whole: object = {}): Treatment =>
  changed((body) => ({
    ...body,
    ...whole,
    payments: Reflect.get(body, 'payments').map((own: object, index: number) => ({
      ...own,
      ...payments[index],
    })),
  }));
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
  const each = both.map((one) => ({ transactionStatus: one }));
  const payment = Array<Treatment>(8).fill(ofEach(each, { transactionStatus: whole }));
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

const AM05 = { StsRsnInf: [{ Rsn: { Cd: 'AM05' }, AddtlInf: ['Duplicate'] }] };
const TWICE = { psuMessage: 'This payment was sent twice' };
const CLOSED = { StsRsnInf: [{ Rsn: { Cd: 'AC04' } }] };
const rejected = (more: object) => ({ transactionStatus: 'RJCT', ...more });
const isAlways = (more: object) => ({ status: Array<Treatment>(8).fill(sayingOf(rejected(more))) });
const UNPAID = step(['transfer', 'resolve', 'FLOW', '--not-executed', '--yes', '--json'], '0 failed');
const SAID =
  /^The bank rejected the [a-z ]+ because it has another one like it[\s\S]*(AM05: Duplicate|sent twice)[\s\S]*resolve FLOW --not-executed/;
const STANDING = [
  ...PAY.with(1, 'standing'),
  ...['--frequency', 'Monthly', '--start', bankDay(untilWorkday() + 7)],
];
const DUPLICATE = '9 outcome_unknown unknown';
/** What is ordered, at banks with these fields. */
const ORDERS: [what: string, words: string[], payments: object][] = [
  ['a transfer', PAY, {}],
  [
    'an instant transfer',
    [...PAY, '--instant', '--payee-verified'],
    { products: { payments: ['sepa-credit-transfers', 'instant-sepa-credit-transfers'] } },
  ],
  [
    'a standing order',
    STANDING,
    { products: { 'periodic-payments': ['sepa-credit-transfers'] }, futureDays: 30 },
  ],
];
const duplicates = ORDERS.flatMap(([order, words, payments]) => {
  const row = (name: string, paid: number, ...steps: Step[]): Row => ({
    ...{ name: `${order}: ${name}`, bank: { file: { payments } }, paid, steps },
  });
  return [
    ...Object.entries({ 'a code': AM05, words: TWICE }).flatMap(([by, why]) => [
      row(
        `the answer to its initiation says by ${by} that it is a duplicate`,
        0,
        step(words, DUPLICATE, {
          customer: 'stays away',
          meets: { initiate: [sayingOf(rejected(why))], ...isAlways({}) },
          says: SAID,
        }),
        // The status need not say why.
        step(RESUME, DUPLICATE, { meets: isAlways({}), says: SAID }),
        step(words, '2 duplicate_reference'),
        UNPAID,
      ),
      row(
        `its status says by ${by} that it is a duplicate`,
        0,
        // psd2 looks at the status when the customer's time is over.
        step([...words, '--sca-timeout', '1'], DUPLICATE, {
          ...{ customer: 'stays away', meets: isAlways(why), says: SAID },
        }),
        step(RESUME, DUPLICATE, { meets: isAlways({}), says: SAID }),
        step(words, '2 duplicate_reference'),
      ),
    ]),
    ...Object.entries({ another: CLOSED, no: {} }).map(([what, why]) =>
      row(
        `the bank rejects it for ${what} reason`,
        0,
        step(words, '8 payment_failed failed', {
          customer: 'stays away',
          meets: { initiate: [sayingOf(rejected(why))] },
        }),
      ),
    ),
  ];
});

const accepted = (
  [
    ['calls it a duplicate', AM05, DUPLICATE],
    ['rejects it', CLOSED, '8 payment_failed failed'],
  ] as const
).map(
  ([what, why, ends]): Row => ({
    ...{ name: `the bank accepts a payment, and then ${what}`, bank: { file: { payments: {} } }, paid: 1 },
    steps: [
      step(PAY, '0 executed'),
      step(RESUME, ends, { meets: isAlways(why) }),
      step(RESUME, ends, { meets: isAlways({}) }),
    ],
  }),
);

const STATUS = ['transfer', 'status', 'FLOW', '--json'];
const asked = [PAY, STANDING].map(
  (words, index): Row => ({
    name: `the bank accepts ${ORDERS[index * 2]?.[0]}, and then calls it a duplicate: transfer status says so each time`,
    bank: { file: { payments: ORDERS[index * 2]?.[2] ?? {} } },
    paid: index === 0 ? 1 : 0,
    steps: [
      step(words, index === 0 ? '0 executed' : '0 ordered'),
      ...[AM05, AM05, {}].map((why) => step(STATUS, DUPLICATE, { meets: isAlways(why), says: SAID })),
      // What the bank says now is not in the journal yet.
      step(STATUS, '0 unknown', {
        meets: { status: Array<Treatment>(8).fill(sayingOf({ transactionStatus: 'ACSC' })) },
        tells: 'psd2 has not recorded this yet',
      }),
    ],
  }),
);

const lines = (
  [
    [
      'single',
      {},
      { initiate: [sayingOf(rejected(AM05))], status: Array<Treatment>(2).fill(sayingOf(rejected({}))) },
    ],
    [
      'bulk',
      BULKS,
      {
        status: Array<Treatment>(8).fill(sayingOf({ transactionStatus: 'PART' })),
        payment: Array<Treatment>(8).fill(
          ofEach([rejected(AM05), { transactionStatus: 'ACSC' }], { transactionStatus: 'PART' }),
        ),
      },
    ],
  ] as const
).map(
  ([way, payments, meets]): Row => ({
    name: `a line of a batch is a duplicate (${way}): its outcome is unknown, and it is not retried`,
    ...{ bank: { file: { payments } }, payments: ['Ada', 'Bea'], paid: 2 },
    steps: [
      step(['batch', 'add', 'FILE', '--from', IBAN, '--json'], '0 added'),
      step(['batch', 'run', 'BATCH', '--yes', '--json', '--as', way], '9 outcome_unknown unknown executed', {
        meets,
      }),
      step(['batch', 'retry', 'BATCH', '--json'], '2 usage'),
    ],
  }),
);

const TWO_WAYS = '{"transactionStatus":"ACSC","transactionStatus":"RJCT"}';
const unclear: Row[] = [
  {
    name: 'a status that stands twice in one answer ends nothing',
    ...{ bank: { file: {} }, paid: 1, waits: true },
    steps: [
      step(PAY, '9 outcome_unknown authorizing', {
        meets: {
          status: Array<Treatment>(200).fill(gets(200, TWO_WAYS, { 'content-type': 'application/json' })),
        },
        says: 'can be read in two ways',
      }),
      AGAIN,
      step(RESUME, '0 executed'),
    ],
  },
  {
    name: 'an initiation that is taken, with an error beside its id, proves nothing: the bank is asked by its id',
    ...{ bank: { file: {} }, paid: 1 },
    steps: [
      step(PAY, '9 outcome_unknown unknown', {
        meets: { initiate: [sayingOf({ tppMessages: [{ category: 'ERROR', code: 'X', text: 'No' }] })] },
        says: 'The answer is a success and has an error',
      }),
      AGAIN,
      step(RESUME, '0 executed'),
    ],
  },
  {
    name: 'a payment that is rejected without an id has failed, and its reference is free',
    ...{ bank: { file: {} }, paid: 1 },
    steps: [
      step(PAY, '8 payment_failed failed', {
        meets: { initiate: [gets(201, { transactionStatus: 'RJCT' })] },
      }),
      step(PAY, '0 executed'),
    ],
  },
];

export const CONTRADICTIONS: Row[] = [
  ...unclear,
  ...duplicates,
  ...accepted,
  ...asked,
  ...lines,
  ...nothing,
  ...something,
  ...ofBulk,
];

import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { BASKET, LINKED, RUN, useBatches } from './with-batch.ts';

// A run stops by itself after three initiations in a row whose outcome is unknown for the same reason.

const { payees } = useBatches();
const UNSEEN = { executesWithoutSca: 'possible' } as const;
const FIVE = ['Ada', 'Bea', 'Cleo', 'Dora', 'Eve'];
const ONE = ['--only', '1'];
const saying = (httpStatus: number, bankCode: string) =>
  new Psd2Error('bank_refused', 'No', { refusal: 'other', isBanks: true, httpStatus, bankCode });
const wrong = () => saying(401, 'CERTIFICATE_INVALID');

it.each([
  ['single payments', []],
  ['a signing basket', ['--as', 'basket']],
])('a run of %s stops after three, and the next run goes on with the others', async (_, as) => {
  const { bank, pay } = await payees({ ...BASKET, ...UNSEEN }, ...FIVE);
  bank.meets('verify', wrong(), wrong(), wrong());
  const stopped = await pay([...RUN, ...as]);
  expect([
    stopped.slice(0, 5).map((line) => line.split(' ', 2).join(' ')),
    stopped.slice(-5),
  ]).toMatchInlineSnapshot(`
    [["1 unknown", "2 unknown", "3 unknown", "4 waiting", "5 waiting"],
     ["0 of 5 paid, 3 unknown.",
      "exit 9, outcome_unknown: The outcome of 3 of 5 payments is not known. psd2 has stopped, because three initiations in a row ended in the same way: HTTP 401, CERTIFICATE_INVALID",
      "Find out first what is wrong. psd2 has sent nothing of the other 2, and goes on with them with run. Do not make the unknown ones again. Look at the account statement, and record with resolve that they were not executed:",
      "$ batch run batch-1", "$ batch resolve batch-1 --not-executed"]]
  `);
  expect(bank.sent).toEqual(['verify transfer', 'verify transfer', 'verify transfer']);
  expect((await pay([...RUN, ...as])).slice(-2)).toEqual([
    '2 of 5 paid (27.00 EUR), 3 unknown.',
    'exit 9, unknown 3 of 5: run batch-1',
  ]);
});

it.each([
  ['another code', [wrong(), wrong(), saying(401, 'SIGNATURE_INVALID'), wrong(), wrong()]],
  ['another status', [wrong(), wrong(), saying(403, 'CERTIFICATE_INVALID'), wrong(), wrong()]],
] as const)('%s in between, and the run goes on', async (_, fates) => {
  const { bank, pay } = await payees({ ...LINKED, ...UNSEEN }, ...FIVE);
  bank.meets('verify', ...fates);
  expect((await pay()).at(-1)).toBe('exit 9, unknown 5 of 5: run batch-1');
});

it('a payment that began in between, and the run goes on', async () => {
  const { bank, pay } = await payees({ ...LINKED, ...UNSEEN }, ...FIVE);
  bank.meets('verify', wrong(), wrong());
  bank.meanwhile = async (call) => {
    if (call === 'status pay-1') bank.meets('verify', wrong(), wrong());
  };
  expect((await pay()).slice(-2)).toEqual([
    '1 of 5 paid (12.00 EUR), 4 unknown.',
    'exit 9, unknown 4 of 5: run batch-1',
  ]);
});

it('only initiations of this run count, with answers or without', async () => {
  const { bank, pay } = await payees({ ...LINKED, ...UNSEEN }, ...FIVE);
  bank.meets('verify', 'lost');
  await pay([...RUN, ...ONE]);
  bank.meets('verify', 'lost', 'lost', 'lost');
  const stopped = await pay();
  expect([stopped.at(-4), stopped.at(-3), bank.sent.length]).toMatchInlineSnapshot(`
    ["exit 9, outcome_unknown: The outcome of 4 of 5 payments is not known. psd2 has stopped, because three initiations in a row ended in the same way: no answer",
     "Find out first what is wrong. psd2 has sent nothing of the other 1, and goes on with them with run. Do not make the unknown ones again. Look at the account statement, and record with resolve that they were not executed:",
     4]
  `);
});

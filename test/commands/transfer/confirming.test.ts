import { expect, it } from 'vitest';
import { checkPayee } from '../../../src/commands/transfer/payee-check.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { useCommands } from '../../cli/in-process.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { ANNA, CREATE, endOf, payerAt, payerWith } from '../payer-here.ts';

// What the operator sees before a transfer, what they confirm in advance, and what psd2 remembers of it.

const temporary = temporaryFolder();
const INSTANT = [...CREATE, '--instant', '--payee-verified'];
const LINKED = { commits: 'by the customer' } as const;
type Payer = Awaited<ReturnType<typeof payerAt>>;

/** Runs a command, and notes what is shown in any case, what only without --quiet, and beside which text psd2 waits. */
async function shownBy(payer: Payer, words: string[], how: Parameters<Payer['run']>[1] = {}) {
  const warned: string[] = [];
  const said: string[] = [];
  const waits: string[] = [];
  const ran = await payer.run(words, {
    ...how,
    changes: ({ terminal }) => ({
      terminal: {
        ...terminal,
        ...(how.answers && { canAsk: true, confirm: async () => true }),
        warn: (text) => void warned.push(text),
        say: (text) => void said.push(text),
        whileWaiting: (text, work) => {
          waits.push(typeof text === 'string' ? text : text());
          return terminal.whileWaiting(text, work);
        },
      },
    }),
  });
  expect(ran.failure).toBeNull();
  return { warned: warned.join('\n'), said: said.join('\n'), waits };
}

it.each([
  ['who confirms it sees it in any case', false, true],
  ['who has confirmed it in advance sees it unless they want silence', true, false],
])('what the bank has verified: a person %s', async (_, yes, isWarned) => {
  const payer = await payerAt(new BankHere(), temporary);
  const { warned, said } = await shownBy(payer, CREATE, { answers: [], yes });
  const verified = 'The bank has verified this transfer:\n  From          0000012345\n';
  expect([warned.startsWith(verified), said.startsWith(verified)]).toEqual([isWarned, !isWarned]);
});

const create = (payer: Payer) => payer.run(CREATE, { globals: { scaTimeout: '1' } });
const lost = async (payer: Payer, bank: BankHere) => {
  bank.next = { becomes: null };
  bank.meets('execute', 'lost');
  await create(payer);
};
const waiting = async (payer: Payer, bank: BankHere) => {
  bank.customersAgree = false;
  await create(payer);
};
it.each<[string[], string[], (payer: Payer, bank: BankHere) => Promise<void>, object]>([
  [CREATE, ['The bank has verified', 'Open this address in'], async () => {}, {}],
  [
    CREATE,
    ['You are about to', 'The bank has verified', 'Open this address in'],
    async (_, bank) => {
      bank.verified = { commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' } };
    },
    LINKED,
  ],
  [['transfer', 'cancel', 'tr-1'], ['The transfer tr-1 is'], waiting, {}],
  [['transfer', 'cancel', 'tr-1'], ['The transfer tr-1 is'], waiting, LINKED],
  [['transfer', 'resolve', 'tr-1', '--not-executed'], ['The transfer tr-1 is'], lost, {}],
])(
  'in production, %j marks what a person reads before they decide: %j',
  async (words, marked, before, terms) => {
    const { bank, payer } = await payerWith(temporary, terms, { PSD2_ENVIRONMENT: 'production' });
    await before(payer, bank);
    const { said, failure } = await payer.run(words);
    expect([failure, said.match(/(?<=^\[PRODUCTION env\] )\w+ \w+ \S+ \w+/gm)]).toEqual([null, marked]);
  },
);

it('the payee check is waited for, and its result is in what the operator confirms', async () => {
  const check = `sh -c 'cat > /dev/null; echo "$0"' '{"result":"match"}'`;
  const payer = await payerAt(new BankHere(), temporary, { PSD2_PAYEE_CHECK: check });
  const { said, waits } = await shownBy(payer, [...CREATE, '--payee-source', 'payee']);
  const [checked] = payer.journal('tr-1').filter(({ type }) => String(type) === 'payee-checked');
  expect(checked).toMatchObject({ result: 'match', source: 'payee' });
  expect(waits[0]).toBe('Checking the payee');
  expect(said).toContain(
    '  IBAN          IT60 X054 2811 1010 0000 0123 456\n  Name given by the payee\n  Payee check   match\n  Amount ',
  );
});

it.each([
  ['a person at a terminal confirms them', { answers: [true, true] }, 2],
  ['--yes at a terminal confirms them too', { answers: [], yes: true }, 0],
  ['--yes without a terminal does', {}, 0],
])('fees that come with the answer of the bank: %s', async (_, how, questions) => {
  const { bank, payer } = await payerWith(temporary, LINKED);
  bank.verified = { commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' } };
  const ran = await payer.run(CREATE, how);
  expect([ran.data.state, ran.asked.length, endOf(ran)]).toEqual(['executed', questions, ['done']]);
  expect(ran.said).toContain('  Commission    0.50 EUR\n');
});

it('fees above the largest amount, at a bank that executes for psd2: nobody is asked, and the transfer is cancelled', async () => {
  const { bank, payer } = await payerWith(temporary, {}, { PSD2_MAX_AMOUNT: '12.99' });
  bank.verified = { commissions: { amount: parsePaymentAmount('0.50'), currency: 'EUR' } };
  const ran = await payer.run(CREATE, { answers: [] });
  expect([ran.asked, ran.data.state, bank.sent.includes('execute')]).toEqual([[], 'cancelled', false]);
  expect(endOf(ran)[0]).toMatch(
    /^exit 2, invalid_amount of tr-1: The payment takes 13\.00 from the account \(amount 12\.50 EUR, fees of the bank 0\.50 EUR\), more than the 12\.99 /,
  );
});

it.each([
  [INSTANT, {}, '--payee-verified --yes'],
  [INSTANT, { answers: [true] }, '--payee-verified'],
  [CREATE, {}, '--yes'],
])('as long as %j with %j is not confirmed, its continuation repeats %s', async (words, how, repeated) => {
  const { bank, payer } = await payerWith(temporary);
  bank.meets('verify', 'lost');
  expect(endOf(await payer.run(words, how)).slice(1, 3)).toEqual([
    'Continue with:',
    `$ transfer resume tr-1 ${repeated}`,
  ]);
});

it('an interruption of execute says which payment may have been made', async () => {
  const bank = new BankHere();
  bank.meets('execute', new Psd2Error('interrupted', 'Interrupted'));
  const ran = await (await payerAt(bank, temporary)).run(CREATE);
  expect(endOf(ran).slice(0, 3)).toEqual([
    'exit 130, interrupted of tr-1: Interrupted. The payment of 12.50 EUR to Mario Rossi may have been executed: do not make it again',
    ...['Continue with:', '$ transfer resume tr-1'],
  ]);
});

it('where the operator names the customers, who the customer is at the bank is kept, and only if they say it', async () => {
  const { bank, payer } = await payerWith(temporary, LINKED);
  Object.assign(bank.interface, { customers: 'named by the operator' });
  const globals = { customer: ANNA };
  const psu = async () => {
    const { customers } = await payer.open().context.store();
    return (await customers.read(ANNA))?.psu;
  };
  const kept: unknown[] = [];
  for (const more of [[], ['--psu-id', 'anna-7', '--psu-id-type', 'x'], []]) {
    const ran = await payer.run([...CREATE, ...more], { globals });
    kept.push([endOf(ran), await psu()]);
  }
  expect(kept).toMatchInlineSnapshot(`
    [[["done"], undefined],
     [["done"], { corporateId: null, corporateIdType: null, id: "anna-7", idType: "x" }],
     [["done"], { corporateId: null, corporateIdType: null, id: "anna-7", idType: "x" }]]
  `);
});

const { run } = useCommands();

it('Ctrl-C during the payee check ends the command, and is not taken for a check that was not possible', async () => {
  const payee = { to: parseSepaIban('DE89370400440532013000'), name: 'Ada Lovelace' };
  await run(async (context) => {
    process.emit('SIGINT');
    await checkPayee(context, 'true', payee);
  });
  expect(process.exitCode).toBe(130);
});

it.each([
  ['{"result":"none","result":"match"}', 'unavailable'],
  [String.raw`{"result":"none","\u0072esult":"match"}`, 'unavailable'],
  ['{"result":"close","name":"Ada","name":"Bob"}', 'unavailable'],
  ['{"result":"match","more":{"result":"none"},"text":"\\"result\\":"}', 'match'],
])('of %s, the result is %s: of two answers, nobody knows which one counts', async (printed, expected) => {
  const payee = { to: parseSepaIban('DE89370400440532013000'), name: 'Ada Lovelace' };
  let result = '';
  await run(async (context) => {
    ({ result } = await checkPayee(context, `printf %s '${printed}'`, payee));
  });
  expect(result).toBe(expected);
});

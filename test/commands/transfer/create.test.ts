import { expect, it } from 'vitest';
import { checkPayee } from '../../../src/commands/transfer/payee-check.ts';
import { spelled } from '../../../src/commands/transfer/spelling.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { useCommands } from '../../cli/in-process.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { openCommand, useFolder } from '../command.ts';
import { ANNA, CREATE, endOf, NOW, payerAt, payerWith, TODAY } from '../payer-here.ts';

const temporary = temporaryFolder();
const folder = useFolder(temporary);
const ORDER = CREATE.slice(2);
/** What a payee check prints, as the command for `PSD2_PAYEE_CHECK`. */
const checkThatSays = (answer: object) => `sh -c 'cat > /dev/null; echo "$0"' '${JSON.stringify(answer)}'`;
const daysFromNow = (days: number) =>
  new Date(Date.parse(TODAY) + days * 86_400_000).toISOString().slice(0, 10);

it('a transfer is verified, authorised and executed, and each step is in the journal before the next', async () => {
  const { bank, payer } = await payerWith(temporary);
  const { data, said, failure } = await payer.run(CREATE);
  expect(failure).toBeNull();
  expect(bank.calls).toEqual(['verify transfer', 'sca pay-1', 'status pay-1', 'execute pay-1']);
  expect(data).toMatchInlineSnapshot(`
    { amount: "12.50", authorisations: [], authorisedBy: [], authorizationStatus: "AUTHORIZED",
      bankName: null, bankReasons: [], cancellation: null, commissions: null, createdAt: "NOW",
      cro: "cro-pay-1", currency: "EUR", customerId: "1048262", description: "", endToEndId: null,
      executionDate: "TODAY", executionStatus: null, executionStatusDescription: null, flow: "tr-1",
      from: "0000012345", instant: false, kind: "transfer", linkUntil: null, messages: [],
      name: "Mario Rossi", payeeCheck: null, payeeSource: null, product: null, reference: null,
      refusedBy: [], remittanceStructured: null, resolution: null, resourceId: "pay-1", scaStatus: null,
      state: "executed", to: "IT60X0542811101000000123456", totalAmount: null, transactionId: "an-id",
      transactionStatus: null, updatedAt: "NOW", waitsFor: null }
  `);
  expect(said).toMatchInlineSnapshot(`
    "Transfer tr-1
    The bank has verified this transfer:
      From          0000012345
      Payee         Mario Rossi
      IBAN          IT60 X054 2811 1010 0000 0123 456
      Amount        12.50 EUR
      Execution     TODAY
    Open this address in the customer's browser:
      https://customers.bank.example/pay-1
    "
  `);
  expect(payer.journal('tr-1').slice(0, 2)).toMatchInlineSnapshot(`
    [{ commits: "on execute", flow: "tr-1", furtherData: [], machine: "machine", operator: "ada",
       order: { amount: "12.50", currency: "EUR", customerId: "1048262", description: "",
         executionDate: "TODAY", from: "0000012345", futureDated: false, instant: false,
         name: "Mario Rossi", reference: null, to: "IT60X0542811101000000123456", type: null,
         urgent: false },
       transactionId: "an-id", type: "created", user: "user", version: "0.0.0" },
     { digest: null, machine: "machine", operator: "ada", requestId: "request-1", type: "verify-sent",
       user: "user", version: "0.0.0" }]
  `);
  expect(payer.events('tr-1')).toBe(
    'created verify-sent verified accepted approach-sent sca-started authorization execute-sent executed',
  );
  // By its id, psd2 later finds out whether execute ever left.
  expect(payer.journal('tr-1').slice(-2)).toMatchObject([
    { type: 'execute-sent', requestId: 'request-4', operator: 'ada' },
    { type: 'executed', cro: 'cro-pay-1', operator: 'ada' },
  ]);
});

it('a person sees all that the bank and the operator say of a transfer, and what became of it', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = {
    totalAmount: { amount: parsePaymentAmount('13'), currency: 'EUR' },
    commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' },
    bankName: 'Banca \u001b[31mRossa',
    messages: ['The name', 'is close'],
  };
  const more = ['--instant', '--payee-verified', '--payee-source', 'payer', '--description', 'Invoice 7'];
  const { printed, said, asked, failure } = await payer.run([...CREATE, ...more, '--reference', 'INV-1'], {
    answers: [true],
    format: 'table',
  });
  expect(failure).toBeNull();
  expect(asked).toEqual(['Ask the customer to authorise this transfer?']);
  expect(printed).toContain('\nbankName\tBanca �[31mRossa\nmessages.0\tThe name\nmessages.1\tis close\n');
  expect(said).toMatchInlineSnapshot(`
    "Transfer tr-1
    The bank has verified this transfer:
      From          0000012345
      Payee         Mario Rossi
      IBAN          IT60 X054 2811 1010 0000 0123 456
      Name given by the payer
      Bank          Banca �[31mRossa
      Amount        12.50 EUR
      Commission    0.50 EUR
      Total         13.00 EUR
      Description   Invoice 7
      Execution     TODAY, instant
      Reference     INV-1
      Bank says     The name is close
    Open this address in the customer's browser:
      https://customers.bank.example/pay-1
    Paid 12.50 EUR to Mario Rossi, settled after 1 s, CRO cro-pay-1, reference INV-1, tr-1.
    "
  `);
  expect(bank.last.asked).toMatchObject({
    ...{ executionDate: TODAY, futureDated: false, urgent: false, type: 'INSTANT', payeeSource: 'payer' },
  });
});

it('a transfer for a later day is ordered, and psd2 asks for no settlement, also of an instant one', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.next = { becomes: 'ordered' };
  const later = daysFromNow(3);
  const { said, failure } = await payer.run(
    [...CREATE, '--date', later, '--instant', '--payee-verified', '--urgent'],
    { format: 'table' },
  );
  expect(failure).toBeNull();
  expect(said).toContain(`  Execution     ${later}, instant\n`);
  expect(said).toContain(
    `Ordered 12.50 EUR to Mario Rossi for ${later}, accepted after 1 s, CRO cro-pay-1, tr-1.\n`,
  );
  expect(bank.calls).toEqual(['verify transfer', 'sca pay-1', 'status pay-1', 'execute pay-1']);
  expect(bank.last.asked).toMatchObject({ futureDated: true, executionDate: later, urgent: true });
});

it('letters that SEPA does not allow are refused with what to do, and with --transliterate replaced and said', async () => {
  const { bank, payer } = await payerWith(temporary);
  const words = (name: string, ...more: string[]) => [
    ...CREATE.map((word) => (word === 'Mario Rossi' ? name : word)),
    ...more,
  ];
  expect(endOf(await payer.run(words('Zoë')))).toEqual([
    'exit 2, invalid_text: --name contains the character "ë" at position 3, which SEPA does not allow. Add --transliterate to pay it as "Zoe"',
  ]);
  const nobody = endOf(await payer.run(words('Zoë 💶')));
  expect(nobody[0]).toMatch(/position 3, which SEPA does not allow$/);
  expect(bank.calls).toEqual([]);
  const { failure, said } = await payer.run(words('Zoë', '--description', 'Größe', '--transliterate'), {
    format: 'table',
  });
  expect(failure).toBeNull();
  expect(said).toContain('The name "Zoë" is paid as "Zoe"\n');
  expect(said).toContain('The description "Größe" is paid as "Groesse"\n');
  expect(bank.last.asked).toMatchObject({ name: 'Zoe', description: 'Groesse' });
});

it('who chooses the account sees what it can spend, else what is booked on it', async () => {
  const euros = (amount: number) => ({ amount: decimalOf(amount), currency: 'EUR' });
  const shown: unknown[] = [];
  for (const balances of [
    { accountBalance: euros(1000), availableBalance: euros(700) },
    { accountBalance: euros(1000), availableBalance: null },
    { accountBalance: null, availableBalance: euros(700) },
    {},
  ]) {
    const { bank, payer } = await payerWith(temporary);
    bank.balances = balances;
    const words = ['transfer', 'create', ...CREATE.slice(4)];
    const { asked } = await payer.run(words, { answers: ['0000012345', '', true] });
    shown.push(/\d+\.\d\d EUR|no balance/.exec(asked.find((line) => line.startsWith('- 0000')) ?? '')?.[0]);
  }
  expect(shown).toEqual(['7.00 EUR', '10.00 EUR', '7.00 EUR', 'no balance']);
});

it('with --transliterate each text of an order is replaced and named, and what is not there stays so', () => {
  const warnings: string[] = [];
  const { context } = openCommand(folder, NOW);
  const terminal = { ...context.terminal, warn: (text: string) => void warnings.push(text) };
  const plain = { to: 'DE89370400440532013000', currency: 'EUR', instant: false, urgent: false };
  const names = {
    ...{ name: 'name', description: 'description', payeeStreet: 'street', payeeBuilding: 'house number' },
    ...{ payeePostcode: 'postcode', payeeTown: 'town' },
  };
  const texts = (text: string) => Object.fromEntries(Object.keys(names).map((field) => [field, text]));
  const options = { ...plain, ...texts('Größe'), reference: 'Größe', transliterate: true };
  expect(spelled({ terminal }, options)).toEqual({ ...options, ...texts('Groesse') });
  expect(warnings).toEqual(Object.values(names).map((name) => `The ${name} "Größe" is paid as "Groesse"`));
  expect(spelled({ terminal }, { ...plain, transliterate: true })).toEqual({ ...plain, transliterate: true });
  const asTyped = { ...options, transliterate: false };
  expect([spelled({ terminal }, asTyped), warnings.length]).toEqual([asTyped, 6]);
});

it('a person who is asked may type such letters with --transliterate alone', async () => {
  const { bank, payer } = await payerWith(temporary);
  const words = [...CREATE.slice(0, 6), '--amount', '1', '--transliterate'];
  const { failure } = await payer.run(words, { answers: ['Zoë', '', true] });
  expect(failure).toBeNull();
  expect(bank.last.asked).toMatchObject({ name: 'Zoe' });
  const { asked } = await payer.run(words.slice(0, -1), { answers: ['Zoë', 'Zoe', '', true] });
  expect(asked).toContainEqual(expect.stringMatching(/^! --name .* Add --transliterate to pay it as "Zoe"$/));
});

it('what the bank has refused for sure is said to be unpaid', async () => {
  const bank = new BankHere();
  const refused = { refusal: 'content', isBanks: true } as const;
  bank.meets('verify', new Psd2Error('bank_refused', 'The bank does not want it', refused));
  expect(endOf(await (await payerAt(bank, temporary)).run(CREATE)).at(-1)).toBe(
    'meaning: "Not paid. No money moved"',
  );
});

it('what would not go well is refused before the bank is asked for anything', async () => {
  const { bank, payer } = await payerWith(temporary, { lacks: ['operations'] });
  const instant = [...CREATE, '--instant'];
  const ends = [
    await payer.run(CREATE, { yes: false }),
    await payer.run(instant),
    await payer.run(CREATE, { globals: { grant: 'client_credentials' } }),
    await payer.run([...CREATE, '--paste']),
    await payer.run([...CREATE, '--paste'], { answers: [] }),
    await payer.run([...CREATE, '--payee-town', 'Rome', '--payee-country', 'IT']),
    await payer.run([...CREATE, '--psu-id-type', 'x']),
    await payer.run([...CREATE, '--verify-data', '{}']),
    await payer.run(CREATE, { env: { PSD2_MAX_AMOUNT: '12.49' } }),
    await payer.run(['transfer', 'create']),
    await payer.run(['transfer', 'create', ...ORDER.slice(0, -2)]),
    await payer.run(['transfer', 'create', ...ORDER.slice(0, -2)], {
      answers: [],
      globals: { grant: 'client_credentials' },
    }),
  ].map(endOf);
  expect(ends).toMatchInlineSnapshot(`
    [["exit 2, confirmation_needed: A transfer needs a confirmation, and psd2 cannot ask without a terminal",
      "Add --yes to confirm in advance. psd2 has sent nothing."],
     ["exit 2, confirmation_needed: An instant transfer needs a verified payee, and psd2 cannot ask without a terminal",
      "Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. psd2 has sent nothing."],
     ["exit 2, usage: This needs the customer, so it needs the grant authorization_code",
      "Leave out --grant client_credentials."],
     ["exit 2, usage: --paste asks for an address, and psd2 cannot ask without a terminal",
      "Use a redirect URI on this machine instead (PSD2_REDIRECT_URI)."],
     ["exit 2, usage: The interface of this bank, here, has no --paste"],
     ["exit 2, usage: The interface of this bank, here, has no address of the payee"],
     ["exit 2, usage: The interface of this bank, here, has no --psu-id-type",
      "It is for banks that learn from psd2 who their customer is."],
     ["exit 2, usage: The interface of this bank, here, has no --verify-data"],
     ["exit 2, invalid_amount: The amount 12.50 EUR is more than the 12.49 EUR that the profile env allows",
      "psd2 has sent nothing. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT."],
     ["exit 2, usage: Options are missing: --from, --to, --name, --amount",
      "Add --help to see how the command is used."],
     ["exit 2, usage: The option --amount is missing", "Add --help to see how the command is used."],
     ["exit 2, usage: This needs the customer, so it needs the grant authorization_code",
      "Leave out --grant client_credentials."]]
  `);
  expect(bank.calls).toEqual([]);
  expect((await payer.run(['transfer', 'list'])).data).toEqual([]);
  expect((await payer.run(CREATE, { env: { PSD2_MAX_AMOUNT: '12.50' } })).failure).toBeNull();
});

it('the interface has no payments, so psd2 sends nothing', async () => {
  const { bank, payer } = await payerWith(temporary, { lacks: ['payments'] });
  expect(endOf(await payer.run(CREATE))).toMatchInlineSnapshot(`
    ["exit 2, usage: The interface of this bank, here, has no payments",
     "psd2 has sent nothing. At such a bank, psd2 only reads."]
  `);
  expect(bank.calls).toEqual([]);
});

it.each([
  [1, 1, 1, true],
  [1, 1, 3, true],
  [3, 1, 3, true],
  [0, 1, 3, false],
  [4, 1, 3, false],
  [4, 1, null, true],
  [0, null, 3, true],
  [4, null, 3, false],
  [4, null, null, true],
] as [number, number | null, number | null, boolean][])(
  'with --prepare, %i days from now, of %j to %j days, may be ordered: %j',
  async (day, first, last, isAllowed) => {
    const { bank, payer } = await payerWith(temporary);
    const on = (days: number | null) => (days === null ? null : parseDate('--date', daysFromNow(days)));
    bank.terms = { earliestDate: on(first), latestDate: on(last) };
    const ran = await payer.run([...CREATE, '--prepare', '--date', daysFromNow(day)]);
    if (isAllowed) {
      expect(ran.failure).toBeNull();
      expect(bank.calls.slice(0, 2)).toEqual(['terms 0000012345', 'verify transfer']);
      return;
    }
    expect(endOf(ran)).toEqual([
      `exit 2, invalid_date: The bank does not execute transfers on ${day === 0 ? 'TODAY' : daysFromNow(day)}`,
      `It accepts ${on(first) ?? 'any day'} to ${on(last) ?? 'any day'}.`,
      'transactionId: "an-id"',
    ]);
    expect(bank.calls).toEqual(['terms 0000012345']);
    expect((await payer.run(['transfer', 'list'])).data).toEqual([]);
  },
);

it('a reference is paid once, and the error names what differs', async () => {
  const { bank, payer } = await payerWith(temporary);
  const invoice = [...CREATE, '--reference', 'INV-1'];
  await payer.run(invoice);
  expect(endOf(await payer.run([...invoice, '--amount', '13']))).toMatchInlineSnapshot(`
    ["exit 2, duplicate_reference of tr-1: The reference "INV-1" was used by transfer tr-1, which is executed. These are different: the amount",
     "See it with:", "$ transfer show tr-1", "transactionId: "an-id"", "differs: ["amount"]"]
  `);
  expect(bank.payments).toHaveLength(1);
});

const CHECKS: [result: string, isInstant: boolean, answers: boolean[] | null][] = [
  ['match', true, [true]],
  ['match', false, null],
  ['close', false, null],
  ['none', false, [true, true]],
  ['none', true, [false]],
  ['unavailable', true, [true, false]],
];

it('after a payee check, anything but a match needs a person, and nobody is sent to the bank without one', async () => {
  const ends: unknown[] = [];
  for (const [result, isInstant, answers] of CHECKS) {
    const bank = new BankHere();
    const answer = result === 'unavailable' ? { result: 'no such result' } : { result, name: 'Maria Rossi' };
    const payer = await payerAt(bank, temporary, { PSD2_PAYEE_CHECK: checkThatSays(answer) });
    const words = isInstant ? [...CREATE, '--instant'] : CREATE;
    const { data, ...ran } = await payer.run(words, { ...(answers && { answers }) });
    ends.push([...bank.sent, ...ran.asked, data.payeeCheck, data.state, ...endOf(ran)]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["verify transfer", "sca pay-1", "execute pay-1", "Ask the customer to authorise this transfer?",
      { name: "Maria Rossi", problem: null, result: "match" }, "settled", "done"],
     ["verify transfer", "sca pay-1", "execute pay-1",
      { name: "Maria Rossi", problem: null, result: "match" }, "executed", "done"],
     ["verify transfer", { name: "Maria Rossi", problem: null, result: "close" }, "verified",
      "exit 2, confirmation_needed of tr-1: The payee check of Mario Rossi and IT60X0542811101000000123456 says: close match, the account is held by Maria Rossi",
      "psd2 has not asked the customer yet. If the payee is right after all:",
      "$ transfer resume tr-1 --payee-verified --yes"],
     ["verify transfer", "sca pay-1", "execute pay-1",
      "The payee check says: no match, the account is held by Maria Rossi. Is Mario Rossi the right payee after all?",
      "Ask the customer to authorise this transfer?",
      { name: "Maria Rossi", problem: null, result: "none" }, "executed", "done"],
     ["verify transfer",
      "The payee check says: no match, the account is held by Maria Rossi. Is Mario Rossi the right payee after all? An instant transfer cannot be recalled",
      { name: "Maria Rossi", problem: null, result: "none" }, "cancelled",
      "exit 2, cancelled of tr-1: The transfer was cancelled before the customer was asked",
      "No money moved. You can make a new one.", "transactionId: "an-id""],
     ["verify transfer",
      "The payee check says: not possible: The payee check command did not print {"result": "match|close|none|unavailable"}. Is Mario Rossi the right payee after all? An instant transfer cannot be recalled",
      "Ask the customer to authorise this transfer?",
      { name: null,
        problem: "The payee check command did not print {"result": "match|close|none|unavailable"}",
        result: "unavailable" },
      "cancelled",
      "exit 2, cancelled of tr-1: The transfer was cancelled before the customer was asked",
      "No money moved. You can make a new one.", "transactionId: "an-id""]]
  `);
});

it('a person who confirms the payee with the command needs no check', async () => {
  const { payer } = await payerWith(temporary, {}, { PSD2_PAYEE_CHECK: checkThatSays({ result: 'none' }) });
  const { data, failure } = await payer.run([...CREATE, '--payee-verified']);
  expect([failure, data.state, data.payeeCheck]).toEqual([null, 'executed', null]);
});

it('without a payee check, a person confirms the payee of an instant transfer, and may say no', async () => {
  const { bank, payer } = await payerWith(temporary);
  const no = await payer.run([...CREATE, '--instant'], { answers: [false] });
  expect([no.asked, no.data.state, endOf(no)]).toMatchInlineSnapshot(`
    [["Have you verified that IT60X0542811101000000123456 belongs to Mario Rossi? An instant transfer cannot be recalled"],
     "cancelled",
     ["exit 2, cancelled of tr-1: The transfer was cancelled before the customer was asked",
      "No money moved. You can make a new one.", "transactionId: "an-id""]]
  `);
  const yes = await payer.run([...CREATE, '--instant'], { answers: [true, false] });
  expect([yes.asked, yes.data.state, endOf(yes)]).toMatchInlineSnapshot(`
    [["Have you verified that IT60X0542811101000000123456 belongs to Mario Rossi? An instant transfer cannot be recalled",
      "Ask the customer to authorise this transfer?"],
     "cancelled",
     ["exit 2, cancelled of tr-2: The transfer was cancelled before the customer was asked",
      "No money moved. You can make a new one.", "transactionId: "an-id""]]
  `);
  expect(bank.sent).toEqual(['verify transfer', 'verify transfer']);
});

// What the operator sees before a transfer, what they confirm in advance, and what psd2 remembers of it.

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
const withFees = async (_: Payer, bank: BankHere) => {
  bank.verified = { commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' } };
};
const waiting = async (payer: Payer, bank: BankHere) => {
  bank.customersAgree = false;
  await create(payer);
};
it.each<[string[], string[], (payer: Payer, bank: BankHere) => Promise<void>, object]>([
  [CREATE, ['The bank has verified', 'Open this address in'], async () => {}, {}],
  [CREATE, ['You are about to', 'The bank takes fees', 'Open this address in'], withFees, LINKED],
  [['transfer', 'cancel', 'tr-1'], ['The transfer tr-1 is'], waiting, {}],
  [['transfer', 'cancel', 'tr-1'], ['The transfer tr-1 is'], waiting, LINKED],
  [['transfer', 'resolve', 'tr-1', '--not-executed'], ['The transfer tr-1 is'], lost, {}],
])('in production, %j marks what is read before a decision: %j', async (words, marked, before, terms) => {
  const { bank, payer } = await payerWith(temporary, terms, { PSD2_ENVIRONMENT: 'production' });
  await before(payer, bank);
  const { said, failure } = await payer.run(words);
  expect([failure, said.match(/(?<=^\[PRODUCTION env\] )\w+ \w+ \S+ \w+/gm)]).toEqual([null, marked]);
});

it('the payee check is waited for, and its result is in what the operator confirms', async () => {
  const payer = await payerAt(new BankHere(), temporary, {
    PSD2_PAYEE_CHECK: checkThatSays({ result: 'match' }),
  });
  const { said, waits } = await shownBy(payer, [...CREATE, '--payee-source', 'payee']);
  const [checked] = payer.journal('tr-1').filter(({ type }) => String(type) === 'payee-checked');
  expect(checked).toMatchObject({ result: 'match', source: 'payee' });
  expect(waits[0]).toBe('Checking the payee');
  expect(said).toContain(
    '  IBAN          IT60 X054 2811 1010 0000 0123 456\n  Name given by the payee\n  Payee check   match\n  Amount ',
  );
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

// What a command prints of a payment that a person has just confirmed, and what it prints elsewhere.

/** The form of what is printed: nothing, one sentence, the payment line by line, or JSON. */
function formOf(printed: string): string {
  if (printed === '') return 'nothing';
  if (/^Paid [^\n]*\.\n$/.test(printed)) return 'one sentence';
  return printed.startsWith('{') ? 'JSON' : 'all';
}

const PERSON = { format: 'table', stdout: 100 } as const;
const OPERATION = ['operation', 'run', 'standingOrder', '--account', '0000012345'];
const notVerified = (bank: BankHere) =>
  bank.meets('verify', new Psd2Error('bank_failing', 'The bank is failing'));
const notPaid = (bank: BankHere) =>
  bank.meets('verify', new Psd2Error('bank_refused', 'No', { refusal: 'content', isBanks: true }));
const notAuthorised = (bank: BankHere) => Object.assign(bank, { customersAgree: false });

it.each<
  [
    string,
    string[],
    Parameters<Awaited<ReturnType<typeof payerAt>>['run']>[1],
    (bank: BankHere) => unknown,
    string,
  ]
>([
  ['a person who has confirmed it', CREATE, { ...PERSON, answers: [true] }, () => {}, 'one sentence, done'],
  ['a person with --yes', CREATE, PERSON, () => {}, 'one sentence, done'],
  ['a program in a pipe', CREATE, { format: 'table' }, () => {}, 'all, done'],
  ['a person who wants JSON', CREATE, { stdout: 100 }, () => {}, 'JSON, done'],
  ['a person whose payment has failed', CREATE, PERSON, notPaid, 'nothing, bank_refused'],
  ['a program whose payment has failed', CREATE, { format: 'table' }, notPaid, 'all, bank_refused'],
  ['a person who has not seen what the bank verifies', CREATE, PERSON, notVerified, 'all, bank_failing'],
  [
    'a person who has',
    CREATE,
    { ...PERSON, globals: { scaTimeout: '1' } },
    notAuthorised,
    'nothing, authorisation_timeout',
  ],
  ['a person who has confirmed an operation', OPERATION, PERSON, () => {}, 'all, done'],
  ['a person whose operation has failed', OPERATION, PERSON, notPaid, 'nothing, bank_refused'],
  ['a person whose operation is not verified', OPERATION, PERSON, notVerified, 'all, bank_failing'],
])('%s reads how it ended', async (_, words, how, prepare, expected) => {
  const { bank, payer } = await payerWith(temporary);
  prepare(bank);
  const { printed, failure } = await payer.run(words, how);
  expect(`${formOf(printed)}, ${failure?.code ?? 'done'}`).toBe(expected);
});

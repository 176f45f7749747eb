import { expect, it } from 'vitest';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { checkGiven, type OrderOptions, readOrder } from '../../../src/domain/order/read-order.ts';
import { FREQUENCIES } from '../../../src/domain/order/terms.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { account, BankHere } from '../../commands/bank-here.ts';
import { ANNA, endOf, payerAt } from '../../commands/payer-here.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';

const temporary = temporaryFolder();
const NOON = new Date('2026-11-20T11:00:00Z');
const PAYEE = 'IT60X0542811101000000123456';
const GIVEN: OrderOptions = {
  ...{ from: '0000012345', to: 'it60x0542811101000000123456', name: 'Mario Rossi', amount: '12.5' },
  ...{ currency: 'EUR', instant: false, urgent: false },
};
it.each([
  [undefined, undefined, /^The option --from is missing$/],
  ['optional', undefined, null],
  ['never', undefined, null],
  ['optional', '0000012345', '0000012345'],
  [
    'never',
    '0000012345',
    /^At this bank the customer chooses the account to debit, and a payment names none$/,
  ],
] as const)('at a bank with debtorAccount %s, --from %s gives %s', (debtorAccount, from, expected) => {
  const bank = { ...new BankHere().interface, ...(debtorAccount && { debtorAccount }) };
  const order = () => readOrder({ ...GIVEN, from }, NOON, bank);
  if (expected instanceof RegExp) expect(order).toThrow(expected);
  else expect(order().from).toBe(expected);
});

const read = (changes: Partial<OrderOptions>) =>
  readOrder({ ...GIVEN, ...changes }, NOON, new BankHere().interface);

it('an order has what the operator gave, and the defaults of the rest', () => {
  expect(read({})).toEqual({
    ...{ from: '0000012345', to: 'IT60X0542811101000000123456', name: 'Mario Rossi', amount: '12.50' },
    ...{ currency: 'EUR', description: '', instant: false, type: null, executionDate: '2026-11-20' },
    ...{ futureDated: false, urgent: false, reference: null, fromIban: undefined, payeeSource: undefined },
  });
  expect(
    read({
      ...{ description: ' Invoice 7 ', instant: true, urgent: true, date: '2026-11-21' },
      ...{ reference: ' INV  1 ', type: 'INSTANT', fromIban: 'DE02100100109307118603', payeeSource: 'payee' },
      ...{ payeeStreet: 'Via Roma', payeeBuilding: '1', payeePostcode: '00100' },
      ...{ payeeTown: 'Rome', payeeCountry: 'IT' },
      standing: { frequency: 'Monthly', end: '2026-11-21', day: 31 },
    }),
  ).toMatchInlineSnapshot(`
    { amount: "12.50", currency: "EUR", description: " Invoice 7 ", executionDate: "2026-11-21",
      from: "0000012345", fromIban: "DE02100100109307118603", futureDated: true, instant: true,
      name: "Mario Rossi",
      payeeAddress: { building: "1", country: "IT", postcode: "00100", street: "Via Roma", town: "Rome" },
      payeeSource: "payee", reference: " INV  1 ",
      standing: { day: 31, end: "2026-11-21", frequency: "Monthly" }, to: "IT60X0542811101000000123456",
      type: "INSTANT", urgent: true }
  `);
  const least = { town: 'Rome', country: 'IT' };
  expect(read({ payeeTown: 'Rome', payeeCountry: 'IT' }).payeeAddress).toStrictEqual(least);
  expect(read({ type: 'INSTANT' })).toMatchObject({ instant: true, type: 'INSTANT' });
  expect(read({ type: `a-Z_${'9'.repeat(31)}` })).toMatchObject({ instant: false });
});

it('a wrong order is refused with what is wrong', () => {
  const ends = (
    [
      { to: undefined, amount: undefined },
      { from: '12345' },
      { to: 'IT00' },
      { name: '' },
      { amount: '0' },
      { currency: 'USD' },
      { currency: 'eur' },
      { currency: ' EUR' },
      { description: 'x'.repeat(141) },
      { date: '2026-11-19' },
      { date: '2026-11-19', standing: { frequency: 'Monthly', end: undefined, day: null } },
      { date: '2026-11-21', standing: { frequency: 'Monthly', end: '2026-11-20', day: null } },
      { date: '2026-11-21', standing: { frequency: 'Monthly', end: '2026-11-31', day: null } },
      { instant: true, type: 'URGENT' },
      { type: '' },
      { type: 'x'.repeat(36) },
      { type: 'a b' },
      { type: 'ab\n' },
      { reference: ' ' },
      { payeeTown: 'Rome' },
      { payeeCountry: 'IT' },
      { payeeStreet: 'Via Roma' },
      { payeeTown: 'Rome', payeeCountry: 'Italy' },
      { payeeTown: '', payeeCountry: 'IT' },
      { payeeTown: 'x'.repeat(36), payeeCountry: 'IT' },
      { payeeStreet: 'x'.repeat(71), payeeTown: 'Rome', payeeCountry: 'IT' },
      { payeeBuilding: 'x'.repeat(17), payeeTown: 'Rome', payeeCountry: 'IT' },
      { payeePostcode: 'x'.repeat(17), payeeTown: 'Rome', payeeCountry: 'IT' },
    ] satisfies Partial<OrderOptions>[]
  ).map((changes) => {
    try {
      return read(changes);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      return [error.code, error.message, error.hint ?? ''].filter(Boolean).join(' | ');
    }
  });
  expect(ends).toMatchInlineSnapshot(`
    ["usage | Options are missing: --to, --amount | Add --help to see how the command is used.",
     "invalid_product_id | The account id "12345" has 5 characters instead of 10 | Include leading zeros. See the ids with:",
     "invalid_iban | The IBAN "IT00" has 4 characters, which is not the length of an IBAN of IT | Check it against the invoice or ask the payee for it again.",
     "invalid_text | --name is empty",
     "invalid_amount | The amount "0" is zero | Use digits, with a point and at most two decimals, for example 12.50.",
     "usage | The currency "USD" is not possible: SEPA transfers are in EUR",
     "usage | The currency "eur" is not possible: SEPA transfers are in EUR",
     "usage | The currency " EUR" is not possible: SEPA transfers are in EUR",
     "invalid_text | --description has 141 characters, but at most 140 are allowed",
     "invalid_date | --date 2026-11-19 is in the past: at the bank it is 2026-11-20",
     "invalid_date | --start 2026-11-19 is in the past: at the bank it is 2026-11-20",
     "invalid_date | --end 2026-11-20 is before --start 2026-11-21",
     "invalid_date | --end "2026-11-31" is a day that does not exist | For example --end 2026-01-31.",
     "usage | --instant and --type URGENT contradict each other | Give one of them.",
     "usage | --type "" may have only letters, digits, - and _",
     "usage | --type "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" may have only letters, digits, - and _",
     "usage | --type "a b" may have only letters, digits, - and _",
     "usage | --type "ab\\n" may have only letters, digits, - and _",
     "invalid_text | --reference is empty",
     "usage | The payee's address has no country | SEPA allows only addresses with both: --payee-town and --payee-country.",
     { amount: "12.50", currency: "EUR", description: "", executionDate: "2026-11-20",
       from: "0000012345", fromIban: undefined, futureDated: false, instant: false, name: "Mario Rossi",
       payeeAddress: { country: "IT" }, payeeSource: undefined, reference: null,
       to: "IT60X0542811101000000123456", type: null, urgent: false },
     "usage | The payee's address has no town | SEPA allows only addresses with both: --payee-town and --payee-country.",
     "usage | --payee-country "Italy" is not a code of two capital letters",
     "invalid_text | --payee-town is empty",
     "invalid_text | --payee-town has 36 characters, but at most 35 are allowed",
     "invalid_text | --payee-street has 71 characters, but at most 70 are allowed",
     "invalid_text | --payee-building has 17 characters, but at most 16 are allowed",
     "invalid_text | --payee-postcode has 17 characters, but at most 16 are allowed"]
  `);
});

const PARTS: readonly [keyof OrderOptions, name: string, text: string][] = [
  ['payeeStreet', 'street', 'Via Roma'],
  ['payeeBuilding', 'building', '1'],
  ['payeePostcode', 'postcode', '00100'],
  ['payeeTown', 'town', 'Rome'],
  ['payeeCountry', 'country', 'IT'],
];

it.each(Array.from({ length: 2 ** PARTS.length - 1 }, (_, index) => index + 1))(
  'an address has a town and a country, or is a country alone: %i',
  (given) => {
    const parts = PARTS.filter((_, at) => Math.floor(given / 2 ** at) % 2 === 1);
    const names = parts.map(([, name]) => name);
    const order = () => read(Object.fromEntries(parts.map(([option, , text]) => [option, text])));
    const isWhole = names.includes('country') && (names.includes('town') || names.length === 1);
    if (isWhole) expect(order().payeeAddress).toEqual(Object.fromEntries(parts.map(([, ...part]) => part)));
    else
      expect(thrownBy(order)).toMatchObject({
        code: 'usage',
        message: `The payee's address has no ${names.includes('town') ? 'country' : 'town'}`,
      });
  },
);

it('standing orders pay as often as NextGenPSD2 1.3 says', () => {
  expect(FREQUENCIES).toEqual([
    ...['Daily', 'Weekly', 'EveryTwoWeeks', 'Monthly', 'EveryTwoMonths', 'Quarterly', 'SemiAnnual'],
    ...['Annual', 'MonthlyVariable'],
  ]);
});

const money = (amount: string) => ({ amount: parsePaymentAmount(amount), currency: 'EUR' });

it('psd2 asks for what is missing, checks each answer, and asks for nothing that was given', async () => {
  const bank = new BankHere();
  bank.accounts = [
    account('0000012345', 'DE02100100109307118603'),
    account('0000055555', null, { name: null, productDescription: 'Savings' }),
    account('00000CARD1', null, { name: null, productCode: 'CARD' }),
    account('0000099999', null, { name: null }),
  ];
  bank.balances = { availableBalance: money('1250.5'), accountBalance: money('3') };
  const payer = await payerAt(bank, temporary, { PSD2_MAX_AMOUNT: '100' });
  const long = 'x'.repeat(141);
  const answers = ['0000012345', '', 'Ada', 'XX', PAYEE, '0', '100.01', '100', long, 'Rent', true];
  const { asked, data, failure } = await payer.run(['transfer', 'create'], { answers });
  expect([failure, data.state, data.description]).toEqual([null, 'executed', 'Rent']);
  expect(bank.last.asked).toMatchObject({ amount: '100.00', fromIban: 'DE02100100109307118603' });
  expect(asked).toMatchInlineSnapshot(`
    ["Which account do you want to debit?",
     "- 0000012345  Current account  1250.50 EUR  DE02 1001 0010 9307 1186 03 (0000012345 Current account)",
     "- 0000055555  Savings          1250.50 EUR (0000055555 Savings)",
     "- 0000099999                   1250.50 EUR (0000099999 )", "Payee's name:", "! --name is empty",
     "Payee's name:", "Payee's IBAN:", "! The IBAN "XX" has the unknown country code "XX"",
     "Payee's IBAN:", "Amount in EUR, for example 12.50:", "! The amount "0" is zero",
     "Amount in EUR, for example 12.50:",
     "! The amount 100.01 EUR is more than the 100 EUR that the profile env allows",
     "Amount in EUR, for example 12.50:", "Description for the payee (Enter for none):",
     "! --description has 141 characters, but at most 140 are allowed",
     "Description for the payee (Enter for none):", "Ask the customer to authorise this transfer?"]
  `);
  const given = ['--from', '0000012345', '--name', 'Ada', '--to', PAYEE, '--description', ''];
  const rest = await payer.run(['transfer', 'create', ...given], { answers: ['7', true] });
  expect(rest.asked).toEqual([
    'Amount in EUR, for example 12.50:',
    'Ask the customer to authorise this transfer?',
  ]);
  expect(bank.last.asked).toMatchObject({ amount: '7.00', fromIban: undefined });
});

it('the list of accounts shows the IBANs if there is room, and an account without a balance can be chosen', async () => {
  const bank = new BankHere();
  bank.accounts = [
    account('0000012345', 'DE02100100109307118603'),
    account('0000099999', null, { name: 'Ｗ' }),
  ];
  bank.balances = { accountBalance: money('1') };
  const payer = await payerAt(bank, temporary);
  const lists: string[][] = [];
  // The line is 68 cells wide, with two blanks after it.
  for (const columns of [0, 71, 70, 40]) {
    bank.meets('balance', new Psd2Error('forbidden', 'No consent', { refusal: 'other' }));
    const answers = ['0000099999', 'Ada', PAYEE, '', false];
    const { asked } = await payer.run(['transfer', 'create', '--amount', '1'], { answers, columns });
    lists.push([String(columns), ...asked.slice(1, 3)]);
  }
  expect(lists).toMatchInlineSnapshot(`
    [["0",
      "- 0000012345  Current account  no balance  DE02 1001 0010 9307 1186 03 (0000012345 Current account)",
      "- 0000099999  Ｗ                 1.00 EUR (0000099999 Ｗ)"],
     ["71",
      "- 0000012345  Current account  no balance  DE02 1001 0010 9307 1186 03 (0000012345 Current account)",
      "- 0000099999  Ｗ                 1.00 EUR (0000099999 Ｗ)"],
     ["70", "- 0000012345  Current account  no balance (0000012345 Current account)",
      "- 0000099999  Ｗ                 1.00 EUR (0000099999 Ｗ)"],
     ["40", "- 0000012345  Current account  no balance (0000012345 Current account)",
      "- 0000099999  Ｗ                 1.00 EUR (0000099999 Ｗ)"]]
  `);
});

it('a person sees that psd2 waits for the list of accounts', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  const waits: unknown[] = [];
  const stop = () => Promise.reject(new Psd2Error('interrupted', 'Interrupted'));
  const { failure } = await payer.run(['transfer', 'create'], {
    changes: ({ terminal }) => ({
      terminal: {
        ...{ ...terminal, canAsk: true, choose: stop },
        whileWaiting: (text, work) => {
          waits.push(text);
          return work;
        },
      },
    }),
  });
  expect([failure?.code, waits]).toEqual(['interrupted', ['Asking the bank for the accounts']]);
});

it('a wrong option is refused before psd2 asks for anything', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  for (const options of [
    ...['--from 1', '--to IT00', '--name ', '--amount -1', '--currency USD', '--date 2020-01-01'],
    ...['--instant --type X', '--payee-town Rome'],
  ]) {
    const ran = await payer.run(['transfer', 'create', ...options.split(' ')], { answers: [] });
    expect([options, ran.failure?.exitCode, ran.asked]).toEqual([options, 2, []]);
  }
  expect(bank.calls).toEqual([]);
});

it('if the bank does not list the accounts, the operator types the id, and other errors end the command', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  bank.meets(
    'accounts',
    new Psd2Error('forbidden', 'No consent for \u001bthis', { refusal: 'other', isBanks: true }),
  );
  const answers = ['12345', '0000012345', 'Ada', PAYEE, '', true];
  const { asked, said, failure } = await payer.run(['transfer', 'create', '--amount', '1'], { answers });
  expect(failure).toBeNull();
  expect(said).toContain('The bank does not list the accounts: No consent for �this\n');
  expect(asked).toMatchInlineSnapshot(`
    ["Id of the account to debit:", "! The account id "12345" has 5 characters instead of 10",
     "Id of the account to debit:", "Payee's name:", "Payee's IBAN:",
     "Description for the payee (Enter for none):", "Ask the customer to authorise this transfer?"]
  `);
  bank.meets('accounts', new Psd2Error('bank_failing', 'The bank is failing'));
  expect((await payer.run(['transfer', 'create'], { answers: [] })).failure?.code).toBe('bank_failing');
  bank.meets('balance', new Psd2Error('bank_failing', 'The bank is failing'));
  expect((await payer.run(['transfer', 'create'], { answers: [] })).failure?.code).toBe('bank_failing');
  bank.accounts = [];
  expect(endOf(await payer.run(['transfer', 'create'], { answers: [] }))).toEqual([
    'exit 2, usage: The customer has no account to debit',
  ]);
  expect(bank.sent).toHaveLength(3);
  expect(bank.calls).toContain(`accounts ${ANNA}`);
});

it('a standing order in weeks has no day of the month', () => {
  const standing = { frequency: 'Weekly', end: undefined, day: 3 } as const;
  for (const frequency of ['Daily', 'Weekly', 'EveryTwoWeeks'] as const) {
    expect(thrownBy(() => read({ standing: { ...standing, frequency } }))).toMatchObject({
      code: 'usage',
      message: `--day is a day of the month, and a standing order with ${frequency} has none`,
      hint: 'The day of the week follows from --start.',
    });
    expect(read({ standing: { ...standing, frequency, day: null } }).standing?.frequency).toBe(frequency);
  }
  expect(read({ standing: { ...standing, frequency: 'Quarterly' } }).standing?.day).toBe(3);
});

it('the payee may be one of several accounts of an IBAN, by its currency', () => {
  const { to, toCurrency } = read({ to: ' IT60X0542811101000000123456:usd ' });
  expect([to, toCurrency]).toEqual(['IT60X0542811101000000123456', 'USD']);
  expect('toCurrency' in read({})).toBe(false);
  for (const odd of [`${PAYEE}:us`, `${PAYEE}:usdx`, `${PAYEE}:us1`, `${PAYEE}:`, ':usd'])
    expect(thrownBy(() => read({ to: odd }))).toMatchObject({ code: 'invalid_iban' });
});

it('of an incomplete order each part that is given is checked, and no other', () => {
  const check = (given: Partial<OrderOptions>) =>
    checkGiven({ currency: 'EUR', instant: false, urgent: false, ...given }, NOON, new BankHere().interface);
  expect(check({})).toBeUndefined();
  expect(check(GIVEN)).toBeUndefined();
  for (const [given, code] of [
    [{ from: '1' }, 'invalid_product_id'],
    [{ to: 'IT00' }, 'invalid_iban'],
    [{ name: '' }, 'invalid_text'],
    [{ amount: '0' }, 'invalid_amount'],
    [{ currency: 'USD' }, 'usage'],
    [{ date: '2026-11-19' }, 'invalid_date'],
    [{ reference: ' ' }, 'invalid_text'],
  ] as const)
    expect(thrownBy(() => check(given))).toMatchObject({ code });
});

import { expect, it } from 'vitest';
import { collect } from '../../../src/commands/flow/list.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { account, BankHere, OWN_IBAN, type PaymentHere } from '../bank-here.ts';
import { differing } from '../named-bank.ts';
import { ANNA, endOf, NOW, payerAt, payerWith, TODAY } from '../payer-here.ts';

// Payments at a bank whose payments name the IBAN of the debited account, and whose customers commit.

const temporary = temporaryFolder();
const LINKED = { commits: 'by the customer' } as const;
const TO = ['--to', 'IT60X0542811101000000123456', '--name', 'Mario Rossi', '--amount', '12.50'];
const STANDING = [
  ...['transfer', 'standing', '--from', OWN_IBAN, ...TO],
  ...['--frequency', 'Monthly', '--start', TODAY],
];
const CREATE = ['transfer', 'create', ...TO, '--from'];

/** A bank whose accounts are called by their IBANs too. */
function linkedBank(): BankHere {
  const bank = new BankHere(LINKED);
  Object.assign(bank.interface, { readAccountId: (text: string) => text });
  return bank;
}

it('a standing order is shown with how often it pays, and the bank gets it as one payment', async () => {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  const more = [
    ...['--day', '31', '--end', '2099-12-31', '--type', 'sct'],
    ...['--payee-verified', '--payee-source', 'payee'],
  ];
  const { said, printed, failure } = await payer.run([...STANDING, ...more], { format: 'table' });
  expect(failure).toBeNull();
  expect(printed).toContain('Repeated\tMonthly, day 31, until 2099-12-31\n');
  expect(said).toMatchInlineSnapshot(`
    "Transfer tr-1
    You are about to pay:
      From            DE02100100109307118603
      Payee           Mario Rossi
      IBAN            IT60 X054 2811 1010 0000 0123 456
      Name given by   the payee
      Amount          12.50 EUR
      Execution       TODAY
      Repeated        Monthly, day 31, until 2099-12-31
      Payment product sepa-credit-transfers
    Open this address in the customer's browser:
      https://customers.bank.example/pay-1
    Ordered 12.50 EUR to Mario Rossi (Monthly, day 31, until 2099-12-31), executed, tr-1.
    "
  `);
  expect(JSON.parse(String(bank.last.asked))).toMatchObject({
    ...{ executionDate: TODAY, amount: '12.50', currency: 'EUR', type: 'sct', instant: false, urgent: false },
    standing: { frequency: 'Monthly', end: '2099-12-31', day: 31 },
  });
  const plain = await payer.run(STANDING, { format: 'table' });
  expect(plain.printed).toContain('Repeated\tMonthly\n');
  const later = await payer.run([...STANDING, '--start', '2099-12-01'], { format: 'table' });
  expect(later.said).toContain(
    'Ordered 12.50 EUR to Mario Rossi from 2099-12-01 (Monthly), executed, tr-3.\n',
  );
});

it.each(['monthly', 'MONTHLY', 'Monthly'])('--frequency %s is a word in any letters', async (word) => {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  const words = STANDING.map((each) => (each === 'Monthly' ? word : each));
  expect((await payer.run(words)).failure).toBeNull();
  expect(JSON.parse(String(bank.last.asked)).standing.frequency).toBe('Monthly');
});

it.each(['Often', 'MonthlyVariable', ''])(
  '--frequency %j is none, and the error names those that are',
  async (word) => {
    const { payer } = await payerWith(temporary, linkedBank());
    await expect(payer.run([...STANDING, '--frequency', word])).rejects.toThrow(
      /Allowed choices are Daily, Weekly, (\w+, )*Monthly, (\w+, )*Annual\.$/,
    );
  },
);

it.each(['0', '32', '1.5', '', ' 1', '01', '31x'])('%j is no day of a month', async (day) => {
  const bank = linkedBank();
  const ran = await (await payerAt(bank, temporary)).run([...STANDING, '--day', day]);
  expect(endOf(ran)).toEqual([
    `exit 2, usage: --day ${JSON.stringify(day)} is not a day of the month, 1 to 31`,
  ]);
  expect(bank.calls).toEqual([]);
});

it.each(['1', '9', '10', '29', '30', '31'])('%s is a day of a month', async (day) => {
  const bank = linkedBank();
  const ran = await (await payerAt(bank, temporary)).run([...STANDING, '--day', day]);
  expect(ran.failure).toBeNull();
  expect(JSON.parse(String(bank.last.asked)).standing).toEqual({
    frequency: 'Monthly',
    end: null,
    day: Number(day),
  });
});

it('a bank without standing orders gets none', async () => {
  const bank = new BankHere({ ...LINKED, lacks: ['standing orders'] });
  const ran = await (await payerAt(bank, temporary)).run(STANDING);
  expect(endOf(ran)).toEqual(['exit 2, usage: The interface of this bank, here, has no standing orders']);
});

/** Stores a consent for these accounts of the customer. @param accounts null: all of them */
async function grant(payer: Awaited<ReturnType<typeof payerAt>>, accounts: string[] | null): Promise<void> {
  const { customers } = await payer.open().context.store();
  await customers.change(ANNA, () => ({
    psu: { id: null, idType: null, corporateId: null, corporateIdType: null },
    consents: [
      {
        ...{ flow: 'co-1', consentId: 'c-1', accounts, reads: ['accounts'], validUntil: null },
        ...{ recurring: true, frequencyPerDay: 4, grantedAt: NOW },
      },
    ],
  }));
}

it('the account may be named by its id, if the customer has it and it has an IBAN', async () => {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  bank.accounts = [account('0000012345', OWN_IBAN), account('00000CARD1', null)];
  expect((await payer.run([...CREATE, '0000012345'])).failure).toBeNull();
  expect(JSON.parse(String(bank.last.asked))).toMatchObject({ from: '0000012345', fromIban: OWN_IBAN });
  expect(endOf(await payer.run([...CREATE, '0000054321']))).toMatchInlineSnapshot(`
    ["exit 2, usage: The account 0000054321 is not among the accounts of the customer",
     "psd2 has sent no payment. See the accounts with:", "$ accounts list --customer 1048262"]
  `);
  expect(endOf(await payer.run([...CREATE, '00000CARD1']))).toMatchInlineSnapshot(
    `["exit 2, usage: The account 00000CARD1 has no IBAN", "psd2 has sent no payment."]`,
  );
  expect(bank.payments).toHaveLength(1);
});

it('an IBAN is taken as it is, unless a consent shows all accounts of the customer', async () => {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  const other = 'DE89370400440532013000';
  expect((await payer.run([...CREATE, other])).failure).toBeNull();
  await grant(payer, [OWN_IBAN]);
  expect((await payer.run([...CREATE, other])).failure).toBeNull();
  expect(bank.calls).not.toContain(`accounts ${ANNA}`);
  await grant(payer, null);
  expect(endOf(await payer.run([...CREATE, other]))).toMatchInlineSnapshot(`
    ["exit 2, usage: The account DE89370400440532013000 is not among the accounts of the customer",
     "psd2 has sent no payment. See the accounts with:", "$ accounts list --customer 1048262"]
  `);
  expect((await payer.run([...CREATE, OWN_IBAN])).failure).toBeNull();
  expect(bank.payments).toHaveLength(3);
});

it.each([
  ['the account', ['blocked'], true],
  ['its newest list', ['blocked', 'enabled'], true],
  ['an older list', ['enabled', 'blocked'], false],
  ['a list before one without a word', [undefined, 'blocked'], false],
])('of a blocked account psd2 warns by the newest list that has its IBAN: %s', async (_, said, warns) => {
  const { payer } = await payerWith(temporary, linkedBank());
  await grant(payer, [OWN_IBAN]);
  const { customers } = await payer.open().context.store();
  const accounts = said.map((status, index) => ({
    ...{ accountId: `a-${index}`, iban: OWN_IBAN, currency: 'EUR' },
    ...(status !== undefined && { status }),
  }));
  await customers.change(ANNA, (before) => ({ ...before, accounts }));
  const ran = await payer.run([...CREATE, OWN_IBAN]);
  expect(ran.failure).toBeNull();
  const warning = `The bank says that the account ${OWN_IBAN} is blocked. It may leave the payment undone.`;
  expect(ran.said.includes(warning)).toBe(warns);
});

interface Kept {
  iban: string | null;
  currency: string;
  kind?: 'card';
}
const OWN_EUR: Kept = { iban: OWN_IBAN, currency: 'EUR' };
const OWN_USD: Kept = { iban: OWN_IBAN, currency: 'USD' };
const SPACED: Kept = { iban: 'de02 1001 0010 9307 1186 03', currency: 'USD' };
const CARD: Kept = { iban: OWN_IBAN, currency: 'USD', kind: 'card' };
const ELSEWHERE: Kept = { iban: 'DE89370400440532013000', currency: 'USD' };
it.each<[string, Kept[], string, currency: string | undefined]>([
  ['nothing is known of it', [], OWN_IBAN, undefined],
  ['nothing is known of it, and its currency is named', [], `${OWN_IBAN}:USD`, 'USD'],
  ['it is one account', [OWN_EUR], OWN_IBAN, undefined],
  ['it is one account, in two lists', [OWN_EUR, OWN_EUR], OWN_IBAN, undefined],
  ['it is two, and one is named', [OWN_EUR, OWN_USD], `${OWN_IBAN}:USD`, 'USD'],
  ['it is two, and the other is named', [OWN_EUR, OWN_USD], `${OWN_IBAN}:EUR`, 'EUR'],
  ['it has a card, too', [OWN_EUR, CARD], OWN_IBAN, undefined],
  [
    'another one has another currency',
    [ELSEWHERE, OWN_EUR, { iban: null, currency: 'USD' }],
    OWN_IBAN,
    undefined,
  ],
])(
  'the payment names the currency of an account only among several of its IBAN: %s',
  async (_, kept, from, currency) => {
    const { bank, payer } = await payerWith(temporary, linkedBank());
    const { customers } = await payer.open().context.store();
    await grant(payer, [OWN_IBAN]);
    const accounts = kept.map((each, index) => ({ accountId: `a-${index}`, ...each }));
    await customers.change(ANNA, (before) => ({ ...before, accounts }));
    expect((await payer.run([...CREATE, from])).failure).toBeNull();
    const { fromIban, fromCurrency } = JSON.parse(String(bank.last.asked));
    expect([fromIban, fromCurrency]).toEqual([OWN_IBAN, currency]);
  },
);

it.each([[[OWN_EUR, OWN_USD]], [[SPACED, OWN_EUR]]])(
  'of several accounts of an IBAN psd2 asks for the currency: %j',
  async (kept) => {
    const { bank, payer } = await payerWith(temporary, linkedBank());
    const { customers } = await payer.open().context.store();
    await grant(payer, [OWN_IBAN]);
    const accounts = kept.map((each, index) => ({ accountId: `a-${index}`, ...each }));
    await customers.change(ANNA, (before) => ({ ...before, accounts }));
    const [message, hint] = endOf(await payer.run([...CREATE, OWN_IBAN]));
    expect(message).toMatch(/^exit 2, usage: More than one account of the customer has the IBAN /);
    expect(hint).toMatch(/^psd2 has sent no payment\. Name the one that pays by its currency: /);
    expect(hint?.match(/:(EUR|USD)/g)?.toSorted()).toEqual([':EUR', ':USD']);
    expect(bank.payments).toEqual([]);
  },
);

it('if psd2 cannot read the accounts, the bank alone checks an IBAN, and an id is not enough', async () => {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  await grant(payer, null);
  const refusals = [
    new Psd2Error('not_logged_in', 'No login'),
    new Psd2Error('too_many_calls', 'Too many readings'),
    new Psd2Error('forbidden', 'No consent'),
    new Psd2Error('bank_refused', 'No', { refusal: 'other', isBanks: true }),
  ];
  for (const refusal of refusals) {
    bank.meets('accounts', refusal, refusal);
    expect((await payer.run([...CREATE, OWN_IBAN])).failure).toBeNull();
    expect((await payer.run([...CREATE, '0000012345'])).failure).toMatchObject({
      code: refusal.code,
      hint: 'psd2 has sent no payment. It cannot read which IBAN this account has. Give --from the IBAN instead.',
    });
  }
  expect(bank.payments).toHaveLength(refusals.length);
  bank.meets('accounts', new Psd2Error('bank_failing', 'The bank is failing', { hint: 'Wait.' }));
  expect(endOf(await payer.run([...CREATE, OWN_IBAN]))).toEqual([
    'exit 11, bank_failing: The bank is failing',
    'Wait.',
  ]);
});

it('what the bank does not take is refused before psd2 asks for the accounts', async () => {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  const { failure } = await payer.run([...CREATE, 'DE00']);
  expect([failure?.code, bank.payments]).toEqual(['usage', []]);
});

it('the operator confirms the fees of the bank before the customer is asked, and may say no', async () => {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  bank.verified = { commissions: { amount: parsePaymentAmount('0.50'), currency: 'EUR' } };
  const no = await payer.run([...CREATE, OWN_IBAN], { answers: [true, false] });
  // The payment was shown before, so what is new is shown alone.
  expect(no.said.slice(no.said.indexOf('The bank takes')).split('\n').slice(0, 4)).toEqual([
    'The bank takes fees:',
    ...['  Amount        12.50 EUR', '  Commission    0.50 EUR', '  Total         13.00 EUR'],
  ]);
  expect(no.said.match(/Payee/g)).toHaveLength(1);
  expect([no.asked, no.data.state, endOf(no), bank.sent]).toMatchInlineSnapshot(`
    [["Ask the customer to authorise this transfer?",
      "Ask the customer to authorise this transfer with these fees?"],
     "cancelled",
     ["exit 2, cancelled of tr-1: The transfer was cancelled before it was executed",
      "No money moved. You can make a new one.", "transactionId: "an-id""],
     ["verify transfer"]]
  `);
  // --yes confirms them too, at a terminal and without one.
  for (const how of [{ answers: [true, true] }, { answers: [], yes: true }, {}]) {
    const yes = await payer.run([...CREATE, OWN_IBAN], how);
    expect([yes.failure, yes.data.state]).toEqual([null, 'executed']);
    expect(yes.said).toContain('  Commission    0.50 EUR\n');
  }
});

// Tokens that a bank gives for one payment alone stay as long as the bank may be asked about that payment.

const INSTANT = [...[...CREATE, OWN_IBAN], '--instant', '--payee-verified'];
const LATER = [
  ...[...CREATE, OWN_IBAN],
  '--date',
  new Date(Date.parse(TODAY) + 3 * 86_400_000).toISOString().slice(0, 10),
];

/** An operator whose payments have tokens of their own as soon as the customer is asked, and whether these are there. */
async function withTokens() {
  const { bank, payer } = await payerWith(temporary, linkedBank());
  const { context } = payer.open();
  const { flows, tokens } = await context.store();
  const holders = async () =>
    (await collect(flows.list('transfer'))).map((flow) => paymentHolder(flow.transactionId));
  bank.meanwhile = async (call) => {
    if (!call.startsWith('sca')) return;
    for (const holder of await holders()) await storeLogin(context, holder);
    await payer.logIn(ANNA);
  };
  const kept = async () => {
    const found = await Promise.all((await holders()).map((holder) => tokens.login(holder)));
    return found.filter((login) => login).length;
  };
  return { bank, payer, kept };
}

it.each<[string, string[], Partial<PaymentHere>, string, number]>([
  ['that is executed', [...CREATE, OWN_IBAN], {}, 'executed', 0],
  ['that the customer refused', [...CREATE, OWN_IBAN], { decision: 'NOT_AUTHORIZED' }, 'rejected', 0],
  ['that is instant and settled', INSTANT, {}, 'settled', 0],
  ['that is instant and not settled', INSTANT, { settlement: 'PENDING' }, 'executed', 1],
  ['that is ordered for later', LATER, { becomes: 'ordered' }, 'ordered', 1],
  ['for later that the bank calls executed already', LATER, {}, 'executed', 1],
  ['that is a standing order', STANDING, {}, 'executed', 1],
])('after a payment %s, its tokens are removed or stay', async (_, words, next, state, left) => {
  const { bank, payer, kept } = await withTokens();
  bank.next = next;
  const { data } = await payer.run(words);
  expect([data.state, await kept()]).toEqual([state, left]);
  expect(bank.sent).toContain('sca pay-1');
});

it('a payment that the bank may still reject keeps its tokens until it may not', async () => {
  const { bank, payer, kept } = await withTokens();
  bank.isFinal = false;
  expect([(await payer.run([...CREATE, OWN_IBAN])).data.state, await kept()]).toEqual(['executed', 1]);
  bank.isFinal = true;
  await payer.run(['transfer', 'status', 'tr-1']);
  expect(await kept()).toBe(0);
});

it('a payment that waits for its customer keeps its tokens', async () => {
  const { bank, payer, kept } = await withTokens();
  bank.customersAgree = false;
  const { data } = await payer.run([...CREATE, OWN_IBAN], { globals: { scaTimeout: '1' } });
  expect([data.state, await kept()]).toEqual(['authorizing', 1]);
});

it('a payment that was cancelled at the bank needs its tokens no more, and one that was not still does', async () => {
  const { bank, payer, kept } = await withTokens();
  bank.next = { becomes: 'ordered' };
  await payer.run(LATER);
  const cancel = ['transfer', 'cancel', 'tr-1'];
  bank.meets('cancel', new Psd2Error('bank_refused', 'Too late', { refusal: 'other', isBanks: true }));
  expect([(await payer.run(cancel)).data.state, await kept()]).toEqual(['ordered', 1]);
  expect([(await payer.run(cancel)).data.state, await kept()]).toEqual(['cancelled', 0]);
});

it('a payment that a person ended needs its tokens no more', async () => {
  const { bank, payer, kept } = await withTokens();
  bank.customersAgree = false;
  await payer.run([...CREATE, OWN_IBAN], { globals: { scaTimeout: '1' } });
  const resolve = ['transfer', 'resolve', 'tr-1', '--not-executed'];
  const no = await payer.run(resolve, { answers: [false] });
  expect([no.failure?.code, await kept()]).toEqual(['cancelled', 1]);
  expect([(await payer.run(resolve)).data.state, await kept()]).toEqual(['failed', 0]);
});

it('the status of a payment whose account the customer chose at the bank names that account, once the bank does', async () => {
  const bank = linkedBank();
  Object.assign(bank.interface, { debtorAccount: 'optional' });
  bank.isFinal = false;
  let chosen: string | null = null;
  const asked: string[] = [];
  const known = differing(bank.interface, ({ payments }) => ({
    payments: {
      ...payments,
      transfer: (of) => ({
        ...payments.transfer(of),
        debtor: async (id) => {
          asked.push(id);
          return chosen;
        },
      }),
    },
  }));
  const payer = await payerAt({ interface: known }, temporary);
  const named = async (...words: string[]) => (await payer.run(words)).data.from;
  expect(await named(...CREATE.slice(0, -1))).toBeNull();
  chosen = OWN_IBAN;
  expect(await named('transfer', 'status', 'tr-1')).toBe(OWN_IBAN);
  expect(await named('transfer', 'show', 'tr-1')).toBe(OWN_IBAN);
  const before = asked.length;
  await payer.run(['transfer', 'status', 'tr-1']);
  expect(asked).toHaveLength(before);
});

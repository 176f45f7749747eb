import { describe, expect, it } from 'vitest';
import { printFlow } from '../../../src/commands/flow/describe.ts';
import { OPERATIONS } from '../../../src/commands/operation/operations.ts';
import { isFirst } from '../../../src/commands/shared/once.ts';
import { showFees, showVerified } from '../../../src/commands/transfer/summary.ts';
import { sayPaid, TRANSFERS } from '../../../src/commands/transfer/transfers.ts';
import { withWords } from '../../../src/commands/transfer/words.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type AccountId, isAccountId } from '../../../src/domain/identifiers.ts';
import type { StepEvent } from '../../../src/domain/operation.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { openOutput } from '../../../src/terminal/output/output.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { begunOperation, begunTransfer } from '../../domain/orders.ts';
import { INITIATION } from '../../flows/stored-transfers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openStream } from '../../terminal/stream.ts';
import { openCommand } from '../command.ts';

// What a person and a program read of a transfer.

const temporary = temporaryFolder();
const AT = '2026-11-22T10:00:00.000Z';
/** The account of the orders here. */
const OWN = '0000012345';

/** All that can be known of one. */
const WHOLE = begunTransfer(
  {
    initiation: INITIATION,
    verification: {
      ...{ resourceId: 'r1', nextStep: 'execute', bankName: 'Banca Rossa', messages: ['One', 'two'] },
      totalAmount: { amount: parsePaymentAmount('13'), currency: 'EUR' },
      commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' },
    },
    ...{ state: 'executed', authorizationStatus: 'ACSC', transactionStatus: 'ACSC', scaStatus: 'finalised' },
    ...{ executionStatus: 'KO', executionStatusDescription: 'Account closed', cro: '0012345678' },
    payeeCheck: { result: 'close', name: 'Maria Rossi', problem: null },
    resolution: { outcome: 'executed', by: 'ada@pisp', at: AT, note: null },
  },
  {
    ...{ fromIban: parseSepaIban('DE02100100109307118603'), payeeSource: 'payer', reference: 'INV-1' },
    standing: { frequency: 'Monthly', day: 31, end: null },
  },
);

it.each([
  ['2026-11-22T10:00:30.000Z', 'executed after 2 s'],
  ['2026-11-22T10:00:32.000Z', 'executed after 1 s'],
  ['2026-11-22T09:50:00.000Z', 'executed after 11 min'],
  [null, 'executed'],
])('the outcome says how long the bank took since %s, without the people before', (committedAt, took) => {
  const paid = begunTransfer({
    ...{ state: 'executed', committedAt, createdAt: AT, updatedAt: '2026-11-22T10:00:32.000Z' },
  });
  expect(sayPaid(paid)).toBe(`Paid 12.50 EUR to Mario Rossi, ${took}, tr-1.`);
});

const STANDING = { frequency: 'Monthly', day: 31, end: null } as const;
it.each<[string, Partial<Transfer>, Partial<Transfer['order']>, string]>([
  ['for today', {}, {}, 'Paid 12.50 EUR to Mario Rossi, executed, tr-1.'],
  [
    'with all that is known',
    { cro: '001' },
    { reference: 'INV-1' },
    'Paid 12.50 EUR to Mario Rossi, executed, CRO 001, reference INV-1, tr-1.',
  ],
  [
    'for later',
    { state: 'ordered' },
    { futureDated: true },
    'Ordered 12.50 EUR to Mario Rossi for 2026-11-21, ordered, tr-1.',
  ],
  [
    'for later, at a bank that executes it',
    {},
    { futureDated: true },
    'Ordered 12.50 EUR to Mario Rossi for 2026-11-21, accepted, tr-1.',
  ],
  [
    'again and again',
    {},
    { standing: STANDING },
    'Ordered 12.50 EUR to Mario Rossi (Monthly, day 31), executed, tr-1.',
  ],
  [
    'again and again from a day on',
    {},
    { standing: { ...STANDING, day: null, end: parseDate('--end', '2027-01-31') }, futureDated: true },
    'Ordered 12.50 EUR to Mario Rossi from 2026-11-21 (Monthly, until 2027-01-31), accepted, tr-1.',
  ],
])('the outcome of a payment %s is one sentence', (_, changes, order, sentence) => {
  const paid = begunTransfer({ state: 'executed', ...changes }, { instant: false, ...order });
  expect(sayPaid(paid)).toBe(sentence);
});

it.each([
  ['2026-11-22T10:01:39.400Z', '99 s'],
  ['2026-11-22T10:01:39.500Z', '2 min'],
])('until %s the bank took %s', (updatedAt, took) => {
  const paid = begunTransfer({ state: 'executed', committedAt: AT, updatedAt });
  expect(sayPaid(paid)).toContain(`, executed after ${took}, `);
});

const DE = parseSepaIban('DE02100100109307118603');
/** An IBAN as the id of an account. */
function accountOf(iban: string): AccountId {
  if (isAccountId(iban)) return iban;
  throw new TypeError('This is no account');
}
it.each<[string, Partial<Transfer['order']>, string | null, string]>([
  ['by its id', {}, null, '0000012345'],
  ['by its id and IBAN', { fromIban: DE }, null, `${DE} (0000012345)`],
  ['by its IBAN, which is its id', { from: accountOf(DE), fromIban: DE }, null, DE],
  ['by the bank, after the customer has chosen it', { from: null }, 'DE03', 'DE03'],
  ['by nobody', { from: null }, null, 'the account that the customer chooses at the bank'],
])('the debited account is named %s', (_, order, debtor, named) => {
  const transfer = begunTransfer({ debtor }, order);
  expect(TRANSFERS.describe(transfer)[0]).toEqual(['From', named]);
  expect(TRANSFERS.form.data(transfer)).toMatchObject({
    from: order.from === null ? debtor : (order.from ?? OWN),
  });
});

it.each<[string, Partial<Transfer>, Partial<Transfer['order']>, boolean]>([
  ['that the bank has accepted', { state: 'executed' }, {}, true],
  ['that the bank calls final', { state: 'executed', isFinal: true }, {}, false],
  ['that psd2 commits', { state: 'executed', commits: 'on execute' }, {}, false],
  ['of a standing order', { state: 'executed' }, { standing: STANDING }, false],
])('the bank is asked again about a payment %s: %s', (_, changes, order, isAccepted) => {
  const transfer = begunTransfer({ commits: 'by the customer', ...changes }, order);
  expect(TRANSFERS.isAccepted?.(transfer)).toBe(isAccepted);
});

it('a payment is named by its amount and its payee, and its reference is the one of its order', () => {
  const transfer = begunTransfer({}, { reference: 'INV-1' });
  expect([
    TRANSFERS.inShort(transfer),
    TRANSFERS.payment?.(transfer),
    TRANSFERS.referenceOf(transfer),
  ]).toEqual([...['12.50 EUR to Mario Rossi', 'payment of 12.50 EUR to Mario Rossi', 'INV-1']]);
});

it.each<[string, Partial<Transfer>, string[]]>([
  [
    'the same of the authorisation',
    { authorizationStatus: 'RCVD', transactionStatus: 'RCVD' },
    ['Status RCVD'],
  ],
  [
    'other things',
    { authorizationStatus: 'ACTC', transactionStatus: 'RCVD' },
    ['Status RCVD', 'Authorisation ACTC'],
  ],
  ['a status alone', { executionStatus: 'OK' }, ['Execution OK']],
  ['a reason alone', { executionStatusDescription: 'Closed' }, ['Execution Closed']],
  ['that a link works', { linkUntil: AT }, ['Link until 2026-11-22 10:00']],
  [
    'who ended it',
    { resolution: { outcome: 'not-executed', by: 'ada', at: AT, note: 'Case 1' } },
    ['Resolved not-executed, by ada at 2026-11-22 10:00: Case 1'],
  ],
])('a person reads what the bank says: %s', (_, changes, lines) => {
  const names = /^(Status|Authorisation|Execution(?! date)|Link until|Resolved)\b/;
  const shown = printed(begunTransfer(changes), 'table', 120)
    .split('\n')
    .filter((line) => names.test(line));
  expect(shown.map((line) => line.replace(/ {2,}/, ' '))).toEqual(lines);
});

function printed(transfer: Transfer, format: 'table' | 'json', columns?: number): string {
  const command = openCommand(newConfigFolder(temporary), AT, { format, ...(columns && { columns }) });
  printFlow(command.context, TRANSFERS, transfer);
  return command.printed();
}

it('a person reads all that is known of a transfer', () => {
  expect(printed(WHOLE, 'table')).toMatchInlineSnapshot(`
    "Transfer	tr-1
    State	executed
    Customer	1234567
    From	DE02100100109307118603 (0000012345)
    To	Mario Rossi
    IBAN	IT60X0542811101000000123456
    Amount	12.50 EUR
    Commission	0.50 EUR
    Total	13.00 EUR
    Description	Invoice 7
    Payee reference	
    Execution date	2026-11-21
    Instant	yes
    Repeated	Monthly, day 31
    Payment product	sepa-credit-transfers
    End-to-end id	INV-1
    Status	ACSC
    SCA	finalised
    Bank says	One two
    Name given by	the payer
    Payee check	close match, the account is held by Maria Rossi
    Reference	INV-1
    Authorisation	
    Execution	KO: Account closed
    CRO	0012345678
    Resolved	executed, by ada@pisp at 2026-11-22T10:00:00.000Z
    Resource	r1
    Transaction	t
    "
  `);
});

it('a terminal leaves out what is not known', () => {
  expect(printed(begunTransfer({}, { instant: false, type: null }), 'table', 80)).toMatchInlineSnapshot(`
    "Transfer         tr-1
    State            created
    Customer         1234567
    From             0000012345
    To               Mario Rossi
    IBAN             IT60X0542811101000000123456
    Amount           12.50 EUR
    Description      Invoice 7
    Execution date   2026-11-21
    Instant          no
    Transaction      t
    "
  `);
});

it('a program reads the same', () => {
  expect(JSON.parse(printed(WHOLE, 'json'))).toMatchInlineSnapshot(`
    { amount: "12.50", authorisations: [], authorisedBy: [], authorizationStatus: "ACSC",
      bankName: "Banca Rossa", bankReasons: [], cancellation: null,
      commissions: { amount: "0.50", currency: "EUR" }, createdAt: "2026-11-22T10:00:00.000Z",
      cro: "0012345678", currency: "EUR", customerId: "1234567", description: "Invoice 7",
      endToEndId: "INV-1", executionDate: "2026-11-21", executionStatus: "KO",
      executionStatusDescription: "Account closed", flow: "tr-1", from: "0000012345", instant: true,
      kind: "transfer", linkUntil: null, messages: ["One", "two"], name: "Mario Rossi",
      payeeCheck: { name: "Maria Rossi", problem: null, result: "close" }, payeeSource: "payer",
      product: "sepa-credit-transfers", reference: "INV-1", refusedBy: [], remittanceStructured: null,
      resolution: { at: "2026-11-22T10:00:00.000Z", by: "ada@pisp", note: null, outcome: "executed" },
      resourceId: "r1", scaStatus: "finalised", state: "executed", to: "IT60X0542811101000000123456",
      totalAmount: { amount: "13.00", currency: "EUR" }, transactionId: "t", transactionStatus: "ACSC",
      updatedAt: "2026-11-22T10:00:00.000Z", waitsFor: null }
  `);
});

it('the state has the colour of its meaning, for a transfer and for an operation', () => {
  const { stream, written } = openStream({ columns: 80 });
  const paintState = (state: string) => `<${state}>`;
  const output = openOutput(stream, { format: 'table', colour: true, paintState, say: () => {} });
  const context = { ...openCommand(newConfigFolder(temporary), AT).context, output };
  printFlow(context, TRANSFERS, begunTransfer());
  printFlow(context, OPERATIONS, begunOperation());
  expect(
    written()
      .match(/.*<.*/g)
      ?.map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['State', '<created>'],
    ['State', '<created>'],
  ]);
});

const FAILED = { state: 'failed', bulk: 'op-1' } as const;
it.each([
  ['alone', begunTransfer(), false],
  ['alone, and its execute has no answer', begunTransfer({ state: 'unknown' }), true],
  ['alone, and its execute was sent', begunTransfer({ state: 'executing' }), true],
  ['in a bulk payment that is executing', begunTransfer({ state: 'executing', bulk: 'op-1' }), false],
  ['in a bulk payment whose outcome is unknown', begunTransfer({ state: 'unknown', bulk: 'op-1' }), true],
  ['in a bulk payment with a refusal alone', begunTransfer({ ...FAILED, refusedUnconfirmed: true }), true],
  ['in a bulk payment that failed', begunTransfer(FAILED), false],
])('a person may decide the outcome of a transfer %s: %s', (_, transfer, isUnknown) => {
  expect(TRANSFERS.isUnknown(transfer)).toBe(isUnknown);
});

it.each([
  [{ instant: true }, '2026-11-21, instant'],
  [{ instant: false }, '2026-11-21'],
])('a question about a transfer %j says when it is executed: %s', (order, day) => {
  expect(TRANSFERS.describe(begunTransfer({}, order))).toEqual([
    ['From', '0000012345'],
    ['Payee', 'Mario Rossi'],
    ['IBAN', 'IT60 X054 2811 1010 0000 0123 456'],
    ['Amount', '12.50 EUR'],
    ['Execution', day],
    ['Reference', null],
  ]);
});

const entry = (psuId: string | null, scaStatus: string | null) => ({ id: 'a', psuId, scaStatus, at: AT });
it.each<[string, Partial<Transfer>, string[]]>([
  ['one person', { authorisations: [entry('dora', 'finalised')], state: 'executed' }, []],
  ['nobody so far', { authorisations: [entry('dora', 'received')], state: 'authorizing' }, []],
  [
    'the first of several',
    { authorisations: [entry('dora', 'finalised')], state: 'authorizing' },
    ['Authorised by\tdora', 'Waits for\tanother person'],
  ],
  [
    'somebody who has refused it first',
    {
      authorisations: ['received', 'failed', 'received']
        .map((said) => entry('emil', said))
        .concat(entry(null, 'failed')),
      state: 'authorizing',
    },
    ['Waits for\temil'],
  ],
  [
    'two, while others are missing',
    {
      authorisations: [entry('dora', 'finalised'), entry('emil', 'exempted'), entry('fay', 'failed')],
      state: 'authorizing',
    },
    ['Authorised by\tdora, emil', 'Refused by\tfay', 'Waits for\tanother person'],
  ],
  [
    'one, when another refused it',
    { authorisations: [entry('dora', 'finalised'), entry('emil', 'failed')], state: 'rejected' },
    ['Authorised by\tdora', 'Refused by\temil'],
  ],
  ['one who refused it alone', { authorisations: [entry('dora', 'failed')], state: 'rejected' }, []],
  ['nobody, and its cancellation is asked for', { cancellation: [] }, ['Cancellation\tasked for']],
  [
    'nobody, and dora has cancelled it',
    { cancellation: [entry('dora', 'finalised'), entry('emil', 'failed')], state: 'authorizing' },
    ['Cancellation\tauthorised by dora, refused by emil, waits for another person'],
  ],
  [
    'nobody any more',
    { cancellation: [entry('dora', 'finalised'), entry('emil', 'received')], state: 'cancelled' },
    ['Cancellation\tauthorised by dora'],
  ],
])('authorised by %s', (_, changes, lines) => {
  const shown = printed(begunTransfer(changes), 'table', 120)
    .split('\n')
    .map((line) => line.replace(/ {2,}/, '\t'));
  expect(shown.filter((line) => /^(Authorised|Refused|Waits|Cancellation)/.test(line))).toEqual(lines);
});

it.each<[string, Partial<Transfer>, object]>([
  [
    'it begins',
    {},
    { authorisations: [], authorisedBy: [], refusedBy: [], waitsFor: null, cancellation: null },
  ],
  [
    'it waits for others',
    {
      authorisations: [entry('dora', 'finalised'), entry('emil', 'failed'), entry('fay', null)],
      state: 'authorizing',
    },
    { authorisedBy: ['dora'], refusedBy: ['emil'], waitsFor: ['fay'] },
  ],
  [
    'it is over',
    { authorisations: [entry('dora', 'finalised'), entry('fay', null)], state: 'rejected' },
    {
      authorisations: [entry('dora', 'finalised'), entry('fay', null)],
      authorisedBy: ['dora'],
      waitsFor: null,
    },
  ],
  [
    'its cancellation waits',
    { cancellation: [entry('dora', 'finalised'), entry('emil', 'failed'), entry('fay', null)] },
    { cancellation: { authorisedBy: ['dora'], refusedBy: ['emil'], waitsFor: ['fay'] } },
  ],
  [
    'its cancellation is over',
    { cancellation: [entry('dora', 'finalised'), entry('fay', null)], state: 'cancelled' },
    { cancellation: { authorisedBy: ['dora'], refusedBy: [], waitsFor: [] } },
  ],
])('a program reads who authorises it when %s', (_, changes, data) => {
  expect(JSON.parse(printed(begunTransfer(changes), 'json'))).toMatchObject(data);
});

describe('what an operator confirms', () => {
  const eur = (text: string, currency = 'EUR') => ({ amount: parsePaymentAmount(text), currency });
  const { terminal } = openCommand(newConfigFolder(temporary), AT).context;
  const verified = (cost: Partial<NonNullable<Transfer['verification']>>, changes: Partial<Transfer> = {}) =>
    begunTransfer({
      verification: {
        ...{ resourceId: 'r1', nextStep: 'execute', bankName: null, totalAmount: null, commissions: null },
        ...cost,
      },
      ...changes,
    });
  const linesOf = (text: string, ...names: string[]) =>
    text
      .split('\n')
      .map((line) => line.trim().split(/ {2,}| (?=\d|-)/))
      .flatMap(([name = '', ...values]) => (names.includes(name) ? [`${name} ${values.join(' ')}`] : []));

  it.each<[string, Transfer, string[]]>([
    ['nothing', verified({}), ['Amount 12.50 EUR']],
    ['the total of the bank', verified({ totalAmount: eur('13') }), ['Amount 12.50 EUR', 'Total 13.00 EUR']],
    [
      'fees, which are added',
      verified({ commissions: eur('0.5') }),
      ['Amount 12.50 EUR', 'Commission 0.50 EUR', 'Total 13.00 EUR'],
    ],
    [
      'fees with a minus, which are added too',
      verified({ commissions: { amount: decimalOf(-50), currency: 'EUR' } }),
      ['Amount 12.50 EUR', 'Commission -0.50 EUR', 'Total 13.00 EUR'],
    ],
    [
      'fees and a total, which counts',
      verified({ commissions: eur('0.5'), totalAmount: eur('12.9') }),
      ['Amount 12.50 EUR', 'Commission 0.50 EUR', 'Total 12.90 EUR'],
    ],
    [
      'fees of another currency, which nobody can add',
      verified({ commissions: eur('0.5', 'USD') }),
      ['Amount 12.50 EUR', 'Commission 0.50 USD'],
    ],
    [
      'fees that nobody can read',
      verified({ unreadFees: '1 point' }),
      ['Amount 12.50 EUR', 'Unread fees 1 point'],
    ],
    [
      'fees of which some cannot be read',
      verified({ unreadFees: '1 point', commissions: eur('0.5') }),
      ['Amount 12.50 EUR', 'Commission 0.50 EUR', 'Unread fees 1 point'],
    ],
  ])('has what it costs: %s', (_, transfer, lines) => {
    const names = ['Amount', 'Commission', 'Unread fees', 'Total'];
    expect(linesOf(showVerified(terminal, transfer), ...names)).toEqual(lines);
    const fees = showFees(terminal, transfer);
    expect(linesOf(fees, ...names)).toEqual(lines);
    expect(fees.split('\n')[0]).toBe('The bank takes fees:');
    // The operator has seen the payment.
    expect(linesOf(fees, 'From', 'Payee', 'IBAN', 'Execution')).toEqual([]);
  });

  it.each<[string, Transfer, string]>([
    ['the bank has verified', verified({}), 'The bank has verified this transfer:'],
    [
      'the bank has verified and the customer commits',
      verified({}, { initiation: INITIATION }),
      'The bank has verified this transfer:',
    ],
    ['the bank does not have yet', begunTransfer({ initiation: INITIATION }), 'You are about to pay:'],
    ['psd2 commits', begunTransfer(), 'The bank has verified this transfer:'],
  ])('says so of a payment that %s', (_, transfer, title) => {
    expect(showVerified(terminal, transfer).split('\n')[0]).toBe(title);
  });

  it('says what the bank says, without what was said before', () => {
    const said = openCommand(newConfigFolder(temporary), AT).context.terminal;
    const bankSays = (messages: string[]) =>
      showVerified(said, verified({ messages }))
        .split('\n')
        .filter((line) => line.includes('Bank says'));
    expect(bankSays(['One', 'two'])).toEqual(['  Bank says     One two']);
    isFirst(said, 'One');
    expect(bankSays(['One', 'two'])).toEqual(['  Bank says     two']);
    isFirst(said, 'two');
    expect(bankSays(['One', 'two'])).toEqual([]);
  });

  it('has all that is known of the payment', () => {
    expect(showVerified(terminal, WHOLE)).toMatchInlineSnapshot(`
      "The bank has verified this transfer:
        From            DE02100100109307118603 (0000012345)
        Payee           Mario Rossi
        IBAN            IT60 X054 2811 1010 0000 0123 456
        Name given by   the payer
        Payee check     close match, the account is held by Maria Rossi
        Bank            Banca Rossa
        Amount          12.50 EUR
        Commission      0.50 EUR
        Total           13.00 EUR
        Description     Invoice 7
        Execution       2026-11-21, instant
        Repeated        Monthly, day 31
        Payment product sepa-credit-transfers
        Reference       INV-1
        Bank says       One two"
    `);
    expect(
      showVerified(terminal, begunTransfer({}, { description: '', instant: false })),
    ).toMatchInlineSnapshot(`
      "The bank has verified this transfer:
        From          0000012345
        Payee         Mario Rossi
        IBAN          IT60 X054 2811 1010 0000 0123 456
        Amount        12.50 EUR
        Execution     2026-11-21"
    `);
  });
});

describe('what the bank says now of a transfer', () => {
  const OLD = [{ level: 'payment', code: 'AC01', proprietary: null, text: null }] as const;
  const NEW = [{ level: 'payment', code: 'AM04', proprietary: null, text: null }] as const;
  const known = begunTransfer({
    ...{ transactionStatus: 'RCVD', scaStatus: 'received', authorizationStatus: 'RCVD' },
    ...{ executionStatusDescription: 'AC01', reasons: OLD },
  });
  const SAID = { transactionStatus: 'RJCT', scaStatus: 'failed', authorizationStatus: 'RJCT' };
  const bank = { transactionStatus: 'RJCT', scaStatus: 'failed' };
  const ended = { type: 'settlement', status: 'KO', bank } as const;

  it.each<[string, StepEvent, Partial<Transfer>]>([
    ['nothing', { type: 'executed', cro: '1' }, {}],
    ['its words', { type: 'ordered', bank }, SAID],
    [
      'one of its words',
      { type: 'ordered', bank: { ...bank, scaStatus: null } },
      { ...SAID, scaStatus: 'received' },
    ],
    [
      'how far the authorisation is',
      { type: 'ordered', bank: { ...bank, transactionStatus: null } },
      { scaStatus: 'failed' },
    ],
    ['that it has ended', { ...ended, description: null }, SAID],
    [
      'why it has ended',
      { ...ended, description: 'AM04', reasons: [...NEW] },
      { ...SAID, executionStatusDescription: 'AM04', reasons: [...NEW] },
    ],
  ])('is shown beside the record: %s', (_, event, changes) => {
    expect(withWords(known, event)).toEqual({ ...known, ...changes });
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { generateCustomer } from '../../../src/sandbox/customers/generated-customers.ts';
import { readSeed } from '../../../src/sandbox/seed/read-seed.ts';
import { seedFile } from '../../../src/sandbox/seed/seed-schema.ts';

const UUID = '2c3a4f4e-9d3b-4a6e-8a44-0c7b6fd1a111';
const CURRENT = '0010482620';

const folder = mkdtempSync(join(tmpdir(), 'psd2-seed-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'seed.json');

function read(content: unknown, generated?: number) {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readSeed(path, generated);
}

/** What the operator reads about a seed that is refused, or `taken`. */
async function answer(content: unknown, generated?: number): Promise<string> {
  const begin = `The seed ${path} is not valid: `;
  return read(content, generated).then(
    () => 'taken',
    (error: Error) => (error.message.startsWith(begin) ? error.message.slice(begin.length) : error.message),
  );
}

const seed = (...customers: unknown[]) => ({ customers });
const dora = (changes: object = {}) => ({ user: 'dora', ...changes });
const account = (changes: object = {}) => seed(dora({ accounts: [{ kind: 'current', ...changes }] }));
const row = (changes: object = {}) =>
  account({ transactions: [{ day: '2026-11-02', amount: '-12.50', description: 'Bread', ...changes }] });
const ROW = 'customers[0].accounts[0].transactions[0]';

test('the operator reads of each field what it is', () => {
  const described: string[] = [];
  const look = (schema: unknown, at: string): void => {
    const { description, properties = {}, items } = Object(schema);
    if (description !== undefined) described.push(`${at}: ${description}`);
    for (const [name, inner] of Object.entries(properties)) look(inner, at === '' ? name : `${at}.${name}`);
    if (items !== undefined) look(items, at);
  };
  look(z.toJSONSchema(seedFile()), '');
  expect(described).toEqual([
    'customers.user: name to log in with; the password is this name and "-sandbox"',
    'customers.customerId: default: the next free one from 6000001',
    'customers.accounts: default: a current account with 1000.00 and no transactions',
    'customers.accounts.productId: default: made from the id of the customer',
    "customers.accounts.name: the customer's own name for it",
    'customers.accounts.opening: balance before the transactions; default: 0.00',
    'customers.accounts.creditLimit: of a card; default: 0.00',
    'customers.accounts.transactions.day: the day on which it was booked; for a pending one, the day on which it was made',
    'customers.accounts.transactions.amount: negative if the money leaves the account',
    'customers.accounts.transactions.description: what it is about',
    'customers.accounts.transactions.valueDay: default: the day',
    "customers.accounts.transactions.code: the bank's code of its kind; default: 43",
    'customers.accounts.transactions.pending: whether it is not booked yet',
    'customers.consents: consents at the interface of the bank',
    'customers.consents.products: an account of the customer',
    'customers.consents.givenOn: it ends 180 days later; default: today',
    'customers.nextgenpsd2Consents: consents at the second door, for all accounts of the customer',
    'customers.nextgenpsd2Consents.consentId: what a client sends as Consent-ID',
    'customers.nextgenpsd2Consents.validUntil: its last day',
    'customers.nextgenpsd2Consents.frequencyPerDay: default: 4',
  ]);
});

describe('a value of a seed', () => {
  const USER =
    'customers[0].user: must be 1 to 40 small letters, digits and hyphens, and begin with a letter';
  const EMPTY = 'must not be empty';
  const AMOUNT = 'must be an amount with two decimals, for example "12.50"';
  const DAY = 'must be a day, for example "2026-11-23"';
  const consent = (changes: object) =>
    seed(dora({ nextgenpsd2Consents: [{ consentId: UUID, validUntil: '2027-01-31', ...changes }] }));

  test.each<
    [what: string, of: (value: unknown) => unknown, right: unknown[], wrong: unknown[], says: string]
  >([
    [
      'user',
      (user) => seed({ user }),
      ['d', 'dora', 'd-9', 'x'.repeat(40)],
      ['', 'Dora', '9d', '-d', 'd_', 'd ora', 'x'.repeat(41)],
      USER,
    ],
    [
      'customerId',
      (customerId) => seed(dora({ customerId })),
      ['6000002', '0000000'],
      ['600000', '60000001', 'x000001', ' 6000001', '6000001 '],
      'customers[0].customerId: must be 7 digits',
    ],
    ['firstName', (firstName) => seed(dora({ firstName })), ['D'], [''], `customers[0].firstName: ${EMPTY}`],
    ['lastName', (lastName) => seed(dora({ lastName })), ['D'], [''], `customers[0].lastName: ${EMPTY}`],
    [
      'productId',
      (productId) => account({ productId }),
      ['0060000099', 'aZ00000000'],
      ['006000009', '00600000999', '006000009-', ''],
      'customers[0].accounts[0].productId: must be 10 letters and digits',
    ],
    [
      'opening',
      (opening) => account({ opening }),
      ['0.00', '-1.00', '1234567890.12'],
      ['1', '1.0', '1.000', '1,00', '+1.00', '12345678901.00', '.50', ''],
      `customers[0].accounts[0].opening: ${AMOUNT}`,
    ],
    [
      'creditLimit',
      (creditLimit) => account({ creditLimit }),
      ['1.00'],
      ['1'],
      `customers[0].accounts[0].creditLimit: ${AMOUNT}`,
    ],
    ['amount', (amount) => row({ amount }), ['-0.01'], ['0.1'], `${ROW}.amount: ${AMOUNT}`],
    [
      'day',
      (day) => row({ day }),
      ['2026-11-02', '2028-02-29'],
      ['2026-02-30', '2.11.2026', ''],
      `${ROW}.day: ${DAY}`,
    ],
    ['valueDay', (valueDay) => row({ valueDay }), ['2026-11-02'], ['2026-02-30'], `${ROW}.valueDay: ${DAY}`],
    ['description', (description) => row({ description }), ['x'], [''], `${ROW}.description: ${EMPTY}`],
    [
      'code',
      (code) => row({ code }),
      ['43', 'A9'],
      ['4', '433', 'a9', ''],
      `${ROW}.code: must be two characters`,
    ],
    [
      'pending',
      (pending) => row({ pending }),
      [true, false],
      ['true', 1],
      `${ROW}.pending: must be true or false`,
    ],
    [
      'kind',
      (kind) => account({ kind }),
      ['current', 'savings', 'card'],
      ['Card', ''],
      'customers[0].accounts[0].kind: must be "current" or "savings" or "card"',
    ],
    [
      'consentId',
      (consentId) => consent({ consentId }),
      [UUID],
      ['x', ''],
      'customers[0].nextgenpsd2Consents[0].consentId: must be a UUID',
    ],
    [
      'validUntil',
      (validUntil) => consent({ validUntil }),
      ['2027-01-31'],
      ['x'],
      `customers[0].nextgenpsd2Consents[0].validUntil: ${DAY}`,
    ],
    [
      'frequencyPerDay',
      (frequencyPerDay) => consent({ frequencyPerDay }),
      [1, 100],
      [0, -1],
      'customers[0].nextgenpsd2Consents[0].frequencyPerDay: must be at least 1',
    ],
    [
      'frequencyPerDay',
      (frequencyPerDay) => consent({ frequencyPerDay }),
      [],
      [1.5],
      'customers[0].nextgenpsd2Consents[0].frequencyPerDay: must be a whole number',
    ],
    [
      'category',
      (category) => seed(dora({ consents: [{ category }] })),
      ['ACCOUNT_INFO', 'PAYMENTS', 'FUNDS_AVAILABILITY'],
      ['x'],
      'customers[0].consents[0].category: must be "ACCOUNT_INFO" or "PAYMENTS" or "FUNDS_AVAILABILITY"',
    ],
  ])('%s', async (_, of, right, wrong, says) => {
    for (const value of right) expect([value, await answer(of(value))]).toEqual([value, 'taken']);
    for (const value of wrong) expect([value, await answer(of(value))]).toEqual([value, says]);
  });
});

test.each<[content: unknown, says: string]>([
  ['{"customers": [', expect.stringMatching(/^it is not valid JSON: ./)],
  ['[]', 'the file: must be an object with a list "customers"'],
  ['null', 'the file: must be an object with a list "customers"'],
  [{}, 'customers: must be a list'],
  [{ customers: {} }, 'customers: must be a list'],
  [seed(7), 'customers[0]: must be an object'],
  [seed({}), 'customers[0].user: must be a text'],
  [seed({ user: 7 }), 'customers[0].user: must be a text'],
  [seed(dora({ accounts: 'x' })), 'customers[0].accounts: must be a list'],
  [account({ transactions: [7] }), `${ROW}: must be an object`],
  // Several at once.
  [
    seed({ user: '' }, { user: 7 }),
    expect.stringMatching(/^customers\[0\]\.user: must be 1 to 40 .*; customers\[1\]\.user: must be a text$/),
  ],
  [{ ...seed(), more: 1 }, 'more is not a field of a seed'],
  [
    seed(dora({ acounts: [], nam: 'x' })),
    'customers[0].acounts and customers[0].nam is not a field of a seed',
  ],
  [{ ...seed(dora()), $schema: 'x' }, 'taken'],
  [seed(), 'taken'],
])('of %j the operator reads: %s', async (content, says) => {
  expect(await answer(content)).toEqual(says);
});

describe('a customer of a seed', () => {
  const cards = (count: number) => ({ accounts: Array.from({ length: count }, () => ({ kind: 'card' })) });
  const known = (field: string, what: string) => `customers[1].${field}: the bank already has ${what}`;
  test.each<[customers: object[], generated: number | undefined, says: string]>([
    [[dora(), dora()], undefined, known('user', 'a customer dora')],
    [[dora(), { user: 'anna' }], undefined, known('user', 'a customer anna')],
    [[dora(), { user: 'customer-000001' }], 0, 'taken'],
    [
      [dora({ customerId: '6000001' }), { user: 'emil', customerId: '6000001' }],
      undefined,
      known('customerId', 'a customer 6000001'),
    ],
    [[dora(), { user: 'emil', customerId: '1048262' }], undefined, known('customerId', 'a customer 1048262')],
    // Who has no id gets the next free one.
    [[dora({ customerId: '6000001' }), { user: 'emil' }], undefined, 'taken'],
    [
      [dora(), { user: 'emil', accounts: [{ kind: 'current', productId: CURRENT }] }],
      undefined,
      known('accounts[0].productId', `an account ${CURRENT}`),
    ],
    [
      [
        dora({ accounts: [{ kind: 'current', productId: '0060000099' }] }),
        { user: 'emil', accounts: [{ kind: 'card' }, { kind: 'current', productId: '0060000099' }] },
      ],
      undefined,
      known('accounts[1].productId', 'an account 0060000099'),
    ],
    [
      [
        dora(),
        {
          user: 'emil',
          accounts: [
            { kind: 'card', productId: '0060000099' },
            { kind: 'current', productId: '0060000099' },
          ],
        },
      ],
      undefined,
      known('accounts[1].productId', 'an account 0060000099'),
    ],
    [[dora(cards(10))], undefined, 'taken'],
    [[dora(cards(11))], undefined, 'customers[0].accounts[10].productId is missing: only ten can be made'],
    [
      [dora({ consents: [{ category: 'PAYMENTS', products: ['0060000010', CURRENT] }] })],
      undefined,
      `customers[0].consents[0].products[1]: the customer has no account ${CURRENT}`,
    ],
  ])('in %j, with %s generated ones: %s', async (customers, generated, says) => {
    expect(await answer(seed(...customers), generated)).toBe(says);
  });

  test('has no name or id of a generated one', async () => {
    const { user, customerId } = generateCustomer(1);
    expect(await answer(seed({ user }), 1)).toBe(
      `customers[0].user: the bank already has a customer ${user}`,
    );
    expect(await answer(seed(dora({ customerId })), 1)).toBe(
      `customers[0].customerId: the bank already has a customer ${customerId}`,
    );
    expect(await answer(seed({ user }), 0)).toBe('taken');
  });
});

test('a seed that is wrong, or is no file, says how to see its form', async () => {
  const form = { hint: 'See its form with:', next: [['schema', 'seed']] };
  await expect(read({})).rejects.toMatchObject({ name: 'Psd2Error', code: 'usage', ...form });
  const none = join(folder, 'none.json');
  await expect(readSeed(none, 0)).rejects.toMatchObject({
    ...{ code: 'usage', message: `--seed ${none} cannot be read`, next: form.next },
    ...{
      hint: 'Name a file of JSON. See its form with:',
      cause: expect.objectContaining({ code: 'ENOENT' }),
    },
  });
});

describe('what a seed makes', () => {
  test('of a name alone, a customer with a current account', async () => {
    const [made] = await read(seed({ user: 'dora' }));
    expect(made?.customer).toMatchObject({
      ...{
        customerId: '6000001',
        user: 'dora',
        password: 'dora-sandbox',
        firstName: 'Dora',
        lastName: 'Sandbox',
      },
      products: [
        { kind: 'current', productId: '0060000010', name: '', opening: 100_000, creditLimit: 0, history: [] },
      ],
    });
    expect(made?.record).toEqual({ user: 'dora' });
  });

  test('of each customer without an id, the next free one', async () => {
    const made = await read(
      seed({ user: 'a' }, { user: 'b', customerId: '6000002' }, { user: 'c' }, { user: 'd' }),
    );
    expect(made.map(({ customer }) => customer.customerId)).toEqual([
      '6000001',
      '6000002',
      '6000003',
      '6000004',
    ]);
  });

  test('of accounts, ids and IBANs: a card has that of the current account', async () => {
    const accounts = [
      ...[
        { kind: 'card', creditLimit: '500.00' },
        { kind: 'savings', opening: '-1.05', name: 'Home' },
      ],
      ...[{ kind: 'current', productId: 'AB60000012' }, { kind: 'current' }],
    ];
    const [made] = await read(seed(dora({ accounts })));
    const products = made?.customer.products ?? [];
    expect(products.map(({ kind, productId }) => [kind, productId])).toEqual([
      ['card', '0160000010'],
      ['savings', '0060000011'],
      ['current', 'AB60000012'],
      ['current', '0060000013'],
    ]);
    const [card, savings, current, second] = products;
    expect(card).toMatchObject({ creditLimit: 50_000, opening: 0, iban: current?.iban });
    expect(savings).toMatchObject({ opening: -105, name: 'Home', creditLimit: 0 });
    // A letter has the last digit of its number in Unicode.
    expect(current?.iban.slice(-10)).toBe('5660000012');
    expect(second?.iban.slice(-10)).toBe('0060000013');
    const [alone] = await read(seed(dora({ accounts: [{ kind: 'card' }] })));
    expect(alone?.customer.products[0]?.iban.slice(-10)).toBe('0160000010');
  });

  test('of transactions, entries by their days', async () => {
    const transactions = [
      { day: '2026-11-19', amount: '-1.00', description: 'Coffee', pending: true },
      { day: '2026-11-02', amount: '12.50', description: 'Bread', valueDay: '2026-11-05', code: '27' },
      { day: '2026-11-10', amount: '0.05', description: 'Change' },
    ];
    const [made] = await read(seed(dora({ accounts: [{ kind: 'current', transactions }] })));
    const of = (day: string, amount: number, description: string, more: object = {}) => ({
      ...{ amount, bookingDay: day, valueDay: day, code: '43', preAuthorized: false, isFee: false },
      ...{ shortDescription: description, extendedDescription: description, transferReference: '' },
      ...more,
    });
    const history = made?.customer.products[0]?.history ?? [];
    expect(history).toMatchObject([
      of('2026-11-02', 1250, 'Bread', { valueDay: '2026-11-05', code: '27' }),
      of('2026-11-10', 5, 'Change'),
      of('2026-11-19', -100, 'Coffee', { preAuthorized: true }),
    ]);
    for (const { enteredAt, bookedFrom, bookingDay, preAuthorized } of history) {
      expect(enteredAt.toISOString().slice(0, 10)).toBe(bookingDay);
      // A pending one is never booked by time.
      expect(bookedFrom).toEqual(preAuthorized ? new Date('9999-01-01T00:00:00Z') : enteredAt);
    }
  });
});

import { expect, test } from 'vitest';
import { Customers, holds } from '../../../src/sandbox/customers/customers.ts';
import { accountIban, accountOfIban } from '../../../src/sandbox/customers/italian-iban.ts';
import { Pins } from '../../../src/sandbox/customers/pins.ts';
import { methodsOf, pinOf } from '../../../src/sandbox/customers/sca-methods.ts';
import {
  account,
  type Customer,
  companyCustomers,
  type Product,
  seedCustomers,
} from '../../../src/sandbox/customers/seed-customers.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { accountOf, seeded } from '../seeded.ts';

const [anna, bruno] = [seeded('anna'), seeded('bruno')];

const text = ({ kind, productId, iban, name, opening, creditLimit, fault }: Product) =>
  [kind, productId, iban, `"${name}"`, opening, creditLimit, ...(fault ? [fault] : [])].join(' ');

const FAULTY = '"Guasto';
test.each<[customer: Customer | undefined, person: string, monthly: number[], products: string[]]>([
  [
    seedCustomers[0],
    '1048262 anna anna-sandbox Anna Esposito',
    [2_150_00, 780_00, 200_00],
    [
      'current 0010482620 IT89F0999001600000010482620 "Conto di casa" 425000 0',
      'savings 0010482638 IT31P0999001600000010482638 "Risparmi" 980000 0',
      'card 0000093017 IT89F0999001600000010482620 "" 0 250000',
    ],
  ],
  [
    seedCustomers[1],
    '2073915 bruno bruno-sandbox Bruno Conti',
    [2_780_50, 1_050_00, 350_00],
    [
      `current 0020739150 ${accountIban('20739150')} "Conto principale" 612075 0`,
      `savings 0020739168 ${accountIban('20739168')} "Fondo vacanze" 340000 0`,
      `card 0000093025 ${accountIban('20739150')} "Carta viaggi" 0 250000`,
    ],
  ],
  [
    seedCustomers[2],
    '3098127 carla carla-sandbox Carla Guasti',
    [1_900_00, 640_00, 0],
    [
      `current 0030981270 ${accountIban('30981270')} "Conto senza guasti" 250000 0`,
      ...['204', '401', '403', '420', '500'].map(
        (fault) =>
          `current 0030981${fault} ${accountIban(`30981${fault}`)} ${FAULTY} ${fault}" 250000 0 ${fault}`,
      ),
      `current 00309EMPTY ${accountIban('000030981EMP')} ${FAULTY} EMPTY" 250000 0 EMPTY`,
      `current 003098LOST ${accountIban('000030981LOS')} ${FAULTY} LOST" 250000 0 LOST`,
    ],
  ],
  [
    companyCustomers[0],
    '4055611 dora dora-sandbox Dora Ferri',
    [9_000_00, 2_400_00, 0],
    [`current 0040556110 ${accountIban('40556110')} "Conto aziendale" 2500000 0`],
  ],
  [
    companyCustomers[1],
    '4055612 emil emil-sandbox Emil Gallo',
    [9_000_00, 2_400_00, 0],
    [`current 0040556110 ${accountIban('40556110')} "Conto aziendale" 2500000 0`],
  ],
])('each customer is a person with accounts: %#', (customer, person, money, products) => {
  const { customerId, user, password, firstName, lastName, monthly } = customer ?? anna;
  expect([customerId, user, password, firstName, lastName].join(' ')).toBe(person);
  expect([monthly.salary, monthly.rent, monthly.saving]).toEqual(money);
  expect(customer?.products.map(text)).toEqual(products);
});

test.each<[kind: Product['kind'], code: string, description: string]>([
  ['current', 'AZIM', 'CONTO CORRENTE'],
  ['savings', '0650', 'CONTO RISPARMIO'],
  ['card', 'CA30', 'CARTA DI CREDITO'],
])('an account of the kind %s', (kind, code, description) => {
  const own = { productId: '1', name: 'n', iban: 'i', opening: 1 };
  expect(account(kind, own)).toEqual({ ...own, creditLimit: 0, kind, code, description });
  expect(account(kind, { ...own, creditLimit: 5 }).creditLimit).toBe(5);
});

test.each<[count: number, shown: string[]]>([
  [0, []],
  [1, ['customer-000001']],
  [2, ['customer-000001', 'customer-000002']],
  [500, ['customer-000001', 'customer-000500']],
])('of %i generated customers, the login page shows the ends', (customers, shown) => {
  const all = new Customers({ ...defaultRules, customers });
  expect(all.shown.map(({ user }) => user)).toEqual(['anna', 'bruno', 'carla', ...shown]);
});

test('an added customer is found like the others, and stays', () => {
  const all = new Customers({ ...defaultRules, seed: [{ customer: own('9000001', 'sara'), record: {} }] });
  all.add(own('9000002', 'ugo'));
  expect(all.seeded.map(({ user }) => user)).toEqual(['anna', 'bruno', 'carla', 'sara', 'ugo']);
  for (const [id, user] of [
    ['9000001', 'sara'],
    ['9000002', 'ugo'],
  ] as const) {
    expect(all.find(id)?.user).toBe(user);
    expect(all.byUser(user)?.customerId).toBe(id);
    expect(all.byProduct(`0${id}00`)?.customer.user).toBe(user);
    expect(all.accountByIban(accountIban(`0${id}00`))?.productId).toBe(`0${id}00`);
  }
  all.forgetCustomer();
  expect(all.byUser('ugo')).toBeDefined();
});

function own(customerId: string, user: string): Customer {
  const productId = `0${customerId}00`;
  const iban = accountIban(productId);
  const products = [
    account('card', { productId: `1${customerId}00`, name: '', iban, opening: 0 }),
    account('current', { productId, name: '', iban, opening: 0 }),
  ];
  const monthly = { salary: 0, rent: 0, saving: 0 };
  return { customerId, user, password: '', firstName: '', lastName: '', monthly, products };
}

test('an IBAN is of an account, never of a card, and of no other bank', () => {
  const all = new Customers({ ...defaultRules, customers: 2 });
  expect(all.accountByIban('IT89F0999001600000010482620')?.kind).toBe('current');
  expect(all.accountByIban(accountIban('0050000020'))?.productId).toBe('0050000020');
  for (const other of [
    accountIban('0050000030'),
    'IT60X0542811101000000123456',
    '',
    'IT89F0999001600000010482621',
  ])
    expect(all.accountByIban(other)).toBeUndefined();
});

test.each<[iban: string, number: string | undefined]>([
  ['IT89F0999001600000010482620', '000010482620'],
  // Another check letter, other check digits, another bank, another branch.
  ['IT89G0999001600000010482620', undefined],
  ['IT88F0999001600000010482620', undefined],
  ['IT60X0542811101000000123456', undefined],
  ['IT89F0999001601000010482620', undefined],
  ['', undefined],
])('the account number in %s is %s', (iban, number) => {
  expect(accountOfIban(iban)).toBe(number);
});

test.each<[productId: string, kind: string | undefined]>([
  ['0050000010', 'current'],
  ['0050000018', 'savings'],
  ['0150000015', 'card'],
  // The same numbers in a form that no account of a generated customer has.
  ['0050000015', undefined],
  ['0150000010', undefined],
  ['0150000018', undefined],
  ['0010482620', 'current'],
  ['0000093017', 'card'],
])('the product %s is a %s', (productId, kind) => {
  const found = new Customers({ ...defaultRules, customers: 1 }).byProduct(productId);
  expect(found?.product.kind).toBe(kind);
  expect(found?.customer.products.includes(found.product)).toBe(kind === undefined ? undefined : true);
});

test('the company account has two holders, in its variation alone', () => {
  const [company] = companyCustomers[0]?.products ?? [];
  const [current, savings] = [accountOf(anna), accountOf(anna, 'savings')];
  if (!company || !current || !savings) throw new Error('The accounts must exist');
  const variations = ['company-account'] as const;
  const all = new Customers({ ...defaultRules, variations });
  expect(all.holdersOf(company)).toEqual(['4055611', '4055612']);
  expect(all.holdersOf(current)).toEqual(['1048262']);
  expect(new Customers(defaultRules).holdersOf(company)).toEqual([]);
  expect([holds(anna, savings), holds(bruno, savings)]).toEqual([true, false]);
});

test('with a number of transactions, the first customer has them on the current account alone', () => {
  const counts = (transactions: number | undefined) =>
    new Customers({ ...defaultRules, customers: 1, transactions }).shown.map(({ products }) =>
      products.map(({ generatedTransactions: count }) => count ?? '-').join(),
    );
  const none = ['-,-,-', '-,-,-,-,-,-,-,-'];
  expect(counts(7)).toEqual(['7,-,-', ...none, '7,7,7']);
  expect(counts(undefined)).toEqual(['-,-,-', ...none, '120,120,120']);
});

test.each<[user: string, shape: 'standard' | 'atruvia', methods: string[]]>([
  [
    ...(['anna', 'standard'] as const),
    [
      '901 SMS_OTP - "SMS to *** 4711" sms',
      '902 CHIP_OTP HHD1.3.2 "chipTAN by hand | card ******9876" chip',
      '903 CHIP_OTP HHDOPT1.3.2 "chipTAN optical | card ******9876" optical',
      '904 PHOTO_OTP - "photoTAN" photo',
      '905 PUSH_OTP - "Push to the app, TAN typed" typed-push',
      '906 PUSH_DEC - "Approve in the app" push',
    ],
  ],
  [
    ...(['anna', 'atruvia'] as const),
    [
      '962 CHIP_OTP - "chipTAN by hand" chip',
      '972 CHIP_OTP - "chipTAN optical" optical',
      '982 PHOTO_OTP - "photoTAN" photo',
      '944 PUSH_OTP - "app, TAN typed" typed-push',
      '907 PUSH_OTP - "app, approved there" push',
      '942 SMS_OTP - "mobile TAN" sms',
      '943 SMS_OTP - "mobile TAN, second telephone" sms',
    ],
  ],
  ['bruno', 'standard', ['901 SMS_OTP - "SMS to *** 4711" sms']],
  ['bruno', 'atruvia', ['942 SMS_OTP - "mobile TAN" sms']],
  ['carla', 'standard', []],
  ['carla', 'atruvia', []],
])('the methods of %s in the words of %s', (user, shape, methods) => {
  const all = methodsOf({ user }, shape);
  expect(
    all.map(({ id, type, version = '-', name, device }) => `${id} ${type} ${version} "${name}" ${device}`),
  ).toEqual(methods);
  const explained = all.flatMap(({ explanation }) => explanation ?? []);
  const typed = 'Type the start code into your TAN generator.';
  expect(explained).toEqual(user === 'anna' && shape === 'standard' ? [typed] : []);
  expect(pinOf({ user })).toBe(`pin-${user}`);
});

test.each<[pins: string, taken: string, isBlocked: boolean]>([
  ['x x', 'FF', false],
  ['x x x', 'FFF', true],
  ['x x x right', 'FFFF', true],
  ['x x right', 'FFT', false],
  ['x x right x x', 'FFTFF', false],
  ['x x right x x x right', 'FFTFFFF', true],
  ['right right', 'TT', false],
])('after the PINs %s, these were right: %s, and the PIN is blocked: %s', (typed, taken, isBlocked) => {
  const pins = new Pins();
  const take = (pin: string) => (pins.take(anna, pin === 'right' ? 'pin-anna' : pin) ? 'T' : 'F');
  expect(typed.split(' ').map(take).join('')).toBe(taken);
  expect([pins.isBlocked(anna), pins.isBlocked(bruno)]).toEqual([isBlocked, false]);
  expect(pins.take(bruno, 'pin-bruno')).toBe(true);
  pins.forgetCustomer(bruno);
  expect(pins.isBlocked(anna)).toBe(isBlocked);
  pins.forgetCustomer(anna);
  expect([pins.isBlocked(anna), pins.take(anna, 'pin-anna')]).toEqual([false, true]);
});

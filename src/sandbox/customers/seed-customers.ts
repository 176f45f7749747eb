import type { Cents } from '../ledger/cents.ts';
import type { Entry } from '../ledger/entry.ts';
import { type MagicFault, magicFaultKinds } from '../operations/plan.ts';
import { accountIban } from './italian-iban.ts';

type ProductKind = 'current' | 'savings' | 'card';

/** An account of any type. */
export interface Product {
  /** 10 characters. Leading zeros are significant. */
  productId: string;
  kind: ProductKind;
  code: string;
  description: string;
  /** The customer's own name for the account. May be empty. */
  name: string;
  /** A card has the IBAN of the current account it is charged to. */
  iban: string;
  /** The balance at the start of the history. */
  opening: Cents;
  /** The credit limit of a card. 0 for accounts. */
  creditLimit: Cents;
  /** The number of generated booked transactions. Undefined: the account has the seeded history. */
  generatedTransactions?: number;
  /** The whole history of an account of a seed file. Undefined: the sandbox makes one. */
  history?: readonly Entry[];
  /** The fault of its balance and transactions calls. */
  fault?: MagicFault;
}

export interface Customer {
  /** 7 digits. */
  customerId: string;
  user: string;
  /** Public, and shown on the login page. */
  password: string;
  firstName: string;
  lastName: string;
  /** The monthly income and expenses. `saving` is 0 if there is no savings account. */
  monthly: { salary: Cents; rent: Cents; saving: Cents };
  products: readonly Product[];
}

const labels = {
  current: { code: 'AZIM', description: 'CONTO CORRENTE' },
  savings: { code: '0650', description: 'CONTO RISPARMIO' },
  card: { code: 'CA30', description: 'CARTA DI CREDITO' },
} as const;

/** An account of a kind. Only a card has a credit limit. */
export function account(
  kind: ProductKind,
  product: Omit<Product, 'kind' | 'code' | 'description' | 'creditLimit'> & { creditLimit?: Cents },
): Product {
  return { creditLimit: 0, ...product, kind, ...labels[kind] };
}

/** The customers that every sandbox has. */
export const seedCustomers: readonly Customer[] = [
  {
    customerId: '1048262',
    user: 'anna',
    password: 'anna-sandbox',
    firstName: 'Anna',
    lastName: 'Esposito',
    monthly: { salary: 2_150_00, rent: 780_00, saving: 200_00 },
    products: products({
      current: { productId: '0010482620', account: '000010482620', name: 'Conto di casa', opening: 4_250_00 },
      savings: { productId: '0010482638', account: '000010482638', name: 'Risparmi', opening: 9_800_00 },
      card: { productId: '0000093017', name: '' },
    }),
  },
  {
    customerId: '2073915',
    user: 'bruno',
    password: 'bruno-sandbox',
    firstName: 'Bruno',
    lastName: 'Conti',
    monthly: { salary: 2_780_50, rent: 1_050_00, saving: 350_00 },
    products: products({
      current: {
        productId: '0020739150',
        account: '000020739150',
        name: 'Conto principale',
        opening: 6_120_75,
      },
      savings: { productId: '0020739168', account: '000020739168', name: 'Fondo vacanze', opening: 3_400_00 },
      card: { productId: '0000093025', name: 'Carta viaggi' },
    }),
  },
  {
    customerId: '3098127',
    user: 'carla',
    password: 'carla-sandbox',
    firstName: 'Carla',
    lastName: 'Guasti',
    monthly: { salary: 1_900_00, rent: 640_00, saving: 0 },
    products: [faultlessAccount(), ...magicFaultKinds.map(faultyAccount)],
  },
];

/** The account of two persons, who must both authorise. */
const companyAccount = account('current', {
  productId: '0040556110',
  name: 'Conto aziendale',
  iban: accountIban('000040556110'),
  opening: 25_000_00,
});

const company = { monthly: { salary: 9_000_00, rent: 2_400_00, saving: 0 }, products: [companyAccount] };

/** The holders of a company account: the customers of the variation `company-account`. */
export const companyCustomers: readonly Customer[] = [
  {
    ...company,
    customerId: '4055611',
    user: 'dora',
    password: 'dora-sandbox',
    firstName: 'Dora',
    lastName: 'Ferri',
  },
  {
    ...company,
    customerId: '4055612',
    user: 'emil',
    password: 'emil-sandbox',
    firstName: 'Emil',
    lastName: 'Gallo',
  },
];

function faultlessAccount(): Product {
  return account('current', {
    productId: '0030981270',
    name: 'Conto senza guasti',
    iban: accountIban('000030981270'),
    opening: 2_500_00,
  });
}

/** An account with a fault. Its number ends with the fault's name: `0030981420`, `00309EMPTY`. */
function faultyAccount(fault: MagicFault): Product {
  return {
    ...faultlessAccount(),
    productId: `${'0030981000'.slice(0, -fault.length)}${fault}`,
    name: `Guasto ${fault}`,
    iban: accountIban(`000030981${fault.slice(0, 3)}`),
    fault,
  };
}

interface AccountSeed {
  productId: string;
  account: string;
  name: string;
  opening: Cents;
}

function products(seed: {
  current: AccountSeed;
  savings: AccountSeed;
  card: { productId: string; name: string };
}): readonly Product[] {
  const { current, savings, card } = seed;
  const currentIban = accountIban(current.account);
  return [
    account('current', { ...own(current), iban: currentIban }),
    account('savings', { ...own(savings), iban: accountIban(savings.account) }),
    account('card', { ...card, iban: currentIban, opening: 0, creditLimit: 2_500_00 }),
  ];
}

function own({ productId, name, opening }: AccountSeed): Omit<AccountSeed, 'account'> {
  return { productId, name, opening };
}

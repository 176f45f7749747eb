import type { BankRules } from '../rules.ts';
import type { StatePart } from '../state-part.ts';
import { generateCustomer, numberOfId, numberOfProduct, numberOfUser } from './generated-customers.ts';
import { accountOfIban } from './italian-iban.ts';
import { type Customer, companyCustomers, type Product, seedCustomers } from './seed-customers.ts';

/**
 * The bank's customers: the seeded ones that every sandbox has, and generated ones. A generated customer may be a new object
 * at each call, so compare ids.
 */
export class Customers implements StatePart {
  memory: { added: Customer[] };
  readonly #everywhere: readonly Customer[];
  readonly #count: number;
  readonly #transactions: number | undefined;

  constructor({
    customers,
    transactions,
    seed,
    variations,
  }: Pick<BankRules, 'customers' | 'transactions' | 'seed' | 'variations'>) {
    this.memory = { added: seed.map(({ customer }) => customer) };
    this.#count = customers;
    this.#transactions = transactions;
    const [first, ...others] = seedCustomers;
    this.#everywhere = [
      ...(transactions === undefined || !first
        ? seedCustomers
        : [withHistory(first, transactions), ...others]),
      ...(variations.includes('company-account') ? companyCustomers : []),
    ];
  }

  /** anna, bruno and carla, and those of a seed and of `sandbox customer add`. */
  get seeded(): readonly Customer[] {
    return [...this.#everywhere, ...this.memory.added];
  }

  /** Adds a customer, whose names and ids no other one has. */
  add(customer: Customer): void {
    this.memory.added.push(customer);
  }

  /** A customer stays a customer: only what the bank knows of them goes. */
  forgetCustomer(): void {}

  /** The customers on the login page: all seeded ones, and the first and the last generated one. */
  get shown(): Customer[] {
    const ends = this.#count > 1 ? [1, this.#count] : this.#count === 1 ? [1] : [];
    return [...this.seeded, ...ends.map((number) => generateCustomer(number, this.#transactions))];
  }

  /** @param id 7 digits */
  find(id: string): Customer | undefined {
    return this.seeded.find(({ customerId }) => customerId === id) ?? this.#generated(numberOfId(id));
  }

  byUser(name: string): Customer | undefined {
    return this.seeded.find(({ user }) => user === name) ?? this.#generated(numberOfUser(name));
  }

  byProduct(id: string): { customer: Customer; product: Product } | undefined {
    const owner =
      this.seeded.find(({ products }) => products.some(({ productId }) => productId === id)) ??
      this.#generated(numberOfProduct(id));
    const product = owner?.products.find(({ productId }) => productId === id);
    return owner && product && { customer: owner, product };
  }

  /** The account with an IBAN. Never a card. */
  accountByIban(wanted: string): Product | undefined {
    const seeded = this.seeded
      .flatMap(({ products }) => products)
      .find(({ iban, kind }) => iban === wanted && kind !== 'card');
    return seeded ?? this.byProduct(accountOfIban(wanted)?.slice(2) ?? '')?.product;
  }

  /** The ids of the customers who hold a product. Of a company account there are several. */
  holdersOf({ productId }: Product): string[] {
    return this.seeded.filter((one) => holds(one, { productId })).map(({ customerId }) => customerId);
  }

  #generated(number: number | undefined): Customer | undefined {
    return number === undefined || number > this.#count
      ? undefined
      : generateCustomer(number, this.#transactions);
  }
}

/** Whether a customer has a product. */
export function holds({ products }: Customer, { productId }: Pick<Product, 'productId'>): boolean {
  return products.some((product) => product.productId === productId);
}

/** The customer with a generated history on the current account. */
function withHistory(customer: Customer, generatedTransactions: number): Customer {
  return {
    ...customer,
    products: customer.products.map((product) =>
      product.kind === 'current' ? { ...product, generatedTransactions } : product,
    ),
  };
}

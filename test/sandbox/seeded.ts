import { type Customer, type Product, seedCustomers } from '../../src/sandbox/customers/seed-customers.ts';

/** A customer that every sandbox has. */
export function seeded(user: 'anna' | 'bruno' | 'carla'): Customer {
  const customer = seedCustomers.find((one) => one.user === user);
  if (!customer) throw new Error(`There is no ${user}`);
  return customer;
}

/** An account of such a customer, by default the first. */
export function accountOf({ user, products }: Customer, kind: Product['kind'] = 'current'): Product {
  const product = products.find((one) => one.kind === kind);
  if (!product) throw new Error(`${user} has no ${kind}`);
  return product;
}

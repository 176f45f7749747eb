import * as z from 'zod/mini';
import type { Customer } from '../customers/seed-customers.ts';

/** Something in a seed that contradicts something else. The path says where. */
export class BadSeed extends Error {
  override readonly name = 'BadSeed';
}

/** What a customer of a seed has at a door. */
export interface DoorSeed<State> {
  /** Its fields of a customer. */
  fields: Readonly<Record<string, z.ZodMiniType>>;
  /** @throws BadSeed if what was given contradicts the customer */
  check?(record: object, customer: Customer, path: string): void;
  give(state: State, customer: Customer, record: object): void;
}

/** A text of a seed. @param rule what it must be */
export const text = (says: string, example: RegExp, rule: string) =>
  z.string().check(z.regex(example, rule), z.describe(says));

export const amount = (says: string) =>
  text(says, /^-?\d{1,10}\.\d{2}$/, 'must be an amount with two decimals, for example "12.50"');

export const day = (says: string) =>
  z.iso.date('must be a day, for example "2026-11-23"').check(z.describe(says));

export const productId = (says: string) => text(says, /^[0-9A-Za-z]{10}$/, 'must be 10 letters and digits');

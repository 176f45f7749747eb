import { expect, it } from 'vitest';
import type { Consent } from '../../../src/domain/consent.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { readKnownAccounts } from '../../../src/flows/batch/examine.ts';
import type { Flows } from '../../../src/store/ports/flows.ts';
import { batchLine } from '../../domain/batch/lines.ts';

// Which accounts the consents of the customers know, and which account of a file is none of them.

const [ANNA, BRUNO] = ['1048262', '2073915'];
const [ONE, TWO, THREE] = ['0000012345', '0000054321', '0000099999'];

type Granted = [customer: string, state: Consent['state'], ...products: string[][]];

async function problem(
  consents: Granted[],
  usual: string | undefined,
  customer: string | null,
  from: string | null,
) {
  const kinds: unknown[] = [];
  async function* list(kind: string) {
    kinds.push(kind);
    for (const [customerId, state, ...products] of consents)
      yield { customerId, state, categories: products.map((each) => ({ products: each })) };
  }
  const flows: Flows = Object.assign(Object.create({}), { list });
  const accounts = await readKnownAccounts(flows, usual);
  expect(kinds).toEqual(['consent']);
  return accounts.problemWith(batchLine({ customer, from: from === null ? null : parseProductId(from) }));
}

const OF_ANNA: Granted = [ANNA, 'confirmed', [ONE], [TWO]];
it.each<[string, Granted[], string | undefined, customer: string | null, from: string | null, string | null]>(
  [
    ['of the first category', [OF_ANNA], ANNA, null, ONE, null],
    ['of the second category', [OF_ANNA], ANNA, null, TWO, null],
    ['of none', [OF_ANNA], ANNA, null, THREE, ANNA],
    ['of none, of a customer whom the line names', [OF_ANNA], undefined, ANNA, THREE, ANNA],
    [
      'of another customer, whom the line names',
      [OF_ANNA, [BRUNO, 'confirmed', [THREE]]],
      ANNA,
      BRUNO,
      ONE,
      BRUNO,
    ],
    ['that the line does not name', [OF_ANNA], ANNA, null, null, null],
    ['of a customer whom nobody names', [OF_ANNA], undefined, null, THREE, null],
    ['of a customer without a consent', [OF_ANNA], BRUNO, null, THREE, null],
    ['of a consent without accounts', [[ANNA, 'confirmed', []]], ANNA, null, THREE, null],
    [
      'of an earlier consent',
      [
        [ANNA, 'confirmed', [ONE]],
        [ANNA, 'confirmed', [TWO]],
      ],
      ANNA,
      null,
      ONE,
      null,
    ],
    [
      'of a later consent',
      [
        [ANNA, 'confirmed', [ONE]],
        [ANNA, 'confirmed', [TWO]],
      ],
      ANNA,
      null,
      TWO,
      null,
    ],
    ['of a consent that was not granted', [OF_ANNA, [ANNA, 'rejected', [THREE]]], ANNA, null, THREE, ANNA],
    ['of a consent that was revoked alone', [[ANNA, 'revoked', [ONE]]], ANNA, null, THREE, null],
  ],
)('an account %s: %#', async (_, consents, usual, customer, from, whose) => {
  expect(await problem(consents, usual, customer, from)).toBe(
    whose === null
      ? undefined
      : `The account ${from} is not one that customer ${whose} has given a consent for`,
  );
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { refusalCodes } from '../../src/sandbox/answers/refusal.ts';
import { seedCustomers } from '../../src/sandbox/customers/seed-customers.ts';
import { faultKinds } from '../../src/sandbox/faults/fault.ts';
import { endpointNames, stepNames } from '../../src/sandbox/faults/target.ts';
import { messageCodes } from '../../src/sandbox/nextgenpsd2/refusal.ts';
import { isVariation, VARIATIONS } from '../../src/sandbox/nextgenpsd2/variations.ts';
import { faultyCalls, magicFaultKinds, plannedOutcomes } from '../../src/sandbox/operations/plan.ts';

const page = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8').replaceAll(
  / +\|/g,
  ' |',
);

test('docs/sandbox.md explains every code of the bank, with its status, and no other', () => {
  const documented = [...page.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| (\d{3}) \| \S/gm)].map(
    ([, code, status]) => [code, Number(status)],
  );
  const expected = [...refusalCodes, ['INTERNAL_ERROR', 500], ...messageCodes];
  expect(documented.toSorted()).toEqual(expected.toSorted());
});

test('docs/sandbox.md explains every magic name, with its calls and faults', () => {
  for (const name of [...plannedOutcomes, ...magicFaultKinds]) expect(page).toContain(`\n| \`${name}\` | `);
  for (const call of faultyCalls) expect(page).toContain(`\`${call}\``);
});

test('docs/sandbox.md has the users, passwords, customers and products of the sandbox', () => {
  for (const { user, password, customerId, products } of seedCustomers) {
    const row = page
      .split('\n')
      .find((line) => line.startsWith(`| \`${user}\` | \`${password}\` | ${customerId} |`));
    for (const { productId } of products) expect(row).toContain(productId);
  }
});

test('docs/sandbox.md explains every fault and names every call', () => {
  for (const [kind, { value }] of faultKinds) expect(page).toContain(`\n| \`${kind}${value ? '=<' : '` | '}`);
  for (const name of [...endpointNames, ...stepNames]) expect(page).toContain(`\`${name}\``);
});

test('docs/sandbox.md says of every variation what it does, and psd2 knows these words alone', () => {
  const [, table = ''] = /\n\| variation \| what it does \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, name = '', effect]) => [
    name,
    effect,
  ]);
  expect(rows).toEqual(Object.entries(VARIATIONS));
  expect(rows.filter(([name = '']) => !isVariation(name))).toEqual([]);
  for (const word of ['', 'No-SCA', 'no-sca ', 'toString', '__proto__'])
    expect(isVariation(word)).toBe(false);
});

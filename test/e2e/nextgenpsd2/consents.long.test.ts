import { describe, expect, it } from 'vitest';
import { accounts, useSecondDoor } from './second-door-customer.ts';

describe.each([
  ['an authorisation that psd2 starts', [], { sca: { start: 'explicit' } }],
  ['a link that starts it, and links relative to the base URL', ['--variation', 'start-link,base-links'], {}],
  [
    'confirmation codes, whole links, and problems',
    ['--variation', 'confirmation-codes,absolute-links,problem-json'],
    {},
  ],
])('at a bank with %s', (_, rules, file) => {
  const { request, json } = useSecondDoor(rules, file);

  it('the customer consents', async () => {
    expect(await request()).toMatchObject({ state: 'confirmed' });
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
  });
});

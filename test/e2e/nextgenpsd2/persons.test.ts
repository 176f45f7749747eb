import { expect, it } from 'vitest';
import * as z from 'zod';
import { companyCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import { readError } from '../support/errors.ts';
import { CUSTOMER } from '../support/psd2.ts';
import { useSecondDoor } from './second-door-customer.ts';

// A company account, whose two holders must both authorise.

const IBAN = companyCustomers[0]?.products[0]?.iban ?? '';
const operator = useSecondDoor(['--variation', 'company-account']);
const flow = z.looseObject({
  flow: z.string(),
  state: z.string(),
  authorisations: z.array(z.looseObject({ psuId: z.string().nullable(), scaStatus: z.string().nullable() })),
});

/** What a command says, with the person at the browser. */
async function by(person: string, args: readonly string[], ...how: string[]) {
  operator.env.PSD2_BROWSER = [CUSTOMER, '--user', person, ...how].join(' ');
  const ended = await operator.psd2([...args, '--customer', 'shop', '--yes', '--json']);
  const { state, authorisations, flow: id } = flow.parse(JSON.parse(ended.stdout));
  const who = authorisations.map(({ psuId, scaStatus }) => `${psuId} ${scaStatus}`);
  return { code: ended.code, state, who, id, error: ended.code === 0 ? undefined : readError(ended) };
}
const pay = (amount: string) => [
  ...['transfer', 'create', '--from', IBAN, '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'],
  ...['--amount', amount, '--psu-id', 'dora'],
];

it('a payment is made once all have authorised it: who refuses, or authorises twice, changes nothing', async () => {
  const first = await by('dora', pay('12.50'));
  expect(first).toMatchObject({ code: 6, state: 'authorizing', who: ['dora finalised'] });
  expect(first.error).toMatchObject({
    code: 'partly_authorised',
    message: 'dora authorised the transfer, and the bank waits for another person (PATC)',
    next: [
      ['psd2', 'transfer', 'resume', first.id],
      ['psd2', 'transfer', 'resume', first.id, '--psu-id', 'ID'],
    ],
  });
  const resume = ['transfer', 'resume', first.id];
  // Without a person, psd2 asks the bank alone.
  expect(await by('emil', resume)).toMatchObject({ code: 6, who: ['dora finalised'] });
  expect(await by('dora', [...resume, '--psu-id', 'dora'])).toMatchObject({ code: 6, state: 'authorizing' });
  const refused = await by('emil', [...resume, '--psu-id', 'emil'], '--refuse');
  expect(refused).toMatchObject({ code: 6, state: 'authorizing' });
  const paid = await by('emil', [...resume, '--psu-id', 'emil']);
  expect(paid).toMatchObject({
    ...{ code: 0, state: 'executed' },
    who: ['dora finalised', 'dora finalised', 'emil failed', 'emil finalised'],
  });
  expect((await by('emil', [...resume, '--psu-id', 'emil'])).state).toBe('executed');
});

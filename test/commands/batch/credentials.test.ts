import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OWN_ACCOUNT } from '../bank-here.ts';
import { BASKET, BULK, IBAN, LINKED, RUN, useBatches } from './with-batch.ts';

// A run says before it begins what it takes of the customers, at a bank that wants PIN and TAN from psd2 (docs/embedded.md).

const { payees, temporary, withFile } = useBatches();
const FILES = { PSD2_EMBEDDED: 'files' };
const fileOf = (name: string) => {
  const path = join(temporary, name);
  writeFileSync(path, '12345\n', { mode: 0o600 });
  return path;
};

/** A batch of two payments, at a bank that takes credentials. */
async function twoPayments(isAlone: boolean, env: Record<string, string>, words: string[]) {
  const { bank, payer } = await payees(BASKET, 'Ada', 'Bea');
  Object.assign(bank.interface, { takesCredentials: { isAlone } });
  bank.calls.length = 0;
  const { said, failure } = await payer.run([...RUN, ...words], { env });
  return { said, failure, calls: bank.calls };
}

it.each<[string, boolean, string[], RegExp]>([
  [
    'each alone',
    true,
    ['--as', 'single'],
    /^2 PINs and 2 TANs for 2 payments\. psd2 stops at the first PIN that the bank does not accept\.$/m,
  ],
  ['one alone', true, ['--as', 'single', '--only', '1'], /^1 PIN and 1 TAN for 1 payment\./m],
  ['one basket', true, ['--as', 'basket'], /^1 PIN and 1 TAN for 2 payments\./m],
  ['another way', false, ['--as', 'single'], /^If the bank wants them from psd2: 2 PINs and 2 TANs/m],
])('%s: how many of each', async (_, isAlone, words, says) => {
  expect((await twoPayments(isAlone, FILES, words)).said).toMatch(says);
});

it('nothing is said where the profile does not allow it', async () => {
  expect((await twoPayments(true, {}, ['--as', 'single'])).said).not.toMatch(/PIN/);
});

it.each([
  ['PIN', '--psu-password-file'],
  ['TAN', '--otp-file'],
])('a pipe with one %s is refused for two authorisations, before any call', async (kind, option) => {
  const { failure, calls } = await twoPayments(true, FILES, ['--as', 'single', option, '-']);
  expect([failure?.code, failure?.message, failure?.hint]).toEqual([
    ...['usage', `Standard input has one ${kind}, and this run takes 2`],
    'psd2 has sent nothing. Choose one payment with --only, or name a file.',
  ]);
  expect(calls).toEqual([]);
});

it.each([
  ['a pipe with one PIN', () => ['--psu-password-file', '-']],
  ['a pipe with one TAN', () => ['--otp-file', '-']],
  ['a file with the PIN of one customer', () => ['--psu-password-file', fileOf('pin')]],
])('%s is enough for one authorisation', async (_, options) => {
  const { said, failure } = await twoPayments(true, FILES, ['--as', 'basket', ...options()]);
  expect([failure, said]).toEqual([null, expect.stringContaining('1 PIN and 1 TAN for 2 payments.')]);
});

it('a file with a TAN is read anew for each, and the run says so', async () => {
  const { said } = await twoPayments(true, FILES, ['--as', 'single', '--otp-file', fileOf('tan')]);
  const anew = 'psd2 reads the TAN file for each authorisation anew: it must have the new TAN by then.\n';
  expect(said).toContain(anew);
  const once = await twoPayments(true, FILES, ['--as', 'basket', '--otp-file', fileOf('tan')]);
  expect(once.said).not.toContain(anew);
});

it('nothing is said of a run in which nobody authorises anything any more', async () => {
  const { bank, payer } = await payees(BASKET, 'Ada', 'Bea');
  await payer.run(RUN);
  Object.assign(bank.interface, { takesCredentials: { isAlone: true } });
  const { said, failure } = await payer.run(RUN, { env: FILES });
  expect([failure, said]).toEqual([null, '2 of 2 paid (21.00 EUR).\n']);
});

it('of what is authorised at once, what has ended is not counted', async () => {
  const { bank, payer } = await payees({ ...BULK }, 'Ada', 'Bea', 'Cleo');
  await payer.run([...RUN, '--as', 'bulk', '--only', '1']);
  Object.assign(bank.interface, { takesCredentials: { isAlone: true } });
  const { said } = await payer.run(RUN, { env: FILES });
  expect(said).toContain('1 PIN and 1 TAN for 2 payments.');
});

it('a file with the PIN of one customer is refused for the payments of two', async () => {
  const text = `customer,name,iban,amount,reference\n,Ada,${IBAN},10,R-1\n77,Bea,${IBAN},11,R-2\n`;
  const { bank, payer } = await withFile(LINKED, text, ['--from', OWN_ACCOUNT]);
  Object.assign(bank.interface, { takesCredentials: { isAlone: true } });
  bank.calls.length = 0;
  const { failure } = await payer.run([...RUN, '--psu-password-file', fileOf('pin')], { env: FILES });
  expect([failure?.code, failure?.message, failure?.hint, bank.calls]).toEqual([
    ...['usage', 'A file has the PIN of one customer, and these payments are of 2'],
    ...['psd2 has sent nothing. Choose the payments of one customer with --only.', []],
  ]);
  // One person who authorises the payments of both has one PIN.
  const person = [...RUN, '--psu-password-file', fileOf('pin'), '--psu-id', 'emil'];
  const { said } = await payer.run(person, { env: FILES });
  expect(said).toContain('2 PINs and 2 TANs for 2 payments.');
});

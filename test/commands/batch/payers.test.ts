import { expect, it } from 'vitest';
import { type AccountId, isAccountId } from '../../../src/domain/identifiers.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { ANNA } from '../payer-here.ts';
import { IBAN, RUN, withFile } from './with-batch.ts';

// A batch with more than one payer, and with accounts that are named by their IBANs.

const temporary = temporaryFolder();
const BRUNO = '2073915';

it('the lines of a customer who has no login stop no line of another one', async () => {
  const text = `name,iban,amount,customer,from\nAda,${IBAN},1,${BRUNO},${OWN_ACCOUNT}\nBea,${IBAN},2,${ANNA},${OWN_ACCOUNT}\nCleo,${IBAN},3,,${OWN_ACCOUNT}\nDora,${IBAN},4,${BRUNO},${OWN_ACCOUNT}\n`;
  const { bank, payer, pay } = await withFile(temporary, new BankHere(), text);
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 waiting  The customer 2073915 is not logged in with the profile "env"", "2 executed tr-1 ",
      "3 executed tr-2 ", "4 waiting  The customer 2073915 is not logged in with the profile "env"",
      "Payment 1: The customer 2073915 is not logged in with the profile "env". Logged in: 1048262. Or run: psd2 --profile env auth login",
      "Payment 4: The customer 2073915 is not logged in with the profile "env". Logged in: 1048262. Or run: psd2 --profile env auth login",
      "2 of 4 paid (5.00 EUR).", "exit 8, unpaid 2 of 4: run batch-1"],
     ["verify transfer", "sca pay-1", "status pay-1", "execute pay-1", "verify transfer", "sca pay-2",
      "status pay-2", "execute pay-2"]]
  `);
  await payer.logIn(BRUNO);
  bank.calls.length = 0;
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 executed tr-3 ", "2 executed tr-1 ", "3 executed tr-2 ", "4 executed tr-4 ",
      "4 of 4 paid (10.00 EUR).", "done"],
     ["verify transfer", "sca pay-3", "status pay-3", "execute pay-3", "verify transfer", "sca pay-4",
      "status pay-4", "execute pay-4"]]
  `);
  const orders = bank.payments.map(({ asked }) => asked);
  expect(orders).toMatchObject([ANNA, ANNA, BRUNO, BRUNO].map((customerId) => ({ customerId })));
});

it('an account that is named by its IBAN is found among those of the customer, who are asked once', async () => {
  const other = 'DE75512108001245126199';
  const text = `name,iban,amount,from\nAda,${IBAN},1,${OWN_IBAN}\nBea,${IBAN},2,${other}\nCleo,${IBAN},3,${OWN_IBAN}\n`;
  const { bank, payer, pay } = await withFile(temporary, new BankHere(), text);
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed  The account DE75512108001245126199 is not one of customer 1048262",
      "3 executed tr-2 ", "2 of 3 paid (4.00 EUR), 1 not paid.",
      "exit 8, refused 1 of 3: report batch-1"],
     ["accounts 1048262", "verify transfer", "sca pay-1", "status pay-1", "execute pay-1",
      "verify transfer", "sca pay-2", "status pay-2", "execute pay-2"]]
  `);
  expect(bank.payments.map(({ asked }) => asked)).toMatchObject([
    { from: OWN_ACCOUNT, fromIban: OWN_IBAN },
    { from: OWN_ACCOUNT, fromIban: OWN_IBAN },
  ]);
  expect((await payer.run(RUN)).data[0]).toMatchObject({ from: OWN_IBAN, state: 'executed' });
});

it('where the bank takes IBANs, a payment names the IBAN of the file, also that of another account', async () => {
  const other = 'DE75512108001245126199';
  const text = `name,iban,amount,from\nAda,${IBAN},1,${OWN_IBAN}\nBea,${IBAN},2,${other}\n`;
  const bank = new BankHere({ commits: 'by the customer' });
  Object.assign(bank.interface, { readAccountId });
  const { pay } = await withFile(temporary, bank, text);
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 executed tr-2 ", "2 of 2 paid (3.00 EUR).", "done"],
     ["verify transfer", "sca pay-1", "status pay-1", "verify transfer", "sca pay-2", "status pay-2"]]
  `);
  expect(bank.payments.map(({ asked }) => JSON.parse(String(asked)))).toMatchObject([
    { from: OWN_IBAN, fromIban: OWN_IBAN, customerId: ANNA },
    { from: other, fromIban: other, customerId: ANNA },
  ]);
});

/** An id that may also be an IBAN, as at a bank that takes IBANs. */
function readAccountId(text: string): AccountId {
  if (isAccountId(text)) return text;
  throw new TypeError('This is no account');
}

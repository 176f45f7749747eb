import { expect, it } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_IBAN } from '../bank-here.ts';
import { payerAt } from '../payer-here.ts';

// The lists at a terminal: which columns they have, and what a narrow terminal cuts or leaves out.

const temporary = temporaryFolder();
const CUSTOMER = 'customer-of-the-company';

/** An operator with a customer who has a long name, at a bank whose accounts are called by their IBANs. */
async function payerWithLongNames(bank: BankHere) {
  Object.assign(bank.interface, {
    readCustomerId: (text: string) => text,
    readAccountId: (text: string) => text,
  });
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  await payer.logIn(CUSTOMER);
  return payer;
}

/** The list at a terminal of this width. Its times are replaced, because they are those of the machine. */
async function listed(payer: Awaited<ReturnType<typeof payerAt>>, noun: string, stdout: number) {
  const { printed, said } = await payer.run([noun, 'list'], { format: 'table', stdout });
  expect(said).toBe('');
  return printed.replaceAll(/(TODAY|\d{4}-\d\d-\d\d) \d\d:\d\d/g, 'THE TIME');
}

it('a list of transfers cuts the payee and the reference only, and leaves out what matters less', async () => {
  const payer = await payerWithLongNames(new BankHere({ commits: 'by the customer' }));
  const order = ['--from', OWN_IBAN, '--to', 'IT60X0542811101000000123456', '--amount', '12.50'];
  const words = ['transfer', 'create', ...order, '--name', 'Mario Rossi and Daughters'];
  const globals = { scaTimeout: '1', customer: CUSTOMER };
  await payer.run([...words, '--reference', 'INVOICE-2026-0001'], { globals });
  const widths = [220, 170, 162, 140, 112, 81, 60];
  expect(
    (await Promise.all(widths.map((width) => listed(payer, 'transfer', width)))).join('\n'),
  ).toMatchInlineSnapshot(`
    "FLOW               STATE           AMOUNT  TO                         IBAN                         CREATED           FROM                    REFERENCE          CUSTOMER
    tr-1  authorizing  12.50 EUR  Mario Rossi and Daughters  IT60X0542811101000000123456  THE TIME  DE02100100109307118603  INVOICE-2026-0001  customer-of-the-company

    FLOW               STATE           AMOUNT  TO              IBAN                         CREATED           FROM                    REFERENCE        CUSTOMER
    tr-1  authorizing  12.50 EUR  Mario Rossi     IT60X0542811101000000123456  THE TIME  DE02100100109307118603  INVOICE-2026-00  customer-of-the-company
                                               and Daughters                                                                          01

    FLOW               STATE           AMOUNT  TO                         IBAN                         CREATED           REFERENCE          CUSTOMER
    tr-1  authorizing  12.50 EUR  Mario Rossi and Daughters  IT60X0542811101000000123456  THE TIME  INVOICE-2026-0001  customer-of-the-company

    FLOW               STATE           AMOUNT  TO                         CREATED           REFERENCE          CUSTOMER
    tr-1  authorizing  12.50 EUR  Mario Rossi and Daughters  THE TIME  INVOICE-2026-0001  customer-of-the-company

    FLOW               STATE           AMOUNT  TO            CREATED           REFERENCE     CUSTOMER
    tr-1  authorizing  12.50 EUR  Mario Rossi   THE TIME  INVOICE-2026  customer-of-the-company
                                               and                             -0001
                                               Daughters

    FLOW               STATE           AMOUNT  TO                   REFERENCE
    tr-1  authorizing  12.50 EUR  Mario Rossi and      INVOICE-2026-0001
                                               Daughters

    FLOW               STATE           AMOUNT  TO
    tr-1  authorizing  12.50 EUR  Mario Rossi and
                                               Daughters
    "
  `);
});

it('a list of operations cuts the name of the operation only, and leaves out what matters less', async () => {
  const payer = await payerWithLongNames(new BankHere());
  const words = ['operation', 'run', 'standingOrderOfTheWholeCompany', '--account', OWN_IBAN];
  await payer.run(words, { globals: { scaTimeout: '1', customer: CUSTOMER } });
  const widths = [150, 98, 70, 65, 50];
  expect(
    (await Promise.all(widths.map((width) => listed(payer, 'operation', width)))).join('\n'),
  ).toMatchInlineSnapshot(`
    "FLOW               STATE        NAME                            ACCOUNT                 CREATED           CUSTOMER
    op-1  authorizing  standingOrderOfTheWholeCompany  DE02100100109307118603  THE TIME  customer-of-the-company

    FLOW               STATE        NAME               ACCOUNT                 CUSTOMER
    op-1  authorizing  standingOrderOfTh  DE02100100109307118603  customer-of-the-company
                                    eWholeCompany

    FLOW               STATE        NAME            ACCOUNT
    op-1  authorizing  standingOrderO  DE02100100109307118603
                                    fTheWholeCompa
                                    ny

    FLOW               STATE        NAME       ACCOUNT
    op-1  authorizing  standingO  DE02100100109307118603
                                    rderOfThe
                                    WholeComp
                                    any

    FLOW      op-1
    STATE     authorizing
    NAME      standingOrderOfTheWholeCompany
    ACCOUNT   DE02100100109307118603
    CREATED   THE TIME
    CUSTOMER  customer-of-the-company
    "
  `);
});

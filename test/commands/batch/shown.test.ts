import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { payeeCheck, RUN, withFile, withPayees } from './with-batch.ts';

// What a person reads of batches and their payments at a terminal and in a pipe.

const temporary = temporaryFolder();
const refused = () => new Psd2Error('bank_refused', 'Not this one', { refusal: 'content', isBanks: true });
const WIDE = { format: 'table', stdout: 250 } as const;
const NARROW = { format: 'table', stdout: 100 } as const;
const PIPE = { format: 'table' } as const;

/** Three batches: one that is rejected, one with payments in all states, and its retry. */
async function withBatches() {
  const { bank, payer } = await withPayees(
    temporary,
    new BankHere(),
    ['Ada', 'Bea', 'Cleo', 'Dora'],
    ['--note', 'July'],
  );
  const env = { PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: 'close', Cleo: 'none' }) };
  bank.meets('verify', refused());
  const ran = await payer.run([...RUN, '--only', '1', '2', '3', '--accept-close'], { env, ...WIDE });
  await payer.run(['batch', 'retry', 'batch-1']);
  return { bank, payer, ran };
}

it('a run prints its payments as a table at a terminal', async () => {
  const { payer, ran } = await withBatches();
  expect(ran.printed).toMatchInlineSnapshot(`
    "LINE  STATE        AMOUNT  TO    IBAN                    PAYEE                                FLOW               REASON                                                        REFERENCE
       1  failed    10.00 EUR  Ada   DE89370400440532013000                                       tr-1  Not this one                                                  R-1
       2  executed  11.00 EUR  Bea   DE89370400440532013000  match, the account is held by Other  tr-2                                                                R-2
       3  failed    12.00 EUR  Cleo  DE89370400440532013000                                                          The payee check says: no match, the account is held by Other  R-3
    "
  `);
  const again = await payer.run([...RUN, '--only', '1', '3'], NARROW);
  expect(again.printed).toMatchInlineSnapshot(`
    "LINE  STATE      AMOUNT  TO    IBAN                    FLOW               REASON           REFERENCE
       1  failed  10.00 EUR  Ada   DE89370400440532013000  tr-1  Not this one     R-1
       3  failed  12.00 EUR  Cleo  DE89370400440532013000                     The payee check  R-3
                                                                              says: no match,
                                                                              the account is
                                                                              held by Other
    "
  `);
});

it('the list of batches is a table, and leaves out what has no room', async () => {
  const { payer } = await withBatches();
  await payer.run(['batch', 'reject', 'batch-2', '--note', 'Twice the rent'], {
    env: { PSD2_OPERATOR: 'bob' },
  });
  const shown = async (how: typeof WIDE | typeof NARROW) =>
    (await payer.run(['batch', 'list'], how)).printed.replaceAll(
      /(?:TODAY|\d{4}-\d\d-\d\d) \d\d:\d\d/g,
      'TODAY HH:MM',
    );
  expect(await shown(WIDE)).toMatchInlineSnapshot(`
    "BATCH         STATE     PAYMENTS  TOTAL                      LINES                            ADDED             BY   NOTE
    short batch-1  running          4  46.00 EUR from 0000012345  2 failed, 1 executed, 1 waiting  TODAY HH:MM  ada  July
    short batch-2  rejected         2  22.00 EUR from 0000012345  2 waiting                        TODAY HH:MM  ada  July
    "
  `);
  expect(await shown(NARROW)).toMatchInlineSnapshot(`
    "BATCH         STATE     PAYMENTS  TOTAL              LINES               ADDED             BY   NOTE
    short batch-1  running          4  46.00 EUR from     2 failed, 1         TODAY HH:MM  ada  July
                                      0000012345         executed, 1
                                                         waiting
    short batch-2  rejected         2  22.00 EUR from     2 waiting           TODAY HH:MM  ada  July
                                      0000012345
    "
  `);
});

it('a batch shows who rejected it and why, and of which batch it is a retry', async () => {
  const { payer } = await withBatches();
  await payer.run(['batch', 'reject', 'batch-2', '--note', 'Twice the rent'], {
    env: { PSD2_OPERATOR: 'bob' },
  });
  const { printed } = await payer.run(['batch', 'show', 'batch-2'], WIDE);
  expect(printed.replaceAll(/(?:TODAY|\d{4}-\d\d-\d\d) \d\d:\d\d/g, 'TODAY HH:MM')).toMatchInlineSnapshot(`
    "Batch        batch-2
    State        rejected
    Note         July
    Payments     2
    Total        22.00 EUR from 0000012345
    Lines        2 waiting
    Added by     ada
    Added        TODAY HH:MM
    Approvals    0 of 0
    Rejected by  bob: Twice the rent
    Retry of     batch-1
    LINE  STATE       AMOUNT  TO    IBAN                    REFERENCE
       1  waiting  10.00 EUR  Ada   DE89370400440532013000  R-1
       2  waiting  12.00 EUR  Cleo  DE89370400440532013000  R-3
    "
  `);
});

it('a batch of two accounts has a sum for each', async () => {
  const text =
    'name,iban,amount,from\nAda,DE89370400440532013000,1.10,0000012345\nBea,DE89370400440532013000,2,0010482620\n';
  const { payer } = await withFile(temporary, new BankHere(), text);
  expect((await payer.run(['batch', 'list'], PIPE)).printed).toContain(
    '\t1.10 EUR from 0000012345; 2.00 EUR from 0010482620\t',
  );
  expect((await payer.run(['batch', 'show', 'batch-1'], PIPE)).printed).toContain(
    'Total\t1.10 EUR from 0000012345; 2.00 EUR from 0010482620\n',
  );
});

it('JSON has the payments of a run once, at the end', async () => {
  const { payer } = await withPayees(temporary, new BankHere(), ['Ada', 'Bea']);
  const bytes: string[] = [];
  const changes = () => ({ printBytes: (text: Uint8Array) => void bytes.push(Buffer.from(text).toString()) });
  const { data } = await payer.run(RUN, { format: 'json', changes });
  expect([data.length, bytes]).toEqual([2, []]);
});

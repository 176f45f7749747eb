import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { beginBulk, beginLine, RUN, storeOf, told, withPayees } from './with-batch.ts';

// Lines that their customer authorises once, in a store that was damaged.

const temporary = temporaryFolder();
const BULK = { commits: 'by the customer', bulk: { maxEntries: null } } as const;

it('what was approved is what is paid, also if the file of the lines is damaged while psd2 asks for a confirmation', async () => {
  const { bank, payer } = await withPayees(temporary, new BankHere(BULK), ['Ada', 'Bea']);
  const store = await storeOf(payer);
  await beginLine(store, 1);
  await beginLine(store, 2);
  await beginBulk(store);
  const lines = join(payer.folder.flows('env'), 'batches', store.batch, 'lines.ndjson');
  const ran = await payer.run(RUN, {
    yes: false,
    changes: ({ terminal }) => ({
      terminal: {
        ...terminal,
        canAsk: true,
        confirm: async () => {
          writeFileSync(lines, 'damaged\n');
          return true;
        },
      },
    }),
  });
  expect([told(ran), bank.sent]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 executed tr-2 ", "2 of 2 paid (21.00 EUR).", "done"],
     ["verify bulk payment", "sca pay-1"]]
  `);
});

it('a line of a bulk payment that has no transfer does not go with it, and is paid by another one', async () => {
  const { bank, payer } = await withPayees(temporary, new BankHere(BULK), ['Ada', 'Bea']);
  const store = await storeOf(payer);
  await beginLine(store, 1);
  await beginLine(store, 2, { isNoted: false });
  const joint = await beginBulk(store);
  await store.change({ type: 'bulk-begun', flow: joint, lines: [1, 2] });
  expect([told(await payer.run(RUN)), bank.sent, bank.payments.length]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 executed tr-2 ", "2 of 2 paid (21.00 EUR).", "done"],
     ["verify bulk payment", "sca pay-1", "verify bulk payment", "sca pay-2"], 2]
  `);
});

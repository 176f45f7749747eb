import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// Payments from a file at a bank that takes bulk payments in pain.001, and says in pain.002 what became of each.

const FROM = 'IT89F0999001600000010482620';
/** A payment that the bank has accepted is not final yet. */
const ACCEPTED = 'The bank has accepted it, and has not said that it is final';

describe.each(['pain.001.001.03', 'pain.001.001.09'] as const)('a bulk payment in %s', (format) => {
  const product = 'pain.001-sepa-credit-transfers';
  const operator = useSecondDoor([], {
    payments: { bulk: { format }, products: { 'bulk-payments': [product] } },
  });

  it('is taken, and each line has the outcome that the bank says', async () => {
    await operator.request();
    const path = join(operator.folder, 'xml.csv');
    const rows = ['Ada + Co', 'EXECUTE REFUSED', 'Dora'].map(
      (name, index) => `${name},DE89370400440532013000,7.${index + 10},Invoice ${index}\n`,
    );
    writeFileSync(path, `name,iban,amount,description\n${rows.join('')}`);
    const added = ['batch', 'add', path, '--from', FROM, '--json'];
    const { batch } = await operator.json(shapes.batch, added);
    const ran = await operator.psd2(['batch', 'run', batch, '--yes', '--json', '--as', 'bulk']);
    expect([ran.code, readError(ran).message]).toEqual([8, '1 of 3 payments was not made']);
    const rowsAfter = await operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
    expect(rowsAfter.map(({ state, reason, paidAt }) => [state, reason, paidAt])).toEqual([
      ['executed', ACCEPTED, null],
      ['failed', 'RJCT', null],
      ['executed', ACCEPTED, null],
    ]);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import { keepRunning, useSandbox } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useSandbox());

it('the door of the sandbox as it comes pays a file on a day, with one authorisation', async () => {
  operator.env.PSD2_PROFILE = 'sandbox-nextgen';
  const path = join(operator.folder, 'payments.csv');
  const rows = ['Ada', 'Bea', 'Cleo'].map(
    (name, at) => `${name},DE89370400440532013000,${at + 1}.50,INV-${at}\n`,
  );
  writeFileSync(path, `name,iban,amount,reference\n${rows.join('')}`);
  const day = addDays(bankDay(new Date()), 16);
  const words = ['--from', 'IT89F0999001600000010482620', '--date', day];
  const { stdout } = await operator.succeeds(['batch', 'check', path, ...words, '--query', 'scas']);
  expect(stdout).toBe('1\n');
  const { batch } = await operator.json(shapes.batch, ['batch', 'add', path, ...words]);
  const lines = await operator.json(shapes.batchLines, ['batch', 'run', batch, '--yes']);
  expect(lines.map(({ state, paidAt, executionDate }) => [state, paidAt, executionDate])).toEqual(
    Array(3).fill(['ordered', null, day]),
  );
});

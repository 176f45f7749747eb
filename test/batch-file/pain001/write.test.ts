import { describe, expect, test } from 'vitest';
import { readFile } from '../reading.ts';
import { textOf } from '../rows.ts';
import { orderedPayment, writeExample } from './written.ts';

describe.each(['pain.001.001.03', 'pain.001.001.09'] as const)('a %s that psd2 writes', (format) => {
  test('is read back as it was, payment by payment', async () => {
    const { said, lines, source } = await readFile(await textOf(writeExample(format)));
    expect(said).toEqual([
      expect.stringMatching(/^warning .*PmtInf\[1\]\/CdtTrfTxInf\[2\]: Payment 1 has the same payee/),
    ]);
    expect(source).toEqual({ format, messageId: 'M-1', count: 3, sum: '26.00' });
    expect(
      lines.map(({ reference, amount, name, description, instant, urgent }) => [
        ...[reference, amount, name, description, instant, urgent],
      ]),
    ).toEqual([
      ['E-1', '12.50', 'Ada Lovelace', 'Invoice 7', false, false],
      ['E-2', '12.50', 'Ada Lovelace', 'Invoice 7', false, false],
      ['E-3', '1.00', "A'B (C) + D", '', true, true],
    ]);
    expect(
      lines.map(({ ids, fromIban, executionDate }) => [ids.paymentInformationId, fromIban, executionDate]),
    ).toEqual(['P-1', 'P-1', 'P-2'].map((id) => [id, 'IT60X0542811101000000123456', '2026-12-01']));
  });

  test('ends with an error if a group has other payments than it announces', async () => {
    await expect(textOf(writeExample(format, [orderedPayment()]))).rejects.toThrow(/has 1 payments of 12.50/);
  });
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writePain002 } from '../../src/batch-file/report/pain002.ts';
import type { LineState } from '../../src/domain/batch/report-row.ts';
import { parseDate } from '../../src/domain/calendar.ts';
import { OPERATION_STATES } from '../../src/domain/operation.ts';
import { schemaOf } from '../support/iso-schemas.ts';
import { orderedPayment, writeExample } from './pain001/written.ts';
import { readFile } from './reading.ts';
import { reportRow, textOf } from './rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'psd2-schemas-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What xmllint says of a document against the schema of its message. Empty: it is valid. */
function faultsIn(document: string, message: Parameters<typeof schemaOf>[0]): string {
  const file = join(folder, 'document.xml');
  writeFileSync(file, document);
  const { status, stderr } = spawnSync(
    'xmllint',
    ['--nonet', '--noout', '--schema', schemaOf(message), file],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? '' : stderr;
}

const REPORT = {
  ...{ messageId: 'psd2-1', createdAt: '2026-11-23T10:00:00+01:00', originalMessageId: 'M-1' },
  originalFormat: 'pain.001.001.09',
} as const;
const STATES: LineState[] = ['waiting', ...OPERATION_STATES];

describe('a document that psd2 writes fits the schema of ISO 20022', () => {
  test.each(['pain.001.001.03', 'pain.001.001.09'] as const)('as %s', async (format) => {
    const written = await textOf(writeExample(format));
    // The schema of version 03 is that of SEPA, older than instant payments.
    const instrument = '<LclInstrm><Cd>INST</Cd></LclInstrm>';
    expect(written).toContain(instrument);
    const document = format === 'pain.001.001.03' ? written.replace(instrument, '') : written;
    expect(faultsIn(document, format)).toBe('');
    // The schema finds what is wrong.
    expect(faultsIn(document.replace('<PmtMtd>TRF</PmtMtd>', ''), format)).toMatch(/PmtMtd/);
  });

  test('as pain.001.001.09 with an address', async () => {
    const address = {
      ...{ country: 'IT', townName: 'Roma', postCode: '00100', streetName: 'Via Roma', buildingNumber: '1' },
      lines: ['Scala B', 'Int. 7'],
    };
    const payment = orderedPayment({ address });
    expect(
      faultsIn(await textOf(writeExample('pain.001.001.09', [payment, payment])), 'pain.001.001.09'),
    ).toBe('');
  });

  test('as pain.002.001.10, in any state, with all ids or none, and with any text', async () => {
    const ids = { paymentInformationId: 'P-1', instructionId: 'I-1', endToEndId: 'E-1' };
    const rows = [
      ...STATES.map((state) => reportRow({ state, ids })),
      reportRow({ ids: { ...ids, paymentInformationId: 'P-2' }, reason: 'é<&>\u0000\u{1f600} '.repeat(80) }),
      reportRow({ from: null, flow: null, reference: null, endToEndId: null, description: '' }),
      reportRow({
        ...{ from: 'IT60X0542811101000000123456', executionDate: parseDate('--date', '2026-12-01') },
        ...{ paidAt: '2026-12-01T10:00:00+01:00', name: 'x'.repeat(200), flow: 'f'.repeat(50) },
      }),
    ];
    const document = await textOf(writePain002(rows, REPORT));
    expect(faultsIn(document, 'pain.002.001.10')).toBe('');
    expect(document.match(/<OrgnlPmtInfId>[^<]*/g)).toEqual(
      ['P-1', 'P-2', 'M-1'].map((id) => `<OrgnlPmtInfId>${id}`),
    );
    expect(
      faultsIn(await textOf(writePain002([], { ...REPORT, originalFormat: 'csv' })), 'pain.002.001.10'),
    ).toBe('');
  });

  test('where only what surely was not paid is rejected', async () => {
    const document = await textOf(
      writePain002(
        [...STATES.map((state) => reportRow({ state })), reportRow({ state: 'failed', isUncertain: true })],
        REPORT,
      ),
    );
    const statuses = document.match(/(?<=<TxSts>)[A-Z]{4}/g) ?? [];
    expect(STATES.filter((_state, index) => ['RJCT', 'CANC'].includes(statuses[index] ?? ''))).toEqual(
      STATES.filter((state) => ['failed', 'rejected', 'expired', 'cancelled'].includes(state)),
    );
    expect(statuses.at(-1)).toBe('PDNG');
  });
});

describe('psd2 reads what other libraries write', () => {
  const require = createRequire(import.meta.url);

  test('sepa', async () => {
    const { Document } = require('sepa');
    const file = new Document('pain.001.001.09');
    file.grpHdr.id = 'SEPA-1';
    file.grpHdr.created = new Date('2026-11-20T10:00:00Z');
    file.grpHdr.initiatorName = 'Acme';
    const group = file.createPaymentInfo();
    Object.assign(group, { requestedExecutionDate: new Date('2026-12-01T00:00:00Z'), debtorName: 'Acme' });
    Object.assign(group, {
      debtorIBAN: 'DE89370400440532013000',
      debtorBIC: 'COBADEFFXXX',
      debtorId: 'DE98ZZZ09999999999',
    });
    file.addPaymentInfo(group);
    for (const [id, amount] of [
      ['A-1', 12.5],
      ['A-2', 0.1],
    ] as const) {
      const payment = group.createTransaction();
      Object.assign(payment, { creditorName: 'Mario Rossi', creditorIBAN: 'IT60X0542811101000000123456' });
      Object.assign(payment, {
        creditorBIC: 'BPMOIT22XXX',
        amount,
        remittanceInfo: 'Invoice 7',
        end2endId: id,
      });
      group.addTransaction(payment);
    }
    const { lines, said, source } = await readFile(file.toString());
    expect(said).toEqual([]);
    expect(source).toMatchObject({ messageId: 'SEPA-1', count: 2, sum: '12.60' });
    expect(lines.map(({ reference, amount }) => [reference, amount])).toEqual([
      ['A-1', '12.50'],
      ['A-2', '0.10'],
    ]);
  });

  test('sepa-xml', async () => {
    const SepaXml = require('sepa-xml');
    const file = new SepaXml('pain.001.001.03');
    file.setHeaderInfo({ messageId: 'XML-1', initiator: 'Acme' });
    file.setPaymentInfo({
      ...{ id: 'P-1', method: 'TRF', senderName: 'Acme', senderIBAN: 'DE89370400440532013000' },
      ...{ bic: 'COBADEFFXXX', when: new Date('2026-12-01T00:00:00Z') },
    });
    file.addTransaction({
      ...{ id: 'A-1', amount: 12.5, name: 'Mario Rossi', iban: 'IT60X0542811101000000123456' },
      ...{ bic: 'BPMOIT22XXX', description: 'Invoice 7' },
    });
    const written = await new Promise<string>((resolve, reject) => {
      file.compile((error: Error | null, text: string) => (error ? reject(error) : resolve(text)));
    });
    const { lines, said } = await readFile(written);
    expect(said).toEqual([]);
    expect(lines).toMatchObject([
      { reference: 'A-1', amount: '12.50', name: 'Mario Rossi', executionDate: '2026-12-01' },
    ]);
  });
});

import { expect, it } from 'vitest';
import { parseDate } from '../../../../src/domain/calendar.ts';
import { parseProductId } from '../../../../src/domain/identifiers.ts';
import { success } from '../../answers.ts';
import { useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const PDF = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff, 0xfe, 0x0a]);
const pdf = { status: 200, headers: { 'content-type': 'application/pdf' }, body: PDF };
const RECEIPT = '/private/customers/1234567/products/0000012345/common/printer/r1/retrieve';

const target = { customerId: '1234567', from: parseProductId('0000012345') };

it('a receipt arrives byte for byte', async () => {
  recorded.expect('GET', RECEIPT, pdf);
  expect(await openClient().bank.payments.receipt(target, 'r1', transactionId)).toEqual(PDF);
});

it("the document of a range's transactions arrives byte for byte", async () => {
  const path = '/private/customers/1234567/products/0000012345/transactions/retrieve';
  recorded.expect('GET', `${path}?dateFrom=01%2F06%2F2026&dateTo=30%2F06%2F2026&exportType=pdf`, pdf);
  const document = await openClient().bank.accounts.document(
    {
      customerId: '1234567',
      productId: '0000012345',
      from: parseDate('--from', '2026-06-01'),
      to: parseDate('--to', '2026-06-30'),
      transactionId,
    },
    'pdf',
  );
  expect(document).toEqual(PDF);
});

it('psd2 refuses an envelope as a document', async () => {
  recorded.expect('GET', RECEIPT, success('{}'));
  const receipt = openClient().bank.payments.receipt(target, 'r1', transactionId);
  await expect(receipt).rejects.toMatchObject({ code: 'bank_answer' });
});

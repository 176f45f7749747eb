import { expect, it } from 'vitest';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');

const LINE: BatchLine = {
  ...{ line: 1, place: 'line 2', customer: null, from: parseProductId('0010482620') },
  ...{ fromIban: null, name: 'Ada Lovelace', iban: parseSepaIban('DE89370400440532013000') },
  ...{ amount: parsePaymentAmount('1.00'), currency: 'EUR', description: '', reference: null },
  ...{ executionDate: null, instant: false, urgent: false, payeeVerified: false, address: null },
  ids: { paymentInformationId: null, instructionId: null, endToEndId: null },
};
const added = {
  ...{ format: 'csv' as const, messageId: null, note: null, retryOf: null, payees: [] },
  ...{ by: 'ada', user: 'ada', machine: 'pisp-1' },
};

it('a worker may change nothing of a batch but the number of its events', async () => {
  await stores.init({ roles: true });
  const rights = ['profile', 'batch', 'sha256', 'message_id', 'events'].map((column) =>
    stores.sql(`select has_column_privilege('psd2_worker', 'psd2.batches', '${column}', 'update')`),
  );
  expect(rights).toEqual(['f', 'f', 'f', 'f', 't']);
});

it('whatever the row of a batch says, its content is stored once, and its lines begin once', async () => {
  await stores.init({ roles: true });
  const open = () => stores.worker({ isPlain: true }).open('bank').batches;
  const [one, other] = [open(), open()];
  const { batch } = await one.add({ added, lines: [LINE], again: false });
  const begin = (batches: typeof one, flow: string) =>
    batches.change(batch, (now) => (now.flows.has(1) ? null : { type: 'line-begun', line: 1, flow }));
  expect((await begin(other, 'tr-1')).recorded).toBe(true);
  stores.sql(`update psd2.batches set events = 1, sha256 = '00'`);
  expect((await begin(one, 'tr-2')).recorded).toBe(false);
  expect((await one.find(batch)).flows).toEqual(new Map([[1, 'tr-1']]));
  await expect(one.add({ added, lines: [LINE], again: false })).rejects.toMatchObject({
    message: `The batch ${batch} has the same content`,
  });
  expect((await one.add({ added, lines: [LINE], again: true })).batch).toBe(`${batch}-2`);
});

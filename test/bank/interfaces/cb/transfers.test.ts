import { describe, expect, it } from 'vitest';
import { parseDate } from '../../../../src/domain/calendar.ts';
import type { TransferOrder } from '../../../../src/domain/transfer.ts';
import { transferOrder } from '../../../domain/orders.ts';
import { success } from '../../answers.ts';
import { announcements, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const TRANSFER = '/private/customers/1234567/products/0000012345/moneyTransfer';

const callsOf = (order: TransferOrder) => openClient().bank.payments.transfer({ order, transactionId });

describe('a transfer', () => {
  const order = transferOrder({ urgent: true, executionDate: parseDate('--date', '2026-12-01') });

  it.each(['INSTANT', null])(
    'psd2 verifies a transfer of the type %s in data, with amounts as strings',
    async (type) => {
      const { announced, beforeSend } = announcements();
      recorded.expect(
        'POST',
        `${TRANSFER}/verify`,
        success(
          '{"totalAmount":{"amount":"13.000","currency":"EUR"},"commissions":{"commissions":"0.500","currency":"EUR"},"bankName":"BANCA","additionalChecks":[{}]}',
          { resourceId: 'r1', next: { method: 'PUT', href: 'r1/execute' } },
        ),
      );
      expect(await callsOf({ ...order, type }).verify(beforeSend)).toEqual({
        resourceId: 'r1',
        totalAmount: { amount: '13.000', currency: 'EUR' },
        commissions: { amount: '0.500', currency: 'EUR' },
        bankName: 'BANCA',
        nextStep: 'execute',
      });
      expect(recorded.lastJson).toEqual({
        data: {
          moneyTransferAmount: { currency: 'EUR', amount: '12.50' },
          flagUrgency: true,
          ...(type && { type }),
          moneyTransferExecutionDate: '01/12/2026',
          ibanBeneficiary: 'IT60X0542811101000000123456',
          beneficiaryName: 'Mario Rossi',
          description: 'Invoice 7',
        },
      });
      expect(announced).toHaveLength(1);
    },
  );

  it.each([
    [success('{"cro":"0012345678","moneyTransferOffline":false}'), '0012345678'],
    [success('{}'), null],
  ])('psd2 executes a transfer with the body {}', async (answer, cro) => {
    recorded.expect('PUT', `${TRANSFER}/r1/execute`, answer);
    const { announced, beforeSend } = announcements();
    expect(await callsOf(order).execute?.('r1', beforeSend)).toEqual({ cro });
    expect(recorded.last.body.toString()).toBe('{}');
    expect(announced).toEqual([
      { requestId: recorded.last.headers['tpp-request-id'], digest: recorded.last.headers.digest },
    ]);
  });

  it('psd2 does not take HTTP 204 for an execution, since an intermediary may have sent it', async () => {
    recorded.expect('PUT', `${TRANSFER}/r1/execute`, { status: 204 });
    const { beforeSend } = announcements();
    await expect(callsOf(order).execute?.('r1', beforeSend)).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringMatching(/execute is empty$/),
    });
  });

  it.each(['{}', '{"data":{"cro":"1"}}', '{"error":{"code":5}}', '[]', 'null', '<html>', ''])(
    'psd2 does not take HTTP 200 with %j for an execution',
    async (body) => {
      recorded.expect('PUT', `${TRANSFER}/r1/execute`, { status: 200, body });
      const { beforeSend } = announcements();
      await expect(callsOf(order).execute?.('r1', beforeSend)).rejects.toThrow(
        expect.objectContaining({ httpStatus: 200 }),
      );
    },
  );
});

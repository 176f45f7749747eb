import { describe, expect, it } from 'vitest';
import type { Bank } from '../../../../src/bank/ports/bank.ts';
import { parseProductId } from '../../../../src/domain/identifiers.ts';
import { transferOrder } from '../../../domain/orders.ts';
import { success } from '../../answers.ts';
import { announcements, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const resourceId = 'ab-1';
const customerId = '1234567';
const target = { customerId, from: parseProductId('0000012345'), operation: 'standingOrder', data: '{}' };
const PRODUCT = '/private/customers/1234567/products/0000012345';
const { beforeSend } = announcements();

const callsOf = (bank: Bank) => bank.payments.operation({ order: target, transactionId });
const instantCallsOf = (bank: Bank) =>
  bank.payments.transfer({
    order: transferOrder({ customerId, from: target.from, instant: true }),
    transactionId,
  });

/** A call about the resource ab-1, with the data of its answer. */
interface AboutResource {
  name: string;
  method: string;
  path: string;
  data: string;
  make: (bank: Bank) => Promise<unknown>;
}

const about = (
  name: string,
  [method, path]: [method: string, path: string],
  data: string,
  make: (bank: Bank) => Promise<unknown> | undefined,
): AboutResource => ({
  ...{ name, method, path, data },
  make: (bank) => make(bank) ?? Promise.reject(new TypeError(`There is no ${name}`)),
});

const EXECUTE = about('execute', ['PUT', `${PRODUCT}/standingOrder/ab-1/execute`], '{}', (bank) =>
  callsOf(bank).execute?.(resourceId, beforeSend),
);
const CONFIRM = about(
  'confirm',
  ['PUT', '/private/customers/1234567/consent/request/ab-1/confirm'],
  '{}',
  (bank) => bank.consents.confirm({ customerId, resourceId, transactionId, beforeSend }),
);
const statusCall = (decides?: boolean) =>
  about(
    'the status call',
    ['GET', '/private/operations/ab-1/status'],
    '{"authorizationStatus":"AUTHORIZED"}',
    (bank) => bank.sca.status(resourceId, transactionId, decides),
  );
const STATUS = statusCall();
const EXECUTION_STATUS = about(
  'the execution status call',
  ['GET', `${PRODUCT}/moneyTransfer/ab-1/execution/status`],
  '{"executionStatus":"OK"}',
  (bank) => instantCallsOf(bank).executionStatus?.(resourceId),
);
const APPROACH = about(
  'the SCA approach',
  ['GET', '/private/auth/security/sca/ab-1/approach'],
  '{"scaRedirectURL":"https://customers.example/sca"}',
  (bank) => bank.sca.start({ resourceId, redirectUri: 'http://127.0.0.1/', transactionId, beforeSend }),
);
const FURTHER = about('verify2', ['PUT', `${PRODUCT}/standingOrder/ab-1/verify2`], '{}', (bank) =>
  callsOf(bank).verifyFurther(resourceId, 'verify2', '{}', beforeSend),
);

function expectAnswer({ method, path }: AboutResource, data: string, named?: string): void {
  recorded.expect(method, path, success(data, named === undefined ? {} : { resourceId: named }));
}

describe('an answer that belongs to another request', () => {
  const ALL = [EXECUTE, CONFIRM, STATUS, EXECUTION_STATUS, APPROACH, FURTHER];

  it.each(ALL)('psd2 does not use an answer to $name that names another resource', async (call) => {
    expectAnswer(call, call.data, 'cd-2');
    await expect(call.make(openClient().bank)).rejects.toMatchObject({
      code: 'bank_answer',
      message: `The bank's answer to ${call.name} is about the resource cd-2, not about ab-1`,
      hint: 'psd2 did not use the answer. A gateway on the way may mix up answers.',
      transactionId,
    });
  });

  it.each(ALL)('psd2 uses an answer to $name that names its resource in any case, or none', async (call) => {
    const { bank } = openClient();
    for (const named of ['ab-1', 'AB-1', undefined]) {
      expectAnswer(call, call.data, named);
      await expect(call.make(bank)).resolves.not.toThrow();
    }
  });

  const OTHER_FIELDS = [
    ...[
      'authorizationStatus',
      'authenticationState',
      'executionStatus',
      'scaRedirectURL',
      'chosenScaApproach',
    ],
    ...['totalAmount', 'categoriesOutcome'],
  ];

  it.each(OTHER_FIELDS)(
    'a success with the field %s, which answers another call, confirms and executes nothing',
    async (field) => {
      const { bank } = openClient();
      for (const call of [EXECUTE, CONFIRM]) {
        expectAnswer(call, `{"${field}":null}`);
        await expect(call.make(bank)).rejects.toMatchObject({
          code: 'bank_answer',
          message: `The bank's answer to ${call.name} has the field ${field}, so it belongs to another request`,
          transactionId,
        });
      }
    },
  );

  it.each(['null', '"done"', '{"cro":"1"}', '{"other":1}'])(
    'a success of confirm with the data %s confirms the consent',
    async (data) => {
      expectAnswer(CONFIRM, data);
      await expect(CONFIRM.make(openClient().bank)).resolves.toBeUndefined();
    },
  );
});

describe('the connections of calls about money', () => {
  /** Makes a call between two others. @returns the connection of each */
  async function connectionsOf(call: AboutResource): Promise<(number | undefined)[]> {
    const { bank } = openClient();
    for (const each of [FURTHER, call, FURTHER]) {
      expectAnswer(each, each.data);
      await each.make(bank);
    }
    return recorded.received.map(({ clientPort }) => clientPort);
  }

  it.each<[string, AboutResource]>([
    ['execute', EXECUTE],
    ['confirm', CONFIRM],
    ['a status that decides', statusCall(true)],
    ['an execution status', EXECUTION_STATUS],
  ])('%s goes over a connection that no other call uses before or after it', async (_what, call) => {
    const [before, own, after] = await connectionsOf(call);
    expect(own).not.toBe(before);
    expect(after).toBe(before);
  });

  it.each<[string, AboutResource]>([
    ['a status that decides nothing', STATUS],
    ['the start of SCA', APPROACH],
  ])('%s goes over the connection of the other calls', async (_what, call) => {
    expect(new Set(await connectionsOf(call)).size).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import type { StepEvent } from '../../src/domain/operation.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf } from './doubles.ts';
import { newTransfer } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const temporary = temporaryFolder();

const SENT: StepEvent[] = [
  VERIFIED,
  { type: 'accepted' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
  { type: 'execute-sent', requestId: 'request-1', digest: null },
];

/** A transfer whose journal has these events. */
async function transferAfter(events: StepEvent[]) {
  const transfer = await newTransfer(newConfigFolder(temporary));
  for (const event of events) await transfer.open.record(event);
  const { flow } = transfer.open.current;
  const before = transfer.events().length;
  const { bank } = openClient({ now: transfer.world.now });
  return { flow, run: () => transfer.run(bank), written: () => transfer.events().slice(before) };
}

function decided(status: 'NOT_AUTHORIZED' | 'EXPIRED'): StepEvent {
  return { type: 'authorization', status, bankStatus: status };
}

function resolved(outcome: 'executed' | 'not-executed', note: string | null): StepEvent {
  return { type: 'resolved', outcome, by: 'ada@pisp-1', note };
}

describe('a transfer that has ended', () => {
  it.each<[string, StepEvent[], string, string]>([
    [
      'the bank did not verify it',
      [{ type: 'verify-refused', description: 'wrong IBAN' }],
      'bank_refused',
      'The bank refused the transfer <flow>: wrong IBAN',
    ],
    [
      'the bank did not verify it, and did not say why',
      [{ type: 'verify-refused' }],
      'bank_refused',
      'The bank refused the transfer <flow>',
    ],
    [
      'its payment failed',
      [...SENT, { type: 'settlement', status: 'KO', description: null }],
      'payment_failed',
      'The payment failed',
    ],
    [
      'its payment failed and the bank says why',
      [...SENT, { type: 'settlement', status: 'KO', description: 'Account closed' }],
      'payment_failed',
      'The payment failed: Account closed',
    ],
    [
      'a person said that it was not executed',
      [...SENT, resolved('not-executed', null)],
      'payment_failed',
      'The transfer <flow> has ended: ada@pisp-1 said that it was not executed',
    ],
    [
      'a person said so and why, whatever the bank had said',
      [
        ...SENT,
        { type: 'settlement', status: 'KO', description: 'No' },
        resolved('not-executed', 'Case 4711'),
      ],
      'payment_failed',
      'The transfer <flow> has ended: ada@pisp-1 said that it was not executed: Case 4711',
    ],
    [
      'the customer declined',
      [VERIFIED, decided('NOT_AUTHORIZED')],
      'not_authorised',
      'The customer did not authorise the transfer',
    ],
    [
      'the customer was too late',
      [VERIFIED, decided('EXPIRED')],
      'authorisation_expired',
      'The customer did not authorise the transfer in time',
    ],
    [
      'the operator did not accept it',
      [VERIFIED, { type: 'cancelled' }],
      'cancelled',
      'The transfer was cancelled before the customer was asked',
    ],
    [
      'the operator cancelled it later',
      [VERIFIED, { type: 'accepted' }, { type: 'sca-started' }, { type: 'cancelled' }],
      'cancelled',
      'The transfer was cancelled before it was executed',
    ],
  ])(
    'if %s, resume says so and that no money moved, and asks the bank nothing',
    async (_, events, code, message) => {
      const { flow, run, written } = await transferAfter(events);
      expect(await errorOf(run())).toMatchObject({
        code,
        message: message.replace('<flow>', flow),
        hint: 'No money moved. You can make a new one.',
        next: undefined,
        transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
      });
      expect(written()).toEqual([]);
      expect(recorded.received).toEqual([]);
    },
  );

  it('a transfer of which a person said that it was executed is done when it is resumed', async () => {
    const { run, written } = await transferAfter([...SENT, resolved('executed', 'Case 4711')]);
    expect(await run()).toMatchObject({ state: 'settled' });
    expect(written()).toEqual([]);
    expect(recorded.received).toEqual([]);
  });
});

it('a transfer whose journal lacks the line with the resource is not continued', async () => {
  const { flow, run, written } = await transferAfter(SENT.slice(1));
  expect(await errorOf(run())).toMatchObject({
    code: 'config',
    message: `The journal of ${flow} does not have the line with its resource at the bank`,
    hint: 'The journal is the record of a flow. Restore it from a backup.',
  });
  expect(written()).toEqual([]);
  expect(recorded.received).toEqual([]);
});

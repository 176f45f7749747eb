import { expect, it } from 'vitest';
import type { Observation } from '../../../src/bank/ports/call.ts';
import { evidenceIn } from '../../../src/commands/flow/ports.ts';
import { callRecorder } from '../../../src/commands/open/call-records.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';

it.each([
  [7, ''],
  [8, 'psd2 has made 8 of the 10 calls a day with client credentials.\n'],
])(
  'psd2 warns when four fifths of the calls of a day are used up: after %i of 10 it says %j',
  async (made, warning) => {
    const { context, said } = openCommand(newConfigFolder(temporary), NOW, {
      env: { PSD2_CC_DAILY_LIMIT: '10' },
    });
    const { calls } = await context.store();
    for (let call = 0; call < made; call += 1) await calls.count(bankDay(new Date(NOW)));
    await callRecorder(context, 'client_credentials', 'psd2.bank.example');
    expect(said()).toBe(warning);
  },
);

it('the log says of a request that it never left, and of no other', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const record = await callRecorder(context, 'authorization_code', 'psd2.bank.example');
  const call = (tppRequestId: string, mayHaveLeft: boolean): Observation => ({
    ...{ method: 'PUT', path: '/x/execute', outcome: 'PostgreSQL is gone', at: new Date(NOW) },
    ...{
      milliseconds: 1,
      transactionId: `t-${tppRequestId}`,
      requestId: null,
      apiTrackId: undefined,
      isPrivate: true,
    },
    ...{ tppRequestId, mayHaveLeft, irrevocable: true },
  });
  await record(call('never-left', false));
  await record(call('left', true));
  const { neverLeft, hasSent } = evidenceIn(context);
  expect(await neverLeft('never-left')).toBe(true);
  expect(await neverLeft('left')).toBe(false);
  expect(await neverLeft('never')).toBe(false);
  expect(await neverLeft('unknown')).toBe(false);
  await record({ ...call('read', true), irrevocable: false });
  expect(await hasSent('t-left')).toBe(true);
  for (const id of ['t-never-left', 't-read', 't-', 'left']) expect(await hasSent(id)).toBe(false);
});

it('the log has what the bank called a payment whose answer came, and says if an answer is lost', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const record = await callRecorder(context, 'authorization_code', 'psd2.bank.example');
  const call = (transactionId: string, outcome: Observation['outcome'], begun?: string): Observation => ({
    ...{ method: 'POST', path: '/v1/payments/sepa-credit-transfers', outcome, at: new Date(NOW) },
    ...{ milliseconds: 1, transactionId, requestId: null, apiTrackId: undefined, isPrivate: false },
    ...{ tppRequestId: `q-${transactionId}`, mayHaveLeft: true, irrevocable: true },
    ...(begun !== undefined && { begun }),
  });
  await record(call('t-answered', 201, 'p1'));
  await record(call('t-without-id', 201));
  await record(call('t-lost', 'connection lost'));
  await record(call('t-refused', 400));
  const { initiated } = evidenceIn(context);
  expect(await initiated('t-answered')).toEqual({ answer: 'answered', resourceId: 'p1' });
  expect(await initiated('t-without-id')).toEqual({ answer: 'answered', resourceId: null });
  expect(await initiated('t-lost')).toEqual({ answer: 'lost' });
  expect(await initiated('t-refused')).toEqual({ answer: 'no' });
});

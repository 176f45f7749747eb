import { describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type { TokenSource } from '../../src/bank/ports/call.ts';
import { CallFailed } from '../../src/bank/transport/connection.ts';
import { isOpen, isPlainlyFailed } from '../../src/domain/flow-states.ts';
import type { TransferEvent, TransferOrder } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { Open } from '../../src/store/ports/flows.ts';
import { operationStatus, refusal, success } from '../bank/answers.ts';
import { type ClientOptions, useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { waitsOf } from './doubles.ts';
import {
  EXECUTED,
  executionStatus,
  executions,
  newTransfer,
  SCA_STARTED,
  scriptOf,
  VERIFIED as TRANSFER_VERIFIED,
  type TransferSetting,
} from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

const SCT = { instant: false, type: null };
const AUTHORIZED = operationStatus('AUTHORIZED');
const PENDING = executionStatus('PENDING');
const LOST = new Psd2Error('bank_unreachable', 'The bank could not be reached', {
  cause: new CallFailed('the connection was lost', { neverSent: false, passing: true, cause: undefined }),
});

/** A transfer that the customer has authorised. The bank may be asked once for its status. */
async function authorised(order: Partial<TransferOrder> = {}, options: ClientOptions = {}) {
  const transfer = await newTransfer(newConfigFolder(temporary), { order });
  const { bank } = openClient({ now: transfer.world.now, signal: transfer.world.signal, ...options });
  await transfer.open.record(VERIFIED);
  await transfer.open.record({ type: 'accepted' });
  await transfer.open.record({ type: 'sca-started' });
  await transfer.open.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
  script.status(AUTHORIZED);
  return { transfer, bank, run: () => transfer.run(bank) };
}

/** Tokens of which the bank refuses the first. */
function renewable(): TokenSource {
  let token = 'old';
  return {
    current: async () => token,
    renewed: async () => {
      token = 'new';
      return token;
    },
  };
}

async function stateOf(transfer: TransferSetting) {
  return (await transfer.stored()).state;
}

describe('an outcome that psd2 cannot record', () => {
  it.each<[string, ScriptedAnswer | undefined, RegExp]>([
    ['yes', undefined, /^The bank has executed it, but the journal could not be written: The disk is full$/],
    ['no', refusal(422), /^psd2 has sent execute, but the journal could not be written: The disk is full$/],
    ['no of a wrong token', refusal(401), /^psd2 has sent execute, but the journal could not be written/],
  ])(
    'if psd2 cannot record a %s, the outcome is unknown, and resume asks the bank and does not pay again',
    async (_, answer, message) => {
      const { transfer, bank, run } = await authorised(SCT, { tokens: renewable() });
      script.execute(answer);
      if (_ === 'no') script.status(AUTHORIZED);
      const open = await transfer.opened();
      const full: Open<'transfer'> = {
        ...open,
        get current() {
          return open.current;
        },
        record: async (event) => {
          if (open.current.state === 'executing') throw new Psd2Error('config', 'The disk is full');
          return open.record(event);
        },
      };
      const { world, customer } = transfer;
      const ports = { bank, world, customer, accept: async () => true };
      await expect(runOperation(full, bank.payments.transfer(open.current), ports)).rejects.toMatchObject({
        code: 'outcome_unknown',
        message: expect.stringMatching(message),
        next: expect.arrayContaining([['transfer', 'resume', open.current.flow]]),
      });
      expect(await stateOf(transfer)).toBe('executing');

      script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
      expect(await run()).toMatchObject({ state: 'executed' });
      expect(executions(recorded)).toBe(1);
    },
  );
});

/** Refusals in the bank's own envelope, with each status that a second delivery may get. */
const REFUSALS: [string, ScriptedAnswer][] = [
  ...[400, 401, 403, 404, 405, 409, 410, 412, 417, 418, 420, 422, 429].map(
    (status): [string, ScriptedAnswer] => [`HTTP ${status}`, refusal(status, 'ALREADY_EXECUTED')],
  ),
  ['HTTP 409 and ERROR without a code', { status: 409, body: '{"result":{"outcome":"ERROR"}}' }],
  ['HTTP 200 and ERROR', refusal(200, 'PSD2_FUNDS', 'No funds')],
];

describe('a refusal, which is about one delivery only', () => {
  it.each(REFUSALS)('after %s an SCT is executed if the bank’s status says so', async (_, answer) => {
    const { run, transfer } = await authorised(SCT, { tokens: renewable() });
    script.execute(answer);
    script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
    expect(await run()).toMatchObject({ state: 'executed' });
    expect(await transfer.stored()).toMatchObject({ state: 'executed', refusedUnconfirmed: false });
    expect(executions(recorded)).toBe(1);
  });

  it.each(REFUSALS)(
    'after %s an instant transfer is settled if its execution status says so',
    async (_, answer) => {
      const { run } = await authorised({}, { tokens: renewable() });
      script.execute(answer);
      script.executionStatus(executionStatus('OK'));
      expect(await run()).toMatchObject({ state: 'settled', refusedUnconfirmed: false });
      expect(executions(recorded)).toBe(1);
    },
  );

  it.each([
    ['KO', operationStatus('AUTHORIZED', 'KO'), 'failed', 'payment_failed'],
    ['NOT_AUTHORIZED', operationStatus('NOT_AUTHORIZED'), 'rejected', 'not_authorised'],
  ])(
    'the bank’s status %s after a refusal ends the transfer, and frees its reference',
    async (_, status, state, code) => {
      const { run, transfer } = await authorised(SCT);
      script.execute(refusal(412));
      script.status(status);
      await expect(run()).rejects.toMatchObject({ code });
      expect(await transfer.stored()).toMatchObject({ state, refusedUnconfirmed: false });
      expect(isPlainlyFailed(await transfer.stored())).toBe(true);
    },
  );

  it.each<[string, ScriptedAnswer, ScriptedAnswer]>(
    [400, 417, 422].flatMap((status): [string, ScriptedAnswer, ScriptedAnswer][] => [
      [`HTTP ${status}, and the status shows nothing`, refusal(status, 'PSD2_FUNDS', 'No funds'), AUTHORIZED],
      [`HTTP ${status}, and the bank does not give the status`, refusal(status), refusal(500)],
      [`HTTP ${status}, and the status is pending`, refusal(status), operationStatus('PENDING')],
      [`HTTP ${status}, and the status is EXPIRED`, refusal(status), operationStatus('EXPIRED')],
    ]),
  )('after %s the transfer has failed, but keeps its reference', async (_, answer, status) => {
    const { transfer, run } = await authorised(SCT);
    const { flow } = transfer.open.current;
    script.execute(answer);
    for (
      let tries = 0;
      tries < ('status' in Object(status) && Object(status).status === 500 ? 4 : 1);
      tries += 1
    )
      script.status(status);
    const refused = {
      code: 'bank_refused',
      hint: expect.stringContaining('the reference stays reserved'),
      next: [
        ['transfer', 'resume', flow],
        ['transfer', 'resolve', flow, '--executed'],
        ['transfer', 'resolve', flow, '--not-executed'],
      ],
    };
    await expect(run()).rejects.toMatchObject(refused);
    expect(await transfer.stored()).toMatchObject({ state: 'failed', refusedUnconfirmed: true });
    expect(isPlainlyFailed(await transfer.stored())).toBe(false);

    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject(refused);
    script.status(operationStatus('AUTHORIZED', 'OK'));
    expect(await run()).toMatchObject({ state: 'executed', refusedUnconfirmed: false });
    expect(executions(recorded)).toBe(1);
  });

  it.each(REFUSALS.filter(([name]) => !/HTTP 4(00|01|17|20|22|29)$/.test(name)))(
    'after %s, which may mean "already done", the outcome is unknown if the status shows nothing',
    async (_, answer) => {
      const { transfer, run } = await authorised(SCT);
      script.execute(answer);
      script.status(AUTHORIZED);
      await expect(run()).rejects.toMatchObject({
        code: 'outcome_unknown',
        message: expect.stringMatching(/^The bank refused execute, but its status does not show/),
      });
      expect(await transfer.stored()).toMatchObject({
        state: 'unknown',
        executionStatusDescription: expect.stringContaining(' PUT /private/'),
      });
      script.status(operationStatus('AUTHORIZED', 'OK'));
      expect(await run()).toMatchObject({ state: 'executed' });
      expect(executions(recorded)).toBe(1);
    },
  );

  it('psd2 asks for the execution status of a refused instant transfer once, a second after the refusal', async () => {
    const { transfer, run } = await authorised();
    script.execute(refusal(422));
    script.executionStatus(PENDING);
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'bank_refused' });
    expect(transfer.world.sleeps).toEqual([1000]);
  });
});

describe('what the operator learns about a refused execute', () => {
  it('psd2 says that it asks the bank what became of the transfer', async () => {
    const { transfer, bank } = await authorised(SCT);
    script.execute(refusal(422));
    script.status(operationStatus('AUTHORIZED', 'OK'));
    const { waits, whileWaiting } = waitsOf();
    await transfer.run(bank, { customer: { ...transfer.customer, whileWaiting } });
    expect(waits).toEqual(['Executing the transfer', 'Asking the bank what became of the transfer']);
  });

  it.each<[number, string, string]>([
    [
      422,
      'bank_refused',
      'The bank may have received the request twice, so the reference stays reserved. First ask the bank again, which never pays twice.',
    ],
    [409, 'outcome_unknown', 'First ask the bank again, which never pays twice.'],
  ])(
    'after HTTP %i the error has the advice and the ids that the support of the bank asks for',
    async (status, code, advice) => {
      const { transfer, run } = await authorised(SCT);
      const { flow, transactionId } = transfer.open.current;
      script.execute(refusal(status, 'PSD2_X', 'Not like this'));
      script.status(AUTHORIZED);
      const error: unknown = await run().catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code,
        message: expect.stringContaining('Not like this'),
        hint: `${advice} If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:`,
        flow,
        transactionId,
      });
      if (status === 409) {
        expect(error).toMatchObject({
          message: expect.stringMatching(
            /^The bank refused execute, but its status does not show whether it had executed the transfer before: /,
          ),
          cause: { code: 'bank_refused', httpStatus: 409 },
        });
      }
    },
  );

  it('the log of calls is asked only about an execute that the journal has', async () => {
    const { transfer, bank } = await authorised(SCT);
    await transfer.open.record({ type: 'execute-unanswered' });
    const asked: string[] = [];
    const neverLeft = async (id: string) => {
      asked.push(id);
      return true;
    };
    await expect(transfer.run(bank, { neverLeft })).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(asked).toEqual([]);
    expect(await stateOf(transfer)).toBe('unknown');
  });

  it('a transfer that was executed before the journal was restored keeps what the bank said last', async () => {
    const { transfer, run } = await authorised(SCT);
    script.execute(refusal(409, 'PSD2_X', 'Done already'));
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    const { executionStatusDescription } = await transfer.stored();
    await transfer.open.reread();
    await transfer.open.record({ type: 'execute-unanswered' });
    expect((await transfer.stored()).executionStatusDescription).toBe(executionStatusDescription);
  });
});

describe('an answer that belongs to another request', () => {
  it.each<[string, ScriptedAnswer]>([
    ['names another resource', success('{"cro":"0012345678"}', { resourceId: 'r2' })],
    ['is that of the status', operationStatus('AUTHORIZED')],
    ['is that of the execution status', executionStatus('PENDING')],
    ['is that of the SCA approach', SCA_STARTED],
    ['is that of verify', TRANSFER_VERIFIED],
  ])('a success that %s decides nothing', async (_, answer) => {
    const { transfer, run } = await authorised(SCT);
    script.execute(answer);
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await stateOf(transfer)).toBe('unknown');
  });

  it('a success that names the same resource in capitals counts', async () => {
    const { run } = await authorised(SCT);
    script.execute(success('{"cro":"0012345678"}', { resourceId: 'R1' }));
    expect(await run()).toMatchObject({ state: 'executed', cro: '0012345678' });
  });

  it('a status of another resource does not end an unknown transfer', async () => {
    const { transfer, run } = await authorised(SCT);
    script.execute('cut before the answer');
    const { body } = operationStatus('AUTHORIZED', 'OK');
    const ofAnother = `${body}`.replace('"data":', '"resources":{"resourceId":"r2"},"data":');
    script.status({ status: 200, body: ofAnother });
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await stateOf(transfer)).toBe('unknown');
  });

  it('execute and the questions after it each have a connection that nothing else uses', async () => {
    const { run } = await authorised(SCT);
    script.execute(refusal(412));
    script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
    await run();
    const used = recorded.received.map(({ clientPort }) => clientPort);
    expect(new Set(used).size).toBe(used.length);
  });
});

describe('an execute that never left', () => {
  it.each<[string, Error]>([
    ['the journal cannot be read', new Psd2Error('config', 'The journal cannot be read: EIO')],
    ['a bug', new RangeError('out of handles')],
  ])('if the last look before the first byte fails because of %s, it did not begin', async (_, why) => {
    const { transfer, bank, run } = await authorised(SCT);
    const open = await transfer.opened();
    const failing: Open<'transfer'> = {
      ...open,
      get current() {
        return open.current;
      },
      assertOurs: async () => {
        if (open.current.state === 'executing') throw why;
      },
    };
    const { world, customer } = transfer;
    const ports = { bank, world, customer, accept: async () => true };
    await expect(runOperation(failing, bank.payments.transfer(open.current), ports)).rejects.toBe(why);
    expect(await stateOf(transfer)).toBe('authorized');
    expect(transfer.events().slice(-2)).toEqual(['execute-sent', 'execute-not-begun']);
    expect(executions(recorded)).toBe(0);

    script.status(AUTHORIZED);
    script.execute();
    expect(await run()).toMatchObject({ state: 'executed' });
  });

  it('if the journal cannot be written either, psd2 says that it has sent nothing', async () => {
    const { transfer, bank } = await authorised(SCT);
    const open = await transfer.opened();
    const gone = new Psd2Error('config', 'The journal cannot be written: PostgreSQL is gone', {
      hint: 'Check it.',
    });
    const failing: Open<'transfer'> = {
      ...open,
      get current() {
        return open.current;
      },
      record: (event) => (open.current.state === 'executing' ? Promise.reject(gone) : open.record(event)),
      assertOurs: () => (open.current.state === 'executing' ? Promise.reject(gone) : open.assertOurs()),
    };
    const { world, customer } = transfer;
    const ports = { bank, world, customer, accept: async () => true };
    await expect(runOperation(failing, bank.payments.transfer(open.current), ports)).rejects.toMatchObject({
      code: 'config',
      message:
        'psd2 has sent nothing, but could not write that down: The journal cannot be written: PostgreSQL is gone',
      hint: 'Check it.',
    });
    expect(executions(recorded)).toBe(0);

    // The log of calls has it, so the transfer does not stay unknown.
    const { executeRequestId } = await transfer.stored();
    script.status(AUTHORIZED);
    await expect(transfer.run(bank, { neverLeft: async () => false })).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    script.status(AUTHORIZED);
    script.execute();
    const neverLeft = async (id: string) => id === executeRequestId;
    expect(await transfer.run(bank, { neverLeft })).toMatchObject({ state: 'executed' });
    expect(transfer.events().slice(-5)).toEqual([
      'execute-unanswered',
      'execute-not-begun',
      'authorization',
      'execute-sent',
      'executed',
    ]);
  });
});

/** After each of these answers the bank may or may not have executed the transfer. */
const NO_CLEAR_ANSWER: [string, ScriptedAnswer][] = [
  ['HTTP 500', refusal(500)],
  ['HTTP 503 with Retry-After', { status: 503, headers: { 'retry-after': '1' } }],
  ['HTTP 302', { status: 302, headers: { location: 'https://elsewhere.example/' } }],
  ['HTTP 408', { status: 408 }],
  [
    "HTTP 403 of a firewall's page",
    { status: 403, headers: { 'content-type': 'text/html' }, body: '<html>' },
  ],
  ["HTTP 403 and a gateway's JSON", { status: 403, body: '{"error":"forbidden"}' }],
  ['HTTP 400 with an empty body', { status: 400 }],
  ['HTTP 401 from a gateway', { status: 401, body: '{"error":"invalid_token"}' }],
  ['HTTP 429 from a gateway', { status: 429, body: '<html>' }],
  [
    'HTTP 410 with a page of unknown origin',
    { status: 410, headers: { 'content-type': 'text/html' }, body: '<html>' },
  ],
  ['HTTP 404 with an empty body', { status: 404 }],
  ['a web page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
  ['an empty body', { status: 200 }],
  ['no outcome', { status: 200, body: '{"result":{},"data":{"cro":"1"}}' }],
  ['no envelope', { status: 200, body: '{"data":{"cro":"1"}}' }],
  ['a cut connection', 'cut before the answer'],
  ['a cut answer', 'cut within the answer'],
  ['a timeout', 'no answer'],
];

const timeoutFor = (answer: ScriptedAnswer): ClientOptions =>
  answer === 'no answer' ? { timeoutMs: 1000 } : {};

describe.each(NO_CLEAR_ANSWER)('execute ends with %s', (_, answer) => {
  it('an instant transfer is settled if the bank then says OK', async () => {
    const { transfer, run } = await authorised({}, timeoutFor(answer));
    script.execute(answer);
    script.executionStatus(executionStatus('OK'));
    expect(await run()).toMatchObject({ state: 'settled', cro: null });
    // psd2 does not ask for the status in the first second after execute ended.
    expect(transfer.world.sleeps).toEqual([1000]);
    expect(executions(recorded)).toBe(1);
  });

  it('an SCT is unknown if the bank then gives no status, and stays unknown when it is resumed', async () => {
    const { transfer, run } = await authorised(SCT, timeoutFor(answer));
    script.execute(answer);
    script.status(AUTHORIZED);
    const unknown = {
      code: 'outcome_unknown',
      message: 'The bank does not say yet whether the transfer was executed',
      hint:
        'First ask the bank again, which never pays twice. If the outcome stays unknown, ' +
        "ask the bank's support or look at the account statement, then record what they say:",
      next: [
        ['transfer', 'resume', transfer.open.current.flow],
        ['transfer', 'resolve', transfer.open.current.flow, '--executed'],
        ['transfer', 'resolve', transfer.open.current.flow, '--not-executed'],
      ],
      flow: transfer.open.current.flow,
    };
    await expect(run()).rejects.toMatchObject(unknown);
    expect(await stateOf(transfer)).toBe('unknown');
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject(unknown);
    expect(executions(recorded)).toBe(1);
  });
});

describe('the answer to execute was lost', () => {
  const lost: ScriptedAnswer = 'cut before the answer';

  it('if the bank then says KO, the payment failed', async () => {
    const { transfer, run } = await authorised();
    script.execute(lost);
    script.executionStatus(executionStatus('KO', 'Account closed'));
    await expect(run()).rejects.toMatchObject({ code: 'payment_failed' });
    expect(await stateOf(transfer)).toBe('failed');
  });

  it('if the bank then says PENDING, psd2 waits for the final status', async () => {
    const { transfer, run } = await authorised();
    script.execute(lost);
    script.executionStatus(PENDING);
    script.executionStatus(PENDING);
    script.executionStatus(executionStatus('OK'));
    expect(await run()).toMatchObject({ state: 'settled' });
    expect(transfer.world.elapsed()).toBe(8000);
  });

  it('if the bank then says PENDING to the end, the outcome is unknown: PENDING does not confirm execution', async () => {
    const { transfer, run } = await authorised();
    script.execute(lost);
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(PENDING);
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await stateOf(transfer)).toBe('unknown');
    expect(transfer.world.elapsed()).toBe(15_000);
  });

  it.each([
    ['OK', 'executed'],
    ['EXECUTED', 'executed'],
  ])('the execution status %s of an operation confirms its execution', async (status, state) => {
    const { run } = await authorised(SCT);
    script.execute(lost);
    script.status(operationStatus('AUTHORIZED', status));
    expect(await run()).toMatchObject({ state, cro: null });
  });

  it('the execution status KO of an operation means that the payment failed', async () => {
    const { transfer, run } = await authorised(SCT);
    script.execute(lost);
    script.status(operationStatus('AUTHORIZED', 'KO'));
    await expect(run()).rejects.toMatchObject({ code: 'payment_failed' });
    expect(await stateOf(transfer)).toBe('failed');
  });

  it('a transfer that the customer did not authorise was not executed', async () => {
    const { transfer, run } = await authorised(SCT);
    script.execute(lost);
    script.status(operationStatus('NOT_AUTHORIZED'));
    await expect(run()).rejects.toMatchObject({ code: 'not_authorised' });
    expect(await stateOf(transfer)).toBe('rejected');
  });

  it.each<[string, ScriptedAnswer]>([
    ['does not know the resource', refusal(412)],
    ['does not answer', { status: 501 }],
  ])('if the bank %s, the outcome stays unknown', async (_, answer) => {
    const { transfer, run } = await authorised();
    script.execute(lost);
    script.executionStatus(answer);
    script.status(answer);
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await stateOf(transfer)).toBe('unknown');
  });
});

describe('an execute that the bank turned away', () => {
  it.each<[string, ScriptedAnswer]>([
    ['420', refusal(420)],
    ['429', refusal(429)],
  ])(
    'if the bank rate-limits execute with HTTP %s, psd2 can send it when the transfer is resumed',
    async (_, answer) => {
      const { transfer, run } = await authorised(SCT);
      script.execute(answer);
      script.status(AUTHORIZED);
      await expect(run()).rejects.toMatchObject({ code: 'too_many_calls' });
      expect(await transfer.stored()).toMatchObject({ state: 'authorized', refusedUnconfirmed: true });
      expect(isPlainlyFailed(await transfer.stored()) || isOpen(await transfer.stored())).toBe(false);
      expect(transfer.events().slice(-2)).toEqual(['execute-sent', 'execute-turned-away']);

      script.status(AUTHORIZED);
      script.execute();
      expect(await run()).toMatchObject({ state: 'executed', refusedUnconfirmed: false });
    },
  );

  it('if the bank refuses the token at execute, psd2 renews it and sends execute again', async () => {
    const { transfer, run } = await authorised(SCT, { tokens: renewable() });
    script.execute(refusal(401));
    script.status(AUTHORIZED);
    script.execute();
    expect(await run()).toMatchObject({ state: 'executed', refusedUnconfirmed: false });
    expect(transfer.events().slice(-5)).toEqual([
      'execute-sent',
      'execute-turned-away',
      'authorization',
      'execute-sent',
      'executed',
    ]);
    expect(recorded.received.map(({ headers }) => headers.authorization)).toEqual(
      ['old', 'old', 'new', 'new'].map((token) => `Bearer ${token}`),
    );
  });

  it('if the bank refuses the renewed token as well, the transfer waits for a login', async () => {
    const { transfer, run } = await authorised(SCT, { tokens: renewable() });
    script.execute(refusal(401));
    script.status(AUTHORIZED);
    script.execute(refusal(401));
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(await transfer.stored()).toMatchObject({ state: 'authorized', refusedUnconfirmed: true });
    expect(executions(recorded)).toBe(2);
  });

  it('if the second execute never leaves, the transfer still remembers that the first was refused', async () => {
    const { transfer, bank, run } = await authorised(SCT);
    script.execute(refusal(429));
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'too_many_calls' });
    const open = await transfer.opened();
    await open.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
    await open.record({ type: 'execute-sent', requestId: 'q', digest: null });
    await open.record({ type: 'execute-not-begun' });
    expect(open.current).toMatchObject({ state: 'authorized', refusedUnconfirmed: true });

    script.status(operationStatus('EXPIRED'));
    await expect(transfer.run(bank)).rejects.toMatchObject({ code: 'authorisation_expired' });
    expect(isPlainlyFailed(await transfer.stored())).toBe(false);
  });

  it('if the bank refuses the status after it turned execute away, the outcome is unknown, and psd2 sends nothing again', async () => {
    const { transfer, run } = await authorised(SCT, { tokens: renewable() });
    script.execute(refusal(401));
    script.status(refusal(412));
    await expect(run()).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringMatching(
        /^The bank turned execute away, and does not say whether it had executed/,
      ),
      cause: { code: 'bank_refused', httpStatus: 412 },
    });
    expect(await transfer.stored()).toMatchObject({ state: 'unknown', refusedUnconfirmed: true });
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(executions(recorded)).toBe(1);
  });

  it('so it is if a resumed transfer finds that the bank refuses the status', async () => {
    const { transfer, run } = await authorised(SCT);
    script.execute(refusal(420));
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'too_many_calls' });
    script.status(refusal(412));
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await stateOf(transfer)).toBe('unknown');
    expect(executions(recorded)).toBe(1);
  });

  it('if the bank fails on the status after it turned execute away, the transfer can be resumed', async () => {
    const { transfer, run } = await authorised(SCT, { tokens: renewable() });
    script.execute(refusal(401));
    script.status({ status: 501 });
    await expect(run()).rejects.not.toMatchObject({ code: 'outcome_unknown' });
    expect(await transfer.stored()).toMatchObject({ state: 'authorized', refusedUnconfirmed: true });
  });

  it('if execute was carried out although it was turned away, the second one is refused and the outcome unknown', async () => {
    const { transfer, run } = await authorised(SCT, { tokens: renewable() });
    script.execute(refusal(401));
    script.status(AUTHORIZED);
    script.execute(refusal(412, 'ALREADY_EXECUTED'));
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await stateOf(transfer)).toBe('unknown');
  });

  it.each([
    ['the connection was lost', LOST],
    ['the bank failed', new Psd2Error('bank_failing', 'The bank failed on POST /auth/oauth/v2/token')],
    ['the operator interrupted it', new Psd2Error('interrupted', 'Interrupted')],
  ])(
    'if the bank refuses the token at execute and psd2 cannot renew it because %s, execute can be sent on resume',
    async (_, why) => {
      const tokens: TokenSource = {
        current: async () => 'old',
        renewed: async () => {
          // From here on, whatever happens to this process: the journal has that the bank refused the call.
          expect(await transfer.stored()).toMatchObject({ state: 'authorized', refusedUnconfirmed: true });
          throw why;
        },
      };
      const { transfer, run } = await authorised(SCT, { tokens });
      script.execute(refusal(401));
      await expect(run()).rejects.toBe(why);
      expect(await stateOf(transfer)).toBe('authorized');

      script.status(AUTHORIZED);
      script.execute();
      const { bank } = openClient({ now: transfer.world.now });
      expect(await transfer.run(bank)).toMatchObject({ state: 'executed' });
      expect(executions(recorded)).toBe(2);
    },
  );

  it('an execute that psd2 never announced, because it got no token, is not unknown', async () => {
    let calls = 0;
    const tokens: TokenSource = {
      async current() {
        calls += 1;
        if (calls > 1) throw LOST;
        return 'token';
      },
      renewed: async () => 'never',
    };
    const { transfer, run } = await authorised(SCT, { tokens });
    await expect(run()).rejects.toBe(LOST);
    expect(await stateOf(transfer)).toBe('authorized');
    expect(transfer.events()).not.toContain('execute-sent');
    expect(executions(recorded)).toBe(0);
  });
});

describe('an interruption', () => {
  it('if the operator interrupts execute, psd2 draws no conclusion and asks the bank on resume', async () => {
    const { transfer, run } = await authorised(SCT);
    script.execute('no answer');
    const ended = expect(run()).rejects.toMatchObject({ code: 'interrupted' });
    await recorded.nextRequest();
    await recorded.nextRequest();
    transfer.world.interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    await ended;
    expect(await stateOf(transfer)).toBe('executing');

    script.status(operationStatus('AUTHORIZED', 'OK'));
    const { bank } = openClient({ now: transfer.world.now });
    expect(await transfer.run(bank)).toMatchObject({ state: 'executed' });
    expect(executions(recorded)).toBe(1);
  });

  it.each([
    ['psd2 asks for the outcome', SCT, 'cut before the answer', 'unknown'],
    ['psd2 waits for the settlement', {}, EXECUTED, 'executed'],
  ] as const)(
    'an interruption while %s stops the waiting and leaves the state of the flow unchanged',
    async (_, order, answer, state) => {
      const { transfer, run } = await authorised(order);
      script.execute(answer);
      if (state === 'unknown') script.status('no answer');
      else script.executionStatus('no answer');
      const ended = expect(run()).rejects.toMatchObject({ code: 'interrupted' });
      for (let requests = 0; requests < 3; requests += 1) await recorded.nextRequest();
      transfer.world.interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
      await ended;
      expect(await stateOf(transfer)).toBe(state);
    },
  );

  it('if the operator interrupts before execute is sent, psd2 does not announce it', async () => {
    const { transfer, run } = await authorised(SCT, {
      tokens: {
        async current() {
          if (recorded.received.length > 0)
            transfer.world.interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
          return 'token';
        },
        renewed: async () => 'never',
      },
    });
    await expect(run()).rejects.toMatchObject({ code: 'interrupted' });
    expect(await stateOf(transfer)).toBe('authorized');
    expect(executions(recorded)).toBe(0);
  });
});

it('an execution without a cro, or with warnings, counts as executed', async () => {
  const { run } = await authorised(SCT);
  script.execute(success('{}', { message: '{"code":"W1","message":"Late","type":"WARNING"}' }));
  expect(await run()).toMatchObject({ state: 'executed', cro: null });
});

describe('a process that stalled while another resumed its transfer', () => {
  /** Opens the transfer as a process that stalls right before `what`. Another process then records `theirs`. */
  async function standsStill(
    transfer: TransferSetting,
    what: TransferEvent['type'] | 'the first byte',
    ...theirs: TransferEvent[]
  ): Promise<Open<'transfer'>> {
    const open = await transfer.opened();
    const goOn = async () => {
      const other = await transfer.opened();
      for (const event of theirs.splice(0)) await other.record(event);
    };
    return {
      get current() {
        return open.current;
      },
      async record(event) {
        if (event.type === what) await goOn();
        return open.record(event);
      },
      async assertOurs() {
        if (what === 'the first byte' && open.current.state === 'executing') await goOn();
        await open.assertOurs();
      },
      reread: () => open.reread(),
    };
  }

  const runAs = ({ world, customer }: TransferSetting, open: Open<'transfer'>, bank: Bank) =>
    runOperation(open, bank.payments.transfer(open.current), {
      ...{ bank, world, customer },
      accept: async () => true,
    });

  const UNANSWERED = { type: 'execute-unanswered' } as const;
  const SENT = { type: 'execute-sent', requestId: 'theirs', digest: null } as const;

  it.each<['execute-sent' | 'the first byte', TransferEvent[], string]>([
    ['execute-sent', [SENT], 'executing'],
    ['execute-sent', [{ type: 'cancelled' }], 'cancelled'],
    ['the first byte', [UNANSWERED], 'unknown'],
  ])(
    'a process that stalled before %s sends nothing, and leaves the other’s work alone',
    async (what, theirs, state) => {
      const { transfer, bank } = await authorised(SCT);
      const open = await standsStill(transfer, what, ...theirs);
      await expect(runAs(transfer, open, bank)).rejects.toMatchObject({ code: 'overtaken' });
      expect(executions(recorded)).toBe(0);
      expect(await stateOf(transfer)).toBe(state);
    },
  );

  it('a process that stalled until the bank had executed records what the other could not learn', async () => {
    const { transfer, bank } = await authorised(SCT);
    script.execute();
    const open = await standsStill(transfer, 'executed', UNANSWERED);
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'executed', cro: '0012345678' });
    expect([await transfer.stored()][0]).toMatchObject({ state: 'executed', cro: '0012345678' });
    expect(executions(recorded)).toBe(1);
  });

  it('a process that stalled until a person said "not executed" records that the bank executed it', async () => {
    const { transfer, bank } = await authorised(SCT);
    script.execute();
    const resolved = { type: 'resolved', outcome: 'not-executed', by: 'ada@pisp-1', note: null } as const;
    const open = await standsStill(transfer, 'executed', UNANSWERED, resolved);
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'executed' });
    expect(await stateOf(transfer)).toBe('executed');
  });

  it('a process that stalled until the bank had refused records the refusal', async () => {
    const { transfer, bank } = await authorised(SCT);
    script.execute(refusal(422));
    script.status(AUTHORIZED);
    const open = await standsStill(transfer, 'execute-refused', UNANSWERED);
    await expect(runAs(transfer, open, bank)).rejects.toMatchObject({ code: 'bank_refused' });
    expect(await stateOf(transfer)).toBe('failed');
  });

  it('a process that stalled until the bank had turned execute away does not make it open again', async () => {
    const { transfer, bank } = await authorised(SCT);
    script.execute(refusal(429));
    const open = await standsStill(transfer, 'execute-turned-away', UNANSWERED);
    await expect(runAs(transfer, open, bank)).rejects.toMatchObject({ code: 'overtaken' });
    expect(await stateOf(transfer)).toBe('unknown');
    expect(transfer.events()).not.toContain('execute-turned-away');
    expect(executions(recorded)).toBe(1);
  });

  it('a process that stalled while the other only got further data records the execution', async () => {
    const { transfer, bank } = await authorised(SCT);
    script.execute();
    const open = await standsStill(transfer, 'executed', { type: 'further-data', data: ['{}'] });
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'executed', cro: '0012345678' });
    expect(await stateOf(transfer)).toBe('executed');
  });

  it('a process that stalled leaves the other’s findings unchanged', async () => {
    const { transfer, bank } = await authorised();
    script.execute();
    const settled = { type: 'settlement', status: 'OK', description: null } as const;
    const open = await standsStill(transfer, 'executed', { type: 'executed', cro: 'theirs' }, settled);
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'settled', cro: 'theirs' });
    expect(executions(recorded)).toBe(1);
  });

  it.each([UNANSWERED, { type: 'resolved', outcome: 'not-executed', by: 'ada', note: null } as const])(
    'a process whose execute had no answer changes nothing if the other recorded %j',
    async (theirs) => {
      const { transfer, bank } = await authorised(SCT);
      script.execute('cut before the answer');
      const isUnknown = theirs === UNANSWERED;
      if (isUnknown) script.status(operationStatus('AUTHORIZED'));
      const open = await standsStill(transfer, 'execute-unanswered', ...new Set([UNANSWERED, theirs]));
      await expect(runAs(transfer, open, bank)).rejects.toMatchObject({
        code: isUnknown ? 'outcome_unknown' : 'payment_failed',
      });
      expect(await stateOf(transfer)).toBe(isUnknown ? 'unknown' : 'failed');
      expect(transfer.events().filter((type) => type === 'execute-unanswered')).toHaveLength(1);
    },
  );

  it('a process that stalled while it asked for the outcome continues from what the other found out', async () => {
    const { transfer, bank } = await authorised(SCT);
    script.execute('cut before the answer');
    script.status(operationStatus('AUTHORIZED', 'OK'));
    const open = await standsStill(transfer, 'executed', { type: 'executed', cro: 'theirs' });
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'executed', cro: 'theirs' });
  });

  it('a process that gets no outcome from the bank continues from the outcome that the other got', async () => {
    const { transfer, bank } = await authorised(SCT);
    await transfer.open.record(SENT);
    const open = await standsStill(transfer, 'execute-unanswered', { type: 'executed', cro: 'theirs' });
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'executed', cro: 'theirs' });
  });

  it('a process that sees the settlement as pending continues from what the other found out', async () => {
    const { transfer, bank } = await authorised();
    script.execute();
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(PENDING);
    const settled = { type: 'settlement', status: 'OK', description: null } as const;
    const open = await standsStill(transfer, 'settlement', settled);
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'settled' });
  });

  it('a process that can no longer write to the journal says so, and asks the bank no more', async () => {
    const { transfer, bank } = await authorised();
    script.execute();
    script.executionStatus(executionStatus('OK'));
    const open = await transfer.opened();
    const record = open.record.bind(open);
    open.record = async (event) => {
      if (event.type === 'settlement') throw new Psd2Error('config', 'The disk is full');
      return record(event);
    };
    await expect(runAs(transfer, open, bank)).rejects.toMatchObject({ code: 'config' });
    expect(await stateOf(transfer)).toBe('executed');
  });

  it('a process that stalled while it asked for the settlement continues from what the other found out', async () => {
    const { transfer, bank } = await authorised();
    script.execute();
    script.executionStatus(executionStatus('OK'));
    const failed = { type: 'settlement', status: 'KO', description: 'theirs' } as const;
    const open = await standsStill(transfer, 'settlement', failed);
    await expect(runAs(transfer, open, bank)).rejects.toMatchObject({ code: 'payment_failed' });
    expect(await stateOf(transfer)).toBe('failed');
  });
});

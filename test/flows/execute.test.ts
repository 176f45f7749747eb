import { describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type { TokenSource } from '../../src/bank/ports/call.ts';
import { CallFailed } from '../../src/bank/transport/connection.ts';
import { isPlainlyFailed } from '../../src/domain/flow-states.ts';
import type { TransferEvent, TransferOrder } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { Open } from '../../src/store/ports/flows.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { type ClientOptions, useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { disturbed } from './doubles.ts';
import {
  EXECUTED,
  executionStatus,
  executions,
  newTransfer,
  scriptOf,
  type TransferSetting,
} from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

const SCT = { instant: false, type: null };
const AUTHORIZED = operationStatus('AUTHORIZED');
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

const FULL = new Psd2Error('config', 'The disk is full');

const runAs = ({ world, customer }: TransferSetting, open: Open<'transfer'>, bank: Bank) =>
  runOperation(open, bank.payments.transfer(open.current), {
    ...{ bank, world, customer },
    accept: async () => true,
  });

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
      const full = disturbed(open, (what) => {
        if (what !== 'the first byte' && open.current.state === 'executing') throw FULL;
      });
      await expect(runAs(transfer, full, bank)).rejects.toMatchObject({
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

describe('what the operator learns about a refused execute', () => {
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

it('execute and the questions after it each have a connection that nothing else uses', async () => {
  const { run } = await authorised(SCT);
  script.execute(refusal(412));
  script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
  await run();
  const used = recorded.received.map(({ clientPort }) => clientPort);
  expect(new Set(used).size).toBe(used.length);
});

describe('an execute that never left', () => {
  it.each<[string, Error]>([
    ['the journal cannot be read', new Psd2Error('config', 'The journal cannot be read: EIO')],
    ['a bug', new RangeError('out of handles')],
  ])('if the last look before the first byte fails because of %s, it did not begin', async (_, why) => {
    const { transfer, bank, run } = await authorised(SCT);
    const open = await transfer.opened();
    const failing = disturbed(open, (what) => {
      if (what === 'the first byte') throw why;
    });
    await expect(runAs(transfer, failing, bank)).rejects.toBe(why);
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
    const failing = disturbed(open, () => {
      if (open.current.state === 'executing') throw gone;
    });
    await expect(runAs(transfer, failing, bank)).rejects.toMatchObject({
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

describe('an execute that the bank turned away', () => {
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
    return disturbed(open, (before) => (before === what ? goOn() : undefined));
  }

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

  const RESOLVED = { type: 'resolved', outcome: 'not-executed', by: 'ada@pisp-1', note: null } as const;
  const settled = (status: 'OK' | 'KO') => ({ type: 'settlement', status, description: null }) as const;
  const FURTHER: TransferEvent = { type: 'further-data', data: ['{}'] };
  const THEIRS = { type: 'executed', cro: 'theirs' } as const;
  const paid = () => script.execute();
  const polled = (status: string) => () => {
    script.execute();
    for (let polls = 0; polls < (status === 'PENDING' ? 5 : 1); polls += 1)
      script.executionStatus(executionStatus(status));
  };
  const refusedWith = (status: number) => () => {
    script.execute(refusal(status));
    if (status === 422) script.status(AUTHORIZED);
  };
  const lost = () => {
    script.execute('cut before the answer');
    script.status(operationStatus('AUTHORIZED', 'OK'));
  };

  it.each<[string, TransferEvent['type'], TransferEvent[], object, () => void, string]>([
    ['the bank had executed', 'executed', [UNANSWERED], SCT, paid, 'executed 0012345678'],
    ['a person said no', 'executed', [UNANSWERED, RESOLVED], SCT, paid, 'executed 0012345678'],
    ['the other got further data', 'executed', [FURTHER], SCT, paid, 'executed 0012345678'],
    ['the other knew all', 'executed', [THEIRS, settled('OK')], {}, paid, 'settled theirs'],
    ['the other had asked for the outcome', 'executed', [THEIRS], SCT, lost, 'executed theirs'],
    ['the bank had refused', 'execute-refused', [UNANSWERED], SCT, refusedWith(422), 'bank_refused failed'],
    ['nothing had begun', 'execute-turned-away', [UNANSWERED], SCT, refusedWith(429), 'overtaken unknown'],
    ['the other saw it settled', 'settlement', [settled('OK')], {}, polled('PENDING'), 'settled 0012345678'],
    ['the other saw it fail', 'settlement', [settled('KO')], {}, polled('OK'), 'payment_failed failed'],
  ])(
    'a process that stalled until %s (%s) records what the other could not learn, and goes on from its findings',
    async (_, at, theirs, order, answers, end) => {
      const { transfer, bank } = await authorised(order);
      answers();
      const run = runAs(transfer, await standsStill(transfer, at, ...theirs), bank);
      const { state, cro } = await run.catch(() => transfer.stored());
      const error = await run.then(
        () => null,
        ({ code }) => code,
      );
      expect(error === null ? `${state} ${cro}` : `${error} ${state}`).toBe(end);
      expect(await transfer.stored()).toMatchObject({ state });
      expect(executions(recorded)).toBe(1);
      expect(transfer.events()).not.toContain('execute-turned-away');
    },
  );

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

  it('a process that gets no outcome from the bank continues from the outcome that the other got', async () => {
    const { transfer, bank } = await authorised(SCT);
    await transfer.open.record(SENT);
    const open = await standsStill(transfer, 'execute-unanswered', { type: 'executed', cro: 'theirs' });
    expect(await runAs(transfer, open, bank)).toMatchObject({ state: 'executed', cro: 'theirs' });
  });

  it('a process that can no longer write to the journal says so, and asks the bank no more', async () => {
    const { transfer, bank } = await authorised();
    script.execute();
    script.executionStatus(executionStatus('OK'));
    const open = disturbed(await transfer.opened(), (what) => {
      if (what === 'settlement') throw FULL;
    });
    await expect(runAs(transfer, open, bank)).rejects.toBe(FULL);
    expect(await stateOf(transfer)).toBe('executed');
  });
});

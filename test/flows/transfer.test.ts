import { describe, expect, it } from 'vitest';
import type { OperationStep } from '../../src/domain/next-step.ts';
import type { StepEvent } from '../../src/domain/operation.ts';
import type { TransferOrder } from '../../src/domain/transfer.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import { operationStatus, refusal, success } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, fakeCustomer, fakeWorld } from './doubles.ts';
import {
  EXECUTED,
  executionStatus,
  executions,
  flowsIn,
  leaveBehind,
  newTransfer,
  readLines,
  scriptOf,
  typesOf,
} from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();
const folder = () => newConfigFolder(temporary);

const SCT = { instant: false, type: null };

it('psd2 waits while the authorization is PENDING or has a status that psd2 does not know', async () => {
  script.verify();
  script.approach();
  for (const status of ['PENDING', 'STARTED', 'PENDING', 'authorized', '0'])
    script.status(operationStatus(status));
  script.status(success('{"authenticationState":"AUTHORIZED"}'));
  script.execute();
  const transfer = await newTransfer(folder(), { order: SCT });
  await transfer.run(openClient({ now: transfer.world.now }).bank);
  expect(transfer.world.sleeps).toEqual([500, 1000, 2000, 3000, 3000]);
});
it('if the operator goes step by step, psd2 stops before the step, but not before the first', async () => {
  script.verify();
  const { flows, open, world, customer, events } = await newTransfer(folder());
  const { bank } = openClient({ now: world.now });
  const accept = async () => true;
  const goOn = (...until: OperationStep[]) =>
    flows.resume('transfer', open.current.flow, (taken) =>
      runOperation(taken, bank.payments.transfer(taken.current), { bank, world, customer, accept }, until),
    );
  await goOn('verify', 'accept', 'authorize');
  expect(events()).toEqual(['created', 'verify-sent', 'verified']);
  await goOn('accept', 'authorize');
  expect(events()).toEqual(['created', 'verify-sent', 'verified', 'accepted']);
});

it.each<[ScriptedAnswer, string]>([
  [EXECUTED, 'Waiting for the instant transfer to settle'],
  ['cut before the answer', 'Asking the bank for the outcome of the transfer'],
])('psd2 tells the operator what it waits for', async (executed, next) => {
  script.verify();
  script.approach();
  script.status(operationStatus('AUTHORIZED'));
  script.execute(executed);
  script.executionStatus(executionStatus('OK'));
  const waits: string[] = [];
  const whileWaiting = <T>(what: string, work: Promise<T>) => {
    waits.push(what);
    return work;
  };
  const transfer = await newTransfer(folder(), { customer: fakeCustomer({ whileWaiting }) });
  await transfer.run(openClient({ now: transfer.world.now }).bank);
  expect(waits.slice(-2)).toEqual(['Executing the transfer', next]);
});

it('a transfer that the operator does not accept is cancelled before SCA', async () => {
  script.verify();
  const transfer = await newTransfer(folder());
  const run = transfer.run(openClient({ now: transfer.world.now }).bank, { accept: async () => false });
  await expect(run).rejects.toMatchObject({ code: 'cancelled' });
  expect(transfer.events()).toEqual(['created', 'verify-sent', 'verified', 'cancelled']);
  expect(transfer.customer.visited).toEqual([]);
});

describe('a further step that the bank names', () => {
  const WANTS_MORE = success('{"totalAmount":{"amount":"13.000","currency":"EUR"}}', {
    resourceId: 'r1',
    next: { method: 'PUT', href: 'r1/verify2' },
  });

  it.each<[string, ScriptedAnswer, string]>([
    ['was executed', operationStatus('AUTHORIZED', 'OK'), 'executed'],
    ['has failed', operationStatus('AUTHORIZED', 'KO'), 'failed'],
    ['is authorised, which cannot be before its last step', operationStatus('AUTHORIZED'), 'unknown'],
  ])(
    'if the journal ends before a further step that the bank refuses, and the bank says that the transfer %s, psd2 verifies nothing again',
    async (_, status, state) => {
      for (const events of [[], [{ type: 'further-verify-sent', requestId: 'q', digest: null } as const]]) {
        const { order, furtherData } = { order: SCT, furtherData: ['{}'] };
        const transfer = await newTransfer(folder(), { order, furtherData });
        await transfer.open.record({ ...VERIFIED, nextStep: 'verify2' });
        for (const event of events) await transfer.open.record(event);
        if (events.length === 0) script.verify2(refusal(400, 'STEP_MISSING'));
        script.status(status);
        if (state === 'unknown') script.status(status);
        await transfer.run(openClient({ now: transfer.world.now }).bank).catch(() => {});
        expect(await transfer.stored()).toMatchObject({ state });
        expect(recorded.received.map(({ method }) => method)).not.toContain('POST');
      }
    },
  );

  it('psd2 asks for no status before further steps that the bank accepts', async () => {
    const transfer = await newTransfer(folder(), { order: SCT, furtherData: ['{}', '{}'] });
    await transfer.open.record({ ...VERIFIED, nextStep: 'verify2' });
    script.verify2(WANTS_MORE);
    script.verify2(success('{}', { resourceId: 'r1', next: { method: 'PUT', href: 'r1/execute' } }));
    const { bank } = openClient({ now: transfer.world.now });
    await expect(transfer.run(bank, { accept: async () => false })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(recorded.received.map(({ method }) => method)).toEqual(['PUT', 'PUT']);
  });
});

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
  const failed = (description: string | null): StepEvent => ({
    type: 'settlement',
    status: 'KO',
    description,
  });
  const CANCELLED: StepEvent = { type: 'cancelled' };
  const LATER: StepEvent[] = [VERIFIED, { type: 'accepted' }, { type: 'sca-started' }, CANCELLED];
  const SAID = 'The transfer <flow> has ended: ada@pisp-1 said that it was not executed';
  const UNAUTHORISED = 'The customer did not authorise the transfer';
  it.each<[message: string, code: string, StepEvent[]]>([
    ['The bank refused the transfer <flow>', 'bank_refused', [{ type: 'verify-refused' }]],
    [
      'The bank refused the transfer <flow>: No',
      'bank_refused',
      [{ type: 'verify-refused', description: 'No' }],
    ],
    ['The payment failed', 'payment_failed', [...SENT, failed(null)]],
    ['The payment failed: Account closed', 'payment_failed', [...SENT, failed('Account closed')]],
    [SAID, 'payment_failed', [...SENT, resolved('not-executed', null)]],
    // Whatever the bank had said.
    [`${SAID}: Case 4711`, 'payment_failed', [...SENT, failed('No'), resolved('not-executed', 'Case 4711')]],
    [UNAUTHORISED, 'not_authorised', [VERIFIED, decided('NOT_AUTHORIZED')]],
    [`${UNAUTHORISED} in time`, 'authorisation_expired', [VERIFIED, decided('EXPIRED')]],
    ['The transfer was cancelled before the customer was asked', 'cancelled', [VERIFIED, CANCELLED]],
    ['The transfer was cancelled before it was executed', 'cancelled', LATER],
  ])('resume says "%s" and that no money moved, and asks the bank nothing', async (message, code, events) => {
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
  });

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

it.each([4500, 5000])(
  'an instant transfer that is resumed %i ms after execute: psd2 asks for its status at the remaining times',
  async (passed) => {
    const transfer = await newTransfer(newConfigFolder(temporary));
    await transfer.open.record(VERIFIED);
    await transfer.open.record({ type: 'executed', cro: '1' });
    const asked: number[] = [];
    const current = async () => {
      asked.push(transfer.world.elapsed());
      return 'token';
    };
    transfer.world.pass(passed);
    for (let polls = 0; polls < 3; polls += 1) script.executionStatus(executionStatus('WORKING'));
    const tokens = { current, renewed: async () => 'never' };
    const run = transfer.run(openClient({ now: transfer.world.now, tokens }).bank);
    await expect(run).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: 'The instant transfer is executed, but its status at the bank is still WORKING',
    });
    expect(asked).toEqual([8000, 11_500, 15_000]);
  },
);

const CALLS = {
  verify: () => script.verify(),
  approach: () => script.approach(),
  authorized: () => script.status(operationStatus('AUTHORIZED')),
  execute: () => script.execute(),
  unsettled: () => script.executionStatus(refusal(412, 'NOT_EXECUTED')),
  settled: () => script.executionStatus(executionStatus('OK')),
};

/** The calls that a transfer still needs if its journal ends with an event of this type and every call succeeds. */
const CALLS_LEFT: Record<string, (keyof typeof CALLS)[]> = {
  created: ['verify', 'approach', 'authorized', 'execute', 'settled'],
  'verify-sent': ['verify', 'approach', 'authorized', 'execute', 'settled'],
  verified: ['approach', 'authorized', 'execute', 'settled'],
  accepted: ['approach', 'authorized', 'execute', 'settled'],
  'approach-sent': ['approach', 'authorized', 'execute', 'settled'],
  'sca-started': ['authorized', 'execute', 'settled'],
  'sca-returned': ['authorized', 'execute', 'settled'],
  authorization: ['authorized', 'execute', 'settled'],
  'execute-not-begun': ['authorized', 'execute', 'settled'],
  // One delivery was refused. psd2 asks both statuses before it sends execute again.
  'execute-turned-away': ['unsettled', 'authorized', 'execute', 'settled'],
  // From here on the bank may have executed it: psd2 asks the bank, and never sends execute again.
  'execute-sent': ['settled'],
  'execute-unanswered': ['settled'],
  executed: ['settled'],
  settlement: [],
};

/** Whether a process with this journal may have sent `execute`. */
function mayHaveExecuted(lines: string[]): boolean {
  const types = typesOf(lines);
  return types.lastIndexOf('execute-sent') > types.lastIndexOf('execute-turned-away');
}

function callsLeft(lines: string[]): (keyof typeof CALLS)[] {
  const types = typesOf(lines);
  const last = types.at(-1) ?? '';
  const wasTurnedAway = last === 'authorization' && types.includes('execute-turned-away');
  return CALLS_LEFT[wasTurnedAway ? 'execute-turned-away' : last] ?? [];
}

/** Resumes what was left behind. @returns the lines of the journal after that */
async function resume(lines: string[]): Promise<string[]> {
  const folder = newConfigFolder(temporary);
  const flow = leaveBehind(folder, lines);
  const world = fakeWorld();
  const { bank } = openClient({ now: world.now });
  const ports = { bank, world, customer: fakeCustomer(), accept: async () => true };
  const flows = flowsIn(folder, world);
  await flows
    .resume('transfer', flow, (open) => runOperation(open, bank.payments.transfer(open.current), ports))
    .catch(() => {});
  return readLines(folder, flow);
}

/** Resumes what was left behind at a bank where every call succeeds. */
async function resumeWell(lines: string[]): Promise<string[]> {
  const before = executions(recorded);
  for (const call of callsLeft(lines)) CALLS[call]();
  const after = await resume(lines);
  expect(typesOf(after).at(-1)).toBe('settlement');
  expect(executions(recorded) - before).toBe(mayHaveExecuted(lines) ? 0 : 1);
  return after;
}

/** The journal of a complete instant transfer. */
async function journalOf(events: { execute: 'answered' | 'lost' | 'rate-limited' }): Promise<string[]> {
  const folder = newConfigFolder(temporary);
  const transfer = await newTransfer(folder);
  const { bank } = openClient({ now: transfer.world.now });
  CALLS.verify();
  CALLS.approach();
  CALLS.authorized();
  if (events.execute === 'answered') CALLS.execute();
  if (events.execute === 'lost') script.execute('cut before the answer');
  if (events.execute === 'rate-limited') {
    script.execute(refusal(420));
    CALLS.unsettled();
    CALLS.authorized();
    await transfer.run(bank).catch(() => {});
    CALLS.unsettled();
    CALLS.authorized();
    CALLS.execute();
  }
  CALLS.settled();
  await transfer.run(bank);
  return readLines(folder, transfer.open.current.flow);
}

it.each([
  ['answered', 11],
  ['lost', 12],
  ['rate-limited', 14],
] as const)(
  'a transfer whose execute was %s is executed once, even if killed after any event and again after any later one',
  async (execute, events) => {
    const whole = await journalOf({ execute });
    expect(whole).toHaveLength(events);
    // Often the next process writes the events that the killed one would have written. One try of the same events is enough.
    const tried = new Set(whole.map((_, last) => typesOf(whole.slice(0, last + 1)).join()));
    for (let killedAfter = 1; killedAfter <= whole.length; killedAfter += 1) {
      const lines = whole.slice(0, killedAfter);
      const resumed = await resumeWell(lines);
      expect(resumed.slice(0, killedAfter)).toEqual(lines);
      for (let killedAgain = killedAfter + 1; killedAgain < resumed.length; killedAgain += 1) {
        const again = resumed.slice(0, killedAgain);
        const types = typesOf(again).join();
        if (!tried.has(types)) await resumeWell(again);
        tried.add(types);
      }
    }
  },
  60_000,
);

/** A transfer that was left behind after `execute-sent`. */
async function executing(order: Partial<TransferOrder>): Promise<string[]> {
  const folder = newConfigFolder(temporary);
  const transfer = await newTransfer(folder, { order });
  const { bank } = openClient({ now: transfer.world.now });
  CALLS.verify();
  CALLS.approach();
  CALLS.authorized();
  CALLS.execute();
  if (order.instant !== false) CALLS.settled();
  await transfer.run(bank);
  const lines = readLines(folder, transfer.open.current.flow);
  return lines.slice(0, typesOf(lines).indexOf('execute-sent') + 1);
}

it('if the bank does not give the outcome of a transfer left behind at execute, each resume asks again and none executes it', async () => {
  let lines = await executing(SCT);
  const before = executions(recorded);
  for (const status of ['AUTHORIZED', 'AUTHORIZED', 'PENDING', 'EXPIRED']) {
    script.status(operationStatus(status));
    lines = await resume(lines);
    expect(typesOf(lines).at(-1)).toBe('execute-unanswered');
  }
  expect(typesOf(lines).filter((type) => type === 'execute-unanswered')).toHaveLength(1);
  script.status(operationStatus('AUTHORIZED', 'OK'));
  expect(typesOf(await resume(lines)).at(-1)).toBe('executed');
  expect(executions(recorded)).toBe(before);
});

it.each([
  ['OK', 'executed'],
  ['EXECUTED', 'executed'],
  ['KO', 'settlement'],
])(
  'psd2 does not execute an authorised transfer for which the bank already says %s',
  async (status, event) => {
    const lines = (await executing(SCT)).slice(0, -1);
    const before = executions(recorded);
    script.status(operationStatus('AUTHORIZED', status));
    expect(typesOf(await resume(lines)).at(-1)).toBe(event);
    expect(executions(recorded)).toBe(before);
  },
);

it('if a transfer was left behind while SCA is open, psd2 sends the customer to SCA again', async () => {
  const lines = await executing(SCT);
  script.status(operationStatus('PENDING'));
  for (const call of ['approach', 'authorized', 'execute'] as const) CALLS[call]();
  const resumed = await resume(lines.slice(0, typesOf(lines).indexOf('sca-started') + 1));
  expect(typesOf(resumed).slice(6)).toEqual([
    'sca-again',
    'approach-sent',
    'sca-started',
    'sca-returned',
    'authorization',
    'execute-sent',
    'executed',
  ]);
});

it('an approval that comes just before psd2 sends the customer to SCA again is not lost', async () => {
  const lines = await executing(SCT);
  script.status(operationStatus('PENDING'));
  script.approach(refusal(400, 'SCA_FINISHED'));
  CALLS.authorized();
  CALLS.execute();
  const resumed = await resume(lines.slice(0, typesOf(lines).indexOf('sca-started') + 1));
  expect(typesOf(resumed).slice(6)).toEqual([
    'sca-again',
    'approach-sent',
    'authorization',
    'execute-sent',
    'executed',
  ]);
});

it.each(['NOT_AUTHORIZED', 'EXPIRED'])(
  'an authorised transfer that is %s when it is resumed is not executed',
  async (status) => {
    const lines = (await executing(SCT)).slice(0, -1);
    const before = executions(recorded);
    script.status(operationStatus(status));
    const resumed = await resume(lines);
    expect(typesOf(resumed).at(-1)).toBe('authorization');
    expect(executions(recorded)).toBe(before);
    // The transfer has ended: psd2 asks nothing any more.
    expect(await resume(resumed)).toEqual(resumed);
  },
);

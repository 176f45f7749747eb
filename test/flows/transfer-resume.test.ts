import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TransferOrder } from '../../src/domain/transfer.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { fakeCustomer, fakeWorld } from './doubles.ts';
import { executionStatus, executions, flowsIn, newTransfer, readLines, scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

const SCT = { instant: false, type: null };
const REFERENCE = 'tr-';

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

/** A folder whose journal has these lines of a transfer, as a killed process left them behind. */
function leftBehind(lines: string[]): StoreFolder {
  const folder = newConfigFolder(temporary);
  const flow: string = JSON.parse(lines[0] ?? '').event.flow;
  mkdirSync(folder.flows('sandbox'), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder.flows('sandbox'), `${flow}.ndjson`), `${lines.join('\n')}\n`, { mode: 0o600 });
  return folder;
}

function typesOf(lines: string[]): string[] {
  return lines.map((line) => JSON.parse(line).event.type);
}

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
  const folder = leftBehind(lines);
  const world = fakeWorld();
  const { bank } = openClient({ now: world.now });
  const ports = { bank, world, customer: fakeCustomer(), accept: async () => true };
  const flows = flowsIn(folder, world);
  const { flow } = await flows.find('transfer', REFERENCE);
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

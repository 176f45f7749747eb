import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { notifyOfOutcome, notifyOfUnknown } from '../../../src/commands/flow/notify-unknown.ts';
import type { StepEvent } from '../../../src/domain/operation.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { FlowOf, Kind } from '../../../src/store/ports/flows.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeOperation, storeTransfer } from '../access.ts';
import { BankHere } from '../bank-here.ts';
import { ANNA, CREATE, NOW, payerAt, payerWith } from '../payer-here.ts';

// What the operator's command gets of payments whose outcome is not known, from the real journals of a profile.

const temporary = temporaryFolder();
let count = 0;
let file: string;
let payer: Awaited<ReturnType<typeof payerAt>>;
let context: Context;

beforeEach(async () => {
  count += 1;
  file = join(temporary, `notified-${count}.ndjson`);
  payer = await payerAt(new BankHere(), temporary, { PSD2_NOTIFY: `sh -c 'cat >> "$0"' ${file}` });
  ({ context } = payer.open());
});

/** The ids and states that the command has got since the last time. */
function told(): string[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : [];
  writeFileSync(file, '');
  return lines.map((line) => JSON.parse(line).id);
}
/** What psd2 remembers that the command has got. */
const remembered = (): object =>
  JSON.parse(readFileSync(join(context.folder.root, 'notified', 'env.json'), 'utf8'));

/** What happened to a payment until its `execute` was sent, or remained without an answer. */
const eventsUntil = (isUnanswered: boolean): StepEvent[] => [
  { ...VERIFIED, resourceId: 'FLOW' },
  { type: 'accepted' },
  { type: 'sca-started' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
  { type: 'execute-sent', requestId: 'q', digest: null },
  ...(isUnanswered ? [{ type: 'execute-unanswered' } as const] : []),
];

/** Begins a transfer of which `execute` was sent. */
async function transfer(isUnanswered = true): Promise<Transfer> {
  const flow = await storeTransfer(context, { customerId: ANNA }, ...eventsUntil(isUnanswered));
  return (await context.store()).flows.find('transfer', flow);
}

async function standingOrder() {
  const order = { customerId: ANNA, data: '{"amount":"1"}' };
  const flow = await storeOperation(context, order, ...eventsUntil(true));
  return (await context.store()).flows.find('operation', flow);
}

async function end(flow: Transfer): Promise<Transfer> {
  const { flows } = await context.store();
  return flows.resume('transfer', flow.flow, async (open) => {
    await open.record({ type: 'executed', cro: null });
    return open.current;
  });
}

describe('the payments of a profile whose outcome is not known', () => {
  it('are told once, transfers and operations, also those whose psd2 was stopped', async () => {
    const stopped = await transfer(false);
    const unknown = await transfer();
    const operation = await standingOrder();
    await notifyOfUnknown(context);
    expect(told().sort()).toEqual([stopped.flow, unknown.flow, operation.flow].sort());
    await notifyOfUnknown(context);
    expect(told()).toEqual([]);
  });

  it('have their amount, if psd2 knows it, and the command that continues them', async () => {
    const flows = [await transfer(), await standingOrder()];
    await notifyOfUnknown(context);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const common = (flow: FlowOf<Kind> | undefined) => ({
      ...{ profile: 'env', kind: flow?.kind, id: flow?.flow, state: 'unknown', since: flow?.updatedAt },
      customerId: ANNA,
      message: 'It is not known whether the bank has executed the payment',
      next: ['psd2', '--profile', 'env', flow?.kind, 'resume', flow?.flow],
    });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...common(flows[0]), amount: '12.50', currency: 'EUR' },
      { ...common(flows[1]), amount: null, currency: null },
    ]);
  });

  it('are unknown since their last change, not since they were begun', async () => {
    const earlier = payer.open({ now: '2026-11-21T12:00:00.000Z' }).context;
    const flow = await storeTransfer(earlier, { customerId: ANNA }, ...eventsUntil(false));
    const { flows } = await context.store();
    await flows.resume('transfer', flow, (open) => open.record({ type: 'execute-unanswered' }));
    await notifyOfUnknown(context);
    expect(JSON.parse(readFileSync(file, 'utf8')).since).toBe(NOW);
  });

  it('that are known meanwhile are forgotten, and other notifications stay', async () => {
    const [first, second] = [await transfer(), await transfer()];
    await notifyOfUnknown(context);
    const path = join(context.folder.root, 'notified', 'env.json');
    writeFileSync(path, JSON.stringify({ ...remembered(), 'login 7': 'x' }));
    await end(first);
    await notifyOfUnknown(context);
    expect(remembered()).toEqual({ [`payment ${second.flow}`]: 'unknown', 'login 7': 'x' });
  });

  it('are told although a journal beside them is damaged', async () => {
    const damaged = await transfer();
    const other = await transfer();
    writeFileSync(join(payer.folder.flows('env'), `${damaged.flow}.ndjson`), 'x\n');
    await notifyOfUnknown(context);
    expect(told()).toEqual([other.flow]);
  });

  it('are not looked for without a command', async () => {
    await transfer();
    const silent = payer.open({ env: { PSD2_NOTIFY: '' } });
    const never = () => Promise.reject(new RangeError('The store was read'));
    await notifyOfUnknown({ ...silent.context, store: never });
    await expect(notifyOfUnknown({ ...context, store: never })).rejects.toThrow('The store was read');
  });
});

describe('a payment that a command leaves', () => {
  it.each([
    ['whose outcome is not known', true],
    ['whose execute was sent', false],
  ])('%s is told once, and forgotten with its outcome', async (_, unanswered) => {
    const flow = await transfer(unanswered);
    await notifyOfOutcome(context, flow);
    await notifyOfOutcome(context, flow);
    expect(told()).toEqual([flow.flow]);
    await notifyOfOutcome(context, await end(flow));
    expect([told(), remembered()]).toEqual([[], {}]);
  });

  it('does not make psd2 forget another one', async () => {
    const [flow, other] = [await transfer(), await transfer()];
    for (const each of [flow, other]) await notifyOfOutcome(context, each);
    await notifyOfOutcome(context, await end(flow));
    expect(remembered()).toEqual({ [`payment ${other.flow}`]: 'unknown' });
  });

  it('tells nothing if it is known, or a consent', async () => {
    const flow = await transfer();
    await notifyOfOutcome(context, await end(flow));
    const created = { transactionId: 't', customerId: ANNA, categories: [] };
    const { flows } = await context.store();
    const consent = await flows.begin('consent', created, async (open) => open.current);
    await notifyOfOutcome(context, { ...consent, state: 'unknown' });
    expect(told()).toEqual([]);
    const other = await transfer();
    await notifyOfOutcome(context, other);
    expect(told()).toEqual([other.flow]);
  });

  it('does not hide its outcome if the command fails, or what it got cannot be read', async () => {
    const flow = await transfer();
    const failing = payer.open({ env: { PSD2_NOTIFY: 'false' } });
    await notifyOfOutcome(failing.context, flow);
    expect(failing.said()).toMatch(/PSD2_NOTIFY.*\n$/);
    mkdirSync(join(context.folder.root, 'notified', 'env.json'), { recursive: true });
    await notifyOfOutcome(context, flow);
  });

  it('does not hide its outcome after Ctrl-C either, and the command gets it the next time', async () => {
    const flow = await transfer();
    const signal = AbortSignal.abort(new Psd2Error('interrupted', 'Interrupted'));
    const stopped = { ...context, world: { ...context.world, signal } };
    await notifyOfOutcome(stopped, flow);
    await expect(notifyOfUnknown(stopped)).rejects.toMatchObject({ code: 'interrupted' });
    expect(told()).toEqual([]);
    await notifyOfUnknown(context);
    expect(told()).toEqual([flow.flow]);
  });

  it('does not hide a bug', async () => {
    const flow = await transfer();
    const signal = AbortSignal.abort(new RangeError('a bug'));
    const stopped = { ...context, world: { ...context.world, signal } };
    await expect(notifyOfOutcome(stopped, flow)).rejects.toThrow('a bug');
  });
});

// What psd2 says of payments without being asked: to the operator's command, and to a person at a terminal.

it("the operator's command gets a payment whose outcome is not known, once", async () => {
  const { bank, payer } = await payerWith(temporary, {}, { PSD2_NOTIFY: `sh -c 'cat >> "$0"' ${file}` });
  bank.next = { becomes: null };
  bank.meets('execute', 'lost');
  const { flow } = (await payer.run(CREATE)).data;
  expect((await payer.run(['transfer', 'resume', 'tr-1'])).failure?.code).toBe('outcome_unknown');
  bank.last.became = 'executed';
  expect((await payer.run(['transfer', 'resume', 'tr-1'])).failure).toBeNull();
  await payer.run(CREATE);
  expect([flow, told()]).toEqual(['tr-1', [expect.stringMatching(/^tr-/)]]);
});

it('a person reads which payments were interrupted, and how to continue them', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.customersAgree = false;
  const list = async (isForPerson: boolean) => {
    payer.leaveBehind();
    const { said } = await payer.run(['transfer', 'list'], { changes: () => ({ isForPerson }) });
    return said;
  };
  const said: string[] = [];
  for (const count of [1, 2, 3, 4]) {
    await payer.run([...CREATE, '--amount', String(count)], { globals: { scaTimeout: '1' } });
    said.push(await list(true));
  }
  expect(said).toMatchInlineSnapshot(`
    ["Waiting: transfer tr-1 (authorizing). Ask the bank with:
      psd2 transfer resume tr-1
    ",
     "Waiting: 2 flows. Ask the bank with:
      psd2 transfer resume tr-2
      psd2 transfer resume tr-1
    ",
     "Waiting: 3 flows. Ask the bank with:
      psd2 transfer resume tr-3
      psd2 transfer resume tr-2
      psd2 transfer resume tr-1
    ",
     "Waiting: 4 flows. Ask the bank with:
      psd2 transfer resume tr-4
      psd2 transfer resume tr-3
      psd2 transfer resume tr-2
      And 1 more: see psd2 transfer, consent and operation list.
    "]
  `);
  expect(await list(false)).toBe('');
});

it.each([
  [0, 1, 'Waiting: transfer tr-1 (authorizing). Ask the bank with:'],
  [1, 0, 'Interrupted: transfer tr-1 (verified). Continue with:'],
  [2, 0, 'Interrupted: 2 flows. Continue with:'],
  [1, 1, 'Unfinished: 2 flows. Continue with:'],
])(
  'of %d that were stopped and %d that wait for the customer a person reads so',
  async (stopped, waiting, words) => {
    const { bank, payer } = await payerWith(temporary);
    bank.customersAgree = false;
    for (let made = 0; made < stopped; made += 1) {
      bank.meets('sca', new Psd2Error('interrupted', 'Interrupted'));
      await payer.run(CREATE);
    }
    for (let made = 0; made < waiting; made += 1) await payer.run(CREATE, { globals: { scaTimeout: '1' } });
    payer.leaveBehind();
    const { said } = await payer.run(['transfer', 'list'], { changes: () => ({ isForPerson: true }) });
    expect(said.split('\n')[0]).toBe(words);
  },
);

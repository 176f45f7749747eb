import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { makePrivateFolder } from '../../src/store/disk/json-file.ts';
import { withLock } from '../../src/store/disk/lock.ts';
import { FileFlows, type FlowsSetting } from '../../src/store/files/flows/flows.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { consentCategories, transferOrder, VERIFIED } from '../domain/orders.ts';
import { begun, opened } from './flows.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
/** No process has this id: the highest that Linux gives is 4194304. */
const DEAD = `4194305 ${hostname()}`;
const intent = { requestId: 'q1', digest: 'SHA-256=x' };
let folder: StoreFolder;
let now: number;

beforeEach(() => {
  folder = newConfigFolder(temporary);
  now = Date.parse('2026-11-21T10:00:00.000Z');
});

/** The flows as another process has them. */
function flowsOf(setting: Partial<FlowsSetting> = {}): FileFlows {
  return new FileFlows(folder.flows('p'), {
    now: () => {
      now += 1_000;
      return new Date(now);
    },
    random: Math.random,
    ...setting,
  });
}

const marker = (flow: string) => join(folder.flows('p'), 'open', flow);
const journalOf = (flow: string) => join(folder.flows('p'), `${flow}.ndjson`);

/** A transfer whose process was killed: not sent yet, or verified as the resource. */
async function killed(resourceId?: string): Promise<string> {
  const open = await begun(flowsOf(), 'transfer', { transactionId: 't1', order: transferOrder() });
  if (resourceId !== undefined) {
    await open.record({ type: 'verify-sent', ...intent });
    await open.record({ ...VERIFIED, resourceId });
  }
  const { flow } = open.current;
  writeFileSync(marker(flow), DEAD, { mode: 0o600 });
  return flow;
}

describe('a flow that was interrupted', () => {
  it('is named with its kind, its state and the resource at the bank, the newest first', async () => {
    const transfer = await killed('r1');
    const consent = await begun(flowsOf(), 'consent', {
      transactionId: 't2',
      customerId: '1234567',
      categories: consentCategories(),
    });
    await consent.record({ type: 'request-sent', ...intent });
    writeFileSync(marker(consent.current.flow), DEAD, { mode: 0o600 });
    expect(await flowsOf().leftBehind(5)).toEqual({
      flows: [
        { kind: 'consent', flow: consent.current.flow, state: 'created', resourceId: null },
        { kind: 'transfer', flow: transfer, state: 'verified', resourceId: 'r1' },
      ],
      more: 0,
    });
  });

  it('is counted where there are more than are read', async () => {
    const flows = [await killed('r1'), await killed('r2'), await killed('r3')];
    const { flows: named, more } = await flowsOf().leftBehind(1);
    expect(named.map(({ flow }) => flow)).toEqual([flows[2]]);
    expect(more).toBe(2);
  });

  it.each([
    ['the id of the flow', (flow: string) => flow],
    ['the beginning of it', (flow: string) => flow.slice(0, -1)],
    ['the id of its resource', () => 'resource-1'],
    ['the beginning of that', () => 'resource'],
  ])('is not named by a command that is about it, said as %s', async (_, said) => {
    const flow = await killed('resource-1');
    const other = await killed('r2');
    const { flows, more } = await flowsOf().leftBehind(5, said(flow));
    expect(flows.map((each) => each.flow)).toEqual([other]);
    expect(more).toBe(0);
  });

  it('is not counted by a command that is about it either', async () => {
    const flow = await killed('r1');
    const newest = await killed('r2');
    const { flows, more } = await flowsOf().leftBehind(1, flow.slice(0, -1));
    expect(flows.map((each) => each.flow)).toEqual([newest]);
    expect(more).toBe(0);
  });

  it('is named by a command that is about another, also before it has a resource', async () => {
    const flow = await killed();
    const open = await opened(flowsOf(), 'transfer', flow);
    await open.record({ type: 'verify-sent', ...intent });
    writeFileSync(marker(flow), DEAD, { mode: 0o600 });
    expect((await flowsOf().leftBehind(5, 'r2')).flows.map((each) => each.flow)).toEqual([flow]);
  });

  it('is not named while a process works on it', async () => {
    const flow = await killed('r1');
    let during: unknown;
    await flowsOf().resume('transfer', flow, async () => {
      during = await flowsOf().leftBehind(5);
    });
    expect(during).toEqual({ flows: [], more: 0 });
  });

  it('is named after its work has failed, and not after it was done', async () => {
    const flow = await killed('r1');
    const failing = flowsOf();
    await expect(
      failing.resume('transfer', flow, () => Promise.reject(new RangeError('the bank is away'))),
    ).rejects.toThrow('the bank is away');
    writeFileSync(marker(flow), DEAD, { mode: 0o600 });
    expect((await flowsOf().leftBehind(5)).flows.map((each) => each.flow)).toEqual([flow]);
    await opened(flowsOf(), 'transfer', flow);
    expect(existsSync(marker(flow))).toBe(false);
    expect((await flowsOf().leftBehind(5)).flows).toEqual([]);
  });

  it('is not named any more after a week', async () => {
    const flow = await killed('r1');
    const older = new Date(Date.now() - 7 * 86_400_000 - 60_000);
    const younger = new Date(Date.now() - 7 * 86_400_000 + 60_000);
    utimesSync(marker(flow), younger, younger);
    expect((await flowsOf().leftBehind(5)).flows).toHaveLength(1);
    utimesSync(marker(flow), older, older);
    expect(await flowsOf().leftBehind(5)).toEqual({ flows: [], more: 0 });
    expect(existsSync(marker(flow))).toBe(false);
  });

  it('is not named when its journal has come to its end', async () => {
    const flow = await killed('r1');
    const open = await opened(flowsOf(), 'transfer', flow);
    await open.record({ type: 'cancelled' });
    writeFileSync(marker(flow), DEAD, { mode: 0o600 });
    expect(await flowsOf().leftBehind(5)).toEqual({ flows: [], more: 0 });
    expect(existsSync(marker(flow))).toBe(false);
  });

  it('is left to the command that reads it, where its journal is damaged', async () => {
    const flow = await killed('r1');
    const other = await killed('r2');
    writeFileSync(journalOf(flow), 'garbage');
    expect((await flowsOf().leftBehind(5)).flows.map((each) => each.flow)).toEqual([other]);
    expect(existsSync(marker(flow))).toBe(true);
  });

  it('is none where its journal is gone, or the name is no flow', async () => {
    mkdirSync(join(folder.flows('p'), 'open'), { recursive: true, mode: 0o700 });
    for (const name of ['tr-0mi7x7x8x00000', 'something']) writeFileSync(marker(name), DEAD, { mode: 0o600 });
    expect(await flowsOf().leftBehind(5)).toEqual({ flows: [], more: 0 });
  });
});

describe('a flow of which nothing ever reached the bank', () => {
  it('is ended as cancelled when it is found', async () => {
    const flow = await killed();
    const flows = flowsOf();
    expect(await flows.leftBehind(5)).toEqual({ flows: [], more: 0 });
    expect((await flows.find('transfer', flow)).state).toBe('cancelled');
    expect(existsSync(marker(flow))).toBe(false);
    expect(readdirSync(folder.flows('p')).filter((file) => file.endsWith('.lock'))).toEqual([]);
  });

  it('is not ended where a request of it may have reached the bank', async () => {
    const flow = await killed();
    const open = await opened(flowsOf(), 'transfer', flow);
    await open.record({ type: 'verify-sent', ...intent });
    writeFileSync(marker(flow), DEAD, { mode: 0o600 });
    expect((await flowsOf().leftBehind(5)).flows).toEqual([
      { kind: 'transfer', flow, state: 'created', resourceId: null },
    ]);
    expect((await flowsOf().find('transfer', flow)).state).toBe('created');
  });

  it('is left alone and named where another process has it, and the operator does not wait', async () => {
    const flow = await killed();
    const interrupted = AbortSignal.abort(new Psd2Error('interrupted', 'Interrupted'));
    await withLock(
      journalOf(flow),
      'It',
      async () => {
        const before = readFileSync(journalOf(flow), 'utf8');
        writeFileSync(marker(flow), DEAD, { mode: 0o600 });
        expect((await flowsOf({ interrupted }).leftBehind(5)).flows.map((each) => each.flow)).toEqual([flow]);
        expect(readFileSync(journalOf(flow), 'utf8')).toBe(before);
      },
      10_000,
    );
  });
});

describe('a flow that looked as if nothing of it had reached the bank', () => {
  it('goes on where another process takes it up in the same moment', async () => {
    const flow = await killed();
    const other = await opened(flowsOf(), 'transfer', flow);
    writeFileSync(marker(flow), DEAD, { mode: 0o600 });
    const looking = await withLock(
      journalOf(flow),
      'It',
      async () => {
        const left = flowsOf().leftBehind(5);
        await other.record({ type: 'verify-sent', ...intent });
        return { left };
      },
      10_000,
    );
    expect((await looking.left).flows.map((each) => each.flow)).toEqual([flow]);
    expect((await flowsOf().find('transfer', flow)).state).toBe('created');
  });
});

/** What `performance.now` says: a second later at each look, which `look` is told of. */
function aSecondLaterAtEachLook(look: () => void = () => {}): void {
  let at = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    look();
    at += 1_000;
    return at;
  });
  onTestFinished(() => void vi.restoreAllMocks());
}

const HOLDER = '{"pid":1,"host":"h","since":"2020-01-01T00:00:00.000Z"}';

it('no flow begins while another process is at the journal, which is said after ten seconds', async () => {
  makePrivateFolder(folder.flows('p'));
  const lock = join(folder.flows('p'), 'journal.lock');
  writeFileSync(lock, HOLDER);
  aSecondLaterAtEachLook(() => utimesSync(lock, new Date(), new Date()));
  await expect(killed()).rejects.toMatchObject({
    code: 'config',
    message:
      'The journal of the profile is in use by another psd2: process 1 on h since 2020-01-01T00:00:00.000Z',
  });
  expect(readdirSync(folder.flows('p'))).toEqual(['journal.lock']);
});

describe('the flows that processes work on', () => {
  it('are not those whose process shows no sign of life', async () => {
    const flow = await killed('r1');
    writeFileSync(`${journalOf(flow)}.lock`, HOLDER);
    aSecondLaterAtEachLook();
    expect(await flowsOf().atWork()).toEqual([]);
  });

  it('are named with who does', async () => {
    const flow = await killed('r1');
    await killed('r2');
    let during: unknown;
    await flowsOf().resume('transfer', flow, async () => {
      during = await flowsOf().atWork();
    });
    expect(during).toEqual([
      { flow, holder: expect.stringMatching(`^process ${process.pid} on ${hostname()} since 20`) },
    ]);
    expect(await flowsOf().atWork()).toEqual([]);
  });

  it('are none where no flow was ever begun', async () => {
    expect(await flowsOf().atWork()).toEqual([]);
  });
});

describe('what happened to a flow', () => {
  it('is told event by event, with what the bank said', async () => {
    const open = await begun(flowsOf(), 'transfer', { transactionId: 't1', order: transferOrder() });
    await open.record({ type: 'verify-sent', ...intent });
    expect(await flowsOf().history(open.current.flow)).toEqual([
      { at: '2026-11-21T10:00:01.000Z', type: 'created', detail: null },
      { at: '2026-11-21T10:00:02.000Z', type: 'verify-sent', detail: null },
    ]);
  });

  it('is nothing of a flow that is not there, nor of what is no id', async () => {
    expect(await flowsOf().history('tr-0mi7x7x8x00000')).toBeNull();
    const flow = await killed();
    expect(await flowsOf().history(`../p/${flow}`)).toBeNull();
  });
});

describe('where flows are recorded', () => {
  it('is told once there is a record', async () => {
    expect(await flowsOf().recordedIn()).toBeUndefined();
    await killed();
    expect(await flowsOf().recordedIn()).toBe(folder.flows('p'));
  });
});

describe('a flow that could not be begun', () => {
  it('is not under way', async () => {
    mkdirSync(join(folder.flows('p'), 'index'), { recursive: true, mode: 0o700 });
    await expect(
      begun(flowsOf(), 'transfer', { transactionId: 't1', order: transferOrder() }),
    ).rejects.toMatchObject({ code: 'config' });
    expect(readdirSync(join(folder.flows('p'), 'open'))).toEqual([]);
  });
});

it('each transaction that is begun or looked at is told of with its flow', async () => {
  const told: string[] = [];
  const onFlow = (transactionId: string, flow: string) => void told.push(`${transactionId} ${flow}`);
  const open = await begun(flowsOf({ onFlow }), 'transfer', { transactionId: 't1', order: transferOrder() });
  const { flow } = open.current;
  expect(told).toEqual([`t1 ${flow}`]);
  await flowsOf({ onFlow }).find('transfer', flow.slice(0, -1));
  expect(told).toEqual([`t1 ${flow}`, `t1 ${flow}`]);
});

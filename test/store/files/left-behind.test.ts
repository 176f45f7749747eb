import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { makePrivateFolder } from '../../../src/store/disk/files.ts';
import { withLock } from '../../../src/store/disk/lock.ts';
import { FileFlows, type FlowsSetting } from '../../../src/store/files/flows/flows.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { begun, begunTransfer, opened } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { heldByAnother, secondsWhileWaiting } from '../waiting.ts';

const temporary = temporaryFolder();
/** No process has this id. The highest id on Linux is 4194304. */
const DEAD = `4194305 ${hostname()}`;
const SENT = { type: 'verify-sent', requestId: 'q1', digest: 'SHA-256=x' } as const;
let folder: StoreFolder;
let now: number;

beforeEach(() => {
  folder = newConfigFolder(temporary);
  now = Date.parse('2026-11-21T10:00:00.000Z');
});

/** The flows, opened as another process does. */
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

const whileHeld = <T>(flow: string, work: () => Promise<T>) => withLock(journalOf(flow), 'It', work, 10_000);

/** A transfer whose process was killed, either before anything was sent or after it was verified as the resource. */
async function killed(resourceId?: string): Promise<string> {
  const open = await begunTransfer(flowsOf());
  if (resourceId !== undefined) {
    await open.record(SENT);
    await open.record({ ...VERIFIED, resourceId });
  }
  const { flow } = open.current;
  writeFileSync(marker(flow), DEAD, { mode: 0o600 });
  return flow;
}

it('a marker counts for nothing if its journal is gone or damaged, or its name is not a flow', async () => {
  const flow = await killed('r1');
  const other = await killed('r2');
  writeFileSync(journalOf(flow), 'garbage');
  for (const name of ['tr-0mi7x7x8x00000', 'something']) writeFileSync(marker(name), DEAD, { mode: 0o600 });
  expect((await flowsOf().leftBehind(5)).flows.map((each) => each.flow)).toEqual([other]);
  expect(existsSync(marker(flow))).toBe(true);
});

it('a flow that another process holds is left alone and named if the operator does not wait', async () => {
  const flow = await killed();
  const interrupted = AbortSignal.abort(new Psd2Error('interrupted', 'Interrupted'));
  await whileHeld(flow, async () => {
    const before = readFileSync(journalOf(flow), 'utf8');
    writeFileSync(marker(flow), DEAD, { mode: 0o600 });
    expect((await flowsOf({ interrupted }).leftBehind(5)).flows.map((each) => each.flow)).toEqual([flow]);
    expect(readFileSync(journalOf(flow), 'utf8')).toBe(before);
  });
});

it('a flow continues if another process resumes it at the same moment', async () => {
  const flow = await killed();
  const other = await opened(flowsOf(), 'transfer', flow);
  writeFileSync(marker(flow), DEAD, { mode: 0o600 });
  const looking = await whileHeld(flow, async () => {
    const left = flowsOf().leftBehind(5);
    await other.record(SENT);
    return { left };
  });
  expect((await looking.left).flows.map((each) => each.flow)).toEqual([flow]);
  expect((await flowsOf().find('transfer', flow)).state).toBe('created');
});

it('no flow begins while another process holds the journal, and the error comes after ten seconds', async () => {
  makePrivateFolder(folder.flows('p'));
  const lock = join(folder.flows('p'), 'journal.lock');
  const time = heldByAnother(lock);
  await expect(killed()).rejects.toMatchObject({
    code: 'config',
    message: 'The journal of the profile is in use by another psd2: process 7 on h since now',
  });
  expect(time.seconds).toBe(11);
  expect(readdirSync(folder.flows('p'))).toEqual(['journal.lock']);
});

it('a flow whose process does not respond is not at work', async () => {
  const flow = await killed('r1');
  writeFileSync(`${journalOf(flow)}.lock`, '');
  secondsWhileWaiting();
  expect(await flowsOf().atWork()).toEqual([]);
});

it('a flow that could not be begun is not under way', async () => {
  mkdirSync(join(folder.flows('p'), 'index'), { recursive: true, mode: 0o700 });
  await expect(
    begun(flowsOf(), 'transfer', { transactionId: 't1', commits: 'on execute', order: transferOrder() }),
  ).rejects.toMatchObject({ code: 'config' });
  expect(readdirSync(join(folder.flows('p'), 'open'))).toEqual([]);
});

it('onFlow gets each transaction that is begun or read, with its flow', async () => {
  const told: string[] = [];
  const onFlow = (transactionId: string, flow: string) => void told.push(`${transactionId} ${flow}`);
  const open = await begunTransfer(flowsOf({ onFlow }));
  const { flow } = open.current;
  expect(told).toEqual([`t1 ${flow}`]);
  await flowsOf({ onFlow }).find('transfer', flow.slice(0, -1));
  expect(told).toEqual([`t1 ${flow}`, `t1 ${flow}`]);
});

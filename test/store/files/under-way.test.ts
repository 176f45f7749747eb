import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FlowsUnderWay } from '../../../src/store/files/flows/file.ts';
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, replace } from '../waiting.ts';

// A crashed transfer must be found, and one that another process works on must not be called crashed.

const temporary = temporaryFolder();
const NOW = new Date('2026-11-22T12:00:00Z');
const SECOND = 1_000;
const DAY = 24 * 60 * 60 * SECOND;
const FLOW = 'tr-0mi7x7x8x00001';
let folder: string;
let flows: FlowsUnderWay;

beforeEach(() => {
  folder = newConfigFolder(temporary).flows('bank');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  flows = new FlowsUnderWay(folder);
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  onTestFinished(() => void vi.useRealTimers());
});

const marker = (flow = FLOW) => join(folder, 'open', flow);
const markers = () => readdirSync(join(folder, 'open'));
const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds);

/** What a process wrote that was seen last at some time. */
function worker(pid: number, host: string, seen: Date, flow = FLOW): void {
  mkdirSync(join(folder, 'open'), { recursive: true, mode: 0o700 });
  writeFileSync(marker(flow), `${pid} ${host}`);
  utimesSync(marker(flow), seen, seen);
}

it('the marker names the process, for its owner alone', () => {
  flows.begin(FLOW);
  expect(readFileSync(marker(), 'utf8')).toBe(`${process.pid} ${hostname()}`);
  expect(statSync(marker()).mode & 0o777).toBe(0o600);
});

it('a process that cannot write the marker says so and does nothing', () => {
  mkdirSync(marker(), { recursive: true, mode: 0o700 });
  expect(thrownBy(() => flows.begin(FLOW))).toMatchObject({
    code: 'config',
    message: `${marker()} cannot be written, so psd2 does nothing: a folder has that name`,
    hint: 'Check the free space, and who owns the folder.',
  });
});

it('a flow that ended leaves no marker, even if it never had one', () => {
  flows.begin(FLOW);
  flows.end(FLOW);
  flows.end(FLOW);
  expect(markers()).toEqual([]);
});

describe('a flow of which a process has given a sign lately', () => {
  const DEAD = 2 ** 30;

  it.each([
    ['is left behind if the process was on this host and is dead', DEAD, hostname(), [FLOW]],
    ['is at work if the process is alive', process.pid, hostname(), []],
    ['is at work if the process is on another host', DEAD, 'elsewhere', []],
  ])('%s', (_what, pid, host, left) => {
    worker(pid, host, NOW);
    expect(flows.leftBehind()).toEqual(left);
  });

  it('is at work if the process belongs to another user', () => {
    replace(process, 'kill', failing('EPERM'));
    worker(DEAD, hostname(), NOW);
    expect(flows.leftBehind()).toEqual([]);
  });

  it('is at work if what names the process cannot be read', () => {
    mkdirSync(marker(), { recursive: true, mode: 0o700 });
    expect(flows.leftBehind()).toEqual([]);
  });
});

describe('a flow of which a process on another host gives a sign', () => {
  it('is left behind when the last sign is more than ten seconds old', () => {
    worker(1, 'elsewhere', ago(10 * SECOND));
    expect(flows.leftBehind()).toEqual([]);
    worker(1, 'elsewhere', ago(10 * SECOND + 1));
    expect(flows.leftBehind()).toEqual([FLOW]);
  });

  it('is at work while its lock is touched', () => {
    worker(1, 'elsewhere', ago(60 * SECOND));
    writeFileSync(join(folder, `${FLOW}.ndjson.lock`), '');
    utimesSync(join(folder, `${FLOW}.ndjson.lock`), NOW, NOW);
    expect(flows.leftBehind()).toEqual([]);
  });

  it('is forgotten after a week', () => {
    worker(1, 'elsewhere', ago(7 * DAY));
    expect(flows.leftBehind()).toEqual([FLOW]);
    worker(1, 'elsewhere', ago(7 * DAY + 1));
    expect(flows.leftBehind()).toEqual([]);
    expect(markers()).toEqual([]);
  });
});

describe('a flow that its process leaves', () => {
  it.each([
    ['now', NOW, ago(20 * SECOND)],
    ['an hour ago', ago(60 * 60 * SECOND), ago(60 * 60 * SECOND)],
    ['by a clock that is ahead', new Date(NOW.getTime() + DAY), ago(20 * SECOND)],
  ])('is left behind at once if it last changed %s', (_, since, silent) => {
    flows.begin(FLOW);
    expect(flows.leftBehind()).toEqual([]);
    flows.leave(FLOW, since);
    expect(flows.leftBehind()).toEqual([FLOW]);
    expect(statSync(marker()).mtime).toEqual(silent);
  });

  it('is no longer left behind when its process takes it up again', () => {
    flows.leave(FLOW, NOW);
    flows.begin(FLOW);
    utimesSync(marker(), ago(60 * SECOND), ago(60 * SECOND));
    expect(flows.leftBehind()).toEqual([]);
    expect(new FlowsUnderWay(folder).leftBehind()).toEqual([FLOW]);
  });
});

it('flows are named newest first, whatever their kind', () => {
  for (const flow of ['tr-0mi7x7x8x00001', 'co-0mi7x7x8x00003', 'op-0mi7x7x8x00002'])
    worker(1, 'elsewhere', ago(60 * SECOND), flow);
  expect(flows.leftBehind()).toEqual(['co-0mi7x7x8x00003', 'op-0mi7x7x8x00002', 'tr-0mi7x7x8x00001']);
});

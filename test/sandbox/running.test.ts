import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  forgetRunning,
  IDENTITY_PATH,
  type RunningSandbox,
  recordRunning,
  refuseSecondStart,
  runningSandbox,
  stopSandbox,
} from '../../src/sandbox/folder/running.ts';

/** A process that answers like a sandbox. The test chooses what it reports and how it reacts to SIGTERM. */
const program = `
  const [startedAt, pid, onTerminate] = process.argv.slice(1);
  const server = require('node:http').createServer((request, response) => {
    const known = request.url === '${IDENTITY_PATH}';
    response.end(JSON.stringify(known ? { pid: Number(pid) || process.pid, startedAt } : {}));
  });
  if (onTerminate === 'ignore') process.on('SIGTERM', () => undefined);
  server.listen(0, '127.0.0.1', () => process.stdout.write(String(server.address().port)));
`;

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'psd2-running-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function startProcess(says: { pid?: number; onTerminate?: 'ignore' } = {}): Promise<RunningSandbox> {
  const startedAt = '2026-11-21T10:00:00.000Z';
  const { pid = '', onTerminate = '' } = says;
  const child = spawn(process.execPath, ['-e', program, startedAt, String(pid), onTerminate]);
  children.push(child);
  const [port] = await once(child.stdout, 'data');
  const addresses = { baseUrl: 'https://127.0.0.1:8443', customerSiteUrl: `http://127.0.0.1:${port}` };
  return { pid: child.pid ?? 0, ...addresses, startedAt, controlToken: 'control-token' };
}

describe('a running sandbox', () => {
  test('psd2 finds a running sandbox by its record, a file that belongs to the user', async () => {
    const running = await startProcess();
    await recordRunning(folder, running);
    expect(await runningSandbox(folder)).toEqual(running);
    expect(await readdir(folder)).toEqual(['running.json']);
    expect(JSON.parse(await readFile(join(folder, 'running.json'), 'utf8'))).toEqual(running);
  });

  test('psd2 does not record a second sandbox while one is running', async () => {
    await recordRunning(folder, await startProcess());
    await expect(recordRunning(folder, await startProcess())).rejects.toMatchObject({
      name: 'Psd2Error',
      code: 'sandbox',
      message: 'The sandbox is already running at https://127.0.0.1:8443',
    });
  });

  test('a sandbox removes only its own record', async () => {
    const [first, second] = [await startProcess(), await startProcess()];
    await recordRunning(folder, second);
    await forgetRunning(folder, first);
    expect(await runningSandbox(folder)).toEqual(second);
    await forgetRunning(folder, second);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('the record of an ended sandbox', () => {
  test('psd2 removes a record whose process has ended', async () => {
    const running = await startProcess();
    await recordRunning(folder, running);
    children[0]?.kill('SIGKILL');
    await once(children[0] ?? process, 'exit');
    expect(await runningSandbox(folder)).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  test('psd2 removes a record if another process now has its process id', async () => {
    const running = await startProcess();
    await recordRunning(folder, { ...running, customerSiteUrl: 'http://127.0.0.1:9' });
    expect(await runningSandbox(folder)).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  test('psd2 ignores a record if another sandbox now has its address', async () => {
    const running = await startProcess({ pid: 1 });
    await recordRunning(folder, running);
    expect(await runningSandbox(folder)).toBeUndefined();
  });

  test('psd2 replaces an unreadable record', async () => {
    await writeFile(join(folder, 'running.json'), '{"pid":');
    const running = await startProcess();
    await recordRunning(folder, running);
    expect(await runningSandbox(folder)).toEqual(running);
  });
});

describe('stop', () => {
  test('stop ends the process and removes the record', async () => {
    const running = await startProcess();
    await recordRunning(folder, running);
    const exit = once(children[0] ?? process, 'exit');
    expect(await stopSandbox(folder)).toEqual(running);
    expect(await exit).toEqual([null, 'SIGTERM']);
    expect(await readdir(folder)).toEqual([]);
  });

  test('stop kills a process that ignores SIGTERM', { timeout: 15_000 }, async () => {
    const running = await startProcess({ onTerminate: 'ignore' });
    await recordRunning(folder, running);
    const exit = once(children[0] ?? process, 'exit');
    await stopSandbox(folder);
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  test('stop succeeds if no sandbox is running', async () => {
    expect(await stopSandbox(folder)).toBeUndefined();
  });
});

test('a record that misses a field, or is not of the process at its address, is none, and is removed', async () => {
  const running = await startProcess();
  for (const changes of [
    ...[{ pid: undefined }, { pid: 0 }, { pid: 1.5 }, { pid: process.pid }, { baseUrl: undefined }],
    ...[{ customerSiteUrl: undefined }, { startedAt: undefined }, { controlToken: undefined }],
    ...[{ outsideUrl: 1 }, { startedAt: '2026-11-21T10:00:00.001Z' }],
  ]) {
    await writeFile(join(folder, 'running.json'), JSON.stringify({ ...running, ...changes }));
    expect([changes, await runningSandbox(folder)]).toEqual([changes, undefined]);
    expect([changes, await readdir(folder)]).toEqual([changes, []]);
  }
});

test('a record may have the address for others, and a second start says how to stop the first', async () => {
  const running = { ...(await startProcess()), outsideUrl: 'https://bank.example' };
  await recordRunning(folder, running);
  expect(await runningSandbox(folder)).toEqual(running);
  expect(await readFile(join(folder, 'running.json'), 'utf8')).toBe(`${JSON.stringify(running, null, 2)}\n`);
  await expect(refuseSecondStart(folder)).rejects.toMatchObject({
    message: 'The sandbox is already running at https://127.0.0.1:8443',
    hint: 'Use that one, or stop it with:',
    next: [['sandbox', 'stop']],
  });
  await forgetRunning(folder, running);
  expect(await refuseSecondStart(folder)).toBeUndefined();
});

import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { temporaryPath } from './durable-files.ts';
import { isAlive } from './process-alive.ts';
import { hasCode } from './system-error.ts';

const runningFile = z.object({
  pid: z.int().check(z.positive()),
  baseUrl: z.string(),
  customerSiteUrl: z.string(),
  /** ISO 8601, UTC. */
  startedAt: z.string(),
  /** Who knows it may order the sandbox about: the file is its user's alone. */
  controlToken: z.string(),
});

/** A sandbox that runs, as `running.json` in its folder describes it. */
export type RunningSandbox = z.infer<typeof runningFile>;

/** Where the second listener of a sandbox says which one it is. */
export const IDENTITY_PATH = '/.well-known/psd2-sandbox';

const FILE = 'running.json';
const ANSWER_MS = 2000;
const TERMINATE_MS = 5000;

/**
 * Writes that a sandbox runs for `folder`. Of two that start at the same time one gets through.
 *
 * @throws Psd2Error `sandbox` when another one runs, naming its address.
 */
export async function recordRunning(folder: string, running: RunningSandbox): Promise<void> {
  const temporary = temporaryPath(folder, FILE);
  await writeFile(temporary, `${JSON.stringify(running, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  try {
    // A link, unlike a rename, does not replace what is there.
    await link(temporary, pathOf(folder)).catch(async (error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
      await refuseSecondStart(folder);
      await link(temporary, pathOf(folder));
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * The sandbox that runs for `folder`: its process lives, and the address answers that it is the one. What an ended
 * sandbox left behind is removed.
 */
export async function runningSandbox(folder: string): Promise<RunningSandbox | undefined> {
  const text = await readFile(pathOf(folder), 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const running = parse(text);
  if (running && isAlive(running.pid) && (await answers(running))) return running;
  await removeIfStill(folder, text);
  return undefined;
}

/** @throws Psd2Error `sandbox` when a sandbox runs for `folder`. */
export async function refuseSecondStart(folder: string): Promise<void> {
  const running = await runningSandbox(folder);
  if (!running) return;
  throw new Psd2Error('sandbox', `The sandbox is already running at ${running.baseUrl}`, {
    hint: 'Use that one, or end it with:',
    next: [['sandbox', 'stop']],
  });
}

/** Takes back what {@link recordRunning} wrote. */
export async function forgetRunning(folder: string, running: RunningSandbox): Promise<void> {
  await removeIfStill(folder, `${JSON.stringify(running, null, 2)}\n`);
}

/**
 * Ends the sandbox of `folder` and waits until it has ended: SIGTERM, and SIGKILL after 5 seconds.
 *
 * @returns the sandbox that was ended, or undefined where none ran.
 * @throws Psd2Error `sandbox` when it can't be ended.
 */
export async function stopSandbox(folder: string): Promise<RunningSandbox | undefined> {
  const running = await runningSandbox(folder);
  if (!running) return undefined;
  const { pid } = running;
  const ended =
    (await signalAndWait(pid, 'SIGTERM', TERMINATE_MS)) ||
    (await signalAndWait(pid, 'SIGKILL', TERMINATE_MS));
  if (!ended) {
    throw new Psd2Error('sandbox', `The sandbox with the process id ${pid} does not end`, {
      hint: `End the process ${pid} yourself.`,
    });
  }
  await forgetRunning(folder, running);
  return running;
}

async function signalAndWait(pid: number, signal: 'SIGTERM' | 'SIGKILL', limitMs: number): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if (hasCode(cause, 'ESRCH')) return true;
    throw new Psd2Error('sandbox', `The process ${pid} of the sandbox may not be ended by this user`, {
      hint: 'Stop it as the user who started it.',
      cause,
    });
  }
  const until = performance.now() + limitMs;
  while (isAlive(pid)) {
    if (performance.now() > until) return false;
    await delay(20);
  }
  return true;
}

/** Another process may have got the id of one that ended, so the listener is asked who it is. */
async function answers({ pid, customerSiteUrl, startedAt }: RunningSandbox): Promise<boolean> {
  try {
    const response = await fetch(`${customerSiteUrl}${IDENTITY_PATH}`, {
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const identity = z.object({ pid: z.number(), startedAt: z.string() }).safeParse(await response.json());
    return identity.success && identity.data.pid === pid && identity.data.startedAt === startedAt;
  } catch {
    return false;
  }
}

function parse(text: string): RunningSandbox | undefined {
  try {
    return runningFile.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Leaves the file alone when another sandbox has written its own in the meantime. */
async function removeIfStill(folder: string, text: string): Promise<void> {
  const now = await readFile(pathOf(folder), 'utf8').catch(() => undefined);
  if (now === text) await rm(pathOf(folder), { force: true });
}

function pathOf(folder: string): string {
  return join(folder, FILE);
}

import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { fileText, hasCode, isAlive, temporaryPath } from './durable-files.ts';

const runningFile = z.object({
  pid: z.int().check(z.positive()),
  baseUrl: z.string(),
  /** On the loopback interface: for the commands of this computer. */
  customerSiteUrl: z.string(),
  /** The same for others. Absent: they cannot reach it. */
  outsideUrl: z.optional(z.string()),
  /** ISO 8601, UTC. */
  startedAt: z.string(),
  /** The secret for the control interface. Only the file's owner can read it. */
  controlToken: z.string(),
});

/** A running sandbox, as described by `running.json` in its folder. */
export type RunningSandbox = z.infer<typeof runningFile>;

/** The path on the customer site where a sandbox identifies itself. */
export const IDENTITY_PATH = '/.well-known/psd2-sandbox';

const FILE = 'running.json';
const ANSWER_MS = 2000;
const TERMINATE_MS = 5000;

/**
 * Records that a sandbox runs for `folder`. If two start at the same time, only one succeeds.
 *
 * @throws Psd2Error `sandbox` if another one runs. The message names its address.
 */
export async function recordRunning(folder: string, running: RunningSandbox): Promise<void> {
  const temporary = temporaryPath(folder, FILE);
  await writeFile(temporary, `${JSON.stringify(running, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  try {
    // Unlike a rename, a link does not replace an existing file.
    await link(temporary, runningFilePath(folder)).catch(async (error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
      await refuseSecondStart(folder);
      await link(temporary, runningFilePath(folder));
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * The sandbox that runs for `folder`: its process is alive, and its address confirms its identity. Removes the record of an
 * ended sandbox.
 */
export async function runningSandbox(folder: string): Promise<RunningSandbox | undefined> {
  const text = await fileText(runningFilePath(folder));
  if (text === undefined) return undefined;
  const running = runningIn(text);
  if (running && isAlive(running.pid) && (await answers(running))) return running;
  await removeIfStill(folder, text);
  return undefined;
}

/** @throws Psd2Error `sandbox` if a sandbox runs for `folder`. */
export async function refuseSecondStart(folder: string): Promise<void> {
  const running = await runningSandbox(folder);
  if (!running) return;
  throw new Psd2Error('sandbox', `The sandbox is already running at ${running.baseUrl}`, {
    hint: 'Use that one, or stop it with:',
    next: [['sandbox', 'stop']],
  });
}

/** Removes the record that {@link recordRunning} wrote. */
export async function forgetRunning(folder: string, running: RunningSandbox): Promise<void> {
  await removeIfStill(folder, `${JSON.stringify(running, null, 2)}\n`);
}

/**
 * Stops the sandbox of `folder` and waits for its end. Sends SIGTERM, and after 5 seconds SIGKILL.
 *
 * @returns the stopped sandbox, or undefined if none ran.
 * @throws Psd2Error `sandbox` if it cannot be stopped.
 */
export async function stopSandbox(folder: string): Promise<RunningSandbox | undefined> {
  const running = await runningSandbox(folder);
  if (!running) return undefined;
  const { pid } = running;
  const ended =
    (await signalAndWait(pid, 'SIGTERM', TERMINATE_MS)) ||
    (await signalAndWait(pid, 'SIGKILL', TERMINATE_MS));
  if (!ended)
    throw new Psd2Error('sandbox', `The sandbox with the process id ${pid} does not stop`, {
      hint: `End the process ${pid} yourself.`,
    });
  await forgetRunning(folder, running);
  return running;
}

async function signalAndWait(pid: number, signal: 'SIGTERM' | 'SIGKILL', limitMs: number): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if (hasCode(cause, 'ESRCH')) return true;
    throw new Psd2Error('sandbox', `This user may not stop the sandbox's process ${pid}`, {
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

/** The process id may belong to a new process, so this asks the listener for its identity. */
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

function runningIn(text: string): RunningSandbox | undefined {
  try {
    return runningFile.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Keeps the file if another sandbox has written its own in the meantime. */
async function removeIfStill(folder: string, text: string): Promise<void> {
  const now = await readFile(runningFilePath(folder), 'utf8').catch(() => undefined);
  if (now === text) await rm(runningFilePath(folder), { force: true });
}

function runningFilePath(folder: string): string {
  return join(folder, FILE);
}

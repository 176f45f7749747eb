import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { makePrivateFolder } from '../../store/disk/json-file.ts';
import { environmentFor } from '../../terminal/program-environment.ts';
import type { Context } from '../context.ts';
import { addressesOf, SANDBOX_FIELDS, type SandboxAddresses } from './addresses.ts';
import { sandboxFolderOf } from './folder.ts';
import { isOwnSandbox, SANDBOX_PROFILE, storeProfile } from './profile.ts';
import { parsePort, readRules, type SandboxStartOptions } from './start-options.ts';

/** `psd2 sandbox start`: runs the bank in the foreground until it is interrupted, or in the background. */
export async function sandboxStart(context: Context, options: SandboxStartOptions): Promise<void> {
  const port = parsePort(options.port);
  const rules = readRules(options);
  if (options.detach) return startDetached(context);

  const { output, terminal, world, profiles } = context;
  const { startSandbox } = await import('../../sandbox/server/server.ts');
  const chosen = profiles.current();
  const sandbox = await startSandbox({ folder: sandboxFolderOf(context), port, ...rules });
  try {
    await storeProfile(context, sandbox.baseUrl, sandbox.registration);
    output.record(addressesOf(sandbox.running), SANDBOX_FIELDS);
    sayReady(context, chosen, 'Stop it with Ctrl-C.');
    await new Promise<void>((resolve) => {
      if (world.signal.aborted) resolve();
      world.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    terminal.say('The sandbox has stopped.');
  } finally {
    await sandbox.close();
  }
}

/** Starts this same command in the background and waits until it answers. */
async function startDetached(context: Context): Promise<void> {
  const { folder, output, world, profiles } = context;
  const { refuseSecondStart } = await import('../../sandbox/folder/running.ts');
  await refuseSecondStart(sandboxFolderOf(context));
  const chosen = profiles.current();
  makePrivateFolder(folder.root);
  const logPath = join(folder.root, 'sandbox.log');
  const log = openSync(logPath, 'w', 0o600);
  const child = spawn(
    process.execPath,
    [...process.argv.slice(1).filter((word) => word !== '--detach'), '--json'],
    { detached: true, stdio: ['ignore', log, log], env: environmentFor('sandbox') },
  );
  closeSync(log);
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  while (!ended) {
    const started = readStarted(logPath);
    if (started) {
      child.unref();
      output.record(started, SANDBOX_FIELDS);
      sayReady(context, chosen, 'Stop it with: psd2 sandbox stop');
      return;
    }
    try {
      await world.sleep(20);
    } catch (interrupted) {
      child.kill();
      throw interrupted;
    }
  }
  throw new Psd2Error('sandbox', `The sandbox did not start: ${lastLine(logPath)}`, {
    hint: `See ${logPath}, or choose another --port.`,
  });
}

/**
 * Says what to run next.
 *
 * @param chosenBefore the profile that was chosen before the start
 * @param howToStop a sentence
 */
function sayReady(context: Context, chosenBefore: string | undefined, howToStop: string): void {
  const { profiles, terminal, globals } = context;
  const stored = profiles.read(SANDBOX_PROFILE);
  if (!stored || !isOwnSandbox(stored, context)) {
    terminal.warn(
      `The profile ${SANDBOX_PROFILE} belongs to another bank, so psd2 does not change it. Use: eval "$(psd2 sandbox env)"`,
    );
    terminal.say(`The sandbox is ready. ${howToStop}`);
    return;
  }
  const chosen = profiles.current() === SANDBOX_PROFILE;
  if (chosen && chosenBefore !== SANDBOX_PROFILE)
    terminal.say(`psd2 now uses the profile ${SANDBOX_PROFILE} by default.`);
  const isDefault = chosen && (globals.profile ?? SANDBOX_PROFILE) === SANDBOX_PROFILE;
  const login = isDefault ? 'psd2 auth login' : `psd2 --profile ${SANDBOX_PROFILE} auth login`;
  terminal.say(`The sandbox is ready. Try: ${login}. ${howToStop}`);
}

const sandboxAddresses = z.object({
  baseUrl: z.string(),
  customerSiteUrl: z.string(),
  consoleUrl: z.string(),
  pid: z.number(),
  profile: z.string(),
});

/** What the sandbox in the background prints when it is ready; undefined until then. */
function readStarted(logPath: string): SandboxAddresses | undefined {
  // The text after the last line end may be half a line.
  const lines = readFileSync(logPath, 'utf8').split('\n').slice(0, -1);
  for (const line of lines.filter((text) => text.startsWith('{'))) {
    const { data } = sandboxAddresses.safeParse(JSON.parse(line));
    if (data) return data;
  }
  return undefined;
}

function lastLine(logPath: string): string {
  const last = readFileSync(logPath, 'utf8').trim().split('\n').at(-1) ?? '';
  try {
    return z.object({ error: z.object({ message: z.string() }) }).parse(JSON.parse(last)).error.message;
  } catch {
    return last || 'it printed nothing';
  }
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../commands/context.ts';
import { Psd2Error } from '../errors.ts';
import { storeFolder } from '../store/folder.ts';
import { ProfileStore } from '../store/profiles.ts';
import { cleanLines } from '../terminal/clean.ts';
import { openOutput, silentOutput } from '../terminal/output.ts';
import { openTerminal } from '../terminal/terminal.ts';
import type { CommandKind } from './declare/declare.ts';
import { type RawGlobals, readGlobals, readManner } from './globals.ts';
import { reportError } from './report-error.ts';

/**
 * Runs a command with the real world: opens what it runs with, ends it on Ctrl-C, closes what it opened, and
 * turns what it throws into a message and an exit code. A second Ctrl-C ends the process at once.
 */
export async function runCommand(
  raw: RawGlobals,
  command: (context: Context) => Promise<void>,
  kind?: CommandKind,
): Promise<void> {
  const { env, stdin, stdout, stderr } = process;
  const interrupt = new AbortController();
  const onSignal = () => {
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);

  const closers: (() => Promise<void>)[] = [];
  try {
    const manner = readManner(raw, env, stdout.isTTY === true);
    if (!raw.color) {
      // Prompts, spinner and tables come from packages that look here.
      delete env.FORCE_COLOR;
      env.NO_COLOR = '1';
    }
    if (raw.raw && kind !== 'inquiry') {
      throw new Psd2Error('usage', '--raw works only with the commands that read from the bank');
    }
    const { signal } = interrupt;
    const terminal = openTerminal({ stdin, stderr }, { ...manner, signal });
    const folder = storeFolder(env.PSD2_CONFIG_DIR);
    await command({
      globals: readGlobals(raw, env),
      env,
      folder,
      profiles: new ProfileStore(folder),
      terminal,
      output: raw.raw
        ? silentOutput(manner.format)
        : openOutput(stdout, { ...manner, say: (text) => terminal.say(text) }),
      // Byte for byte, but that a terminal gets nothing that it would act on.
      printBytes: (bytes) =>
        stdout.write(stdout.isTTY ? cleanLines(Buffer.from(bytes).toString('utf8')) : bytes),
      stdoutIsTerminal: stdout.isTTY === true,
      world: {
        now: () => new Date(),
        newId: () => randomUUID(),
        random: Math.random,
        signal,
        sleep: (milliseconds) =>
          delay(milliseconds, undefined, { signal }).catch(() => {
            throw signal.reason;
          }),
      },
      readStdin: async () => (await import('node:stream/consumers')).text(stdin),
      onEnd: (close) => closers.push(close),
    });
  } catch (error) {
    process.exitCode = reportError(
      error,
      stderr,
      raw.json === true || ['json', 'ndjson'].includes(raw.output ?? ''),
    );
  } finally {
    await Promise.allSettled(closers.map((close) => close()));
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

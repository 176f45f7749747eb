import { type Context, openContext } from '../commands/context.ts';
import type { CommandKind } from '../commands/declare.ts';
import { Psd2Error } from '../errors.ts';
import { checkStore, storeFolder } from '../store/machine/folder.ts';
import { ProfileStore } from '../store/machine/profiles.ts';
import { passphraseIn } from '../store/machine/settings.ts';
import { cleanLines } from '../terminal/clean.ts';
import { openOutput, silentOutput } from '../terminal/output.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { type RawGlobals, readGlobals, readManner } from './globals.ts';
import { watchOutput } from './lost-output.ts';
import { repeatProfile } from './repeat-profile.ts';
import { reportError } from './report-error.ts';
import { keepThreadsAwake } from './threads.ts';
import { realWorld, type Unfinished } from './world.ts';

/**
 * Runs a command with the real world: opens what it runs with, ends it on Ctrl-C and when its terminal closes, closes what
 * it opened, and turns what it throws into a message and an exit code. A second Ctrl-C ends the process at once.
 */
export async function runCommand(
  raw: RawGlobals,
  command: (context: Context) => Promise<void>,
  kind: CommandKind | undefined,
  sourceOf: Context['sourceOf'],
): Promise<void> {
  const { env, stdout } = process;
  watchOutput();
  const letThreadsSleep = keepThreadsAwake();
  const interrupt = new AbortController();
  let say = (_text: string) => {};
  const unfinished: Unfinished = new Map();
  let paging = false;
  const onSignal = (name: NodeJS.Signals) => {
    // Ctrl-C in a pager is for the pager.
    if (paging && name === 'SIGINT') return;
    if (interrupt.signal.aborted) {
      // A terminal that closes says so more than once: by its shell and by the system.
      if (name === 'SIGHUP') return;
      for (const atStake of new Set(unfinished.values())) say(`${atStake} may be lost.`);
      process.exit(130);
    }
    interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    if (unfinished.size > 0)
      say(
        'Waiting for the bank to answer a token call, so that no login is lost. Ctrl-C again ends at once.',
      );
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);

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
    const terminal = openTerminal(process, {
      ...manner,
      colour: readManner(raw, env, true).colour,
      signal,
    });
    say = terminal.warn;
    const folder = storeFolder(env.PSD2_CONFIG_DIR, signal);
    if (kind !== 'diagnosis') checkStore(folder, terminal.warn);
    const output = raw.raw
      ? silentOutput(manner.format)
      : openOutput(stdout, {
          ...manner,
          say: (text) => terminal.say(text),
          query: await readQuery(manner.query),
          page: await readPager(
            process,
            (text) => terminal.warn(text),
            (isPaging) => {
              paging = isPaging;
            },
          ),
        });
    await command(
      openContext({
        globals: readGlobals(raw, env),
        sourceOf,
        env,
        folder,
        profiles: new ProfileStore(folder, terminal.warn, {
          signal,
          passphrase: async (profile) =>
            passphraseIn(env) ??
            (terminal.canAsk ? terminal.askSecret(`Passphrase of the profile ${profile}`) : undefined),
        }),
        openFlows: new Map(),
        terminal,
        output,
        // Byte for byte, but that a terminal gets nothing that it would act on.
        printBytes: (bytes) =>
          stdout.write(stdout.isTTY ? cleanLines(Buffer.from(bytes).toString('utf8')) : bytes),
        stdoutIsTerminal: stdout.isTTY === true,
        isForPerson: stdout.isTTY === true && process.stderr.isTTY === true && manner.format === 'table',
        stdoutColumns: stdout.columns,
        world: realWorld(signal, unfinished),
        readStdin: async () => {
          const [{ text }, { addAbortSignal }] = await Promise.all([
            import('node:stream/consumers'),
            import('node:stream'),
          ]);
          return text(addAbortSignal(signal, process.stdin)).catch((error) => {
            throw signal.aborted ? signal.reason : error;
          });
        },
        onEnd: (close) => closers.push(close),
      }),
    );
    output.finish();
  } catch (error) {
    process.exitCode = reportError(
      raw.profile && sourceOf('profile') === 'option' ? repeatProfile(error, raw.profile) : error,
      process.stderr,
      raw.json === true || ['json', 'ndjson'].includes(raw.output ?? (raw.query === undefined ? '' : 'json')),
    );
  } finally {
    // The command is over; what another part of it has in hand with the bank is not.
    await Promise.allSettled(unfinished.keys());
    // The signals are still taken: one that comes now is too late to change how it ended.
    await Promise.allSettled(closers.map((close) => close()));
    letThreadsSleep();
  }
}

/** @throws Psd2Error `usage` when it is not JMESPath */
async function readQuery(expression: string | undefined) {
  return expression === undefined
    ? undefined
    : (await import('../terminal/query.ts')).compileQuery(expression);
}

/** The way to the operator's pager, where stdout is a terminal and there is one. */
async function readPager(
  { stdout, env }: NodeJS.Process,
  warn: (text: string) => void,
  isOpen: (open: boolean) => void,
) {
  if (!stdout.isTTY || !(env.PSD2_PAGER ?? env.PAGER)) return undefined;
  const { pagerOf, showInPager } = await import('../terminal/pager.ts');
  const pager = pagerOf(env);
  return (
    pager &&
    (async (text: string) => {
      isOpen(true);
      const isShown = await showInPager(pager, text);
      isOpen(false);
      if (isShown) return;
      warn(`The pager ${pager[0]} could not be started.`);
      stdout.write(text);
    })
  );
}

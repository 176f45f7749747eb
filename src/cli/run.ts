import { stat } from 'node:fs';
import type { Repeated } from '../advice.ts';
import type { Context, Surroundings } from '../commands/context.ts';
import type { CommandKind } from '../commands/declare.ts';
import { openContext } from '../commands/open/context.ts';
import { isCustomerId } from '../domain/identifiers.ts';
import { Psd2Error } from '../errors.ts';
import { checkStore, storeFolder } from '../store/machine/folder.ts';
import { ENVIRONMENT_PROFILE, ProfileStore } from '../store/machine/profiles.ts';
import { type Environment, passphraseIn } from '../store/machine/settings.ts';
import { cleanLines } from '../terminal/clean.ts';
import { openOutput, silentOutput } from '../terminal/output/output.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { type RawGlobals, readGlobals } from './globals.ts';
import { errorsAreJson, isForPrograms, type OutputMode, readOutputMode } from './output-mode.ts';
import { isTerminalOnStderr, stdoutAtOnce } from './print-at-once.ts';
import { type ErrorStyle, reportError, watchStderr } from './report-error.ts';
import { type Interruption, watchSignals } from './signals.ts';
import { realWorld } from './world.ts';

/**
 * Runs a command in the real world: opens its context, ends it on Ctrl-C and when its terminal closes, closes the context,
 * and turns an error into a message and an exit code. A second Ctrl-C ends the process at once.
 */
export async function runCommand(
  raw: RawGlobals,
  command: (context: Context) => Promise<void>,
  kind: CommandKind | undefined,
  sourceOf: Context['sourceOf'],
): Promise<void> {
  watchStderr();
  const letThreadsSleep = keepThreadsAwake();
  const repeated: Repeated = {
    profile: sourceOf('profile') === 'option' ? raw.profile : undefined,
    customer: raw.customer && isCustomerId(raw.customer) ? raw.customer : undefined,
  };
  const style: ErrorStyle = { asJson: errorsAreJson(raw, process.env), repeated };
  const interruption = watchSignals(style);
  const closers: (() => Promise<void>)[] = [];
  const last: (() => void)[] = [];
  let context: Context | undefined;
  try {
    const world = await openWorld(raw, kind, sourceOf, interruption);
    await takeBankAddress(world);
    context = openContext({
      ...world,
      repeated,
      atLast: (say) => last.push(say),
      onEnd: (close) => closers.push(close),
    });
    try {
      await command(context);
      world.output.finish();
    } finally {
      for (const say of last) say();
    }
  } catch (error) {
    // Not every bank has a login. The bank says what there is instead, and the error may have come before anything asked it.
    const advisesLogin = error instanceof Psd2Error && error.next?.some(([noun]) => noun === 'auth');
    if (advisesLogin) await context?.bankInterface().catch(() => {});
    process.exitCode = reportError(error, process.stderr, style);
  } finally {
    // The command has ended, but another part of it may still wait for the bank.
    await Promise.allSettled(interruption.unfinished.keys());
    // Signals are still caught, but cannot change the outcome any more.
    await Promise.allSettled(closers.map((close) => close()));
    letThreadsSleep();
  }
}

/** What a command works in, without what its run alone can add. */
type OpenedWorld = Omit<Surroundings, 'atLast' | 'onEnd' | 'repeated'>;

/**
 * With the environment alone, the base URL can come from the bank file in it (the standard, section 1, `api.baseUrl`). What is wrong
 * with that file is said by the command that needs it.
 */
async function takeBankAddress({ globals, profiles, env }: OpenedWorld) {
  const { PSD2_BANK: bank, PSD2_BASE_URL: address } = env;
  if (!bank || address) return;
  if ((globals.profile ?? profiles.current() ?? ENVIRONMENT_PROFILE) !== ENVIRONMENT_PROFILE) return;
  const { baseUrlIn } = await import('../commands/open/bank-file.ts');
  const baseUrl = await baseUrlIn(bank);
  if (baseUrl !== undefined) process.env.PSD2_BASE_URL = baseUrl;
}

/** Opens the context of a command. @throws Psd2Error `usage`, `config` */
async function openWorld(
  raw: RawGlobals,
  kind: CommandKind | undefined,
  sourceOf: Context['sourceOf'],
  interruption: Interruption,
): Promise<OpenedWorld> {
  const { env } = process;
  const stdout = stdoutAtOnce;
  const mode = readOutputMode(raw, env, stdout.isTTY === true);
  if (!raw.color) {
    // The packages that draw prompts, spinner and tables read these.
    delete env.FORCE_COLOR;
    env.NO_COLOR = '1';
  }
  if (raw.raw && kind !== 'inquiry')
    throw new Psd2Error('usage', '--raw works only with the commands that read from the bank');
  const { signal } = interruption;
  const asEvents = isForPrograms(mode.format) && !isTerminalOnStderr();
  const terminal = openTerminal(process, { ...mode, asEvents, signal });
  if (asEvents) {
    // Node's own warnings are events too, since text lines between JSON objects would break a reader.
    process
      .removeAllListeners('warning')
      .on('warning', ({ name, message }) => terminal.warn(`${name}: ${message}`));
  }
  interruption.warn = terminal.warn;
  const folder = storeFolder(env.PSD2_CONFIG_DIR, signal);
  if (kind !== 'diagnosis') checkStore(folder, terminal.warn);
  return {
    globals: readGlobals(raw, env),
    sourceOf,
    env,
    folder,
    profiles: new ProfileStore(folder, terminal.warn, {
      signal,
      passphrase: passphrasesOf(env, terminal),
    }),
    openFlows: new Map(),
    terminal,
    output: raw.raw ? silentOutput(mode.format) : await openStdout(mode, terminal, interruption),
    // Byte for byte, but without control characters on a terminal.
    printBytes: (bytes) =>
      stdout.write(stdout.isTTY ? cleanLines(Buffer.from(bytes).toString('utf8')) : bytes),
    stdoutIsTerminal: stdout.isTTY === true,
    isForPerson: stdout.isTTY === true && isTerminalOnStderr() && mode.format === 'table',
    stdoutColumns: stdout.columns,
    world: realWorld(signal, interruption.unfinished),
    readStdin: () => readStdin(signal),
    interrupt: (reason) => interruption.interrupt(reason),
    stopGently: () => {
      interruption.gentle ??= new AbortController();
      return interruption.gentle.signal;
    },
  };
}

/** Where the passphrase of a profile comes from: the environment, then where it is stored, then the operator. */
export function passphrasesOf(env: Environment, terminal: Pick<Terminal, 'canAsk' | 'askSecret'>) {
  return async (profile: string, readStored?: () => Promise<string | undefined>) =>
    passphraseIn(env) ??
    (await readStored?.()) ??
    (terminal.canAsk ? terminal.askSecret(`Passphrase of the profile ${profile}`) : undefined);
}

async function openStdout(mode: OutputMode, { say, warn }: Terminal, interruption: Interruption) {
  const page = await readPager(process.env, warn, (isPaging) => {
    interruption.isPaging = isPaging;
  });
  const hasStates = mode.colour && mode.format === 'table';
  const paintState = hasStates ? (await import('../terminal/output/states.ts')).paintState : undefined;
  return openOutput(stdoutAtOnce, {
    ...mode,
    paintState,
    say,
    query: await readExpression(mode.query),
    page,
  });
}

async function readStdin(signal: AbortSignal): Promise<string> {
  const [{ text }, { addAbortSignal }] = await Promise.all([
    import('node:stream/consumers'),
    import('node:stream'),
  ]);
  return text(addAbortSignal(signal, process.stdin)).catch((error) => {
    throw signal.aborted ? signal.reason : error;
  });
}

/** @throws Psd2Error `usage` if it is not JMESPath */
async function readExpression(expression: string | undefined) {
  return expression === undefined
    ? undefined
    : (await import('../terminal/output/query.ts')).compileQuery(expression);
}

/** Opens the operator's pager, if there is one and stdout is a terminal. */
async function readPager(
  env: NodeJS.ProcessEnv,
  warn: (text: string) => void,
  isOpen: (open: boolean) => void,
) {
  if (!stdoutAtOnce.isTTY || !(env.PSD2_PAGER ?? env.PAGER)) return undefined;
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
      stdoutAtOnce.write(text);
    })
  );
}

/**
 * Gives Node's thread pool (files, name lookups) some work each second. glibc before 2.41 can lose the signal that wakes a
 * thread (its bug 25847). The thread's work then hangs until other work arrives. The timer does not keep the process alive.
 *
 * @returns stops the timer
 */
export function keepThreadsAwake(): () => void {
  const each = setInterval(() => stat('/', () => {}), 1_000).unref();
  return () => clearInterval(each);
}

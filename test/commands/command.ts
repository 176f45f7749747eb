import { randomUUID } from 'node:crypto';
import { beforeEach } from 'vitest';
import { type RawGlobals, readGlobals } from '../../src/cli/globals.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { Context, Surroundings } from '../../src/commands/context.ts';
import type { FindInterface } from '../../src/commands/open/bank.ts';
import { openContext } from '../../src/commands/open/context.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { ProfileStore } from '../../src/store/machine/profiles.ts';
import { type Environment, passphraseIn } from '../../src/store/machine/settings.ts';
import { type Output, type OutputFormat, openOutput } from '../../src/terminal/output/output.ts';
import type { Questions } from '../../src/terminal/prompts.ts';
import { openTerminal } from '../../src/terminal/terminal.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { openStream } from '../terminal/stream.ts';

/** A command in this process: real files, no terminal but a person who may answer, and a stopped clock. */
export interface Command {
  context: Context;
  /** What it printed on stdout. */
  printed(): string;
  /** What it printed on stderr. */
  said(): string;
}

/** How a command of a test differs from others. */
export type How = NonNullable<Parameters<typeof openCommand>[2]>;

/**
 * Opens a command with the profile of the environment, which needs no file.
 *
 * @param now the time of its clock: ISO 8601, or a clock of the test's own
 */
export function openCommand(
  folder: StoreFolder,
  now: string | (() => Date),
  {
    env = {},
    globals = {},
    format = 'json',
    find,
    operator,
    columns,
    changes = () => ({}),
  }: {
    env?: Environment;
    globals?: Partial<RawGlobals>;
    format?: OutputFormat;
    /** Finds the interface of the bank. */
    find?: FindInterface;
    /** A person at a terminal, who answers these questions. Default: there is no terminal. */
    operator?: Partial<Questions>;
    /** The width of the terminal that stdout is. Default: it is none. */
    columns?: number;
    /** What else is different, for example a person who answers questions. */
    changes?: (world: Surroundings) => Partial<Surroundings>;
  } = {},
): Command {
  const { signal } = new AbortController();
  // Each command of a test begins here, though they share the folder.
  folder.forgotten.begin();
  const stdout = openStream(columns === undefined ? 'no terminal' : { columns });
  const stderr = openStream('no terminal');
  const terminal = openTerminal(
    { stdin: process.stdin, stderr: stderr.stream },
    { noInput: true, quiet: false, mayHaveColour: false, asEvents: false, signal },
  );
  const raw: RawGlobals = {
    ...{ grant: 'authorization_code', timeout: '30', scaTimeout: '300' },
    ...{ input: false, browser: true, color: false },
    ...globals,
  };
  const world: Surroundings = {
    globals: readGlobals(raw, {}),
    sourceOf: (name) => (name in globals ? 'option' : 'default'),
    repeated: {},
    env: { PSD2_BASE_URL: 'https://psd2.bank.example', ...env },
    folder,
    profiles: new ProfileStore(folder, terminal.warn, { signal, passphrase: async () => passphraseIn(env) }),
    openFlows: new Map(),
    terminal: operator === undefined ? terminal : { ...terminal, canAsk: true, ...operator },
    output: titled(openOutput(stdout.stream, { format, colour: false, say: terminal.say })),
    printBytes: () => {},
    stdoutIsTerminal: columns !== undefined,
    isForPerson: columns !== undefined && format === 'table',
    stdoutColumns: columns,
    world: {
      now: typeof now === 'string' ? () => new Date(now) : now,
      newId: randomUUID,
      random: () => 0.5,
      signal,
      sleep: async () => {},
      finish: (_, work) => work(),
    },
    interrupt: () => {},
    stopGently: () => signal,
    readStdin: async () => '',
    atLast: () => {},
    onEnd: () => {},
  };
  const context = openContext({ ...world, ...changes(world) }, find);
  return { context, printed: stdout.written, said: stderr.written };
}

/**
 * In a pipe, one thing is the keys of its JSON, which the tests of the output show. Tests of commands read the fields for people
 * there, with a tab after the title; of a transfer the keys.
 */
function titled(output: Output): Output {
  const record: Output['record'] = (data, view, inPipe) =>
    output.record(data, view, inPipe ?? (isTransfer(data) ? undefined : 'titles'));
  return Object.defineProperty(Object.create(output), 'record', { value: record });
}

/** A configuration folder for commands, which is a new one for each test. @param parent where these folders are */
export function useFolder(parent = temporaryFolder()): StoreFolder {
  const folder = newConfigFolder(parent);
  beforeEach(() => void Object.assign(folder, newConfigFolder(parent)));
  return folder;
}

/** Runs a command line in the context of a command. */
export async function runIn(context: Context, ...words: string[]): Promise<void> {
  const program = await buildProgram('0.0.0', { words, runInstead: (command) => command(context) });
  await program.parseAsync(words, { from: 'user' });
}

/** Runs a command line to its end. @returns what it printed, also as JSON if it is JSON, and what it said. @throws Psd2Error */
export async function ranIn(command: Command, ...words: string[]) {
  await runIn(command.context, ...words);
  const printed = command.printed();
  const data: unknown = /^[[{]/.test(printed) ? JSON.parse(printed) : null;
  return { printed, data, said: command.said() };
}

/** A person who types these secrets one after the other. */
export function typing(...answers: string[]) {
  const questions: string[] = [];
  const askSecret = async (question: string) => {
    questions.push(question);
    return answers.shift() ?? '';
  };
  return { questions, operator: { askSecret } };
}

/** A person who answers these questions one after the other, and then with no. */
export function answering(...answers: boolean[]) {
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    return answers.shift() ?? false;
  };
  return { questions, operator: { confirm } };
}

/** The cells of each line that psd2 printed in a pipe. */
export const cellsIn = (printed: string) =>
  printed
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split('\t'));

function isTransfer(of: object): boolean {
  return 'cro' in of && 'order' in of && Object.hasOwn(Object(of.order), 'instant');
}

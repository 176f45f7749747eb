import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest';
import type * as z from 'zod';
import { freePort } from '../../support/free-port.ts';
import { endAll as endAllOf } from '../../support/left-behind.js';
import { residentCustomer } from './resident-customer.ts';
import { isForResidents, isSetAtStart, openResidents } from './residents.ts';
import { departures } from './schemas.ts';
import { OWN_HANDS, openLedger, recordingOptions } from './secret-ledger.ts';
import type { Secret } from './secret-search.ts';
import { type Ended, type EndedCall, type Running, watch } from './watched-process.ts';

export { words } from '../../support/words.ts';
export type { Ended, EndedCall, Running };

/** The built program. */
export const PROGRAM = fileURLToPath(new URL('../../../bin/psd2.js', import.meta.url));
/** A `PSD2_BROWSER` that plays a customer who approves, in its own process. */
export const CUSTOMER = `"${process.execPath}" "${PROGRAM}" sandbox customer`;

/** The address for the customer, as psd2 prints it for a person and for a program. */
export const ADDRESS = /(?:^ {2}|"event":"open","url":")(http[^\s"]+)(?:\n|")/m;

/** Variables to set; `undefined` removes one. */
export type Environment = Record<string, string | undefined>;

/** A call of `psd2` that has ended. */
export interface Called extends EndedCall {
  args: string[];
  /** The value of `PSD2_OUTPUT`, if it was set. */
  output: string | undefined;
}

export interface RunOptions {
  env?: Environment;
  /** The content of standard input; without it there is none. */
  input?: string;
  /** Runs in a new process, even if the operator keeps psd2 running. */
  ownProcess?: true;
}

/** Someone with `psd2` on their own computer: no variable, file or port of this computer interferes. */
export interface Operator {
  /** Holds everything of the operator; removed at the end. */
  folder: string;
  /** For files that the operator makes without psd2, such as keys. The search for secrets skips this folder. */
  ownHands: string;
  home: string;
  /** `TMPDIR` of every process. */
  temporary: string;
  config: string;
  /** The environment of every process; a test file may add to it. Its `PSD2_BROWSER` plays a customer who approves. */
  env: Environment;
  /** All calls so far, with their output. */
  history: Called[];
  /** Whether `psd2` and `json` use processes that keep running, for tests of what commands do and print. */
  keepsRunning: boolean;
  /** Runs `psd2` and waits for its end. */
  psd2(args: string[], options?: RunOptions): Promise<EndedCall>;
  /** Runs `psd2`, which must succeed. */
  succeeds(args: string[], options?: RunOptions): Promise<EndedCall>;
  /** Runs `psd2 … --json`, which must succeed, and reads the one document on stdout. */
  json<T>(shape: z.ZodType<T>, args: string[], options?: RunOptions): Promise<T>;
  /**
   * Starts the sandbox bank in a process that keeps running, where tests are about something else.
   *
   * @param rules options of `sandbox start`. @returns a function that stops it
   */
  openSandbox(rules: readonly string[]): Promise<() => Promise<void>>;
  /** Starts `psd2`, for tests that watch or stop it. Its standard input stays open. */
  start(args: string[], env?: Environment): Promise<Running>;
  /** Records the arguments of a process that keeps running, since they may name a place for keys. */
  called(args: string[]): void;
  /** Starts any program. */
  startProgram(program: string, args: string[], env?: Environment): Promise<Running>;
  /** Every secret so far: tokens, codes, client secrets, passphrases and keys. */
  secrets(): Secret[];
  /** The places so far with secrets that do not belong there: output, arguments and files. */
  leaks(): string[];
}

/**
 * An operator for the tests of this file. After the tests, it ends the processes that still run, and searches
 * everything that was printed and stored for secrets.
 *
 * @param searchMs how long the search may take, for files that run thousands of processes
 */
export function useOperator(searchMs?: number): Operator {
  const operator = newOperator();
  let before = 0;
  let checked = 0;
  const checkNew = async () => {
    const ended = operator.history.slice(checked);
    checked = operator.history.length;
    expect(await departures(ended), 'the output does not match psd2 schema').toEqual([]);
  };
  beforeAll(operator.open);
  beforeEach(() => {
    before = operator.history.length;
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return checkNew();
    for (const { args, code, signal, stderr } of operator.history.slice(before)) {
      const command = args.slice(0, 2).join(' ');
      process.stderr.write(`$ ${command} … ended with ${code ?? signal}, and said:\n${stderr}\n`);
    }
  });
  afterAll(async () => {
    try {
      await operator.endAll();
      await checkNew();
      expect(operator.leaks(), 'secrets are in places where they do not belong').toEqual([]);
    } finally {
      await operator.close();
    }
  }, searchMs);
  return operator;
}

/** Gives the operator's sandbox keys that were made once for all tests. */
export function giveRegistration({ config }: Operator): void {
  mkdirSync(config, { recursive: true, mode: 0o700 });
  cpSync(inject('registration'), join(config, 'sandbox'), { recursive: true });
}

/**
 * An operator whose sandbox bank runs with these rules, and who uses the profile that it wrote. The keys exist already: they
 * were made once for all tests.
 */
export function useSandbox(rules: string[] = []): Operator {
  const operator = useOperator();
  operator.env.PSD2_PROFILE = 'sandbox';
  let stop = async () => {};
  beforeAll(async () => {
    giveRegistration(operator);
    stop = await operator.openSandbox(rules);
  });
  afterAll(() => stop());
  return operator;
}

/** Lets the operator's commands run in processes that keep running, where that makes no difference to what they do. */
export function keepRunning(operator: Operator): Operator {
  operator.keepsRunning = true;
  return operator;
}

/** An operator with a running sandbox bank and a logged-in customer. */
export function useLoggedIn(rules: string[] = [], consents: 'given' | 'none' = 'given'): Operator {
  const operator = useSandbox(rules);
  beforeAll(() => logIn(operator, consents));
  return operator;
}

/** Logs in the customer, who consents to everything or to nothing. */
export async function logIn(operator: Operator, consents: 'given' | 'none' = 'given'): Promise<void> {
  await operator.succeeds(['auth', 'login']);
  if (consents === 'none') return;
  const categories = ['--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS'];
  await operator.succeeds(['consent', 'request', ...categories, '--all-accounts']);
}

/** An operator that the caller opens and closes. */
export function newOperator(): Operator & {
  open(): Promise<void>;
  endAll(): Promise<void>;
  close(): Promise<void>;
} {
  const folder = join(tmpdir(), `psd2-e2e-${randomUUID()}`);
  const place = (name: string) => join(folder, name);
  const places = {
    home: place('home'),
    temporary: place('tmp'),
    config: place('config'),
    ownHands: place(OWN_HANDS),
  };
  const ledger = openLedger(folder, places.config);
  const customer = residentCustomer(`${folder}.customer`);
  const running = new Set<Running>();
  const history: Operator['history'] = [];
  const env: Environment = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: places.home,
    TMPDIR: places.temporary,
    // The default of Node.js 22 and newer would be in TMPDIR.
    NODE_COMPILE_CACHE: inject('compiledCode'),
    CLOCK_AHEAD_MS: process.env.CLOCK_AHEAD_MS,
    PSD2_CONFIG_DIR: places.config,
    PSD2_BROWSER: customer.browser,
  };

  const residents = openResidents(folder, () => {
    const { PATH, LANG, NODE_COMPILE_CACHE, CLOCK_AHEAD_MS } = env;
    return onlySet({ PATH, LANG, NODE_COMPILE_CACHE, CLOCK_AHEAD_MS, NODE_OPTIONS: recordingOptions() });
  });
  const environmentOf = async (args: string[], added: Environment): Promise<Environment> => {
    const redirect = { PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback` };
    return ledger.watched(args, { ...redirect, ...env, ...added });
  };
  const launch = async (
    [program, ...args]: [string, ...string[]],
    stdin: 'ignore' | 'pipe',
    added: Environment = {},
  ): Promise<Running> => {
    const environment = await environmentOf(args, added);
    const child = spawn(program, args, {
      cwd: folder,
      env: onlySet(environment),
      stdio: [stdin, 'pipe', 'pipe'],
    });
    const isVerbose = reportsCalls(args, environment);
    const process = watch(child, isVerbose, (text, before) => ledger.typed(args, text, before));
    running.add(process);
    void process.ended.then((ended) => {
      running.delete(process);
      history.push({ args, output: environment.PSD2_OUTPUT, ...ended });
    });
    return process;
  };
  const psd2 = (args: string[]): [string, ...string[]] => [process.execPath, PROGRAM, ...args];

  const runInResident = async (words: string[], added: Environment, input: string | undefined) => {
    const [, ...args] = psd2(words);
    const environment = await environmentOf(args, added);
    if (input !== undefined) ledger.typed(args, input, '');
    const isVerbose = reportsCalls(args, environment);
    const ended = { ...(await residents.run(words, onlySet(environment), input)), isVerbose };
    history.push({ args, output: environment.PSD2_OUTPUT, ...ended });
    return ended;
  };

  const operator = {
    keepsRunning: false,
    folder,
    ...places,
    env,
    history,
    psd2: async (args: string[], { env: added, input, ownProcess }: RunOptions = {}) => {
      if (operator.keepsRunning && !ownProcess && isForResidents(args, { ...env, ...added }))
        return runInResident(args, added ?? {}, input);
      const process = await launch(psd2(args), input === undefined ? 'ignore' : 'pipe', added);
      if (input !== undefined) await process.write(input);
      process.closeInput();
      return process.ended;
    },
    succeeds: async (args: string[], options?: RunOptions): Promise<EndedCall> => {
      const ended = await operator.psd2(args, options);
      expect(ended, `psd2 ${args.join(' ')}\n${ended.stderr}`).toMatchObject({ code: 0 });
      return ended;
    },
    json: async <T>(shape: z.ZodType<T>, args: string[], options?: RunOptions) =>
      readDocument(shape, (await operator.succeeds([...args, '--json'], options)).stdout),
    openSandbox: async (rules: readonly string[]) => {
      const words = ['sandbox', 'start', '--port', '0', '--strict', ...rules];
      if (isSetAtStart(env)) {
        await operator.succeeds([...words, '--detach']);
        return async () => void (await operator.succeeds(['sandbox', 'stop']));
      }
      const [, ...args] = psd2(words);
      const hosted = await residents.host(words, onlySet(await environmentOf(args, {})));
      return async () => {
        const run = await hosted.interrupt();
        if (run === undefined) return;
        history.push({ args, output: env.PSD2_OUTPUT, isVerbose: false, ...run });
        expect(run, run.stderr).toMatchObject({ code: 0 });
      };
    },
    start: (args: string[], added?: Environment) => launch(psd2(args), 'pipe', added),
    startProgram: (program: string, args: string[], added?: Environment) =>
      launch([program, ...args], 'pipe', added),
    open: async () => {
      for (const made of [places.home, places.temporary, places.ownHands])
        mkdirSync(made, { recursive: true });
      await customer.open();
    },
    called: (args: string[]) => void ledger.watched(args, {}),
    secrets: () => ledger.secrets(),
    leaks: () => ledger.leaks(history),
    endAll: async () => {
      await residents.close();
      for (const process of running) process.kill('SIGKILL');
      await Promise.all([...running].map(({ ended }) => ended));
    },
    close: async () => {
      await operator.endAll();
      // If a test or a hook has failed, a sandbox that it detached may still run.
      await endAllOf(folder);
      customer.close();
      ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return operator;
}

/** Reads stdout, which must be exactly one JSON document of this shape, on one line. */
export function readDocument<T>(shape: z.ZodType<T>, stdout: string): T {
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return shape.parse(JSON.parse(stdout));
}

/** Whether psd2 reports its calls to the bank, or a shell script has it report them. */
function reportsCalls(args: string[], environment: Environment): boolean {
  return environment.PSD2_DEBUG === '1' || args.some((arg) => /(^|\s)(-v|--verbose)(\s|$)/.test(arg));
}

function onlySet(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

import {
  closeSync,
  cpSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import Big from 'big.js';
import { afterAll, beforeAll, expect } from 'vitest';
import * as z from 'zod';
import { playCustomer } from '../../src/sandbox/player/play-customer.ts';
import {
  type Ended,
  giveRegistration,
  keepRunning,
  logIn,
  type Operator,
  PROGRAM,
  readDocument,
  useOperator,
} from '../e2e/support/psd2.ts';
import * as shapes from '../e2e/support/shapes.ts';

const beside = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const COMMISSION_CENTS = 50;
/** No process in these tests needs longer. One that hangs is killed, and its try counts as failed. */
const HANGS_AFTER_MS = 180_000;
/** How often the test checks whether a process stalls. */
const LOOKS_EVERY_MS = 20;
const PRELOAD = pathToFileURL(beside('preload.js')).href;
/** A browser that opens nothing. The test reads the address, and plays the customer. */
const NO_BROWSER = '/bin/true';

/** `npm run reliability` takes every point. A test run takes those that matter most and a sample of the others. */
export const ALL = process.env.CRASH_MATRIX === 'all';
/** Long enough for a busy machine. */
export const PATIENCE_MS = ALL ? 3_600_000 : 600_000;

/** The account that pays. */
export const ACCOUNT = '0010482620';

/** How a process is stopped at a point. */
export type How = 'SIGKILL' | 'SIGINT' | 'SIGTERM' | 'twice' | 'SIGTERM twice' | 'SIGSTOP' | 'block' | 'cut';

/** Where a process is stopped, and how. */
export interface Stop {
  at: string;
  how: How;
}

/** One line of what a watched process did, see `preload.js`. */
const traceLine = z.object({
  point: z.string().optional(),
  stopped: z.string().optional(),
  at: z.number().optional(),
  requestId: z.string().optional(),
});
export type TraceLine = z.infer<typeof traceLine>;

const bankLine = z.object({
  requestId: z.string(),
  method: z.string().optional(),
  path: z.string().optional(),
  status: z.number().optional(),
});

/** A request as the bank saw it. `status` is undefined if the bank did not finish its answer. */
export interface Received {
  call: string;
  status: number | undefined;
}

/** A process that was watched from inside. */
export interface Watched extends Ended {
  trace: TraceLine[];
  /** Whether the process reached the point at which it was to be stopped. */
  stopped: boolean;
  /** From the signal to the end of the process, in milliseconds. */
  tookToEnd: number;
}

/** A process that stalls at a point until `goOn` lets it continue. */
export interface Stalled {
  /** False if the process ended before it reached the point. */
  reached: boolean;
  /** Lets the process continue, and waits for its end. */
  goOn(): Promise<Watched>;
}

/** A configuration folder for one try, as on a separate computer, with the customer logged in. */
export interface Place {
  name: string;
  /** Nobody else on this bank orders this amount, so the ledger shows what this try paid. */
  amount: string;
  config: string;
  /** Runs psd2 to its end. The customer does what the bank's page asks for. */
  psd2(args: string[]): Promise<Ended>;
  /** Like `psd2`, but watched, and stopped at the named point. @param env is added to what each process has */
  watched(args: string[], stop?: Stop, env?: Record<string, string>): Promise<Watched>;
  /** Starts psd2, and waits until it stalls at the named point or has ended. */
  stalled(
    args: string[],
    stop: { at: string; how: 'SIGSTOP' | 'block' },
    env?: Record<string, string>,
  ): Promise<Stalled>;
  /** Removes the locks that a killed process left behind, as if they had expired. */
  passTime(): void;
  /** Files under the configuration folder that only a process that was killed leaves behind. */
  leftovers(): string[];
  /** The text of the place's journals. */
  journal(): string;
  remove(): void;
}

export interface CrashBank {
  operator: Operator;
  /** The folder of the sandbox. */
  sandbox(): string;
  /** @param envOf returns the environment variables for each process of the place with this name */
  newPlace(envOf?: (name: string) => Record<string, string>): Place;
  /** How often the bank's ledger shows that an amount was debited since the test file began. */
  bookings(): Promise<(amount: string) => number>;
  /** The requests that the bank received with these ids, in no particular order. */
  received(requestIds: Set<string>): Received[];
  /** The requests that the bank received for one resource, in the order of their arrival. */
  receivedFor(resourceId: string): Received[];
}

/**
 * A sandbox bank that records what it receives, and a logged-in customer to copy.
 *
 * @param rules options of `psd2 sandbox start`
 */
export function useCrashBank(rules: string[] = []): CrashBank {
  const operator = keepRunning(useOperator(PATIENCE_MS));
  const log = join(operator.folder, 'bank.ndjson');
  const heard = readingBankLog(log);
  operator.env.PSD2_PROFILE = 'sandbox';
  operator.env.PSD2_SCA_TIMEOUT = '60';
  beforeAll(async () => {
    const env = { NODE_OPTIONS: `--import=${pathToFileURL(beside('bank-log.js')).href}`, BANK_LOG: log };
    giveRegistration(operator);
    const started = await operator.psd2(
      ['sandbox', 'start', '--detach', '--port', '0', '--strict', ...rules],
      { env },
    );
    expect(started, started.stderr).toMatchObject({ code: 0 });
    await logIn(operator);
    const application = await operator.psd2(['auth', 'login', '--client-credentials']);
    expect(application, application.stderr).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    const stopped = await operator.psd2(['sandbox', 'stop']);
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
  });

  let places = 0;
  const newPlace = (envOf: (name: string) => Record<string, string> = () => ({})): Place => {
    places += 1;
    // The ledger also has the commission of each transfer.
    if (places === COMMISSION_CENTS) places += 1;
    const name = `try${places}`;
    const config = join(operator.folder, name);
    for (const part of ['profiles', 'tokens', 'config.json']) {
      const from = join(operator.config, part);
      if (existsSync(from)) cpSync(from, join(config, part), { recursive: true });
    }
    const start = async (node: string[], args: string[], env: Record<string, string> = {}) => {
      const variables: Record<string, string> = {
        ...{ PSD2_CONFIG_DIR: config, PSD2_BROWSER: NO_BROWSER, ...envOf(name), ...env },
      };
      const running = await operator.startProgram(process.execPath, [...node, PROGRAM, ...args], variables);
      running.closeInput();
      // A bank that asks the customer elsewhere says where. Beside a browser that decides, one of the two would come late.
      const walk =
        variables.PSD2_BROWSER === NO_BROWSER &&
        running.prints(/^ {2}(http\S+)\n|"url":"(http[^"]+)"|Log in at (http[^\s"]+) and/m).then(
          // The process that listens for the customer's browser may be gone.
          ([, url = '', ofJson = '', elsewhere = '']) =>
            playCustomer(url || ofJson || elsewhere).catch(() => {}),
          () => {},
        );
      const hangs = setTimeout(() => running.kill('SIGKILL'), HANGS_AFTER_MS);
      const ended = running.ended.then(async (how) => {
        clearTimeout(hangs);
        const at = Date.now();
        await walk;
        return { ...how, at };
      });
      return { running, ended };
    };
    let runs = 0;
    const startWatched = async (args: string[], stop?: Stop, env: Record<string, string> = {}) => {
      runs += 1;
      const file = join(operator.folder, `${name}-${runs}.ndjson`);
      const { running, ended } = await start(['--import', PRELOAD], args, {
        CRASH_TRACE: file,
        ...(stop && { CRASH_AT: stop.at, CRASH_HOW: stop.how }),
        ...env,
      });
      const watched = ended.then((how): Watched => {
        const trace = readLines(file, traceLine);
        const stopped = trace.find((line) => line.stopped !== undefined);
        return {
          ...how,
          trace,
          stopped: stopped !== undefined,
          tookToEnd: how.at - (stopped?.at ?? how.at),
        };
      });
      return { running, watched, file };
    };
    return {
      name,
      amount: (places / 100).toFixed(2),
      config,
      psd2: async (args) => (await start([], args)).ended,
      watched: async (args, stop, env) => (await startWatched(args, stop, env)).watched,
      stalled: async (args, stop, env) => {
        const { running, watched, file } = await startWatched(args, stop, env);
        let over = false;
        void watched.finally(() => {
          over = true;
        });
        const standsStill = () =>
          existsSync(file) && readLines(file, traceLine).some(({ stopped }) => stopped !== undefined);
        while (!over && !standsStill()) await delay(LOOKS_EVERY_MS);
        return {
          reached: standsStill(),
          goOn: () => {
            if (stop.how === 'block') writeFileSync(`${file}.go`, '');
            else running.kill('SIGCONT');
            return watched;
          },
        };
      },
      passTime: () => {
        for (const lock of filesOf(config).filter((file) => file.endsWith('.lock'))) {
          rmSync(join(config, lock), { recursive: true, force: true });
        }
      },
      leftovers: () => filesOf(config).filter((file) => /\.lock$|\.tmp/.test(file)),
      journal: () =>
        filesOf(config)
          .filter((file) => file.endsWith('.ndjson'))
          .map((file) => readFileSync(join(config, file), 'utf8'))
          .join(''),
      remove: () => rmSync(config, { recursive: true, force: true }),
    };
  };

  let before = new Map<string, number>();
  beforeAll(async () => {
    before = await debits(operator);
  });

  return {
    operator,
    sandbox: () => join(operator.config, 'sandbox'),
    newPlace,
    bookings: async () => {
      const now = await debits(operator);
      return (amount) => (now.get(amount) ?? 0) - (before.get(amount) ?? 0);
    },
    received: (requestIds) => receivedIn(heard(), ({ requestId }) => requestIds.has(requestId)),
    receivedFor: (resourceId) =>
      receivedIn(heard(), ({ path }) => path === undefined || path.includes(`/${resourceId}/`)),
  };
}

type BankLine = z.infer<typeof bankLine>;

/** Reads what the bank recorded. @returns a function that returns all lines so far; it reads each line once */
function readingBankLog(log: string): () => BankLine[] {
  const lines: BankLine[] = [];
  let known = 0;
  return () => {
    const file = openSync(log, 'r');
    try {
      // A long run records hundreds of megabytes.
      const added = Buffer.alloc(fstatSync(file).size - known);
      readSync(file, added, 0, added.length, known);
      const end = added.lastIndexOf('\n') + 1;
      for (const line of added.subarray(0, end).toString('utf8').split('\n').slice(0, -1))
        lines.push(bankLine.parse(JSON.parse(line)));
      known += end;
    } finally {
      closeSync(file);
    }
    return lines;
  };
}

/** @param isWanted gets the line of each request, and the line of each answer */
function receivedIn(lines: BankLine[], isWanted: (line: BankLine) => boolean): Received[] {
  const calls = new Map<string, Received>();
  for (const line of lines) {
    if (!isWanted(line)) continue;
    const { requestId, method, path, status } = line;
    if (method !== undefined) calls.set(requestId, { call: `${method} ${path}`, status: undefined });
    const call = calls.get(requestId);
    if (call && status !== undefined) call.status = status;
  }
  return [...calls.values()];
}

/** How often each amount was taken from the account, booked or pending. Other tries pay from it meanwhile. */
async function debits(operator: Operator): Promise<Map<string, number>> {
  const list = ['accounts', 'transactions', ACCOUNT, '--json'];
  let ended = await operator.psd2(list);
  while (/"code":"list_changed"/.test(ended.stderr)) ended = await operator.psd2(list);
  expect(ended.code, ended.stderr).toBe(0);
  const rows = readDocument(shapes.transactions, ended.stdout);
  const counts = new Map<string, number>();
  for (const row of rows) {
    const amount = new Big(row.amount).neg().toFixed(2);
    counts.set(amount, (counts.get(amount) ?? 0) + 1);
  }
  return counts;
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

/** Reads whole lines. The last line may still be being written. */
function readLines<T>(file: string, shape: z.ZodType<T>): T[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => shape.parse(JSON.parse(line)));
}

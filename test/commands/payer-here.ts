import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import * as z from 'zod';
import type { RawGlobals } from '../../src/cli/globals.ts';
import type { Surroundings } from '../../src/commands/context.ts';
import { bankDay } from '../../src/domain/calendar.ts';
import { type ErrorContext, Psd2Error } from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit-codes.ts';
import type { Environment } from '../../src/store/machine/settings.ts';
import type { OutputFormat } from '../../src/terminal/output/output.ts';
import type { Terminal } from '../../src/terminal/terminal.ts';
import { newConfigFolder } from '../store/temporary-folder.ts';
import { storeLogin } from './access.ts';
import { BankHere } from './bank-here.ts';
import { openCommand, runIn } from './command.ts';

/** A minute from now: the certificates are valid then. */
export const NOW = new Date(Date.now() + 60_000).toISOString();
export const TODAY = bankDay(new Date(NOW));
export const ANNA = '1048262';
/** A transfer of 12.50 EUR. */
export const CREATE = [
  ...['transfer', 'create', '--from', '0000012345', '--to', 'IT60X0542811101000000123456'],
  ...['--name', 'Mario Rossi', '--amount', '12.50'],
];

/** What a person at a terminal says: a text, a yes or no, or the beginning of a choice. */
export type Answer = string | boolean;

interface How {
  /** Answers to the questions, in their order. Absent: there is no terminal. */
  answers?: readonly Answer[];
  /** Whether `--yes` was given. By default it was, if there is no terminal. */
  yes?: boolean;
  globals?: Partial<RawGlobals>;
  env?: Environment;
  format?: OutputFormat;
  /** How wide the terminal is. */
  columns?: number;
  /** The width of the terminal that stdout is. By default it is none. */
  stdout?: number;
  stdin?: string;
  /** The operator gave these options on the command line. */
  given?: readonly string[];
  now?: string;
  changes?: (world: Surroundings) => Partial<Surroundings>;
  /** Another bank for this command. */
  at?: BankHere;
}

/** More than the id of any process. */
const NO_PROCESS = 2 ** 30;

/** An error, whole. */
export interface Failure extends ErrorContext {
  code: string;
  message: string;
  exitCode: number;
}

/**
 * How a command ended. Here and in the words of a command, flows are called `tr-1`, `op-1` and batches `batch-1`, in the order in
 * which they appear. `NOW`, `TODAY`, `user`, `machine` and `an-id` stand for what differs each time.
 */
export interface Ran {
  /** What it printed on stdout, and the same as JSON if it is JSON. */
  printed: string;
  // Tests read documents of many shapes.
  data: Json;
  /** What it said on stderr. */
  said: string;
  /** The questions that it asked, and why it did not take an answer. */
  asked: string[];
  failure: Failure | null;
}

/** A JSON value for tests to read without type checks. A missing part is `undefined`. */
export interface Json {
  readonly [part: string]: Json;
}

/** An operator with a login of `ANNA` at a bank in the memory of the test. */
export async function payerAt(bank: Pick<BankHere, 'interface'>, temporary: string, own: Environment = {}) {
  const folder = newConfigFolder(temporary);
  const certificates = join(inject('registration'), 'certificates');
  const env: Environment = {
    PSD2_BASE_URL: 'https://bank.example',
    PSD2_APP_NAME: 'Application',
    PSD2_QWAC_CERT: join(certificates, 'qwac.pem'),
    PSD2_QWAC_KEY: join(certificates, 'qwac-key.pem'),
    PSD2_QSEAL_CERT: join(certificates, 'qseal.pem'),
    PSD2_QSEAL_KEY: join(certificates, 'qseal-key.pem'),
    // No browser returns to this machine, so psd2 asks the bank for the decision.
    PSD2_REDIRECT_URI: 'https://tpp.example/callback',
    PSD2_BROWSER: 'none',
    PSD2_OPERATOR: 'ada',
    ...own,
  };
  const open = ({
    answers,
    yes = answers === undefined,
    globals = {},
    format,
    columns,
    stdout,
    stdin = '',
    given = [],
    now = NOW,
    ...how
  }: How = {}) => {
    const asked: string[] = [];
    const command = openCommand(folder, now, {
      env: { ...env, ...how.env },
      globals: { ...(yes && { yes }), ...globals },
      ...(format && { format }),
      ...(stdout !== undefined && { columns: stdout }),
      find: async () => (how.at ?? bank).interface,
      changes: (world) => ({
        sourceOf: (name) => (given.includes(name) ? 'option' : 'default'),
        readStdin: async () => stdin,
        ...(answers && { terminal: personAt(world.terminal, [...answers], asked, columns) }),
        ...how.changes?.(world),
      }),
    });
    return { ...command, asked };
  };
  const names = namesOf();
  const payer = {
    folder,
    open,
    /** Runs a command to its end, with `--yes` unless there are answers. */
    async run(words: readonly string[], how?: How): Promise<Ran> {
      const command = open(how);
      const failure = await runIn(command.context, ...words.map(names.real)).then(
        () => null,
        (error: unknown) => failureOf(error),
      );
      const printed = names.plain(command.printed());
      const texts = z.array(z.string());
      return {
        ...{ printed, data: jsonOf(printed), said: names.plain(command.said()) },
        asked: texts.parse(JSON.parse(names.plain(JSON.stringify(command.asked)))),
        failure: failure && JSON.parse(names.plain(JSON.stringify(failure))),
      };
    },
    async logIn(customer: string): Promise<void> {
      await storeLogin(open().context, customer);
    },
    /** The events in the journal of a flow. */
    journal: (flow: string): Json[] =>
      readFileSync(join(folder.flows('env'), `${names.real(flow)}.ndjson`), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(names.plain(line)).event),
    /** The types of these events, in order. */
    events: (flow: string): string =>
      payer
        .journal(flow)
        .map(({ type }) => type)
        .join(' '),
    /** As if the processes of the unfinished flows had ended, and not this one. */
    leaveBehind(): void {
      const open = join(folder.flows('env'), 'open');
      for (const flow of readdirSync(open)) writeFileSync(join(open, flow), `${NO_PROCESS} ${hostname()}`);
    },
    /** The number of flows. */
    flows: (): number => readdirSync(folder.flows('env')).filter((name) => name.endsWith('.ndjson')).length,
  };
  await payer.logIn(ANNA);
  return payer;
}

/** An operator at a bank with these terms. */
export async function payerWith(
  temporary: string,
  terms: BankHere | ConstructorParameters<typeof BankHere>[0] = {},
  own?: Environment,
) {
  const bank = terms instanceof BankHere ? terms : new BankHere(terms);
  return { bank, payer: await payerAt(bank, temporary, own) };
}

/** How a command ended, in lines: exit code, code, flow and message; what the operator can do; and what else the error has. */
export function endOf({ failure }: Pick<Ran, 'failure'>): string[] {
  if (failure === null) return ['done'];
  const { code, message, exitCode, flow, hint, next = [], ...rest } = failure;
  return [
    `exit ${exitCode}, ${code}${flow === undefined ? '' : ` of ${flow}`}: ${message}`,
    ...(hint === undefined ? [] : [hint]),
    ...next.map((words) => `$ ${words.join(' ')}`),
    ...Object.entries(rest).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ];
}

/** Names for what differs each time. */
function namesOf() {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  const nameOf = (id: string, kind: string): string => {
    const name = known.get(id) ?? `${kind}-${(counts.get(kind) ?? 0) + 1}`;
    if (!known.has(id)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    known.set(id, name);
    return name;
  };
  const batchNamed = (id: string) => nameOf(id, 'batch');
  return {
    plain: (text: string): string =>
      text
        .replaceAll(/\b[0-9a-f]{64}(-\d+)?/g, batchNamed)
        .replaceAll(/\b[0-9a-f]{12}\b(?!-)/g, (short) => {
          const whole = [...known.keys()].find((id) => id.length >= 64 && id.startsWith(short));
          return whole === undefined ? short : `short ${known.get(whole)}`;
        })
        .replaceAll(/\b(tr|op|co)-[0-9a-z]{14}\b/g, (id: string, kind: string) => nameOf(id, kind))
        .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'an-id')
        .replaceAll(NOW, 'NOW')
        .replaceAll(TODAY, 'TODAY')
        .replaceAll(`@${hostname()}`, '@machine')
        .replaceAll(`"machine":"${hostname()}"`, '"machine":"machine"')
        .replaceAll(`"user":"${userInfo().username}"`, '"user":"user"'),
    real: (word: string): string => [...known].find(([, name]) => name === word)?.[0] ?? word,
  };
}

function jsonOf(printed: string): Json {
  try {
    return JSON.parse(printed);
  } catch {
    return {};
  }
}

/** An error of psd2 as one object, without its cause. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof Psd2Error)) throw error;
  const { code, message, context } = error;
  const { cause, ...rest } = context;
  return { code, message, exitCode: exitCodeOf(code), ...rest };
}

/** A terminal with a person who has answers. */
function personAt(terminal: Terminal, answers: Answer[], asked: string[], columns?: number): Terminal {
  const answer = (question: string): Answer => {
    asked.push(question);
    const next = answers.shift();
    if (next === undefined) throw new TypeError(`There is no answer to ${question}`);
    return next;
  };
  const ask: Terminal['ask'] = async (question, { check } = {}) => {
    for (;;) {
      const text = String(answer(question));
      try {
        await check?.(text);
        return text;
      } catch (error) {
        if (!(error instanceof Psd2Error)) throw error;
        asked.push(`! ${error.message}`);
      }
    }
  };
  return {
    ...terminal,
    canAsk: true,
    ...(columns !== undefined && { size: { columns, rows: 24 } }),
    ask,
    askPath: ask,
    askSecret: (question, check) => ask(question, { ...(check && { check }) }),
    // A question whose answer is yes if the operator only presses Enter says so.
    confirm: async (question, suggested) => answer(suggested ? `${question} [Y]` : question) === true,
    async choose(question, choices) {
      const wanted = String(answer(question));
      asked.push(...choices.map(({ name, short }) => `- ${name} (${short ?? name})`));
      const choice = choices.find(({ name }) => name.startsWith(wanted));
      if (!choice) throw new TypeError(`There is no choice ${wanted}`);
      return choice.value;
    },
  };
}

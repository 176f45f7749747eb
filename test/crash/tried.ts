import * as z from 'zod';
import { type Resident, type ResidentRun, useResident } from '../hostile/resident.ts';
import { freePort } from '../support/free-port.ts';
import { bySeed, fewer } from '../support/sample.ts';
import { ALL, type CrashBank, type Place } from './bank.ts';

/** Kinds of tries, as in the tables of README.md. */
export const KINDS = [
  'stopped',
  'stalled',
  'told to stop',
  'restored journal',
  'missing file',
  'NextGenPSD2',
  'batch of five',
  'NextGenPSD2 payment',
  'smoke test',
  'what an answer proves',
  'embedded SCA',
] as const;

/** The result of one try. */
export const triedShape = z.object({
  kind: z.enum(KINDS),
  scenario: z.string(),
  how: z.string(),
  point: z.string(),
  /** Whether the process reached the point. */
  reached: z.boolean(),
  /** The amount of the order, to find it in the bank's ledger. */
  amount: z.string(),
  /** The state of each flow at the end. */
  ends: z.array(z.string()),
  /** Something was paid, executed or confirmed more than once. */
  twice: z.boolean(),
  /** A login that existed does not work any more. */
  lost: z.boolean(),
  /** A row of a list is doubled or missing. */
  rows: z.boolean(),
  /** From the signal to the end of the process, in milliseconds. Null if there was no signal. */
  tookToEnd: z.number().nullable(),
  /** Everything that went wrong. */
  problems: z.array(z.string()),
});
export type Tried = z.infer<typeof triedShape>;

/** A try without a result yet. */
export function newTry(
  kind: Tried['kind'],
  scenario: string,
  how: string,
  point: string,
  amount: string,
): Tried {
  return {
    ...{ kind, scenario, how, point, amount, reached: true, ends: [], twice: false, lost: false },
    ...{ rows: false, tookToEnd: null, problems: [] },
  };
}

/** Returns the points that match, each with the ones just before it, and some others that the seed chooses; or all points. */
export function mattering<Point extends { at: string; phase: string }>(
  points: Point[],
  wanted: RegExp[],
  before: number,
  rest: number,
): Point[] {
  if (ALL) return points;
  const inside = new Set(
    points.flatMap(({ at }, index) =>
      wanted.some((pattern) => pattern.test(at)) ? points.slice(Math.max(0, index - before), index + 1) : [],
    ),
  );
  const others = points.filter((point) => !inside.has(point));
  return [...inside, ...bySeed(others, ({ at }) => at).slice(0, fewer(rest))];
}

/** Runs of psd2 that nobody stops, in processes that stay alive: a run costs milliseconds. */
export interface Followers {
  /** Runs psd2 at a place. The customer does what the bank's page asks for. */
  psd2(place: Place, args: string[], env?: Record<string, string>): Promise<ResidentRun>;
}

/** @param count how many runs there may be at a time */
export function useFollowers(bank: CrashBank, count: number): Followers {
  const idle: Resident[] = Array.from({ length: count }, () => useResident(bank.operator));
  const waiting: ((resident: Resident) => void)[] = [];
  return {
    psd2: async (place, args, env) => {
      const resident = idle.pop() ?? (await new Promise<Resident>((resolve) => waiting.push(resolve)));
      try {
        const redirect = { PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback` };
        return await resident.run(args, { env: { PSD2_CONFIG_DIR: place.config, ...redirect, ...env } });
      } catch (error) {
        return { code: 1, stdout: '', stderr: String(error), crash: String(error) };
      } finally {
        const next = waiting.shift();
        if (next) next(resident);
        else idle.push(resident);
      }
    },
  };
}

const flowShape = z.object({
  ...{ flow: z.string(), state: z.string(), resourceId: z.string().nullable() },
  /** The account that a payment debits. */
  from: z.string().nullish(),
});
export type Flow = z.infer<typeof flowShape>;

/** The flows of a place in their current state. The list does not wait for a process that works on a flow. */
export async function flowsAt(
  followers: Followers,
  place: Place,
  kind: string,
  env?: Record<string, string>,
): Promise<Flow[]> {
  const list = [kind, 'list', '--json', '--quiet'];
  const { stdout } = succeeded(list, await followers.psd2(place, list, env));
  return z.array(flowShape).parse(JSON.parse(stdout));
}

/** How often the bank acted on the request that may be made once for a resource. Requests refused unread do not count. */
export function decisiveFor(bank: CrashBank, flow: Flow, request: RegExp): number {
  if (flow.resourceId === null) return 0;
  return bank
    .receivedFor(flow.resourceId)
    .filter(({ call, status }) => request.test(call) && ![401, 420, 429].includes(status ?? 0)).length;
}

/** A process must not be killed by a signal, nor end because of a bug. */
export function judgeEnd(
  who: string,
  ended: { code: number | null; stderr: string },
  problems: string[],
): void {
  if (ended.code === null || ended.code === 1) {
    problems.push(`${who} ended with ${ended.code ?? 'a signal'}: ${ended.stderr}`);
  }
}

/** Returns what a run gave. @throws Error with what it said, if it did not end as it should */
export function succeeded<Run extends { code: number | null; stderr: string }>(
  what: string | readonly string[],
  ended: Run,
  code = 0,
): Run {
  if (ended.code === code) return ended;
  const words = typeof what === 'string' ? what : `psd2 ${what.join(' ')}`;
  throw new Error(`${words} ended with ${ended.code}: ${ended.stderr}`);
}

/** Lends a place to one try after another. */
export type Lend = <Result>(work: (place: Place) => Promise<Result>) => Promise<Result>;

/**
 * Opens one place for each try that runs at the same time, because a login costs more than a try, and removes them.
 *
 * @param open returns a place with what a try needs there
 */
export async function withPlaces<Result>(
  open: () => Promise<Place>,
  work: (lend: Lend) => Promise<Result>,
): Promise<Result> {
  const all: Place[] = [];
  const idle: Place[] = [];
  const opened = async () => {
    const place = await open();
    all.push(place);
    return place;
  };
  try {
    return await work(async (use) => {
      const place = idle.pop() ?? (await opened());
      const result = await use(place);
      idle.push(place);
      return result;
    });
  } finally {
    for (const place of all) place.remove();
  }
}

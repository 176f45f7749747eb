import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Ended } from '../e2e/support/psd2.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import type { CrashBank, How, Place, Watched } from './bank.ts';
import { type Point, recordAt } from './matrix.ts';
import { judgeEnd, newTry, succeeded, type Tried } from './tried.ts';

/** A bank of the Berlin Group whose consents are asked for in one of the ways that the standard has. */
export interface DoorWay {
  name: string;
  /** The fields of its bank file. */
  file: object;
  /** What the customer is asked to do before a consent. */
  login: boolean;
}

export const WAYS: readonly DoorWay[] = [
  { name: 'redirect', file: {}, login: false },
  {
    name: 'decoupled',
    file: { sca: { approaches: ['decoupled'], pollSeconds: 1 }, psu: { id: 'required' } },
    login: false,
  },
  {
    name: 'login before the consent',
    // The door puts its own address there.
    file: {
      oauth: { mode: 'pre-step', metadata: 'https://bank.example/.well-known/oauth-authorization-server' },
    },
    login: true,
  },
];

/** Options of `sandbox start` for a bank of the second interface. @param file the fields of its bank file */
export function doorRules(file: object): string[] {
  const path = join(temporaryFolder(), 'bank.json');
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...file }));
  return ['--bank', path];
}

/** Each try keeps its consent, whatever the others ask for. */
export const rulesOf = ({ file }: DoorWay) => [...doorRules(file), '--variation', 'multiple-consents'];

/** A place whose customer uses the second door, without a consent. Its customer has logged in if the bank wants that. */
export async function placeAtDoor(bank: CrashBank, { login }: DoorWay): Promise<Place> {
  const place = bank.newPlace(() => ({ PSD2_PROFILE: 'sandbox-nextgen' }));
  if (login) succeeded(LOGIN, await place.psd2(LOGIN));
  return place;
}

const LOGIN = ['auth', 'login', '--customer', 'ada', '--json'];
const REQUEST = ['consent', 'request', '--customer', 'ada', '--psu-id', 'anna', '--yes', '--json'];
const READ = ['accounts', 'list', '--customer', 'ada', '--json'];
const CREATED = /^POST .*\/v1\/consents$/;

const flowShape = z.object({ flow: z.string(), state: z.string(), resourceId: z.string().nullable() });
type Flow = z.infer<typeof flowShape>;

/** What is stopped at each of its points: the request of a consent, or the login before it. */
export const COMMANDS = { consent: REQUEST, login: LOGIN } as const;
export type CommandName = keyof typeof COMMANDS;

export async function recordAtDoor(bank: CrashBank, way: DoorWay, command: CommandName): Promise<Point[]> {
  const place = await placeAtDoor(bank, { ...way, login: way.login && command === 'consent' });
  return recordAt(place, COMMANDS[command]);
}

/**
 * Stops the request of a consent, or the login before it, at a point. Whoever goes on then asks for a consent only if the
 * answer to the first request was lost, no login is lost, and the customer's accounts can be read.
 */
export async function tryAtDoor(
  bank: CrashBank,
  way: DoorWay,
  command: CommandName,
  how: How,
  { at }: Point,
): Promise<Tried> {
  const place = await placeAtDoor(bank, { ...way, login: way.login && command === 'consent' });
  const tried = newTry('NextGenPSD2', `${command} (${way.name})`, how, at, '');
  const runs: Watched[] = [await place.watched(COMMANDS[command], { at, how })];
  tried.reached = runs[0]?.stopped ?? false;
  place.passTime();
  const run = async (args: string[]) => {
    const ended = await place.watched(args);
    runs.push(ended);
    return ended;
  };
  const judge = ({ code, stderr }: Ended, what: string) => {
    if (code === 0) return;
    tried.lost = true;
    tried.problems.push(`${what} ended with ${code}: ${stderr}`);
  };
  if (command === 'login') judge(await run(LOGIN), 'a new login');
  const known = (await flowsOf(place)).at(-1);
  const resumed = await run(known ? ['consent', 'resume', known.flow, '--json'] : REQUEST);
  if (resumed.code !== 0) tried.problems.push(`it ended with ${resumed.code}: ${resumed.stderr}`);
  await judgeConsents(bank, place, runs, known, tried);
  judge(await place.psd2(READ), 'the list of the accounts');
  place.remove();
  return tried;
}

/** Lets several processes ask for what one of them has begun, or work on the same flow: the bank gets one request. */
export async function tryTogether(bank: CrashBank, way: DoorWay, at: string): Promise<Tried> {
  const place = await placeAtDoor(bank, way);
  const tried = newTry('NextGenPSD2', `consent (${way.name})`, 'two workers', at, '');
  const stalled = await place.stalled(REQUEST, { at, how: 'SIGSTOP' });
  tried.reached = stalled.reached;
  place.passTime();
  const known = (await flowsOf(place)).at(-1);
  const second = await place.watched(known ? ['consent', 'resume', known.flow, '--json'] : REQUEST);
  const first = await stalled.goOn();
  judgeEnd('the first', first, tried.problems);
  judgeEnd('the second', second, tried.problems);
  await judgeConsents(bank, place, [first, second], known, tried);
  place.remove();
  return tried;
}

/** The flows of a place. The last one is the first. */
async function flowsOf(place: Place): Promise<Flow[]> {
  const { stdout } = await place.psd2(['consent', 'list', '--json']);
  return z.array(flowShape).parse(JSON.parse(stdout));
}

/** Every request of a consent must be in a flow, and a flow that knows its consent asks for no other. */
async function judgeConsents(
  bank: CrashBank,
  place: Place,
  runs: Watched[],
  known: Flow | undefined,
  tried: Tried,
): Promise<void> {
  tried.ends = (await flowsOf(place)).map(({ state }) => state);
  if (!tried.ends.includes('confirmed')) tried.problems.push(`no consent is confirmed: ${tried.ends}`);
  const made = (watched: Watched[]) => {
    const ids = watched.flatMap(({ trace }) => trace.flatMap(({ requestId }) => requestId ?? []));
    return bank
      .received(new Set(ids))
      .filter(({ call, status }) => CREATED.test(call) && (status === undefined || status === 201)).length;
  };
  // Whoever came first had its answer, or it was lost: then the consent is asked for again.
  const isKnown = known !== undefined && known.resourceId !== null;
  if (isKnown ? made(runs) !== 1 : made(runs) > 2) {
    tried.twice = true;
    tried.problems.push(`the bank was asked for ${made(runs)} consents`);
  }
}

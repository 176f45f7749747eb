import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type CrashBank, HOWS, type How, type Place, type TraceLine, type Watched } from './bank.ts';
import type { LoginScenario, Scenario } from './scenarios.ts';
import { decisiveFor, type Followers, flowsAt } from './tried.ts';

/** The result of one try: a process was stopped at a point, and another one resumed its flow. */
export const outcomeShape = z.object({
  scenario: z.string(),
  how: z.enum(HOWS),
  point: z.string(),
  /** The last event in the journal before the point. */
  phase: z.string(),
  /** Whether the process reached the point. Some points depend on how fast the machine is. */
  reached: z.boolean(),
  /** The flow's state after the stop, or null if nothing was on disk. */
  found: z.string().nullable(),
  /** The flow's state at the end. */
  end: z.string(),
  /** For an unknown end: whether the bank received the last announced request and refused it. */
  turnedAway: z.boolean(),
  /** How often the bank got the request that may be made once. Requests that it refused unread do not count. */
  decisive: z.number(),
  /** The amount of the order, to find it in the bank's ledger. */
  amount: z.string(),
  /** How many bookings the ledger shows. */
  bookings: z.number(),
  /** From the signal to the end of the process, in milliseconds. */
  tookToEnd: z.number(),
  /** Everything that went wrong. */
  problems: z.array(z.string()),
});
export type Outcome = z.infer<typeof outcomeShape>;

const flowShape = z.object({ flow: z.string(), state: z.string() });
const OUTCOME_UNKNOWN = 9;
const NOT_LOGGED_IN = 4;
const UNREACHABLE = 11;
const INTERRUPTED = 130;

/** Stops a flow at a point, resumes it until it ends, and checks that psd2 kept its promises. */
export async function tryFlow(
  bank: CrashBank,
  followers: Followers,
  scenario: Scenario,
  stop: Stop,
): Promise<Outcome> {
  const place = bank.newPlace();
  const problems: string[] = [];
  const prepared = scenario.prepare && (await followers.psd2(place, scenario.prepare));
  if (prepared && prepared.code !== 0) problems.push(`it could not be prepared: ${prepared.stderr}`);

  const stopped = await place.watched(scenario.begin(place), stop);
  const sent = new Set(
    stopped.trace.flatMap(({ requestId }) => (requestId === undefined ? [] : [requestId])),
  );
  if (stopped.stopped) judgeStop(stop.how, stopped, place, isEnd(scenario, stopped.stdout), problems);
  else if (stopped.code !== 0) problems.push(`it ended with ${stopped.code}: ${stopped.stderr}`);
  // After a second Ctrl-C the lock still exists, like the lock of a dead process.
  if (stop.how !== 'twice') place.passTime();

  const [flow] = await flowsAt(followers, place, scenario.kind);
  const recoveryOf = flow && `psd2 ${scenario.kind} resume ${flow.flow}`;
  const isOpen = flow !== undefined && flow.state !== scenario.end;
  if (!flow && bank.received(sent).length > 0) problems.push('a request was sent, but no flow is on disk');
  if (flow && isOpen && !isNoted(place, flow.flow))
    problems.push('no later command can name it as interrupted');
  if (
    !['SIGKILL', 'twice'].includes(stop.how) &&
    isOpen &&
    stopped.stopped &&
    !stopped.stderr.includes(recoveryOf ?? '')
  ) {
    problems.push(`it does not say how to continue: ${stopped.stderr}`);
  }

  const goOn = flow ? [scenario.kind, 'resume', flow.flow, ...scenario.resume] : scenario.begin(place);
  let ended = await followers.psd2(place, goOn);
  if (ended.code === NOT_LOGGED_IN) {
    await followers.psd2(place, ['auth', 'login']);
    ended = await followers.psd2(place, goOn);
  }
  const end = stateIn(ended.stdout);
  const [last] = await flowsAt(followers, place, scenario.kind);
  const decisive = last ? decisiveFor(bank, last, scenario.decisive.request) : 0;
  if (decisive > 1) problems.push(`the bank got it ${decisive} times`);
  if (end === 'unknown') {
    if (!mayBeDone(stopped.trace, scenario.decisive.announced))
      problems.push('it is unknown, but was not even announced');
    if (decisive > 0) problems.push('it is unknown, but the bank has done it');
    if (ended.code !== OUTCOME_UNKNOWN) problems.push(`it is unknown, but the exit code is ${ended.code}`);
    const again = await followers.psd2(place, goOn);
    if (again.code !== OUTCOME_UNKNOWN) problems.push(`taken up again, it ended with ${again.code}`);
  } else if (end !== scenario.end || ended.code !== 0) {
    problems.push(`it ended ${end} with ${ended.code}: ${ended.stderr}`);
  } else if (decisive !== 1) problems.push(`it ended ${end}, but the bank got it ${decisive} times`);
  if (sent.size > 0 && !flow) problems.push('a request was announced, but no flow is on disk');
  place.remove();
  const found = flow?.state ?? null;
  return {
    ...tried(scenario, stop, stopped),
    found,
    end,
    turnedAway: end === 'unknown' && cameToTheBank(bank, scenario, stopped.trace),
    decisive,
    amount: place.amount,
    bookings: 0,
    problems,
  };
}

type Stop = { at: string; how: How; phase: string };

/** The part of an outcome that describes the try itself. */
function tried({ name }: { name: string }, { at, how, phase }: Stop, { stopped, tookToEnd }: Watched) {
  return { scenario: name, how, point: at, phase, reached: stopped, tookToEnd };
}

/** Stops a login at a point. The earlier login must still work, and a new one too. */
export async function tryLogin(
  bank: CrashBank,
  followers: Followers,
  scenario: LoginScenario,
  stop: Stop,
): Promise<Outcome> {
  const place = bank.newPlace();
  const problems: string[] = [];
  const stopped = await place.watched(scenario.begin, stop);
  if (stopped.stopped) judgeStop(stop.how, stopped, place, true, problems);
  place.passTime();
  for (const args of [scenario.works, scenario.begin, scenario.works]) {
    const { code, stderr } = await followers.psd2(place, args);
    if (code !== 0) problems.push(`psd2 ${args.join(' ')} ended with ${code}: ${stderr}`);
  }
  place.remove();
  return {
    ...tried(scenario, stop, stopped),
    found: null,
    end: 'logged in',
    turnedAway: false,
    decisive: 0,
    amount: place.amount,
    bookings: 0,
    problems,
  };
}

/** @param isDone whether the process reported that it finished its work */
function judgeStop(how: How, stopped: Watched, place: Place, isDone: boolean, problems: string[]): void {
  const { code, signal, stderr } = stopped;
  if (how === 'SIGKILL') {
    if (signal !== 'SIGKILL') problems.push(`it was not killed, but ended with ${code}`);
    return;
  }
  const left = place.leftovers();
  if (how !== 'twice' && left.length > 0) problems.push(`it leaves behind ${left.join(' ')}`);
  // A signal that arrives after the work is done changes nothing. A connection that is lost may be opened again.
  const codes = how === 'cut' ? [OUTCOME_UNKNOWN, UNREACHABLE] : [INTERRUPTED];
  if (!codes.includes(code ?? -1) && !(code === 0 && isDone)) {
    problems.push(`it ended with ${code ?? signal}: ${stderr}`);
  }
}

function isEnd(scenario: Scenario, stdout: string): boolean {
  return stateIn(stdout) === scenario.end;
}

function stateIn(stdout: string): string {
  const found = flowShape.safeParse(stdout === '' ? undefined : JSON.parse(stdout));
  return found.data?.state ?? 'nothing';
}

/** Whether, according to the journal of a stopped process, the bank may have got the request that is made once. */
function mayBeDone(trace: TraceLine[], announced: string): boolean {
  const events = pointsOf(trace).map(({ phase }) => phase);
  return events.lastIndexOf(announced) > events.lastIndexOf(announced.replace(/sent$/, 'not-begun'));
}

/** Whether the bank received the last of the announced requests that are made once. */
function cameToTheBank(bank: CrashBank, { decisive }: Scenario, trace: TraceLine[]): boolean {
  const announced = trace.findLastIndex(({ point }) => point?.includes(` ${decisive.announced} #`));
  const sent = trace
    .slice(announced)
    .find(({ point }) => decisive.request.test(/^before (.*) #\d+$/.exec(point ?? '')?.[1] ?? ''));
  return sent?.requestId !== undefined && bank.received(new Set([sent.requestId])).length > 0;
}

/** The points of a process that succeeded, each with the last event in the journal before it. */
export function pointsOf(trace: TraceLine[]): { at: string; phase: string }[] {
  let phase = 'nothing';
  return trace.flatMap(({ point }) => {
    if (point === undefined) return [];
    const event = /^(?:half|after) \w+ .*\.ndjson ([a-z-]+) #/.exec(point)?.[1];
    if (event !== undefined && point.startsWith('after')) phase = event;
    return [{ at: point, phase }];
  });
}

/** Whether psd2 recorded the flow as under way. A later command at a terminal uses this to name an interrupted flow. */
function isNoted({ config }: Pick<Place, 'config'>, flow: string): boolean {
  const flows = join(config, 'flows');
  return readdirSync(flows).some((profile) => existsSync(join(flows, profile, 'open', flow)));
}

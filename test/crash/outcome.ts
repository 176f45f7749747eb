import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { CrashBank, Place, Stop, TraceLine, Watched } from './bank.ts';
import type { LoginScenario, Scenario } from './scenarios.ts';
import { decisiveFor, type Followers, flowsAt, newTry, type Tried } from './tried.ts';

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
): Promise<Tried> {
  const place = bank.newPlace();
  const tried = newTry('stopped', scenario.name, stop.how, stop.at, place.amount);
  const { problems } = tried;
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
  return { ...tried, ...timesOf(stopped), ends: [end], twice: decisive > 1 };
}

/** Whether the process reached the point, and how long it then took to its end. */
const timesOf = ({ stopped, tookToEnd }: Watched) => ({
  reached: stopped,
  tookToEnd: stopped ? tookToEnd : null,
});

/** Stops a login at a point. The earlier login must still work, and a new one too. */
export async function tryLogin(
  bank: CrashBank,
  followers: Followers,
  scenario: LoginScenario,
  stop: Stop,
): Promise<Tried> {
  const place = bank.newPlace();
  const tried = newTry('stopped', scenario.name, stop.how, stop.at, '');
  const { problems } = tried;
  const stopped = await place.watched(scenario.begin, stop);
  if (stopped.stopped) judgeStop(stop.how, stopped, place, true, problems);
  place.passTime();
  for (const args of [scenario.works, scenario.begin, scenario.works]) {
    const { code, stderr } = await followers.psd2(place, args);
    if (code !== 0) problems.push(`psd2 ${args.join(' ')} ended with ${code}: ${stderr}`);
  }
  place.remove();
  return { ...tried, ...timesOf(stopped), lost: problems.length > 0 };
}

/** @param isDone whether the process reported that it finished its work */
function judgeStop(
  how: Stop['how'],
  stopped: Watched,
  place: Place,
  isDone: boolean,
  problems: string[],
): void {
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

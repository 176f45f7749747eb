import { Psd2Error } from '../../errors.ts';
import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import type { FlowMoment } from '../../store/ports/flows.ts';
import { writeLocalTime } from '../../terminal/local-time.ts';
import { objectOf, piped } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { type LogOptions, type ShownCall, selectCalls, shortCall } from './select-calls.ts';

/** An event of a flow, or a call for it. */
type Moment = { at: string; call: ShownCall } | { at: string; event: FlowMoment };

/** A column of the calls, in a pipe. */
const ofCall = (show: (call: ShownCall) => string | null) =>
  piped((moment: Moment) => ('call' in moment ? show(moment.call) : null));

const timeline = objectOf<Moment>()(() => ({
  at: piped(({ at }: Moment) => at),
  what: piped((moment: Moment) =>
    'call' in moment ? `${moment.call.method} ${moment.call.path}` : describeMoment(moment.event),
  ),
  status: ofCall(({ status, failure }) => status?.toString() ?? failure),
  milliseconds: ofCall(({ milliseconds }) => String(milliseconds)),
  request: ofCall(({ tppRequestId }) => tppRequestId),
  bankRequest: ofCall(({ requestId }) => requestId),
  track: ofCall(({ apiTrackId }) => apiTrackId),
}));

/**
 * Prints one transaction from its beginning: its calls, and between them the events of its flow.
 *
 * @param reference the transaction's id, the flow's local id, or the beginning of either
 * @throws Psd2Error `flow_not_found` if none or several match
 */
export async function printTimeline(context: Context, options: LogOptions, reference: string): Promise<void> {
  const { output, stdoutIsTerminal } = context;
  const calls = [...(await selectCalls(context, options))];
  const transactions = [...new Set(calls.map(({ transactionId }) => transactionId))];
  if (transactions.length > 1)
    throw new Psd2Error(
      'flow_not_found',
      `${JSON.stringify(reference)} matches ${transactions.length} transactions`,
      { hint: `Give more characters: ${transactions.slice(0, 5).join(', ')}.` },
    );
  const [newest] = calls;
  const history = await historyOf(context, newest, reference);
  // The journal announces a call before it begins, perhaps in the same millisecond: events go first.
  const moments: Moment[] = [
    ...(history ?? []).map((event): Moment => ({ at: event.at, event })),
    ...calls.reverse().map((call): Moment => ({ at: call.at, call })),
  ].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  if (moments.length === 0)
    throw new Psd2Error('flow_not_found', `The log has no transaction ${JSON.stringify(reference)}`, {
      hint: 'See the calls in the log with:',
      next: [['log']],
    });
  if (!stdoutIsTerminal) return output.table(moments, timeline, '');
  output.lines([
    ...(history ? [`Flow         ${newest?.flow ?? reference}`] : []),
    ...(newest ? [`Transaction  ${newest.transactionId}`] : []),
    '',
    ...inRuns(moments).flatMap(drawRun),
  ]);
}

/** The events of the flow. An inquiry has no flow and no journal, and the profile of a flow may be removed by now. */
async function historyOf(context: Context, newest: ShownCall | undefined, reference: string) {
  if (newest?.flow === null) return null;
  const { globals, profiles } = context;
  const profile = newest?.profile ?? globals.profile ?? profiles.current() ?? ENVIRONMENT_PROFILE;
  const { flows } = (await context.forProfile(profile).wholeStore()).open(profile);
  return flows.history(newest?.flow ?? reference);
}

/** Moments in their order, with those together that are equal calls in a row: psd2 asks until the bank says something else. */
function inRuns(moments: readonly Moment[]): Moment[][] {
  const runs: Moment[][] = [];
  for (const moment of moments) {
    const last = runs.at(-1);
    if (last?.[0] && isSameCall(last[0], moment)) last.push(moment);
    else runs.push([moment]);
  }
  return runs;
}

/** Whether two calls asked the same, and the bank answered with the same status. */
function isSameCall(one: Moment, other: Moment): boolean {
  if (!('call' in one && 'call' in other)) return false;
  const factsOf = ({ call: { method, path, status, failure } }: typeof one) => [
    method,
    path,
    status,
    failure,
  ];
  return factsOf(one).join(' ') === factsOf(other).join(' ');
}

/** The first of equal calls, and how often and until when it went on so. */
function drawRun(run: readonly Moment[]): string[] {
  const [first, last] = [run[0], run.at(-1)];
  if (!first || !last) return [];
  const more = run.length - 1;
  const until = `${' '.repeat(29)}and ${more} more with the same answer, until ${writeLocalTime(last.at, 'millisecond')}`;
  return more === 0 ? drawMoment(first) : [...drawMoment(first), until];
}

function drawMoment(moment: Moment): string[] {
  const time = writeLocalTime(moment.at, 'millisecond');
  if ('event' in moment) return [`${time}  ${describeMoment(moment.event)}`];
  const { call } = moment;
  const outcome = call.status === null ? (call.failure ?? 'no answer') : String(call.status);
  const isBoth = call.requestId === call.tppRequestId;
  const ids = [
    ['request', call.tppRequestId],
    ['bank', isBoth ? null : call.requestId],
    ['track', call.apiTrackId],
  ].flatMap(([name, id]) => (id ? [`${' '.repeat(29)}${name?.padEnd(7)} ${id}`] : []));
  return [`${time}    ${shortCall(call)} → ${outcome} in ${call.milliseconds} ms`, ...ids];
}

function describeMoment({ type, detail }: FlowMoment): string {
  return detail === null ? type : `${type} (${detail})`;
}

import {
  list as listOf,
  object,
  oneOf,
  optional,
  orNull,
  piped,
  seen,
  text,
  time,
  whole,
} from '../../terminal/output/fields.ts';
import { examples, verb } from '../declare.ts';
import { type ShownCall, selectCalls, shortCall, withFlow, withSelection } from './select-calls.ts';

const loggedCall = object({
  at: time('when psd2 sent it').as('Time', { kind: 'second' }),
  profile: text('profile of the call').inPipe(),
  host: text("host and port of the bank's interface"),
  method: text('GET, POST, PUT or DELETE').inPipe(),
  path: text('path as sent, without the query').inPipe(),
  status: orNull(whole('HTTP status; null if there was no usable answer')),
  outcome: piped(({ status, failure }: ShownCall) => status?.toString() ?? failure),
  answered: seen('Status', ({ status }: ShownCall) => status?.toString() ?? 'none', { whole: true }),
  failure: orNull(text('why there was no usable answer')),
  milliseconds: whole('time from the first attempt to send to the end of the answer').as('Ms', {
    dispensable: 1,
  }),
  tppRequestId: text('TPP-Request-ID').inPipe(),
  transactionId: text('TPP-Transaction-ID').inPipe(),
  requestId: orNull(text("result.requestId of the bank's answer, every digit")).inPipe(),
  apiTrackId: orNull(text('cb-apitrack-id')).inPipe(),
  flow: orNull(text('the flow that the call belongs to')).inPipe(),
  call: seen('Call', shortCall),
  of: seen(
    'Flow or transaction',
    ({ flow, transactionId }: ShownCall) => flow ?? transactionId.slice(0, 18),
    {
      whole: true,
    },
  ),
  connectMs: optional(whole('time to open the connection, TLS included; absent if an open one was used')),
  firstByteMs: optional(
    whole(
      'time from the first byte of the request to the first byte of the answer; absent without an answer',
    ),
  ),
  verdict: optional(
    oneOf(
      ['began', 'nothing began', 'unknown', 'ask again'],
      'what the answer proves of an initiation; absent: it has no usable answer, or is another call',
    ),
  ),
  run: optional(text('the run that the call belongs to: of psd2 smoke, or PSD2_RUN')),
});

/** For a pipe. */
const COLUMNS = loggedCall.inList(
  'at outcome milliseconds method path flow transactionId tppRequestId requestId apiTrackId profile',
);

/** For a terminal: all ids would need 230 cells. `--transaction` takes a value of the last column and shows all ids. */
const NARROW_COLUMNS = loggedCall.inList('at answered milliseconds call of');

/** Number of rows that psd2 prints at a time. */
const PAGE = 100;
const NONE = 'No call in the log matches.';

/** `psd2 log list`: the calls to the bank, newest first. With `--transaction`, the table is a timeline. */
export const list = verb(
  {
    prints: { what: 'calls to the bank', shape: listOf(loggedCall) },
    help: `
The log has one entry for each attempt, also for retries and for calls that got no answer. It has no queries, headers
or bodies. With --profile, psd2 shows only the calls of that profile. With --customer, it shows the calls for that customer, and
the other calls of the same transactions. With --transaction, the table becomes a timeline from the beginning,
with the events of the flow between its calls.

--follow shows the last 10 calls (--limit), the newest last, and then each new one, until Ctrl-C. Programs read it with -o ndjson.
${examples(
  'psd2 log --failed --since 1d',
  'psd2 log --transaction 6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44',
  'psd2 log --follow --failed',
  "psd2 log --json | jq -r '.[] | select(.milliseconds > 2000) | .path'",
)}`,
  },
  (command) =>
    withSelection(command).option('--follow', 'keep running, and show each call once it has ended'),
  async (context, chosen) => {
    const { output, stdoutIsTerminal } = context;
    const options = await withFlow(context, chosen);
    if (options.follow) {
      const { follow } = await import('./follow.ts');
      return follow(context, options, (pages) => output.pages(pages, COLUMNS, NONE));
    }
    if (options.transaction !== undefined && output.format === 'table')
      return (await import('./timeline.ts')).printTimeline(context, options, options.transaction);
    const columns = stdoutIsTerminal ? NARROW_COLUMNS : COLUMNS;
    await output.pages(pagesFrom(await selectCalls(context, options)), columns, NONE);
  },
);

async function* pagesFrom<T>(rows: Iterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for (const row of rows) {
    page.push(row);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

import type { Column } from '../../terminal/output/fields.ts';
import { list as listOf, object, optional, orNull, text, time, whole } from '../../terminal/output/fields.ts';
import { examples, verb } from '../declare.ts';
import { nameOf, type ShownCall, selectCalls, withSelection } from './select-calls.ts';

const loggedCall = object({
  at: time('when psd2 sent it'),
  profile: text('profile of the call'),
  host: text("host and port of the bank's interface"),
  method: text('GET, POST, PUT or DELETE'),
  path: text('path as sent, without the query'),
  status: orNull(whole('HTTP status; null if there was no usable answer')),
  failure: orNull(text('why there was no usable answer')),
  milliseconds: whole('time from the first attempt to send to the end of the answer'),
  tppRequestId: text('TPP-Request-ID'),
  transactionId: text('TPP-Transaction-ID'),
  requestId: orNull(text("result.requestId of the bank's answer, every digit")),
  apiTrackId: orNull(text('cb-apitrack-id')),
  flow: orNull(text('the flow that the call belongs to')),
  connectMs: optional(whole('time to open the connection, TLS included; absent if an open one was used')),
  firstByteMs: optional(
    whole(
      'time from the first byte of the request to the first byte of the answer; absent without an answer',
    ),
  ),
  run: optional(text('the run that the call belongs to: of psd2 smoke, or PSD2_RUN')),
});

const loggedCalls = listOf(loggedCall);

const COLUMNS: Column<ShownCall>[] = [
  { title: 'TIME', value: ({ at }) => at, whole: true },
  { title: 'STATUS', value: ({ status, failure }) => (status === null ? failure : String(status)) },
  { title: 'MS', value: ({ milliseconds }) => String(milliseconds), right: true },
  { title: 'METHOD', value: ({ method }) => method, whole: true },
  { title: 'PATH', value: ({ path }) => path },
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'TRANSACTION', value: ({ transactionId }) => transactionId, whole: true },
  { title: 'REQUEST', value: ({ tppRequestId }) => tppRequestId, whole: true },
  { title: 'BANK REQUEST', value: ({ requestId }) => requestId, whole: true },
  { title: 'TRACK', value: ({ apiTrackId }) => apiTrackId, whole: true },
  { title: 'PROFILE', value: ({ profile }) => profile, whole: true },
];

/** For a terminal: all ids would need 230 cells. `--transaction` takes a value of the last column and shows all ids. */
const NARROW_COLUMNS: Column<ShownCall>[] = [
  { title: 'TIME', value: ({ at }) => at, kind: 'second' },
  { title: 'STATUS', value: ({ status }) => (status === null ? 'none' : String(status)), whole: true },
  { title: 'MS', value: ({ milliseconds }) => String(milliseconds), right: true, dispensable: 1 },
  { title: 'CALL', value: nameOf },
  {
    title: 'FLOW OR TRANSACTION',
    value: ({ flow, transactionId }) => flow ?? transactionId.slice(0, 18),
    whole: true,
  },
];

/** Number of rows that psd2 prints at a time. */
const PAGE = 100;
const NONE = 'No call in the log matches.';

/** `psd2 log list`: the calls to the bank, newest first. With `--transaction`, the table is a timeline. */
export const list = verb(
  {
    prints: { what: 'calls to the bank', shape: loggedCalls },
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
  async (context, options) => {
    const { output, stdoutIsTerminal } = context;
    if (options.follow) {
      const { follow } = await import('./follow.ts');
      return follow(context, options, (pages) => output.pages(pages, COLUMNS, NONE, loggedCalls));
    }
    if (options.transaction !== undefined && output.format === 'table')
      return (await import('./timeline.ts')).printTimeline(context, options, options.transaction);
    const columns = stdoutIsTerminal ? NARROW_COLUMNS : COLUMNS;
    await output.pages(pagesOf(await selectCalls(context, options)), columns, NONE, loggedCalls);
  },
);

async function* pagesOf<T>(rows: Iterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for (const row of rows) {
    page.push(row);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

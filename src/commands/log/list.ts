import type { LoggedCall } from '../../store/machine/call-log.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { type LogOptions, nameOf, selectCalls } from './select-calls.ts';
import { loggedCalls } from './shape.ts';

const COLUMNS: Column<LoggedCall>[] = [
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
const NARROW_COLUMNS: Column<LoggedCall>[] = [
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

/** `psd2 log`: lists the calls to the bank, newest first. With `--transaction`, the table is a timeline. */
export async function logList(context: Context, options: LogOptions): Promise<void> {
  const { output, stdoutIsTerminal } = context;
  if (options.transaction !== undefined && output.format === 'table') {
    return (await import('./timeline.ts')).printTimeline(context, options, options.transaction);
  }
  const columns = stdoutIsTerminal ? NARROW_COLUMNS : COLUMNS;
  await output.pages(
    pagesOf(selectCalls(context, options)),
    columns,
    'No call in the log matches.',
    loggedCalls,
  );
}

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

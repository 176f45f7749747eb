import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import type { LoggedCall } from '../../../src/store/machine/call-log.ts';
import type { How } from '../command.ts';

const time = vi.hoisted(() => {
  vi.resetModules();
  return { looks: 0, isEnded: false, beforeLook: (_look: number): void => {} };
});
// psd2 looks for new calls after this time, and each test says what happened until then.
vi.mock(import('node:timers/promises'), async (original) => {
  const real = await original();
  const setTimeout: typeof real.setTimeout = async (delay, value, options) => {
    if (delay !== 500) return real.setTimeout(delay, value, options);
    time.looks += 1;
    time.beforeLook(time.looks);
    time.isEnded = options?.signal?.aborted === true;
    return real.setTimeout(0, value);
  };
  return { ...real, setTimeout };
});
const { openCommand, runIn, useFolder } = await import('../command.ts');
const { failureOf } = await import('../failure.ts');
const { FIRST, logCalls, NOW } = await import('./calls.ts');
afterAll(() => vi.resetModules());

const folder = useFolder();
beforeEach(() => {
  time.looks = 0;
});

const log = (...calls: Partial<LoggedCall>[]) => logCalls(folder, calls);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ tppRequestId: `r${from + index}` }));

/** What happens before each look of psd2, and how the operator ends it after the last: Ctrl-C, or SIGTERM. */
interface Story {
  looks?: (() => void)[];
  end?: 'SIGINT' | 'SIGTERM';
  now?: () => Date;
}
type Globals = NonNullable<How['globals']>;

/** Opens `psd2 log --follow`. @returns how to run it, and what it has printed then */
function follow(words: string[], { looks = [], end = 'SIGTERM', now }: Story, how: How = {}) {
  const gentle = new AbortController();
  time.beforeLook = (look) => {
    if (look > looks.length) gentle.abort(end);
    else looks[look - 1]?.();
  };
  const command = openCommand(folder, now ?? NOW, {
    ...{ format: 'ndjson', ...how },
    changes: () => ({ stopGently: () => gentle.signal }),
  });
  return { ...command, run: () => runIn(command.context, 'log', '--follow', ...words) };
}
const requestsIn = (printed: string) => [...printed.matchAll(/"tppRequestId":"(\w+)"/g)].map(([, id]) => id);
async function requests(words: string[], story: Story = {}, globals: Globals = {}): Promise<unknown[]> {
  const command = follow(words, story, { globals });
  await command.run();
  return requestsIn(command.printed());
}

it('the last ten calls come first, then each new one, and the newest is always the last', async () => {
  log(...numbered(1, 12));
  const looks = [() => log(...numbered(13, 14)), () => {}, () => log(...numbered(15, 15))];
  expect(await requests([], { looks })).toEqual(numbered(3, 15).map(({ tppRequestId }) => tppRequestId));
  expect(time.looks).toBe(4);
});

it('--limit says how many of the earlier calls come first, and does not limit the new ones', async () => {
  log(...numbered(1, 4));
  const looks = [() => log(...numbered(5, 7))];
  expect(await requests(['--limit', '2'], { looks })).toEqual(['r3', 'r4', 'r5', 'r6', 'r7']);
});

it('without an earlier call the first new one is the first, and without any psd2 says so at its end', async () => {
  const none = follow([], {}, { format: 'table' });
  await none.run();
  expect([none.printed(), none.said()]).toEqual(['', 'No call in the log matches.\n']);
  time.looks = 0;
  // In a pipe each call is a line with all ids.
  const one = follow([], { looks: [() => log({ flow: 'tr-1' })] }, { format: 'table' });
  await one.run();
  expect(one.printed()).toBe(`${NOW}\t200\t12\tGET\t/private/x\ttr-1\t${FIRST}\tr1\t\t\tenv\n`);
});

it.each<[string[], Globals]>([
  [['--failed'], {}],
  [['--transaction', 'abc'], {}],
  [['--request', 'm'], {}],
  [[], { profile: 'mine' }],
  [[], { customer: '1000001' }],
])('%j with %j selects the earlier calls and the new ones, look after look', async (words, globals) => {
  const customer = '/private/customers/1000001/x';
  const mine = { status: 503, transactionId: 'abc', profile: 'mine', path: customer };
  const other = { transactionId: 'abd', path: '/private/customers/1000002/x' };
  const looks = [
    () => log({ tppRequestId: 'other1', ...other }, { tppRequestId: 'mine2', ...mine }),
    () => log({ tppRequestId: 'other2', ...other }),
    () => log({ tppRequestId: 'mine3', ...mine }, { tppRequestId: 'other3', ...other }),
  ];
  log({ tppRequestId: 'mine1', ...mine }, { tppRequestId: 'other0', ...other });
  expect(await requests(words, { looks }, globals)).toEqual(['mine1', 'mine2', 'mine3']);
});

it('a call that comes while psd2 reads the earlier ones is shown once', async () => {
  log(...numbered(1, 1));
  let isLogged = false;
  // psd2 asks for the time only to understand --since, after it has begun to watch.
  const now = () => {
    if (!isLogged) log(...numbered(2, 2));
    isLogged = true;
    return new Date(NOW);
  };
  const looks = [() => log(...numbered(3, 3))];
  expect(await requests(['--since', '1h'], { looks, now })).toEqual(['r1', 'r2', 'r3']);
});

it('Ctrl-C ends it with the exit code of an interruption, and SIGTERM as if it were done', async () => {
  log(...numbered(1, 1));
  const interrupted = follow([], { looks: [() => log(...numbered(2, 2))], end: 'SIGINT' });
  expect(await failureOf(interrupted.run())).toEqual({
    ...{ code: 'interrupted', exitCode: 130, message: 'Interrupted' },
  });
  expect([requestsIn(interrupted.printed()), time.isEnded]).toEqual([['r1', 'r2'], true]);
  const ended = follow([], { end: 'SIGTERM' });
  await ended.run();
  expect(requestsIn(ended.printed())).toEqual(['r1', 'r2']);
});

it('a second Ctrl-C, which ends psd2 at once, is the reason that it gives', async () => {
  const atOnce = new AbortController();
  const { context } = openCommand(folder, NOW, {
    format: 'ndjson',
    changes: ({ world }) => ({
      ...{ stopGently: () => new AbortController().signal, world: { ...world, signal: atOnce.signal } },
    }),
  });
  const reason = new TypeError('at once');
  time.beforeLook = () => atOnce.abort(reason);
  await expect(runIn(context, 'log', '--follow')).rejects.toBe(reason);
  expect([time.looks, time.isEnded]).toEqual([1, true]);
});

it('at a terminal each call is one line as soon as it comes', async () => {
  log({ tppRequestId: 'r1', path: '/api/private/customers/1048262/products/7/balance' });
  const failed = { tppRequestId: 'r2', status: null, failure: 'no answer', flow: 'tr-1' };
  const looks = [() => log(failed, { tppRequestId: 'r3', status: null, milliseconds: 0 })];
  const json = follow([], {}, { columns: 100 });
  await json.run();
  expect(requestsIn(json.printed())).toEqual(['r1']);
  time.looks = 0;
  const command = follow([], { looks }, { format: 'table', columns: 100 });
  await command.run();
  const at = command.context.terminal.writeTime(NOW);
  expect(command.printed().split('\n')).toEqual([
    `${at}  200  12 ms  GET …/7/balance  ${FIRST.slice(0, 18)}`,
    `${at}  no answer  12 ms  GET …/x  tr-1`,
    `${at}  none  0 ms  GET …/x  ${FIRST.slice(0, 18)}`,
    '',
  ]);
});

it.each([
  [['--transaction', ''], 'The value of --transaction is empty'],
  [['--request', ''], 'The value of --request is empty'],
  [['--run', ''], 'The value of --run is empty'],
  [['--limit', '0'], '--limit "0" is not a whole number from 1'],
])('%j is refused before psd2 shows or waits', async (words, message) => {
  log(...numbered(1, 1));
  const command = follow(words, {});
  expect(await failureOf(command.run())).toEqual({ code: 'usage', exitCode: 2, message });
  expect([command.printed(), time.looks]).toEqual(['', 0]);
});

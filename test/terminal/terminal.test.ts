import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { writeLocalTime } from '../../src/terminal/local-time.ts';
import type { Streams } from '../../src/terminal/prompts.ts';
import { openTerminal, type TerminalOptions, writeTimeLeft } from '../../src/terminal/terminal.ts';
import { openStream } from './stream.ts';

it.each([
  [300_000, '5:00'],
  [299_001, '5:00'],
  [299_000, '4:59'],
  [1, '0:01'],
  [0, '0:00'],
  [-5, '0:00'],
  [3_600_000, '1:00:00'],
  [3_661_000, '1:01:01'],
])('%i ms left are shown as %s', (milliseconds, text) => {
  expect(writeTimeLeft(milliseconds)).toBe(text);
});

/** A terminal with these streams. */
function open(
  { stdin = false, stderr = false }: { stdin?: boolean; stderr?: boolean },
  options: Partial<TerminalOptions> = {},
) {
  const input: Streams['stdin'] = Object.assign(new Socket(), {
    ...{ isTTY: stdin, isRaw: false, setRawMode: () => input },
  });
  const { stream, written } = openStream(stderr ? { columns: 80 } : 'no terminal');
  const { signal } = new AbortController();
  const usual = { noInput: false, quiet: false, mayHaveColour: false, asEvents: false, signal };
  return { terminal: openTerminal({ stdin: input, stderr: stream }, { ...usual, ...options }), written };
}

it.each([
  [true, { stdin: true, stderr: true }, {}],
  [false, { stdin: true, stderr: false }, {}],
  [false, { stdin: false, stderr: true }, {}],
  [false, { stdin: true, stderr: true }, { noInput: true }],
])(
  'psd2 can ask (%j) only where the answer is typed and the question is seen: %j %j',
  (can, streams, options) => {
    expect(open(streams, options).terminal.canAsk).toBe(can);
  },
);

it('a time within a text is local only on a terminal', () => {
  const time = '2026-11-21T10:05:00Z';
  expect(open({ stderr: true }).terminal.writeTime(time)).toBe(writeLocalTime(time));
  expect(open({}).terminal.writeTime(time)).toBe(time);
});

it('a note breaks between words at the width of the terminal', () => {
  const { terminal, written } = open({ stderr: true });
  terminal.say(`${'word '.repeat(16)}end`);
  expect(written()).toBe(`${'word '.repeat(16).trimEnd()}\nend\n`);
});

it('psd2 shows no spinner where stderr is not a terminal', async () => {
  const { terminal, written } = open({ stdin: true });
  expect(await terminal.whileWaiting('Waiting', Promise.resolve(7))).toBe(7);
  expect(written()).toBe('');
});

it.each([
  ['shows notes and warnings', {}, 'A note\nA warning\n'],
  ['with --quiet, shows warnings alone', { quiet: true }, 'A warning\n'],
  [
    'to a program, writes each as an object',
    { asEvents: true },
    '{"event":"note","message":"A note"}\n{"event":"warning","message":"A warning"}\n',
  ],
  ['to a program with --quiet, writes nothing', { asEvents: true, quiet: true }, ''],
])('a terminal %s', (_, options, text) => {
  const { terminal, written } = open({}, options);
  terminal.say('A note');
  terminal.warn('A warning');
  expect(written()).toBe(text);
});

type TerminalEvent = Parameters<ReturnType<typeof openTerminal>['tell']>[0];
const CALL = { tppRequestId: 'q', transactionId: 't', requestId: null, apiTrackId: null };
it.each<[event: TerminalEvent, isShown: boolean]>([
  [{ event: 'note', message: 'x' }, false],
  [{ event: 'warning', message: 'x' }, true],
  [{ event: 'flow', flow: 'tr-1', kind: 'transfer', state: 'created' }, false],
  [{ event: 'open', url: 'https://bank.example/' }, true],
  [{ event: 'call', method: 'GET', path: '/', outcome: 200, milliseconds: 1, ...CALL }, false],
])('of %j, --quiet leaves a person: %s', (event, isShown) => {
  const told = (options: Partial<TerminalOptions>) => {
    const { terminal, written } = open({}, options);
    terminal.tell(event, 'In words');
    return written();
  };
  expect(told({})).toBe('In words\n');
  expect(told({ quiet: true })).toBe(isShown ? 'In words\n' : '');
  expect(told({ asEvents: true })).toBe(`${JSON.stringify(event)}\n`);
  expect(told({ asEvents: true, quiet: true })).toBe('');
});

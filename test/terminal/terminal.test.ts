import { expect, it } from 'vitest';
import { writeLocalTime } from '../../src/terminal/local-time.ts';
import { openTerminal, writeTimeLeft } from '../../src/terminal/terminal.ts';
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

it.each([
  [{ columns: 80 }, writeLocalTime('2026-11-21T10:05:00Z')],
  ['no terminal' as const, '2026-11-21T10:05:00Z'],
])('a time within a text is local only on a terminal: %j %s', (where, expected) => {
  const { stream } = openStream(where);
  const terminal = openTerminal(
    { stdin: process.stdin, stderr: stream },
    {
      noInput: true,
      quiet: false,
      mayHaveColour: false,
      asEvents: false,
      signal: new AbortController().signal,
    },
  );
  expect(terminal.writeTime('2026-11-21T10:05:00Z')).toBe(expected);
});

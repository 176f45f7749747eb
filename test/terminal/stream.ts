import { Socket } from 'node:net';

/** A stand-in for stdout or stderr that keeps what is written to it. */
export function openStream(terminal: { columns: number } | 'no terminal'): {
  stream: NodeJS.WriteStream;
  written(): string;
} {
  let text = '';
  const isTTY = terminal !== 'no terminal';
  const stream = Object.assign(new Socket(), {
    isTTY,
    columns: isTTY ? terminal.columns : 0,
    rows: 24,
    write: (chunk: Uint8Array | string) => {
      text += chunk;
      return true;
    },
    clearLine: () => true,
    clearScreenDown: () => true,
    cursorTo: () => true,
    moveCursor: () => true,
    getColorDepth: () => 1,
    hasColors: () => false,
    getWindowSize: (): [number, number] => [isTTY ? terminal.columns : 0, 24],
  });
  return { stream, written: () => text };
}

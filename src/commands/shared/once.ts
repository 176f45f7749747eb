import type { Terminal } from '../../terminal/terminal.ts';

const sentences = new WeakMap<Terminal, Set<string>>();

/** More than one command tells. */
const MOST_TEXTS = 1000;

/** Whether the command tells its operator a text of the bank for the first time, however often the bank says it. */
export function isFirst(terminal: Terminal, text: string): boolean {
  const texts = sentences.get(terminal) ?? new Set();
  sentences.set(terminal, texts);
  if (texts.has(text)) return false;
  // A command may run for days.
  if (texts.size >= MOST_TEXTS) texts.clear();
  texts.add(text);
  return true;
}

/** Whether the command has told a text of the bank. */
export function wasSaid(terminal: Terminal, text: string): boolean {
  return sentences.get(terminal)?.has(text) ?? false;
}

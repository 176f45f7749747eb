/** What the lines of a day say of an account. */
export interface DayOfAccount {
  reads: number;
  /** Failed reads in a row. */
  failures: number;
  /** The minute of the day until which psd2 pauses. */
  pausedUntil: number;
}

/** A line of a day's file: a read, a read that was given back, and the beginning or the end of a pause. */
export type ReadLine =
  | { kind: 'taken' }
  | { kind: 'back' }
  | { kind: 'succeeded' }
  | { kind: 'failed'; failures: number; pausedUntil: number };

const LINE = /^(\S+ \S+)(?: (back|ok|failed (\d{1,9}) (\d{1,9})))?$/;

/** @param name customer and product; `*` is the list of accounts */
export function writeReadLine(name: string, line: ReadLine): string {
  if (line.kind === 'taken') return `${name}\n`;
  if (line.kind === 'back') return `${name} back\n`;
  if (line.kind === 'failed') return `${name} failed ${line.failures} ${line.pausedUntil}\n`;
  return `${name} ok\n`;
}

/** Adds lines to what is known of each account. Lines that psd2 did not write do not count. */
export function addReadLines(accounts: Map<string, DayOfAccount>, lines: readonly string[]): void {
  for (const line of lines) {
    const [, name, mark, failures, pausedUntil] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const account = accounts.get(name) ?? { reads: 0, failures: 0, pausedUntil: 0 };
    accounts.set(name, account);
    if (mark === undefined) account.reads += 1;
    else if (mark === 'ok') Object.assign(account, { failures: 0, pausedUntil: 0 });
    else {
      account.reads = Math.max(0, account.reads - 1);
      if (failures !== undefined)
        Object.assign(account, { failures: Number(failures), pausedUntil: Number(pausedUntil) });
    }
  }
}

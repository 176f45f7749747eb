import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';

/** The outcomes of one scenario that is stopped in one way, in a file that `npm run reliability` reads. */
export interface KeptOutcomes<Outcome> {
  /** Outcomes of an earlier call with the same program and the same tests. */
  before: Outcome[];
  /** Appends outcomes to the file. @throws Error if a file `stop` asks the tests to end, as opening the file does. */
  keep(outcomes: Outcome[]): void;
}

/**
 * Opens the file of a scenario and a way to stop it, in the folder that `CRASH_FIGURES` names. Without that variable
 * nothing is kept. The first line has the number of points, and each other line is an outcome.
 */
export function keptOutcomes<Outcome extends object>(
  shape: z.ZodType<Outcome>,
  scenario: string,
  how: string,
  points: number,
): KeptOutcomes<Outcome> {
  const folder = process.env.CRASH_FIGURES;
  if (!folder) return { before: [], keep: () => {} };
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${scenario}-${how}.ndjson`);
  // A line that was cut short does not end in a newline: that point is tried again.
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(1, -1) : [];
  const before = lines.map((line) => shape.parse(JSON.parse(line)));
  writeFileSync(file, [{ scenario, how, points }, ...before].map(lineOf).join(''));
  const goOn = () => {
    if (existsSync(join(folder, 'stop'))) throw new Error('stopped');
  };
  goOn();
  return {
    before,
    keep: (outcomes) => {
      appendFileSync(file, outcomes.map(lineOf).join(''));
      goOn();
    },
  };
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

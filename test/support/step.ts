/** A part of a long run. */
export interface Step {
  /** What it does, in words: `the last sync`. */
  name: string;
  /** The longest it may take. */
  milliseconds: number;
  /** What runs now, for the message. */
  running: () => string[];
  /** Says that the part begins. */
  tell: (text: string) => void;
}

/**
 * Runs a part of a long run, which has an end: a run that nobody can end is of no use.
 *
 * @throws Error that says what it waited for, if the work takes longer; what the work throws
 */
export async function step<T>(
  { name, milliseconds, running, tell }: Step,
  work: () => Promise<T>,
): Promise<T> {
  const minutes = (milliseconds / 60_000).toFixed(1);
  tell(`${new Date().toISOString().slice(11, 19)} ${name}, at most ${minutes} min`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const now = running();
      const what = now.length === 0 ? 'nothing runs' : `these run: ${now.join('; ')}`;
      reject(new Error(`Not done after ${minutes} min: ${name}. While it waits, ${what}`));
    }, milliseconds);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

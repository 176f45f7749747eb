import type { Json, payerAt, Ran } from '../payer-here.ts';
import { endOf } from '../payer-here.ts';

type Payer = Pick<Awaited<ReturnType<typeof payerAt>>, 'run'>;
type How = Parameters<Payer['run']>[1];

/** A smoke test: a line for each step that was to run, and how it ended. */
export interface Smoked {
  /** `warn balance [slow]: slower than 2 s` */
  lines: string[];
  /** The exit code, or 0. */
  exitCode: number;
  /** How the command ended, in lines. */
  end: string[];
  ran: Ran;
}

/** The steps that need a connection to the bank, which a bank in memory has not. */
export const IN_MEMORY = ['--skip', 'settings..signature'];

/** Runs a smoke test at a bank in memory. */
export async function smokeAt(payer: Payer, words: readonly string[], how?: How): Promise<Smoked> {
  const chosen = words.includes('--steps') || words.includes('--skip') ? [] : IN_MEMORY;
  const ran = await payer.run(['smoke', '--json', ...chosen, ...words], how);
  const { exitCode = 0 } = ran.failure ?? {};
  return { lines: linesOf(ran.data), exitCode, end: endOf(ran), ran };
}

/** What a run says of each step, but of those that nobody has asked for. */
export function linesOf({ steps }: Json): string[] {
  return Object.values(steps ?? {}).flatMap(({ id, status, flaky, warnings, error, reason, detail }) => {
    if (/^not (chosen|asked for)/.test(String(reason ?? ''))) return [];
    const codes = Object.values(warnings ?? {}).map(({ code }) => String(code));
    const messages = Object.values(warnings ?? {}).map(({ message }) => String(message));
    const notes = error
      ? [`${error.message} (${error.code}, exit ${error.exitCode})`]
      : status === ('skip' as unknown)
        ? [String(reason)]
        : [...messages, ...(detail ? [String(detail)] : [])];
    const marks = [...(flaky ? ['again'] : []), ...codes];
    return [
      `${status} ${id}${marks.length > 0 ? ` [${marks.join()}]` : ''}${notes.length > 0 ? `: ${notes.join('; ')}` : ''}`,
    ];
  });
}

import { interfaceInWords } from '../domain/interface-name.ts';
import { noteOf, SIGNS, type SmokeRun, type SmokeStep, sumUp } from './result.ts';

// A run as people read it, line by line.

/** A line: how it begins, and what stands behind, which a narrow terminal breaks. */
export interface Line {
  begin: string;
  texts: string[];
}

/** The first line of a run. */
export function writeHead({
  run,
  profile,
  environment,
  interface: name,
}: Pick<SmokeRun, 'run' | 'profile' | 'environment' | 'interface'>): Line {
  const what = [profile, environment, name && interfaceInWords(name).replace(/^the /, '')]
    .filter(Boolean)
    .join('  ');
  return { begin: what.padEnd(64), texts: [`run ${run}`] };
}

/**
 * The line of a step.
 *
 * @param isAscii the terminal has no other characters
 * @param next the command that goes on, written out
 */
export function writeStep(step: SmokeStep, isAscii: boolean, next?: string): Line {
  const sign = SIGNS[isAscii ? 'ascii' : 'unicode'][step.status].padEnd(isAscii ? 4 : 1);
  const isTimed = step.status !== 'skip' && step.milliseconds > 0;
  const time = isTimed ? `${grouped(step.milliseconds)} ms` : '';
  const texts = [noteOf(step), next ?? ''].filter((text) => text !== '');
  return { begin: `  ${sign} ${step.id.padEnd(12)} ${time.padStart(10)}`, texts };
}

/** `2 310` */
function grouped(milliseconds: number): string {
  return String(milliseconds).replace(/\B(?=(\d{3})+$)/g, ' ');
}

/** The last line of a run. */
export function writeFoot(run: SmokeRun): Line {
  return { begin: '', texts: [sumUp(run)] };
}

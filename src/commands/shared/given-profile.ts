import type { Surroundings } from '../context.ts';

/** The `--profile` of this command, which the commands that it names repeat. */
export function givenProfile({
  globals,
  sourceOf,
}: Pick<Surroundings, 'globals' | 'sourceOf'>): string | undefined {
  return sourceOf('profile') === 'option' ? globals.profile : undefined;
}

import type { Context } from '../context.ts';

/**
 * A new id for the calls of a command. Ids sort in the order of their beginnings.
 *
 * @param kind `sm`: a smoke test; `do`: the doctor
 */
export function newRunId(kind: 'sm' | 'do', { now, random }: Context['world']): string {
  const tail = Array.from({ length: 3 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `${kind}-${now().getTime().toString(36).padStart(9, '0')}${tail}`;
}

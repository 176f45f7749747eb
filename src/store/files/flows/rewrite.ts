import * as z from 'zod/mini';
import { jsonIn } from '../../../domain/json.ts';
import { readOwnFile } from '../../disk/files.ts';
import { replaceDurably } from '../../disk/replace.ts';
import { damagedAt, readFlowFile } from './file.ts';

const anyLine = z.looseObject({ at: z.string(), event: z.unknown() });

/** The events of a journal in their order, as they were written. @throws Psd2Error `config` if it is damaged */
export function eventsIn(path: string): { at: string; event: unknown }[] {
  return (
    readFlowFile<{ at: string; event: unknown }[], unknown>(path, z.unknown(), (events = [], event, at) => [
      ...events,
      { at, event },
    ])?.current ?? []
  );
}

/**
 * Replaces the events of a journal: all lines or none, durably. The holder of the flow's lock alone may call it. Numbers, times
 * and writers stay. A line that a crash has cut short goes.
 *
 * @throws Psd2Error `config` if the journal is damaged or cannot be written
 */
export function rewriteFlowFile(path: string, change: (event: unknown) => unknown): void {
  // Damage is reported before anything is changed.
  const known = readFlowFile(path, z.unknown(), () => true);
  if (!known) throw damagedAt(path, 1);
  const lines = (readOwnFile(path)?.toString('utf8') ?? '').split('\n').flatMap((text) => {
    const { data } = anyLine.safeParse(jsonIn(text));
    if (!data) return [];
    const { event, ...rest } = data;
    return [`${JSON.stringify({ ...rest, event: change(event) })}\n`];
  });
  replaceDurably(path, lines.join(''));
}

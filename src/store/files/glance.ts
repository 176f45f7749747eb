import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, jsonIn } from '../../domain/json.ts';
import { PREFIXES } from '../flow/ids.ts';
import { namesIn, type StoreFolder } from '../machine/folder.ts';
import type { Glance } from '../ports/store.ts';
import { customerOfName } from './file-names.ts';

/** More bytes than the first line of any journal has. */
const FIRST_LINE = 8 * 1024;

/**
 * What completion offers for a profile. It reads the files without the store's checks, which take too long for a keystroke.
 * If data is damaged or missing, it offers nothing and throws nothing.
 */
export function glanceAtFiles(folder: StoreFolder, profile: string): Glance {
  return {
    customers: async () =>
      namesIn(folder.tokens(profile), /^customer-([^.]+)$/)
        .flatMap((name) => customerOfName(name) ?? [])
        .sort(),
    begun: async (kind, max) => {
      const flows = folder.flows(profile);
      return namesIn(flows, /^((?:tr|co|op)-.+)\.ndjson$/)
        .filter((flow) => kind === undefined || flow.startsWith(PREFIXES[kind]))
        .sort((one, other) => (one.slice(3) < other.slice(3) ? 1 : -1))
        .slice(0, max)
        .flatMap((flow) => {
          const begun = beginningOf(firstLineOf(join(flows, `${flow}.ndjson`)));
          return begun ? [{ flow, ...begun }] : [];
        });
    },
    batches: async (max) => {
      const batches = join(folder.flows(profile), 'batches');
      return namesIn(batches, /^([0-9a-f]{64}(?:-\d+)?)$/)
        .flatMap((batch) => {
          const added = beginningOf(firstLineOf(join(batches, batch, 'events', '1')));
          return added ? [{ batch, ...added }] : [];
        })
        .sort((one, other) => (one.at < other.at ? 1 : -1))
        .slice(0, max);
    },
  };
}

function beginningOf(line: string): { at: string; event: object } | undefined {
  const created = jsonIn(line);
  if (!isRecord(created) || typeof created.event !== 'object' || created.event === null) return undefined;
  return { at: typeof created.at === 'string' ? created.at : '', event: created.event };
}

function firstLineOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const block = Buffer.alloc(FIRST_LINE);
      return block.toString('utf8', 0, readSync(file, block)).replace(/\n[\s\S]*/, '');
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

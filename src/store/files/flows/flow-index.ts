import { constants } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { Psd2Error } from '../../../errors.ts';
import { appendDurably, readPlainFile } from '../../disk/files.ts';
import { refuseUnsafe } from '../../disk/permissions.ts';
import { reasonOf } from '../../disk/system-error.ts';

const entry = z.object({
  flow: z.string(),
  /** The operator's own reference; null when the flow has none. */
  reference: z.optional(z.nullable(z.string())),
  /** The bank's; null when the flow has ended without one. */
  resourceId: z.optional(z.nullable(z.string())),
});
export type IndexEntry = z.infer<typeof entry>;

/** What the index knows of a flow; what is undefined only the flow's journal can tell. */
export interface IndexedFlow {
  reference?: string | null;
  resourceIds?: Set<string>;
}

/**
 * Which flows have a reference or a resource id, so that not every journal has to be read to find one: the
 * append-only file `index` beside them, each line with its checksum. An entry is durable before the journal
 * has the event, so the journal never knows more than the index. What the index does not know of a flow (it
 * is damaged, was removed, or the flow is older) is read from the flow's journal, and noted here again.
 */
export class FlowIndex {
  readonly #path: string;

  /** @param folder of the flows' journals */
  constructor(folder: string) {
    this.#path = join(folder, 'index');
  }

  read(): Map<string, IndexedFlow> {
    const flows = new Map<string, IndexedFlow>();
    for (const line of readLines(this.#path)) {
      const { flow, reference, resourceId } = line;
      const known = flows.get(flow) ?? {};
      if (reference !== undefined) known.reference = reference;
      if (resourceId !== undefined) known.resourceIds ??= new Set();
      if (resourceId) known.resourceIds?.add(resourceId);
      flows.set(flow, known);
    }
    return flows;
  }

  /** Makes entries durable (fsync). @throws Psd2Error `config` when they can't be written */
  add(...added: IndexEntry[]): void {
    // The line break before each ends a line that a crash has cut short.
    const lines = added.map((each) => JSON.stringify(each)).map((json) => `\n${checksum(json)} ${json}\n`);
    try {
      const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
      appendDurably(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, lines.join(''));
    } catch (cause) {
      throw new Psd2Error('config', `The index ${this.#path} cannot be written: ${reasonOf(cause)}`, {
        hint: 'Check the free space, and who owns the folder. If it is no file, remove it: it is made again.',
        cause,
      });
    }
  }
}

/** The whole lines; what is damaged is passed over. @throws Psd2Error `config` when another user may have written them */
function readLines(path: string): IndexEntry[] {
  refuseUnsafe(path, 'secret');
  let text: string;
  try {
    text = readPlainFile(path)?.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof Psd2Error) return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const json = line.slice(9);
    if (line.length < 10 || line.slice(0, 9) !== `${checksum(json)} `) return [];
    return entry.parse(JSON.parse(json));
  });
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

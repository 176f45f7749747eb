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
  /** The operator's own reference; null if the flow has none. */
  reference: z.optional(z.nullable(z.string())),
  /** The bank's id; null if the flow has ended without one. */
  resourceId: z.optional(z.nullable(z.string())),
  /**
   * The resource for which `execute` (for a consent, `confirm`) was announced; null if it was not. Alone in its entry, null
   * revokes the announcement: the request never left. Earlier versions of psd2 did not write this field.
   */
  sent: z.optional(z.nullable(z.string())),
});
export type IndexEntry = z.infer<typeof entry>;

/** What the index knows about a flow. If a field is undefined, only the journal has it. */
export interface IndexedFlow {
  reference?: string | null;
  resourceIds?: Set<string>;
  sent?: string | null;
}

/**
 * The references and resource ids of flows, so that psd2 need not read every journal to find a flow. It is the append-only
 * file `index` beside the journals. Each line has a checksum. An entry is durable before the journal has the event, so the
 * journal never knows more than the index. If the index does not know a flow (the index is damaged or was removed, or the
 * flow is older), psd2 reads the journal and adds an entry.
 *
 * The index also says for which resource `execute` was announced, so that a journal that was restored from an old backup
 * cannot make psd2 send it again.
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
      const { flow, reference, resourceId, sent } = line;
      const known = flows.get(flow) ?? {};
      if (reference !== undefined) known.reference = reference;
      if (resourceId !== undefined) known.resourceIds ??= new Set();
      if (resourceId) known.resourceIds?.add(resourceId);
      // The entry of a resource may come late, from a process that was stopped while another one continued the flow.
      const isLate = resourceId !== undefined && sent === null && known.sent !== undefined;
      if (sent !== undefined && !isLate) known.sent = sent;
      flows.set(flow, known);
    }
    return flows;
  }

  /** The flow whose entry with this resource came first; compared without case. Undefined if no flow has it. */
  firstWith(resourceId: string): string | undefined {
    const wanted = resourceId.toLowerCase();
    return readLines(this.#path).find((line) => line.resourceId?.toLowerCase() === wanted)?.flow;
  }

  /** Adds entries, durably (fsync). @throws Psd2Error `config` if they cannot be written */
  add(...added: IndexEntry[]): void {
    // The line break before each entry ends a line that a crash may have cut short.
    const lines = added.map((each) => JSON.stringify(each)).map((json) => `\n${checksum(json)} ${json}\n`);
    try {
      const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
      appendDurably(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, lines.join(''));
    } catch (cause) {
      throw new Psd2Error('config', `The index ${this.#path} cannot be written: ${reasonOf(cause)}`, {
        hint: 'Check the free space, and who owns the folder. If it is not a file, remove it. psd2 creates it again.',
        cause,
      });
    }
  }
}

/** The complete lines. Skips damaged ones. @throws Psd2Error `config` if another user may have written them */
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

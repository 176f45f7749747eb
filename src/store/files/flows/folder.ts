import { basename, join } from 'node:path';
import { listFolder } from '../../disk/files.ts';
import type { FlowKind } from '../../flow/kinds.ts';
import { type ReadFlow, readFlowFile } from './file.ts';

/** The folder of a profile's flows, with a file `<flow>.ndjson` for each. */
export class FlowFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The path of a flow's journal. The file need not exist. */
  pathOf(flow: string): string {
    return join(this.#folder, `${flow}.ndjson`);
  }

  /** The ids of all flows of a kind, newest first. @throws Psd2Error `config` */
  newestFirst({ prefix }: { prefix: string }): string[] {
    return listFolder(this.#folder)
      .filter((file) => file.startsWith(prefix) && file.endsWith('.ndjson'))
      .sort()
      .reverse()
      .map((file) => basename(file, '.ndjson'));
  }

  /** As {@link readFlowFile}. */
  read<Flow, Event>({ schema, apply }: FlowKind<Flow, Event>, flow: string): ReadFlow<Flow> | undefined {
    return readFlowFile(this.pathOf(flow), schema, apply);
  }
}

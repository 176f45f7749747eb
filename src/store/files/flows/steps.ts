import { join } from 'node:path';
import { readJsonFile, removeStored, writeJsonFile } from '../../disk/files.ts';
import { heldSteps } from '../../flow/steps.ts';
import type { HeldSteps } from '../../ports/copy.ts';

/** What banks have said for the next steps of customers: a file for each flow, beside its journal, until the authorisation is over. */
export class FlowSteps {
  readonly #folder: string;

  /** @param folder of the profile's journals */
  constructor(folder: string) {
    this.#folder = join(folder, 'steps');
  }

  /** @throws Psd2Error `config` if it is damaged */
  of(flow: string): HeldSteps | undefined {
    return readJsonFile(this.#pathOf(flow), heldSteps);
  }

  /** Holds what a flow has now, durably, in place of what it had. @param steps null: nothing. @throws Psd2Error `config` */
  async hold(flow: string, steps: HeldSteps | null): Promise<void> {
    if (steps) await writeJsonFile(this.#pathOf(flow), { ...steps }, heldSteps);
    else removeStored(this.#pathOf(flow));
  }

  #pathOf(flow: string): string {
    return join(this.#folder, `${flow}.json`);
  }
}

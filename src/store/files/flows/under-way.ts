import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Psd2Error } from '../../../errors.ts';
import { syncFolder } from '../../disk/files.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { reasonOf } from '../../disk/system-error.ts';

/** A process that is at work shows it on the lock every second. */
const SIGN_OF_LIFE_MS = 10_000;
/** What nobody took up for so long is not asked about any more: the bank has forgotten it. */
const NAMED_FOR_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * The flows of one profile that are under way: a small file for each, `open/<flow>`, that says which process works
 * on it, and stays when that process ends before the flow does. To look costs one folder with a few files in it,
 * however many flows there are.
 */
export class FlowsUnderWay {
  readonly #flows: string;
  readonly #folder: string;
  /** Those of this process. */
  readonly #own = new Set<string>();

  /** @param flows the folder of the profile's journals */
  constructor(flows: string) {
    this.#flows = flows;
    this.#folder = join(flows, 'open');
  }

  /** This process works on the flow from now on; durable (fsync). @throws Psd2Error `config` */
  begin(flow: string): void {
    if (this.#own.has(flow)) return;
    makePrivateFolder(this.#folder);
    try {
      writeFileSync(join(this.#folder, flow), `${process.pid} ${hostname()}`, { mode: 0o600 });
      syncFolder(this.#folder);
    } catch (cause) {
      // A full disk may have taken its name.
      this.end(flow);
      throw new Psd2Error(
        'config',
        `${join(this.#folder, flow)} cannot be written, so nothing is done: ${reasonOf(cause)}`,
        {
          hint: 'Check the free space, and who owns the folder.',
          cause,
        },
      );
    }
    this.#own.add(flow);
  }

  /**
   * The flow is under way, and no process works on it.
   *
   * @param since when something happened to it last
   * @throws Psd2Error `config`
   */
  leave(flow: string, since: Date): void {
    this.begin(flow);
    this.#own.delete(flow);
    const silent = new Date(Math.min(since.getTime(), Date.now() - 2 * SIGN_OF_LIFE_MS));
    utimesSync(join(this.#folder, flow), silent, silent);
  }

  /** The flow is at its end, or as far as the operator wanted it. */
  end(flow: string): void {
    this.#own.delete(flow);
    try {
      rmSync(join(this.#folder, flow), { force: true });
    } catch {
      // The flow is done all the same: whoever looks next sees it in its journal.
    }
  }

  /** The flows that no process works on and that have not been ended, newest first. */
  leftBehind(): string[] {
    const flows = this.#files().filter((flow) => !this.#own.has(flow) && !this.#isAtWork(flow));
    const isOld = (flow: string) => Date.now() - this.#changed(join(this.#folder, flow)) > NAMED_FOR_MS;
    const old = new Set(flows.filter(isOld));
    for (const flow of old) this.end(flow);
    return flows.filter((flow) => !old.has(flow)).sort((a, b) => (idTime(a) < idTime(b) ? 1 : -1));
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      // There is none yet; one that can't be read is told of by the command that needs it.
      return [];
    }
  }

  #isAtWork(flow: string): boolean {
    const marker = join(this.#folder, flow);
    try {
      const lastSign = Math.max(
        this.#changed(join(this.#flows, `${flow}.ndjson.lock`)),
        this.#changed(marker),
      );
      if (Date.now() - lastSign > SIGN_OF_LIFE_MS) return false;
      const [pid, host] = readFileSync(marker, 'utf8').split(' ');
      return host !== hostname() || isAlive(Number(pid));
    } catch {
      // It has been ended at this moment.
      return true;
    }
  }

  /** When a file was last written to; 0 without such a file. */
  #changed(path: string): number {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }
}

/** The part of a flow's id that is the time of its creation. */
function idTime(flow: string): string {
  return flow.slice(3);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

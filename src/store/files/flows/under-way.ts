import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Psd2Error } from '../../../errors.ts';
import { syncFolder } from '../../disk/files.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { reasonOf } from '../../disk/system-error.ts';

/** A working process touches its lock every second, so after this time without a sign it is dead. */
const SIGN_OF_LIFE_MS = 10_000;
/** psd2 stops mentioning a flow that nobody resumed for this long. The bank has forgotten it by then. */
const NAMED_FOR_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * The unfinished flows of one profile. Each has a small file, `open/<flow>`, that names the process that works on it. The
 * file stays if that process ends before the flow does. To find these flows, psd2 lists one folder with few files, even if
 * there are many flows.
 */
export class FlowsUnderWay {
  readonly #flows: string;
  readonly #folder: string;
  /** The flows that this process works on. */
  readonly #own = new Set<string>();

  /** @param flows the folder of the profile's journals */
  constructor(flows: string) {
    this.#flows = flows;
    this.#folder = join(flows, 'open');
  }

  /** Records durably (fsync) that this process works on the flow. @throws Psd2Error `config` */
  begin(flow: string): void {
    if (this.#own.has(flow)) return;
    makePrivateFolder(this.#folder);
    try {
      writeFileSync(join(this.#folder, flow), `${process.pid} ${hostname()}`, { mode: 0o600 });
      syncFolder(this.#folder);
    } catch (cause) {
      // On a full disk, the empty file may exist.
      this.end(flow);
      throw new Psd2Error(
        'config',
        `${join(this.#folder, flow)} cannot be written, so psd2 does nothing: ${reasonOf(cause)}`,
        {
          hint: 'Check the free space, and who owns the folder.',
          cause,
        },
      );
    }
    this.#own.add(flow);
  }

  /**
   * Records that the flow is unfinished, and that no process works on it.
   *
   * @param since the time of the flow's last event
   * @throws Psd2Error `config`
   */
  leave(flow: string, since: Date): void {
    this.begin(flow);
    this.#own.delete(flow);
    const silent = new Date(Math.min(since.getTime(), Date.now() - 2 * SIGN_OF_LIFE_MS));
    utimesSync(join(this.#folder, flow), silent, silent);
  }

  /** Records that the flow has ended, or is as far as the operator wanted. */
  end(flow: string): void {
    this.#own.delete(flow);
    try {
      rmSync(join(this.#folder, flow), { force: true });
    } catch {
      // The flow has ended all the same. The next process that looks sees it in the journal.
    }
  }

  /** The unfinished flows that no process works on, newest first. */
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
      // The folder does not exist yet. If it cannot be read, the command that needs it reports that.
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
      // The flow has just ended.
      return true;
    }
  }

  /** When a file was last written, in milliseconds since 1970; 0 if it does not exist. */
  #changed(path: string): number {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }
}

/** The part of a flow's id that holds the time of creation. */
function idTime(flow: string): string {
  return flow.slice(3);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process is alive and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

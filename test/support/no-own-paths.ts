import { homedir, tmpdir } from 'node:os';
import type { SnapshotSerializer } from 'vitest';

/** Folders that only this machine or this run has. A container's home may be `/`. */
const OWN = [process.cwd(), tmpdir(), homedir()].filter((folder) => folder !== '/');

/** Refuses a snapshot with a path of this machine: its test would fail on every other one. */
const noOwnPaths: SnapshotSerializer = {
  test: (value: unknown) => typeof value === 'string' && OWN.some((folder) => value.includes(folder)),
  serialize(value: string) {
    throw new Error(`A snapshot has a path of this machine. Replace it before you compare: ${value}`);
  },
};

export default noOwnPaths;

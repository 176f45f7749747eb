/** How often a process shows that it still works on what it has locked. */
const BEAT_MS = 1_000;
/** More locks than a process holds at a time: a sync of 99 customers at once holds two of each. */
const MOST_LOCKS = 1_024;

/**
 * What the thread of the beat runs. Each slot is 0, or one more than the descriptor of a lock. Where the disk can't be
 * written, others take the lock over, as from a process that was stopped.
 */
const BEAT = `
  const { futimesSync } = require('node:fs');
  const slots = new Int32Array(require('node:worker_threads').workerData);
  setInterval(() => {
    const now = Date.now() / 1000;
    for (const slot of slots) {
      if (slot > 0) try { futimesSync(slot - 1, now, now); } catch {}
    }
  }, ${BEAT_MS});
`;

let slots: Int32Array | undefined;

/**
 * Touches a lock every second, from a thread of its own: the main thread may wait for a slow disk, for as long as
 * that takes.
 *
 * @param file the lock, opened
 * @returns what ends the beat; to be called before the file is closed
 */
export function beginBeat(file: number): () => void {
  slots ??= startBeat();
  const beats = slots;
  const slot = beats.indexOf(0);
  if (slot === -1) return () => {};
  beats[slot] = file + 1;
  return () => {
    beats[slot] = 0;
  };
}

function startBeat(): Int32Array {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const buffer = new SharedArrayBuffer(MOST_LOCKS * Int32Array.BYTES_PER_ELEMENT);
  try {
    const thread = new Worker(BEAT, {
      eval: true,
      workerData: buffer,
      // It needs nothing of what this process was started with.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
    });
    thread.on('error', () => {});
    thread.unref();
  } catch {
    // Where no thread can be had, others take the locks over after some seconds: that is slower, and as safe.
  }
  return new Int32Array(buffer);
}

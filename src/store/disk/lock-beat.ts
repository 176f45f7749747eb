/** How often a process shows that it still uses its locks. */
const BEAT_MS = 1_000;
/** More locks than a process ever holds at once: a sync of 99 customers at once holds two for each. */
const MOST_LOCKS = 1_024;

/**
 * The code of the beat's thread. Each slot is 0, or the file descriptor of a lock plus one. If the thread cannot write to
 * the disk, other processes take the lock over, as they do from a stopped process.
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
 * Touches a lock every second. A separate thread does it, since a slow disk may block the main thread for a long time.
 *
 * @param file descriptor of the open lock file
 * @returns ends the beat. Call it before you close the file
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
      // The thread needs none of this process's options and variables.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
    });
    thread.on('error', () => {});
    thread.unref();
  } catch {
    // Without the thread, other processes take the locks over after some seconds. That is as safe, but slower.
  }
  return new Int32Array(buffer);
}

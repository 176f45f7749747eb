import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createVitest } from 'vitest/node';
import { SAMPLE, sampleOf } from './sample.js';

/** How long a worker that can no longer be trusted may take to end, in milliseconds. */
const LAST_WORDS = 5_000;
/** In how many threads one mutant is tried at most. */
const MOST_THREADS = 6;

/**
 * Runs tests for Stryker in one thread that stays alive. The program, its packages and Vitest are loaded once, so a mutant
 * costs only the tests that reach it, not a start of Vitest. warm-worker.js is what runs in the thread.
 */
export class WarmRunner {
  #vitest;
  #channel;
  #refuse = () => {};

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const name = `psd2-mutation-${randomUUID()}`;
    process.env.MUTATION_CHANNEL = name;
    this.#channel = new BroadcastChannel(name);
    const ready = this.#answer();
    this.#vitest = await createVitest('test', {
      config: 'test/mutation/vitest.config.ts',
      watch: false,
      reporters: [{}],
      onConsoleLog: () => false,
    });
    // The promise resolves when the runner is disposed of.
    this.#vitest.start().catch((error) => this.#refuse(error));
    await ready;
  }

  async dryRun() {
    const { failed, tests, coverage } = await this.#ask({ task: 'measure' });
    if (failed.length > 0) return { status: 'error', errorMessage: failed.join('\n') };
    return { status: 'complete', tests, mutantCoverage: { static: {}, perTest: coverage } };
  }

  async mutantRun({ activeMutant, sandboxFileName, testFilter, hitLimit }) {
    if (!isInSample(activeMutant.id, sandboxFileName))
      return { status: 'error', errorMessage: 'not in the sample' };
    const mutant = { id: activeMutant.id, file: sandboxFileName };
    let wanted = { task: 'try', mutant, tests: testFilter, hitLimit, suspects: [] };
    for (let threads = 0; threads < MOST_THREADS; threads += 1) {
      const { spoiled, suspects = [], result } = await this.#ask(wanted);
      if (!spoiled) return result;
      // Tests fail in this thread even without a mutant, because something was left behind. A new thread decides.
      await this.dispose();
      await this.init();
      wanted = { ...wanted, suspects: [...wanted.suspects, ...suspects] };
    }
    return { status: 'survived', nrOfTests: 0 };
  }

  async dispose() {
    this.#channel?.postMessage({ task: 'end' });
    const late = setTimeout(() => this.#vitest?.exit(true), LAST_WORDS);
    await this.#vitest?.close();
    clearTimeout(late);
    this.#channel?.close();
  }

  #ask(message) {
    const answer = this.#answer();
    this.#channel.postMessage(message);
    return answer;
  }

  #answer() {
    return new Promise((resolve, reject) => {
      this.#channel.onmessage = ({ data }) => resolve(data);
      this.#refuse = reject;
    });
  }
}

/** Whether a mutant is to be tried. @param file the source with all its mutants in it */
function isInSample(id, file) {
  const size = process.env[SAMPLE];
  if (size === undefined) return true;
  const ids = new Set(
    [...readFileSync(file, 'utf8').matchAll(/stryMutAct_\w+\("(\d+)"\)/g)].map(([, each]) => each),
  );
  return sampleOf([...ids], JSON.parse(size)).has(id);
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'warm', injectableClass: WarmRunner }];

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { startTests } from '@vitest/runner';
import fc from 'fast-check';
import { TestRunner, vi } from 'vitest';

/** The sources with mutants in them read this object. It says which mutant is on, and collects what is reached. */
const switches = globalThis;
switches.__stryker__ ??= {};
const state = switches.__stryker__;

/** A test is slow if it takes longer than this, in milliseconds. */
const LONG = 300;

/** How many recent killers are tried first with the next mutant: neighbouring mutants often have the same killer. */
const MEMORY = 8;

/** A test has timed out after this many times its normal duration, but not before `least` milliseconds. */
const PATIENCE = { least: 1_000, times: 5 };
/** A machine may be this many times slower than when the tests were measured. */
const BUSY = 20;

/**
 * The thread of warm-runner.js. It does not run test files on its own, but the tests it is told to, again and again.
 *
 * It reloads a test file each time. It reloads the source of the mutant only if the source keeps state between calls, or if
 * the mutant is in code that runs at loading. A mutant counts as noticed if a test fails with it and passes right afterwards
 * without it. So neither what an earlier mutant left behind nor a busy machine counts as a test that notices.
 */
export default class Driver extends TestRunner {
  #tests = new Map();
  #reachedAtLoading = new Map();
  /** The test file that is measured. */
  #measuring;
  /** The mutant that was on when its source was loaded. */
  #loadedWith;
  /** The ids of tests that noticed mutants, the latest first. */
  #noticers = [];
  /** The ids of tests that fail without a mutant if those before them do not run. They say nothing. */
  #dependent = new Set();

  async onBeforeCollect() {
    // The same inputs each time, so whether a test notices a mutant does not depend on luck.
    fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20261122 });
    this.#watchLoading();
    if (existsSync(process.env.MUTATION_MEASURED)) this.#recall();
    const channel = new BroadcastChannel(process.env.MUTATION_CHANNEL);
    await new Promise((resolve) => {
      channel.onmessage = async ({ data }) => {
        if (data.task === 'end') return resolve(undefined);
        try {
          channel.postMessage(await (data.task === 'measure' ? this.#measure() : this.#try(data)));
        } catch (error) {
          channel.postMessage({ failed: [String(error?.stack ?? error)], spoiled: true });
        }
      };
      channel.postMessage('ready');
    });
    channel.close();
  }

  /** A test may load a source while it runs. What runs then runs at loading, and not in the test. */
  #watchLoading() {
    const { evaluator } = this.moduleRunner;
    const evaluate = evaluator.runInlinedModule.bind(evaluator);
    evaluator.runInlinedModule = async (...module) => {
      const test = state.currentTestId;
      if (test !== undefined) state.currentTestId = this.#measuring;
      try {
        return await evaluate(...module);
      } finally {
        state.currentTestId = test;
      }
    };
  }

  /** Runs every test once without a mutant, to learn which tests exist, how long they take, and which mutants they reach. */
  async #measure() {
    const failed = [];
    const coverage = {};
    for (const path of process.env.MUTATION_TESTS.split(',')) {
      this.#loadAnew(() => true);
      this.#measuring = path;
      state.mutantCoverage = { static: {}, perTest: {} };
      const run = await this.#run(path, { onTest: (test) => (state.currentTestId = test?.id ?? path) }, path);
      const { [path]: atLoading = {}, ...perTest } = state.mutantCoverage.perTest;
      this.#reachedAtLoading.set(path, new Set(Object.keys(atLoading)));
      for (const { id, name, duration, failure } of run.tests) {
        if (failure !== undefined) failed.push(`${path}: ${name}: ${failure}`);
        this.#tests.set(id, { id, path, name, duration });
        coverage[id] = sum(atLoading, perTest[id] ?? {});
      }
      if (run.tests.length === 0) failed.push(`${path}: ${run.failure ?? 'no tests'}`);
    }
    state.currentTestId = undefined;
    const atLoading = [...this.#reachedAtLoading].map(([path, ids]) => [path, [...ids]]);
    writeFileSync(
      process.env.MUTATION_MEASURED,
      JSON.stringify({ tests: [...this.#tests.values()], atLoading }),
    );
    const tests = [...this.#tests.values()].map(({ id, path, name, duration }) => ({
      id,
      name: `${path} ${name}`,
      timeSpentMs: duration,
      status: 'success',
    }));
    return { failed, tests, coverage };
  }

  /** A thread that replaces another one reads what that one measured. */
  #recall() {
    const { tests, atLoading } = JSON.parse(readFileSync(process.env.MUTATION_MEASURED, 'utf8'));
    for (const test of tests) this.#tests.set(test.id, test);
    for (const [path, ids] of atLoading) this.#reachedAtLoading.set(path, new Set(ids));
    if (existsSync(process.env.MUTATION_DEPENDENT))
      for (const { id } of JSON.parse(readFileSync(process.env.MUTATION_DEPENDENT, 'utf8')))
        this.#dependent.add(id);
  }

  /** Runs tests without a mutant, first of all in a thread, and leaves out those that need another one before them. run.js names them. */
  async #leaveOutDependent(tests) {
    for (const test of tests) {
      const { tests: alone, failure } = await this.#runWith(test.path, [test], undefined, undefined, BUSY);
      if (failure !== undefined || alone.some((ran) => ran.failure !== undefined))
        this.#dependent.add(test.id);
    }
    const all = [...this.#dependent].map((id) => this.#tests.get(id));
    writeFileSync(process.env.MUTATION_DEPENDENT, JSON.stringify(all));
  }

  /** @param suspects tests that failed even without the mutant, in an earlier thread. This one is new */
  async #try({ mutant, tests, hitLimit, suspects }) {
    if (suspects.length > 0) await this.#leaveOutDependent(suspects.map((id) => this.#tests.get(id)));
    const reaching = tests ?? [...this.#tests.keys()];
    const ids = (buildsOnce(mutant.file) ? this.#withLater(reaching) : reaching).filter(
      (id) => !this.#dependent.has(id),
    );
    const groups = this.#inOrder(ids.map((id) => this.#tests.get(id)));
    let nrOfTests = 0;
    for (const wanted of groups) {
      const [{ path }] = wanted;
      const with_ = (patience = 1) => this.#runWith(path, wanted, mutant, hitLimit, patience);
      const first = await with_();
      nrOfTests += first.tests.length;
      const killer = first.tests.find(({ failure }) => failure !== undefined);
      if (killer === undefined && first.failure === undefined) continue;
      const again = killer === undefined ? wanted : [this.#tests.get(killer.id)];
      const without = await this.#runWith(path, again, undefined, undefined, BUSY);
      const failsToo =
        without.failure !== undefined || without.tests.some(({ failure }) => failure !== undefined);
      // It passed in this thread before the mutant was on, so the mutant has left something behind.
      const isProven = again.every(({ id }) => suspects.includes(id));
      if (failsToo && !isProven) return { spoiled: true, suspects: again.map(({ id }) => id) };
      if (first.timedOut || first.hitLimitReached) {
        // On a busy machine one timeout proves nothing. So the test may take as much longer as it now does without the mutant.
        const slowness = slownessOf(again, without);
        const second = first.timedOut && slowness > 2 ? await with_(slowness) : first;
        if (!second.timedOut && !second.hitLimitReached && second.failure === undefined) {
          if (second.tests.every(({ failure }) => failure === undefined)) continue;
        }
        return { result: { status: 'timeout', reason: killer?.failure } };
      }
      if (killer !== undefined)
        this.#noticers = [killer.id, ...this.#noticers.filter((id) => id !== killer.id)].slice(0, MEMORY);
      return {
        result: {
          status: 'killed',
          killedBy: killer === undefined ? wanted.map(({ id }) => id) : [killer.id],
          failureMessage: killer?.failure ?? first.failure,
          nrOfTests,
        },
      };
    }
    return { result: { status: 'survived', nrOfTests } };
  }

  /** What the first test of a file has built serves those after it, which reach nothing of it. Some of them say what it must be. */
  #withLater(ids) {
    const first = new Set(ids);
    const paths = new Set();
    return [...this.#tests.values()]
      .filter(({ id, path }) => (first.has(id) ? paths.add(path).size > 0 : paths.has(path)))
      .map(({ id }) => id);
  }

  /** Groups the tests by file. Tests that noticed mutants lately come first, then the fast ones. */
  #inOrder(tests) {
    const lately = tests.filter(({ id }) => this.#noticers.includes(id));
    const others = tests.filter(({ id }) => !this.#noticers.includes(id));
    const rank = ([{ id }]) => this.#noticers.indexOf(id);
    const cost = (group) => group.reduce((total, { duration }) => total + duration, 0);
    return [
      ...groupsOf(lately, ({ path }) => path).sort((a, b) => rank(a) - rank(b)),
      // The slow tests of a file are a group of their own, because they are not needed if the rest notices.
      ...groupsOf(others, ({ path, duration }) => `${path} ${duration > LONG}`).sort(
        (a, b) => cost(a) - cost(b),
      ),
    ];
  }

  async #runWith(path, wanted, mutant, hitLimit, patience) {
    const anew =
      mutant !== undefined && (this.#reachedAtLoading.get(path)?.has(mutant.id) || keepsState(mutant.file));
    if (this.#loadedWith !== undefined && this.#loadedWith.id !== mutant?.id) {
      this.#loadAnew(this.#importersOf(this.#loadedWith.file));
      this.#loadedWith = undefined;
    }
    if (anew && this.#loadedWith === undefined) {
      this.#loadAnew(this.#importersOf(mutant.file));
      this.#loadedWith = mutant;
    }
    state.activeMutant = mutant?.id;
    state.hitCount = mutant === undefined ? undefined : 0;
    state.hitLimit = hitLimit;
    try {
      const ids = new Set(wanted.map(({ id }) => id));
      const run = await this.#run(path, { ids, patience, onTest: () => {} });
      return { ...run, hitLimitReached: hitLimit !== undefined && state.hitCount > hitLimit };
    } finally {
      state.activeMutant = undefined;
      state.hitCount = undefined;
    }
  }

  /**
   * Runs tests of a file. With `ids` only those, until one fails.
   *
   * @returns the result of each test that ran, and an error from outside of the tests
   */
  async #run(path, { ids, patience, onTest }) {
    this.#loadAnew((id) => id.includes('/test/'));
    // What a test file mocks is mocked for that file alone.
    this.workerState.filepath = `${this.config.root}/${path}`;
    let outside;
    const note = (error) => {
      outside ??= `outside of a test: ${error?.message ?? error}`;
    };
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
    let timedOut = false;
    const runner = new Bare(this.config, {
      onTest,
      bail: ids !== undefined,
      limitOf: (id) => {
        const known = ids && this.#tests.get(id);
        return known && patience * Math.max(PATIENCE.least, PATIENCE.times * known.duration);
      },
      onTimeout: () => {
        timedOut = true;
      },
    });
    Object.defineProperty(runner, 'moduleRunner', { value: this.moduleRunner });
    runner.__setTraces(this._otel);
    onTest(undefined);
    try {
      const [file] = await startTests(
        [{ filepath: `${this.config.root}/${path}`, testIds: ids && [...ids] }],
        runner,
      );
      // Let pending promises report their errors now.
      await new Promise((resolve) => setImmediate(resolve));
      return {
        tests: testsIn(file).flatMap(({ test, failure }) =>
          test.result?.state === 'pass' || failure !== undefined
            ? [
                {
                  id: test.id,
                  name: test.fullTestName ?? test.name,
                  duration: test.result?.duration ?? 0,
                  failure,
                },
              ]
            : [],
        ),
        failure: outside ?? messageOf(file),
        timedOut,
      };
    } finally {
      vi.resetConfig();
      vi.restoreAllMocks();
      vi.useRealTimers();
      process.off('uncaughtException', note);
      process.off('unhandledRejection', note);
    }
  }

  /** Returns a test for modules that are a source, or import it directly or indirectly. */
  #importersOf(source) {
    const { idToModuleMap } = this.workerState.evaluatedModules;
    const found = new Set([source]);
    // The loop also visits what is added to the set meanwhile.
    for (const id of found)
      for (const importer of idToModuleMap.get(id)?.importers ?? []) found.add(importer);
    return (id) => found.has(id);
  }

  /** Makes matching modules load again at their next use. */
  #loadAnew(matches) {
    for (const [id, node] of this.workerState.evaluatedModules.idToModuleMap) {
      if (id.includes('/node_modules/') || id.includes('warm-worker') || !matches(id)) continue;
      if (!id.startsWith(this.config.root)) continue;
      node.promise = undefined;
      node.exports = undefined;
      node.evaluated = false;
      node.importers.clear();
    }
  }
}

/** Runs tests without reporting them. */
class Bare extends TestRunner {
  #options;

  constructor(config, options) {
    super(config);
    this.#options = options;
  }

  runTask(test) {
    const run = TestRunner.getTestFn(test);
    const limit = this.#options.limitOf(test.id);
    return limit === undefined ? run() : this.#within(limit, run);
  }

  onBeforeTryTask(test) {
    this.#options.onTest(test);
    return super.onBeforeTryTask(test);
  }

  onAfterRunTask(test) {
    this.#options.onTest(undefined);
    if (this.#options.bail && test.result?.state === 'fail') this.cancelRun = true;
    return super.onAfterRunTask(test);
  }

  async #within(limit, run) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => {
        this.#options.onTimeout();
        reject(new Error(`not ended after ${limit} ms`));
      }, limit);
    });
    try {
      return await Promise.race([run(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

// Keep the real ones: a test may replace them with its own clock.
const { setTimeout, clearTimeout } = globalThis;

/** How many times longer tests took just now, without a mutant, than when they were measured. */
function slownessOf(tests, { tests: now }) {
  const sum = (some) => some.reduce((total, { duration }) => total + duration, 0);
  return sum(now) / Math.max(1, sum(tests));
}

function groupsOf(tests, keyOf) {
  const groups = new Map();
  for (const test of tests) groups.set(keyOf(test), [...(groups.get(keyOf(test)) ?? []), test]);
  return [...groups.values()];
}

const keeping = new Map();

/** Whether a source keeps state between calls, which may have been made without its mutant. */
function keepsState(source) {
  if (!keeping.has(source)) {
    keeping.set(
      source,
      source.endsWith('/fields.ts') ||
        buildsOnce(source) ||
        /^(?:let |const \w+(?:: .+)? = new (?:Weak)?(?:Map|Set)\b)/m.test(readFileSync(source, 'utf8')),
    );
  }
  return keeping.get(source);
}

/** A lazy schema is built once, when it is first used, and so are the fields that a command prints. */
const buildsOnce = (source) => /\bz\.lazy\(|\bobjectOf</.test(readFileSync(source, 'utf8'));

/** Each test of a file or suite, with the reason of its failure. */
function testsIn(suite) {
  const failedBefore = messageOf(suite);
  return suite.tasks.flatMap((task) => {
    if (task.type === 'suite') {
      return testsIn(task).map((each) => ({
        ...each,
        failure: each.failure ?? unlessRun(each.test, failedBefore),
      }));
    }
    return [{ test: task, failure: messageOf(task) ?? unlessRun(task, failedBefore) }];
  });
}

function unlessRun(test, failure) {
  return test.mode === 'run' && test.result?.state !== 'pass' ? failure : undefined;
}

function messageOf(task) {
  return task.result?.state === 'fail' ? (task.result.errors?.[0]?.message ?? 'failed') : undefined;
}

function sum(a, b) {
  const result = { ...a };
  for (const [key, count] of Object.entries(b)) result[key] = (result[key] ?? 0) + count;
  return result;
}

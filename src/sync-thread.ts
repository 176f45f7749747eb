import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { realWorld } from './cli/world.ts';
import type { Surroundings } from './commands/context.ts';
import { openContext } from './commands/open/context.ts';
import {
  SharedStop,
  syncCustomers,
  type ThreadMessage,
  type ThreadStart,
  toThreadFailure,
} from './commands/sync/customers.ts';
import { Psd2Error } from './errors.ts';
import { storeFolder } from './store/machine/folder.ts';
import { ProfileStore } from './store/machine/profiles.ts';
import { passphraseIn } from './store/machine/settings.ts';
import { silentOutput } from './terminal/output/output.ts';
import type { Terminal } from './terminal/terminal.ts';

declare const PSD2_VERSION: string;

/**
 * Runs another thread of `psd2 sync` in the real world. It sends its messages to the thread that started it, and can't
 * ask the operator anything.
 */
async function syncThread(start: ThreadStart, port: MessagePort): Promise<void> {
  const post = (message: ThreadMessage) => port.postMessage(message);
  if (start.version !== PSD2_VERSION) {
    post({ unable: `psd2 ${start.version} was replaced by ${PSD2_VERSION} while it ran. Start it again.` });
    return;
  }
  const interrupt = new AbortController();
  port.on('message', () => interrupt.abort(new Psd2Error('interrupted', 'Interrupted')));
  // The port must not keep the thread alive.
  port.unref();
  const closers: (() => Promise<void>)[] = [];
  const last: (() => void)[] = [];
  /** False while the profile is opened: the first thread has already printed those messages. */
  let isOpen = false;
  const world = worldOf(start, interrupt.signal, {
    post,
    say: (say) => isOpen && post({ say }),
    warn: (warn) => isOpen && post({ warn }),
    atLast: (say) => last.push(say),
    onEnd: (close) => closers.push(close),
  });
  try {
    const context = openContext(world);
    await context.transport();
    isOpen = true;
    const job = { ...start.job, stop: new SharedStop(start.stop) };
    const round = (await (await context.store()).rounds()).rejoin(start.round);
    await syncCustomers(context, job, round, (report, failure) =>
      post({ report, failure: failure && toThreadFailure(failure) }),
    );
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    post({ unable: error.message });
  } finally {
    for (const say of last) say();
    await Promise.allSettled(closers.map((close) => close()));
  }
}

interface ThreadPorts extends Pick<Surroundings, 'atLast' | 'onEnd'> {
  post(message: ThreadMessage): void;
  say(text: string): void;
  warn(text: string): void;
}

// oxlint-disable-next-line max-lines-per-function -- data: a line for each field
function worldOf(
  { globals, sources, pace, tally, forgottenBefore }: ThreadStart,
  signal: AbortSignal,
  { post, say, warn, atLast, onEnd }: ThreadPorts,
): Surroundings {
  const { env } = process;
  const cannotAsk = () =>
    Promise.reject(new Psd2Error('usage', 'another thread of psd2 sync cannot ask the operator'));
  const terminal: Terminal = {
    canAsk: false,
    size: { columns: undefined, rows: undefined },
    colour: false,
    say,
    warn,
    tell: (event, text) => (event.event === 'warning' ? warn(text) : say(text)),
    whileWaiting: (_text, work) => work,
    mark: () => {},
    marked: (text) => text,
    writeTime: (time) => time,
    confirm: cannotAsk,
    ask: cannotAsk,
    askPath: cannotAsk,
    choose: cannotAsk,
    askSecret: cannotAsk,
    askCredential: cannotAsk,
    showTyping: () => {},
  };
  const folder = storeFolder(env.PSD2_CONFIG_DIR, signal);
  folder.forgotten.begin(forgottenBefore);
  const world = realWorld(signal);
  const finish: Surroundings['world']['finish'] = async (atStake, work) => {
    const id = world.newId();
    post({ begun: id, atStake });
    try {
      return await world.finish(atStake, work);
    } finally {
      post({ finished: id });
    }
  };
  return {
    globals,
    sourceOf: (option) => sources[option],
    repeated: {},
    env,
    folder,
    profiles: new ProfileStore(folder, warn, {
      signal,
      passphrase: async (_profile, readStored) => passphraseIn(env) ?? readStored?.(),
    }),
    openFlows: new Map(),
    terminal,
    output: silentOutput('json'),
    printBytes: () => {},
    stdoutIsTerminal: false,
    stdoutColumns: undefined,
    isForPerson: false,
    pace,
    tally,
    world: { ...world, finish },
    readStdin: cannotAsk,
    // No browser is opened here, so nothing asks for it.
    interrupt: () => {},
    // The first thread gets the signal, and passes it to this one.
    stopGently: () => new AbortController().signal,
    atLast,
    onEnd,
  };
}

if (parentPort) void syncThread(workerData, parentPort);

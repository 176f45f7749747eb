// How long psd2 takes to start.
import { figure, timeProcesses } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

/** @param seconds what it may take */
export function start(node, version, seconds) {
  const operator = openOperator();
  // Node.js 20 compiles psd2 at each start.
  const keepsCode = Number(version.split('.')[0]) >= 24;
  try {
    const words = {
      '--version': { words: ['--version'], limit: 1.15 },
      '--help': { words: ['--help'], limit: 1.3 },
      'completion bash': { words: ['completion', 'bash'], limit: 1.5 },
      '__complete (the Tab key)': { words: ['__complete', 'words', 'accounts', 'balance', ''], limit: 1.4 },
      'profile list': { words: ['profile', 'list'], limit: keepsCode ? 1.65 : 1.9 },
      'accounts list --help': { words: ['accounts', 'list', '--help'], limit: keepsCode ? 1.65 : 1.9 },
    };
    const times = timeProcesses(
      {
        'node -e 0': [node, '-e', '0'],
        ...Object.fromEntries(
          Object.entries(words).map(([name, { words: all }]) => [name, [node, PROGRAM, ...all]]),
        ),
      },
      { rounds: 30, seconds, env: operator.env },
    );
    const baseline = 'node -e 0';
    return Object.entries(words).map(([name, { limit }]) =>
      figure({
        what: `psd2 ${name}, Node ${version}`,
        ratio: times.ratio(name, baseline),
        against: baseline,
        limit,
        detail: `${times.median(name).toFixed(1)} ms against ${times.median(baseline).toFixed(1)} ms`,
      }),
    );
  } finally {
    operator.close();
  }
}

// One call of the bank, with a token at hand: whole processes.
import { fileURLToPath } from 'node:url';
import { figure, timeProcesses } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

export function oneCall(node, version) {
  const operator = openOperator();
  try {
    const env = operator.callEnv(operator.logIn());
    const times = timeProcesses(
      {
        psd2: [node, PROGRAM, 'accounts', 'list'],
        bash: ['bash', file('accounts.sh')],
        node: [node, file('accounts.js')],
        nothing: [node, '-e', '0'],
      },
      { rounds: 30, env },
    );
    const ms = (name) => `${times.median(name).toFixed(1)} ms`;
    const detail = `${ms('psd2')}; the script ${ms('bash')}, node:https ${ms('node')}, node -e 0 ${ms('nothing')}`;
    return [
      figure({
        what: `psd2 accounts list, Node ${version}`,
        ratio: times.ratio('psd2', 'bash'),
        against: 'the bash script with openssl and curl (bench/accounts.sh)',
        limit: Number(version.split('.')[0]) >= 24 ? 0.8 : 1.2,
        detail,
      }),
      figure({
        what: `psd2 accounts list, Node ${version}`,
        ratio: times.ratio('psd2', 'node'),
        against: 'a minimal script with node:https (bench/accounts.js)',
        limit: 1.5,
        detail,
      }),
      figure({
        what: `a minimal script with node:https, Node ${version}`,
        ratio: times.ratio('node', 'bash'),
        against: 'the bash script with openssl and curl (bench/accounts.sh)',
        detail: 'what no program of Node.js can be faster than',
      }),
    ];
  } finally {
    operator.close();
  }
}

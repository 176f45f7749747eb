// One call to the bank with a stored token. Measures whole processes.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { clientAlone } from '../scripts/client-alone.js';
import { figure, timeProcesses } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

export async function oneCall(node, version) {
  const operator = openOperator();
  try {
    const undici = join(operator.folder, 'accounts-undici.cjs');
    await bundle(file('accounts-undici.js'), undici);
    const env = operator.callEnv(operator.logIn());
    const times = timeProcesses(
      {
        psd2: [node, PROGRAM, 'accounts', 'list'],
        bash: ['bash', file('accounts.sh')],
        node: [node, file('accounts.js')],
        undici: [node, undici],
        nothing: [node, '-e', '0'],
      },
      { rounds: 30, env },
    );
    const ms = (name) => `${times.median(name).toFixed(1)} ms`;
    const detail = `${ms('psd2')}; the script ${ms('bash')}, node:https ${ms('node')}, undici ${ms('undici')}, node -e 0 ${ms('nothing')}`;
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
        what: `psd2 accounts list, Node ${version}`,
        ratio: times.ratio('psd2', 'undici'),
        against: 'a minimal script with undici (bench/accounts-undici.js)',
        limit: 1.5,
        detail,
      }),
      figure({
        what: `a minimal script with undici, Node ${version}`,
        ratio: times.ratio('undici', 'node'),
        against: 'a minimal script with node:https (bench/accounts.js)',
        detail: 'what undici costs a command that makes one call',
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

/** Bundles a script as the build does. Without it, loading undici's files takes longer than the call. */
function bundle(script, outfile) {
  return build({
    entryPoints: [script],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    plugins: [clientAlone],
    logLevel: 'warning',
  });
}

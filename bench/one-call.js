// One call to the bank with a stored token. Measures whole processes.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { clientAlone } from '../scripts/client-alone.js';
import { CB, NEXTGENPSD2, openHomes, SANDBOX_OF_HOMES } from './homes.js';
import { figure, timeProcesses } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';
import { startPostgres } from './postgres.js';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** @param seconds what it may take */
export async function oneCall(node, version, seconds) {
  const operator = openOperator(SANDBOX_OF_HOMES);
  const server = await startPostgres();
  try {
    const undici = join(operator.folder, 'accounts-undici.cjs');
    await bundle(file('accounts-undici.js'), undici);
    const env = operator.callEnv(operator.logIn());
    const homes = openHomes(operator, server);
    const command = [node, PROGRAM, 'accounts', 'list', '--psu-ip', '203.0.113.7'];
    const times = timeProcesses(
      {
        psd2: [node, PROGRAM, 'accounts', 'list'],
        ...Object.fromEntries(homes.map((home) => [home.id, { command, env: home.env }])),
        bash: ['bash', file('accounts.sh')],
        node: [node, file('accounts.js')],
        undici: [node, undici],
        nothing: [node, '-e', '0'],
      },
      { rounds: 30, seconds, env },
    );
    const ms = (name) => `${times.median(name).toFixed(1)} ms`;
    const detail = `${ms('psd2')}; the script ${ms('bash')}, node:https ${ms('node')}, undici ${ms('undici')}, node -e 0 ${ms('nothing')}`;
    return [
      figure({
        what: `psd2 accounts list, Node ${version}`,
        ratio: times.ratio('psd2', 'bash'),
        against: 'the bash script with openssl and curl (bench/accounts.sh)',
        detail,
      }),
      figure({
        what: `psd2 accounts list, Node ${version}`,
        ratio: times.ratio('psd2', 'node'),
        against: 'a minimal script with node:https (bench/accounts.js)',
        detail,
      }),
      figure({
        what: `psd2 accounts list, Node ${version}`,
        ratio: times.ratio('psd2', 'undici'),
        against: 'a minimal script with undici (bench/accounts-undici.js)',
        limit: 1.2,
        detail,
      }),
      ...homes
        .filter(({ id }) => id !== CB)
        .map(({ id, what }) =>
          figure({
            what: `psd2 accounts list at ${what}, Node ${version}`,
            ratio: times.ratio(id, CB),
            against: 'the same at cb, with files',
            ...(id === NEXTGENPSD2 && { limit: 1.05 }),
            detail: `${ms(id)} against ${ms(CB)}`,
          }),
        ),
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
    server.stop();
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

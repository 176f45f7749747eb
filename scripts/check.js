// Runs the scripts check:* of package.json side by side, and says all that is wrong: npm run check.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
/** In the order of package.json: what finds most comes first. */
const waiting = Object.entries(scripts).filter(([name]) => name.startsWith('check:'));
const failed = [];
await Promise.all(Array.from({ length: availableParallelism() }, runNext));
if (failed.length > 0) {
  process.stdout.write(`\nWrong: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

async function runNext() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [name, command] = next;
    const { isWell, output } = await run(command);
    // At once, so that the outputs of two parts never mix.
    process.stdout.write(`\n=== ${name}: ${command}\n${output}`);
    if (!isWell) failed.push(name);
  }
}

/** npm has put the packages' programs into the PATH. */
function run(command) {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
    child.on('close', (code) =>
      resolve({ isWell: code === 0, output: Buffer.concat(output).toString('utf8') }),
    );
  });
}

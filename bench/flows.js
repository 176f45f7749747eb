// How long commands take in a profile with 10 000 transfers, as ratios to the same in one with 10: npm run bench:flows
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROUNDS = 7;
const MANY = 10_000;
const FEW = 10;
const program = fileURLToPath(new URL('../bin/psd2.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'psd2-bench-'));
/** What the bank's certificates and application are set with; the bank itself is not asked. */
const bank = sandboxEnvironment();
const configOf = (count) => join(folder, `config-${count}`);
const ORDER = [
  ...['create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '12.50'],
];
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** The variables of a sandbox bank that ran for a moment. */
function sandboxEnvironment() {
  const env = { ...process.env, PSD2_CONFIG_DIR: join(folder, 'sandbox') };
  const psd2 = (...words) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { env });
    if (status !== 0) throw new Error(`psd2 ${words.join(' ')} ended with ${status}: ${stderr}`);
    return stdout;
  };
  psd2('sandbox', 'start', '--detach', '--port', '0');
  try {
    const { PSD2_CONFIG_DIR: _, ...variables } = JSON.parse(psd2('sandbox', 'env', '--json'));
    return variables;
  } finally {
    psd2('sandbox', 'stop');
  }
}

/** A profile with so many executed transfers, a minute apart. @returns the id of the one in the middle */
function writeFlows(count) {
  const flows = join(configOf(count), 'flows', 'env');
  mkdirSync(flows, { recursive: true, mode: 0o700 });
  let middle;
  for (let index = 0; index < count; index += 1) {
    const at = new Date(START + index * 60_000).toISOString();
    const flow = `tr-${Date.parse(at).toString(36).padStart(9, '0')}${index.toString(36).padStart(5, '0')}`;
    const resourceId = randomUUID();
    if (index === count / 2) middle = { flow, resourceId };
    const events = [
      {
        type: 'created',
        flow,
        transactionId: randomUUID(),
        order: {
          ...{
            customerId: '1048262',
            from: '0010482620',
            to: 'DE89370400440532013000',
            name: 'Ada Lovelace',
          },
          ...{ amount: '12.50', currency: 'EUR', description: 'Invoice', instant: false, type: null },
          ...{ executionDate: at.slice(0, 10), futureDated: false, urgent: false, reference: `INV-${index}` },
        },
      },
      { type: 'verify-sent', requestId: randomUUID(), digest: 'SHA-256=x' },
      {
        ...{ type: 'verified', resourceId, bankName: 'Bank', nextStep: 'execute' },
        totalAmount: { amount: '13.50', currency: 'EUR' },
        commissions: { amount: '1.00', currency: 'EUR' },
      },
      { type: 'accepted' },
      { type: 'approach-sent', requestId: randomUUID(), digest: null },
      { type: 'sca-started' },
      { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
      { type: 'execute-sent', requestId: randomUUID(), digest: 'SHA-256=x' },
      { type: 'executed', cro: '1' },
    ];
    const lines = events.map((event) => `${JSON.stringify({ at, event })}\n`).join('');
    writeFileSync(join(flows, `${flow}.ndjson`), lines, { mode: 0o600 });
  }
  return middle;
}

/** @returns milliseconds */
function run(count, words, exitCode = 0) {
  const env = {
    ...process.env,
    PSD2_CONFIG_DIR: configOf(count),
    ...bank,
    PSD2_CUSTOMER: '1048262',
    NODE_NO_WARNINGS: '1',
  };
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [program, ...words], { env, maxBuffer: 1 << 28 });
  const took = performance.now() - begun;
  if (status !== exitCode) throw new Error(`psd2 ${words.join(' ')} ended with ${status}: ${stderr}`);
  return took;
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  const middles = new Map([FEW, MANY].map((count) => [count, writeFlows(count)]));
  // The first look for a resource of flows from before the index reads them all, and notes what it finds.
  const first = run(MANY, ['transfer', 'show', middles.get(MANY).resourceId]);
  run(FEW, ['transfer', 'show', middles.get(FEW).resourceId]);

  /** Name, arguments, the most it may take as a multiple of the same with few, exit code (2: the reference is taken). */
  const cases = [
    ['list --limit 10', () => ['transfer', 'list', '--limit', '10'], 1.5],
    ['show <flow>', ({ flow }) => ['transfer', 'show', flow], 1.2],
    ['show <prefix>', ({ flow }) => ['transfer', 'show', flow.slice(0, -1)], 1.5],
    ['show <resource>', ({ resourceId }) => ['transfer', 'show', resourceId], 2.5],
    ['create --reference', () => ['transfer', ...ORDER, '--reference', `INV-${FEW / 2}`], 3, 2],
    ['show <its prefix>', ({ resourceId }) => ['transfer', 'show', resourceId.slice(0, 18)], 2.5],
  ];
  process.stdout.write(`Node ${process.versions.node}, medians of ${ROUNDS}, ${MANY} transfers to ${FEW}\n`);
  for (const [name, words, limit, exitCode] of cases) {
    const times = new Map([FEW, MANY].map((count) => [count, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [count, each] of times) each.push(run(count, words(middles.get(count)), exitCode));
    }
    const [few, many] = [median(times.get(FEW)), median(times.get(MANY))];
    const ratio = many / few;
    if (ratio > limit) process.exitCode = 1;
    process.stdout.write(
      `${name.padEnd(20)} ${many.toFixed(0).padStart(6)} ms ${ratio.toFixed(2).padStart(6)} ×   limit ${limit} ×  ${ratio <= limit ? 'reached' : 'MISSED'}\n`,
    );
  }
  const index = join(configOf(MANY), 'flows', 'env', 'index');
  process.stdout.write(
    `all of them: list ${run(MANY, ['transfer', 'list', '--json']).toFixed(0)} ms; index made in ${first.toFixed(0)} ms, ${readFileSync(index).length} bytes\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

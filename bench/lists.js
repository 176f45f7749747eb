// Compares commands in a store with many customers, flows and calls with the same commands in a store with few.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { allOfMany } from './all-of-many.js';
import { figure, median } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';
import { START, writeFlows, writeLogins } from './written-store.js';

const ROUNDS = 11;
const MANY = 10_000;
const FEW = 10;
const MANY_CALLS = 1_000_000;
const ORDER = [
  ...['create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '12.50'],
];

/** @param seconds for everything */
export async function lists(node, version, seconds) {
  const operator = openOperator();
  try {
    return [...figuresOf(node, version, operator), ...(await allOfMany(node, version, operator, seconds))];
  } finally {
    operator.close();
  }
}

function figuresOf(node, version, operator) {
  // For the bank's certificates and application. None of the commands below calls the bank.
  const { PSD2_CONFIG_DIR: _, ...bank } = operator.json('sandbox', 'env');
  const stores = Object.fromEntries(
    ['few', 'many'].map((which) => {
      const folder = join(operator.folder, which);
      const [count, calls] = which === 'many' ? [MANY, MANY_CALLS] : [FEW, MANY_CALLS / 1000];
      writeLogins(join(folder, 'tokens', 'env'), count, bank.PSD2_BASE_URL);
      writeCalls(join(folder, 'log'), calls, bank.PSD2_BASE_URL);
      const env = {
        ...process.env,
        ...bank,
        PSD2_CONFIG_DIR: folder,
        PSD2_PROFILE: '',
        PSD2_CUSTOMER: '5000001',
      };
      return [which, { env, middle: writeFlows(join(folder, 'flows', 'env'), count) }];
    }),
  );
  const run = (which, words, exitCode = 0) => {
    const { env, middle } = stores[which];
    const begun = performance.now();
    // To find the calls for one customer, psd2 may have to read the whole log.
    const given = words(middle)[0] === 'log' ? { ...env, PSD2_CUSTOMER: '' } : env;
    const { status, stderr } = spawnSync(node, [PROGRAM, ...words(middle)], { env: given, maxBuffer: 1e9 });
    const took = performance.now() - begun;
    if (status !== exitCode)
      throw new Error(`psd2 ${words(middle).join(' ')} ended with ${status}: ${stderr}`);
    return { took };
  };
  // The first search for a resource reads all flows that are older than the index, and adds them to it.
  for (const which of ['few', 'many']) run(which, ({ resourceId }) => ['transfer', 'show', resourceId]);

  /** Name, words, limit of the ratio of many to few, exit code (2: the reference was used before). */
  const cases = [
    ['transfer list --limit 10', () => ['transfer', 'list', '--limit', '10'], 1.5],
    ['transfer show <flow>', ({ flow }) => ['transfer', 'show', flow], 1.2],
    ['transfer show <prefix of a flow>', ({ flow }) => ['transfer', 'show', flow.slice(0, -1)], 1.5],
    ['transfer show <resource>', ({ resourceId }) => ['transfer', 'show', resourceId], 2.5],
    [
      'transfer show <prefix of a resource>',
      ({ resourceId }) => ['transfer', 'show', resourceId.slice(0, 18)],
      2.5,
    ],
    ['transfer create --reference', () => ['transfer', ...ORDER, '--reference', `INV-${FEW / 2}`], 3, 2],
    ['auth status of one customer', () => ['auth', 'status', '--customer', '5000001'], 1.2],
    ['log --limit 10', () => ['log', '--limit', '10', '--json'], 1.2],
  ];
  const figures = cases.map(([name, words, limit, exitCode]) => {
    const times = { few: [], many: [] };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const which of ['few', 'many']) times[which].push(run(which, words, exitCode).took);
    const [few, many] = [median(times.few), median(times.many)];
    const store = name.startsWith('log')
      ? [MANY_CALLS, MANY_CALLS / 1000, 'calls in the log']
      : [MANY, FEW, name.startsWith('auth') ? 'customers' : 'transfers'];
    return figure({
      what: `psd2 ${name} with ${store[0]} ${store[2]}, Node ${version}`,
      ratio: many / few,
      against: `the same with ${store[1]}`,
      limit,
      detail: `${many.toFixed(0)} ms against ${few.toFixed(0)} ms, medians of ${ROUNDS}`,
    });
  });

  /** Commands that print many rows: the time for each further row, compared with a tenth of the rows. */
  const whole = [
    ['transfer list', (rows) => ['transfer', 'list', '--json', '--limit', String(rows)], MANY],
    ['log', (rows) => ['log', '-o', 'ndjson', '--limit', String(rows)], MANY_CALLS / 10],
  ];
  for (const [name, words, rows] of whole) {
    const rounds = [];
    for (let round = 0; round < 3; round += 1) {
      const [none, part, all] = [1, rows / 10, rows].map((count) => run('many', () => words(count)).took);
      rounds.push({ ratio: (all - none) / rows / ((part - none) / (rows / 10)), all, part });
    }
    const of = (value) => median(rounds.map(value));
    figures.push(
      figure({
        what: `psd2 ${name} of ${rows} rows, Node ${version}`,
        ratio: of(({ ratio }) => ratio),
        against: 'the time for each row of a tenth of them',
        limit: 1.5,
        detail: `${of(({ all }) => all).toFixed(0)} ms against ${of(({ part }) => part).toFixed(0)} ms, medians of 3`,
      }),
    );
  }
  const list = { few: [], many: [] };
  for (let round = 0; round < 3; round += 1)
    for (const which of ['few', 'many']) list[which].push(run(which, () => ['auth', 'list', '--json']).took);
  figures.push(
    figure({
      what: `psd2 auth list of ${MANY} customers, Node ${version}`,
      ratio: median(list.many) / median(list.few),
      against: `the same with ${FEW}, which prints a thousandth`,
      limit: 10,
      detail: `${median(list.many).toFixed(0)} ms against ${median(list.few).toFixed(0)} ms, medians of 3`,
    }),
  );
  const index = readFileSync(join(operator.folder, 'many', 'flows', 'env', 'index'));
  process.stdout.write(
    `           the index of ${MANY} transfers has ${(index.length / 1e6).toFixed(1)} MB\n`,
  );
  return figures;
}

function writeCalls(folder, count, baseUrl) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, 'calls.ndjson'), 'w', 0o600);
  const { host } = new URL(baseUrl);
  for (let number = 0; number < count; ) {
    const lines = [];
    for (let line = 0; line < 10_000 && number < count; line += 1, number += 1) {
      lines.push(
        JSON.stringify({
          ...{ at: new Date(START + number * 1000).toISOString(), profile: 'env', host, method: 'GET' },
          ...{ path: '/private/customers/1048262/accounts', status: 200, failure: null, milliseconds: 12 },
          ...{ tppRequestId: '3f0c7a52-6f0e-4d0c-9d0a-0d8d2a6f5b11', requestId: '012345678901234567890123' },
          ...{ transactionId: '7a1f4e60-5c1b-4a63-8a5e-4f7a9d1c2b33', apiTrackId: '1234567890', flow: null },
          ...{ route: '/private/customers/{customerId}/accounts', kind: 'ais' },
        }),
      );
    }
    writeSync(file, `${lines.join('\n')}\n`);
  }
  closeSync(file);
}

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entriesBelow } from '../../src/store/disk/files.ts';
import { useSecondDoor } from '../e2e/nextgenpsd2/second-door-customer.ts';
import { bankDay, untilWorkday } from '../e2e/support/bank-days.ts';
import type { EndedCall, Environment, Running } from '../e2e/support/psd2.ts';
import { findSecrets, type Trace } from '../e2e/support/secret-search.ts';
import { type Server, startServer } from '../store/postgres/server.ts';
import { bySeed, sample } from '../support/sample.ts';
import { ALL } from './bank.ts';
import { MOST } from './matrix.ts';
import { type Answering, type Gift, json, quotingBank } from './quoting-bank.ts';
import { useRelay } from './relay.ts';

// Whatever takes a PIN and a TAN, and however it ends: neither is anywhere afterwards, nor what could be made of them, nor digest and
// signature of their calls (docs/embedded.md). The bank quotes what it got wherever an answer has room for it.

const OWN_IBAN = 'IT89F0999001600000010482620';
const PAYEE = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '12.50'];
const PAY = ['transfer', 'create', '--from', OWN_IBAN, ...PAYEE];
const SOON = bankDay(untilWorkday() + 7);
const KILL = fileURLToPath(new URL('kill-at-step.js', import.meta.url));
/** As many steps of its own as a payment has in files. A command shares them with others. */
const STEPS = 420;
const SHARE = 15;
const FILE = {
  sca: { approaches: ['redirect', 'embedded'], pollSeconds: 1 },
  payments: {
    ...{ executesWithoutSca: 'never', futureDays: 30, bulk: { maxEntries: 4 } },
    products: {
      'bulk-payments': ['sepa-credit-transfers'],
      'periodic-payments': ['sepa-credit-transfers'],
    },
  },
};

const flowsIn = (text: string) => text.match(/\b(?:tr|co|op)-[0-9a-z]{14}\b/g) ?? [];

/** Everything that a text can have of a value. */
const quoting = (value: string) =>
  [
    `We got ${value} from you.`,
    JSON.stringify(value),
    encodeURIComponent(value),
    Buffer.from(value).toString('base64'),
    Buffer.from(`:${value}`).toString('base64url'),
    Buffer.from(value).toString('hex'),
  ].join(' ');
const refuses: Answering = (value) => {
  const text = quoting(value);
  const message = { category: 'ERROR', code: 'PSU_CREDENTIALS_INVALID', text, path: text };
  return json(401, { tppMessages: [message], psuMessage: text });
};
const problem: Answering = (value) => {
  const text = quoting(value);
  return json(401, {
    type: text,
    title: text,
    detail: text,
    code: 'PSU_CREDENTIALS_INVALID',
    instance: text,
  });
};
const page: Answering = (value) =>
  json(500, `<html><title>${quoting(value)}</title>${quoting(value)}</html>`);
const malformed: Answering = (value) =>
  json(201, { scaStatus: { of: value }, scaMethods: quoting(value), _links: [value], [value]: value });
const cut: Answering = async () => undefined;
const garbled: Answering = async (value) => {
  const answer = await json(200, { scaStatus: value });
  return answer && { ...answer, body: answer.body.subarray(0, -3) };
};
/** A success in which everything that a person may read has the value. */
const quotes: Answering = async (value, _, usual) => {
  const answer = await usual();
  if (!answer) return answer;
  const text = quoting(value);
  const body: unknown = JSON.parse(
    answer.body
      .toString()
      .replaceAll(/("href":"[^"]+)"/g, `$1?pin=${encodeURIComponent(value)}"`)
      .replaceAll(/("name":")[^"]*"/g, (_all, start: string) => `${start}${JSON.stringify(text).slice(1)}`)
      .replaceAll(
        /("additionalInformation":")[^"]*"/g,
        (_all, start: string) => `${start}${JSON.stringify(text).slice(1)}`,
      ),
  );
  const more = { psuMessage: text, tppMessages: [{ category: 'WARNING', code: 'WARNING', text }] };
  return json(answer.status, { ...Object(body), ...more });
};

interface Ending {
  answers?: Partial<Record<Gift, Answering>>;
  /** The process is stopped when the bank has this, or at one of its own steps. */
  stops?: { at: Gift | number; how: 'SIGKILL' | 'SIGTERM' | 'throw' };
}

/** A command, how it ends, and what makes it end so. */
type Pair = readonly [command: string, name: string, ending: Ending];

/** `npm run reliability` takes all pairs, or with `--points` so many of a command; a run of all tests many of them. */
function some(pairs: readonly Pair[], store: string, many: number): Pair[] {
  const nameOf = ([command, name]: Pair) => `${store} ${command} ${name}`;
  return sample(bySeed(pairs, nameOf).slice(0, ALL ? 9 * MOST : many), 2, nameOf);
}

const ENDINGS: Record<string, Ending> = {
  'ends well': {},
  'ends well, and the bank quotes PIN and TAN': { answers: { PIN: quotes, method: quotes, TAN: quotes } },
  'gets a page for the method': { answers: { method: page } },
  ...Object.fromEntries(
    (['PIN', 'TAN'] as const).flatMap((gift) =>
      Object.entries({ refuses, problem, page, malformed, garbled, cut }).map(
        ([name, answering]): [string, Ending] => [`the ${gift}: ${name}`, { answers: { [gift]: answering } }],
      ),
    ),
  ),
  ...Object.fromEntries(
    (['PIN', 'method', 'TAN'] as const).flatMap((at) =>
      (['SIGKILL', 'SIGTERM'] as const).map((how): [string, Ending] => [
        `${how} when the bank has the ${at}`,
        { stops: { at, how } },
      ]),
    ),
  ),
};

/** Stopped at one of its own steps: a change on disk, or what it sends. The commands share the steps. @param nth of the commands */
const atSteps = (nth: number): [string, Ending][] =>
  (['SIGKILL', 'throw'] as const).flatMap((how) =>
    Array.from({ length: STEPS / SHARE }, (_, each): [string, Ending] => {
      const at = each * SHARE + (nth % SHARE) + 1;
      return [`${how === 'throw' ? 'a bug' : how} at step ${at}`, { stops: { at, how } }];
    }),
  );

describe.each(['files', 'PostgreSQL'] as const)('with its data in %s', (store) => {
  const at = useSecondDoor([], FILE);
  const relay = useRelay(() => join(at.config, 'sandbox'));
  const bank = quotingBank();
  let server: Server | undefined;
  let marks = 0;
  let running: Running | undefined;
  const env: Environment = {};
  beforeAll(async () => {
    mkdirSync(at.ownHands, { recursive: true });
    relay.treat('marked', bank.treatment);
    Object.assign(env, {
      ...{ ...relay.env('marked'), PSD2_EMBEDDED: 'files', PSD2_PSU_ID: 'anna', PSD2_SCA_TIMEOUT: '1' },
      ...{ PSD2_SIGNER: writeSigner(), PSD2_BROWSER: '/bin/true' },
    });
    if (store === 'files') return;
    server = startServer(undefined, 20);
    server.create('marked');
    Object.assign(env, { PSD2_STORE: server.url('marked'), PSD2_STORE_PLAIN_TOKENS: '1' });
    await at.succeeds(['store', 'init', '--plain-tokens'], { env });
  });
  afterAll(() => server?.stop());

  /** A command that signs, and writes down what it was started with. */
  function writeSigner(): string {
    const path = join(at.ownHands, 'sign');
    const key = at.env.PSD2_QSEAL_KEY ?? '';
    const lines = [
      '#!/bin/bash',
      `(env; printf '%s\\n' "$0" "$@") >> '${join(at.folder, 'children')}'`,
      `openssl dgst -sha256 -sign '${key}' | openssl base64 -A`,
    ];
    writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o700 });
    return path;
  }

  /** Files with a PIN and a TAN that nobody has used. */
  function newCredentials(): { pin: string[]; tan: string[] } {
    marks += 1;
    const own = (kind: string) => {
      const path = join(at.ownHands, `${kind}-${marks}`);
      writeFileSync(path, `${kind}/"${marks}"\\ü+marked?\n`, { mode: 0o600 });
      return path;
    };
    return { pin: ['--psu-password-file', own('pin')], tan: ['--otp-file', own('tan')] };
  }

  async function run(args: string[], more: Environment = {}): Promise<EndedCall> {
    const started = await at.start([...args, '--verbose'], { ...env, ...more });
    running = started;
    started.closeInput();
    return started.ended;
  }

  /** Each of these customers begins anew: nobody has refused their PIN. */
  function forgetPins(): void {
    rmSync(join(at.config, 'pins'), { recursive: true, force: true });
    server?.sql('marked', 'delete from psd2.pins');
  }

  /** Runs a command whose customer gives PIN and TAN, or the PIN alone. @returns the flow, and how it ended */
  async function gives(words: string[], without?: 'TAN'): Promise<EndedCall & { flow: string }> {
    forgetPins();
    bank.answers({});
    const { pin, tan } = newCredentials();
    const ended = await run([...words, '--sca-method', '901', '--yes', ...pin, ...(without ? [] : tan)]);
    expect(ended.code, ended.stderr).toBe(without ? 13 : 0);
    const [flow = ''] = flowsIn(`${ended.stdout}${ended.stderr}`);
    return { ...ended, flow };
  }

  /** A batch of two payments. @returns its id */
  async function newBatch(): Promise<string> {
    marks += 1;
    const file = join(at.ownHands, `batch-${marks}.csv`);
    const line = (payee: string) => `${payee},B${marks}-${payee},DE89370400440532013000,2.50`;
    writeFileSync(file, ['name,reference,iban,amount', line('Ada'), line('Bea'), ''].join('\n'));
    const { code, stdout, stderr } = await run(['batch', 'add', file, '--from', OWN_IBAN, '--json']);
    expect(code, stderr).toBe(0);
    return String(JSON.parse(stdout).batch);
  }

  /** Every command that takes PIN and TAN. @returns its words, once all is ready for it */
  const COMMANDS: Record<string, () => Promise<string[]>> = {
    'transfer create': async () => PAY,
    'transfer standing': async () => [
      ...['transfer', 'standing', ...PAY.slice(2), '--frequency', 'Monthly', '--start', SOON],
    ],
    'transfer resume': async () => ['transfer', 'resume', (await gives(PAY, 'TAN')).flow],
    'transfer cancel': async () => ['transfer', 'cancel', (await gives([...PAY, '--date', SOON])).flow],
    'consent request': async () => ['consent', 'request', '--all-accounts'],
    'consent resume': async () => [
      ...['consent', 'resume', (await gives(['consent', 'request', '--all-accounts'], 'TAN')).flow],
    ],
    'batch run': async () => ['batch', 'run', await newBatch(), '--as', 'single'],
    'operation cancel': async () => {
      await gives(['batch', 'run', await newBatch(), '--as', 'bulk']);
      const { stdout } = await run(['operation', 'list', '--json']);
      return ['operation', 'cancel', flowsIn(stdout)[0] ?? ''];
    },
    'smoke run': async () => ['smoke', 'run', '--consent'],
  };

  const endings = Object.keys(COMMANDS).flatMap((command) =>
    Object.entries(ENDINGS).map(([name, ending]): Pair => [command, name, ending]),
  );
  const steps = Object.keys(COMMANDS).flatMap((command, nth) =>
    atSteps(nth).map(([name, ending]): Pair => [command, name, ending]),
  );
  it.each([...some(endings, store, 16), ...some(steps, store, 8)])('%s, %s', async (command, _, ending) => {
    const { answers = {}, stops } = ending;
    const words = (await COMMANDS[command]?.()) ?? [];
    forgetPins();
    const before = bank.came.PIN + bank.came.TAN;
    const isOwn = typeof stops?.at === 'number';
    const stopping: Answering = async () => {
      running?.kill(stops?.how === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL');
      return undefined;
    };
    bank.answers(stops && !isOwn ? { [stops.at]: stopping } : answers);
    const { pin, tan } = newCredentials();
    const ended = await run(
      [...words, '--sca-method', '901', '--yes', ...pin, ...tan, ...(marks % 2 ? ['--json'] : [])],
      isOwn
        ? { NODE_OPTIONS: `--import=${KILL}`, KILL_AT: '', KILL_NTH: String(stops.at), KILL_HOW: stops.how }
        : {},
    );
    if (!isOwn) {
      expect(bank.came.PIN + bank.came.TAN, ended.stderr).toBeGreaterThan(before);
      expect(ended.code, ended.stderr).not.toBe(1);
    }
    expect(leaks(outputOf([ended]))).toEqual([]);
  });

  it('neither PIN nor TAN, nor what is made of them, is anywhere', async () => {
    bank.answers({});
    await gives(PAY);
    for (const words of READERS) await run(words);
    expect(existsSync(join(at.folder, 'children')), 'psd2 has started a program').toBe(true);
    expect(leaks([...outputOf(at.history), ...inFiles(), ...inDatabase()])).toEqual([]);
    // Where they belong, the search finds them.
    const own = readFileSync(join(at.ownHands, `tan-${marks}`));
    expect(leaks([{ where: 'the file of the operator', content: own }])).toEqual([
      'TAN in the file of the operator',
    ]);
  });

  const READERS = [
    ['log'],
    ['log', 'list', '--json'],
    ['log', 'bundle', '--file', 'bundle.json'],
    ['customer', 'export', 'anna', '--json'],
    ['audit', 'list', '--json'],
    ['transfer', 'list', '--json'],
    ['consent', 'list', '--json'],
    ['operation', 'list', '--json'],
    ['status', '--json'],
  ];

  function leaks(traces: Trace[]): string[] {
    return [...new Set(findSecrets(bank.secrets(), traces))];
  }

  function outputOf(runs: readonly Pick<EndedCall, 'stdout' | 'stderr'>[]): Trace[] {
    return runs.map((each) => ({
      where: `the output of ${'args' in each ? String(each.args) : 'the command'}`,
      content: Buffer.from(`${each.stdout}\n${each.stderr}`),
    }));
  }

  function inFiles(): Trace[] {
    return entriesBelow(at.folder)
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(at.ownHands))
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => ({ where: relative(at.folder, path), content: readFileSync(path) }));
  }

  /** Every row of every table. */
  function inDatabase(): Trace[] {
    const { sql } = server ?? {};
    if (!sql) return [];
    const tables = sql(
      'marked',
      "select table_name from information_schema.tables where table_schema = 'psd2'",
    );
    return tables.split('\n').map((table) => ({
      where: `the table ${table}`,
      content: Buffer.from(sql('marked', `select row_to_json(t) from psd2.${table} t`)),
    }));
  }
});

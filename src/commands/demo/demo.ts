import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { isBlockedPort } from '../../domain/local-address.ts';
import { Psd2Error } from '../../errors.ts';
import { type Field, list, money, object, orNull, text } from '../../terminal/output/fields.ts';
import { environmentFor } from '../../terminal/program-environment.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { DOOR_PROFILE, SANDBOX_PROFILE } from '../sandbox/profile.ts';

const IBAN = 'DE89370400440532013000';
/** The customer of the sandbox who has a PIN, and the account to pay from. */
const CUSTOMER = 'anna';
const CUSTOMERS_IBAN = 'IT89F0999001600000010482620';
/** What is paid, and to whom. */
const PAYMENT = [
  '--to',
  IBAN,
  '--name',
  'Ada Lovelace',
  '--amount',
  '12.50',
  '--description',
  'Invoice 1',
  '--payee-verified',
  '--yes',
] as const;
/** Where the steps print if stdout is for one document. */
const STDERR = 2;

const demoTransfer = object({
  state: text('state of the transfer: settled'),
  cro: orNull(text("the bank's reference of the transfer")),
  totalAmount: money('debited amount, including the commission'),
});

/** The demo at the second door. */
const demoPayment = object({
  accountId: text("the bank's id of the account that was read and debited"),
  state: text('state of the transfer: settled'),
});

/** The demo with PIN and TAN. */
const embeddedPayment = object({
  state: text('state of the transfer: settled'),
  authorisedBy: list(text(), 'who authorised it'),
});

export const demo = verb(
  {
    prints: { what: 'the transfer of the demo', shape: demoTransfer },
    printsWith: {
      '--interface': { what: 'the transfer of the demo at the second door', shape: demoPayment },
      '--embedded': { what: 'the transfer of the demo with PIN and TAN', shape: embeddedPayment },
    },
    help: examples('psd2 demo', 'psd2 demo --interface nextgenpsd2', 'psd2 demo --embedded'),
  },
  (command) =>
    command
      .option('--embedded', 'pay at a bank that wants PIN and TAN of the customer from psd2')
      .addOption(
        new Option('--interface <name>', 'bank of the demo: cb, or nextgenpsd2 of the Berlin Group')
          .choices(['cb', 'nextgenpsd2'] as const)
          .default('cb' as const),
      ),
  (context, { interface: door, embedded }) => {
    if (embedded) return showEmbedded(context);
    return door === 'cb' ? showDemo(context) : showDoor(context);
  },
);

/**
 * Shows login, consent, accounts and a transfer at the second door of a sandbox of its own (NextGenPSD2, section 5).
 *
 * @throws Psd2Error `sandbox` if a step fails
 */
async function showDoor(context: Context): Promise<void> {
  await withSteps(context, DOOR_PROFILE, async (steps) => {
    await steps.show('sandbox', 'start', '--detach', '--port', '0');
    await steps.show('auth', 'login');
    await steps.show('consent', 'request', '--all-accounts');
    await steps.show('accounts', 'list');
    const [account] = await steps.read(list(object({ accountId: text() })), 'accounts', 'list');
    if (!account) throw new Psd2Error('sandbox', 'The sandbox customer has no account');
    const { accountId } = account;
    const { state } = await payInFull(steps, accountId);
    await steps.show('smoke', '--psu-ip', '127.0.0.1');
    context.terminal.warn('\nThe instant transfer over NextGenPSD2 is settled.');
    if (context.output.format !== 'table') context.output.record({ accountId, state }, demoPayment);
  });
}

/**
 * Pays at a sandbox of its own whose second door wants PIN and TAN from psd2 (NextGenPSD2, "Embedded SCA"). The PIN is in a file, and
 * the TAN comes from the SMS that the bank sends.
 *
 * @throws Psd2Error `sandbox` if a step fails
 */
async function showEmbedded(context: Context): Promise<void> {
  await withSteps(context, DOOR_PROFILE, async (steps) => {
    await steps.show('sandbox', 'start', '--detach', '--port', '0', '--variation', 'embedded');
    await steps.show('profile', 'set', DOOR_PROFILE, '--embedded', 'files');
    await steps.showWithInput(
      ['sandbox', 'customer', 'tan', CUSTOMER],
      [
        'transfer',
        '--instant',
        '--from',
        CUSTOMERS_IBAN,
        ...PAYMENT,
        '--psu-id',
        CUSTOMER,
        '--psu-password-file',
        steps.writePrivate('pin', `pin-${CUSTOMER}\n`),
        '--sca-method',
        'SMS_OTP',
        '--otp-file',
        '-',
      ],
    );
    const [transfer] = await steps.read(
      list(object({ state: text(), authorisedBy: list(text()) })),
      'transfer',
      'list',
    );
    if (transfer?.state !== 'settled')
      throw new Psd2Error('sandbox', `The transfer is ${transfer?.state ?? 'missing'} instead of settled`);
    context.terminal.warn(
      `\nThe transfer that ${CUSTOMER} authorised with PIN and TAN is settled. psd2 has kept neither.`,
    );
    const { state, authorisedBy } = transfer;
    if (context.output.format !== 'table') context.output.record({ state, authorisedBy }, embeddedPayment);
  });
}

/**
 * Shows login, consent, accounts and a transfer against its own sandbox bank in a temporary folder. Each step
 * is the real command in its own process, shown with its output.
 *
 * @throws Psd2Error `sandbox` if a step fails
 */
async function showDemo(context: Context): Promise<void> {
  const { terminal, output } = context;
  await withSteps(context, SANDBOX_PROFILE, async (steps) => {
    await steps.show('sandbox', 'start', '--detach', '--port', '0');
    await steps.show('auth', 'login');
    const categories = ['--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS'];
    await steps.show('consent', 'request', ...categories, '--all-accounts');
    await steps.show('accounts', 'list');
    const [account] = await steps.read(list(object({ productId: text() })), 'accounts', 'list');
    if (!account) throw new Psd2Error('sandbox', 'The sandbox customer has no account');
    const { state, cro, totalAmount } = await payInFull(steps, account.productId);
    await steps.show('smoke', '--psu-ip', '127.0.0.1');
    if (!cro || !totalAmount)
      throw new Psd2Error('sandbox', 'The transfer has no reference or no total amount');
    terminal.warn(`\nThe instant transfer is settled with the reference ${cro}.`);
    if (output.format !== 'table') output.record({ state, cro, totalAmount }, demoTransfer);
  });
}

/** Runs steps in a temporary folder, and stops its sandbox after them. */
async function withSteps(
  context: Context,
  profile: string,
  work: (steps: Steps) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-demo-'));
  const steps = await openSteps(context, folder, profile);
  try {
    await work(steps);
  } finally {
    await steps.stopSandbox();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a bank debits is the total amount, or it names the commission alone. */
const paid = object({
  state: text(),
  cro: orNull(text()),
  amount: text(),
  totalAmount: orNull(money()),
  commissions: orNull(money()),
});
const withBalance = object({ availableBalance: object({ amount: text() }) });

/** Makes an instant transfer, and checks that the balance changed by its cost. */
async function payInFull({ show, read }: Steps, productId: string) {
  const before = await read(withBalance, 'accounts', 'balance', productId);
  await show('accounts', 'balance', productId);
  await show('accounts', 'transactions', productId, '--limit', '5');
  await show('transfer', '--instant', '--from', productId, ...PAYMENT);
  const [transfer] = await read(list(paid), 'transfer', 'list');
  await show('accounts', 'balance', productId);
  const after = await read(withBalance, 'accounts', 'balance', productId);
  if (transfer?.state !== 'settled')
    throw new Psd2Error('sandbox', `The transfer is ${transfer?.state ?? 'missing'} instead of settled`);
  const { default: Big } = await import('big.js');
  const { amount, totalAmount, commissions } = transfer;
  const cost = totalAmount?.amount ?? new Big(amount).plus(commissions?.amount ?? 0);
  const expected = new Big(before.availableBalance.amount).minus(cost);
  if (!expected.eq(after.availableBalance.amount))
    throw new Psd2Error('sandbox', 'The balance did not change by the cost of the transfer');
  return transfer;
}

/** Runs psd2 commands in their own processes, with their own folder. */
interface Steps {
  /** Runs a step, and shows its command and output. */
  show(...words: string[]): Promise<void>;
  /** The same, with what another command prints as its input. */
  showWithInput(input: readonly string[], words: readonly string[]): Promise<void>;
  /** Writes a file of the user's own. @returns its path */
  writePrivate(name: string, content: string): string;
  /** Runs a command for the demo itself, and gives its JSON. */
  read<T>(form: Field<T>, ...words: string[]): Promise<T>;
  stopSandbox(): Promise<void>;
}

async function openSteps(context: Context, folder: string, profile: string): Promise<Steps> {
  const { terminal, output } = context;
  const program = new OwnProgram(context, {
    ...environmentFor('demo'),
    PSD2_CONFIG_DIR: folder,
    PSD2_PROFILE: profile,
    PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback`,
    PSD2_BROWSER: `"${process.execPath}" "${PROGRAM}" sandbox customer`,
  });
  const shownOn = output.format === 'table' ? 'inherit' : STDERR;
  return {
    async show(...words) {
      terminal.warn(`\n${writeStep(words, terminal.size.columns)}`);
      requireSuccess(words, await program.end(program.start(words, shownOn)));
    },
    async showWithInput(input, words) {
      const { columns } = terminal.size;
      terminal.warn(`\n${writeStep(input, columns)} |\n${writeStep(words, columns).replace('$', ' ')}`);
      const source = program.start(input, 'pipe');
      const child = program.start(words, shownOn, 'pipe');
      if (child.stdin) source.stdout?.pipe(child.stdin);
      // It may have ended before the input came.
      child.stdin?.on('error', () => undefined);
      try {
        requireSuccess(words, await program.end(child));
      } finally {
        source.kill();
      }
    },
    writePrivate(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    },
    async read(form, ...words) {
      const child = program.start([...words, '--json'], 'pipe');
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      requireSuccess(words, await program.end(child));
      return form.read(JSON.parse(text));
    },
    stopSandbox: () => program.stopSandbox(),
  };
}

const PROGRAM = process.argv[1] ?? '';

/** Starts this psd2 in processes of its own. */
class OwnProgram {
  readonly #signal: AbortSignal;
  readonly #env: NodeJS.ProcessEnv;

  constructor({ world }: Pick<Context, 'world'>, env: NodeJS.ProcessEnv) {
    this.#signal = world.signal;
    this.#env = env;
  }

  start(
    words: readonly string[],
    stdout: 'inherit' | 'pipe' | typeof STDERR,
    stdin: 'ignore' | 'pipe' = 'ignore',
  ): ChildProcess {
    return spawn(process.execPath, [PROGRAM, ...words], {
      env: this.#env,
      stdio: [stdin, stdout, 'inherit'],
    });
  }

  /** Waits for a step, and stops it if the demo is interrupted. @returns its exit code */
  async end(child: ChildProcess): Promise<unknown> {
    const stop = () => child.kill();
    this.#signal.addEventListener('abort', stop);
    const [code] = await once(child, 'close');
    this.#signal.removeEventListener('abort', stop);
    this.#signal.throwIfAborted();
    return code;
  }

  async stopSandbox(): Promise<void> {
    const words = [PROGRAM, 'sandbox', 'stop', '--quiet'];
    await once(spawn(process.execPath, words, { env: this.#env, stdio: 'ignore' }), 'exit');
  }
}

function requireSuccess(words: readonly string[], code: unknown): void {
  if (code !== 0)
    throw new Psd2Error('sandbox', `psd2 ${words.slice(0, 2).join(' ')} ended with exit code ${code}`);
}

/**
 * A command as it can be copied. One that is wider than the terminal goes on in further lines, each with whole options.
 *
 * @param columns of the terminal; undefined or 0: it has none
 */
export function writeStep(words: readonly string[], columns: number | undefined): string {
  const lines = ['$ psd2'];
  for (const part of wordGroups(words)) {
    const line = lines.at(-1) ?? '';
    const isFull = columns !== undefined && columns > 0 && line.length + part.length + 3 > columns;
    if (isFull) lines.push(`    ${part}`);
    else lines[lines.length - 1] = `${line} ${part}`;
  }
  return lines.join(' \\\n');
}

/** The words of a command; an option and its value are one part. */
function wordGroups(words: readonly string[]): string[] {
  const parts: string[] = [];
  for (const [at, word] of words.entries()) {
    const written = /^[\w./:-]+$/.test(word) ? word : `"${word}"`;
    const isValue = !word.startsWith('--') && words[at - 1]?.startsWith('--');
    if (isValue) parts.push(`${parts.pop()} ${written}`);
    else parts.push(written);
  }
  return parts;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  return isBlockedPort(address.port) ? freePort() : address.port;
}

import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { type BankFile, bankFile } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { Context } from '../../src/commands/context.ts';
import { Psd2Error } from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit-codes.ts';
import { doorBankFile } from '../../src/sandbox/folder/door-bank-file.ts';
import type { Environment } from '../../src/store/machine/settings.ts';
import { storeLogin } from '../commands/access.ts';
import { type Command, openCommand } from '../commands/command.ts';
import { settingsFor } from '../commands/operator.ts';
import { customersDecided, useRelay } from '../crash/relay.ts';
import { bankDay, untilWorkday } from '../e2e/support/bank-days.ts';
import { openTestBank, type TestBank } from '../sandbox/tpp.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { freePort } from '../support/free-port.ts';
import type { Ended, Stage } from './play.ts';
import type { BankOfRow } from './row.ts';

export const ANNA = '1048262';
export const ACCOUNT = '0010482620';

/** A stage in the process of the test, for one row after the other: commands, sandbox and relay. Time passes when psd2 waits. */
export function useMemory(kind: BankOfRow): () => Promise<Stage & { pass(milliseconds: number): void }> {
  const temporary = temporaryFolder();
  let bank: TestBank;
  beforeAll(async () => {
    const own: BankFile | undefined = kind === 'cb' ? undefined : { interface: 'nextgenpsd2', ...kind.file };
    bank = await openTestBank(
      own && { own, description: bankFile.parse(own) },
      `${bankDay(untilWorkday())}T11:00:00Z`,
    );
  });
  afterAll(() => bank.close());
  const folderOfBank = () => dirname(bank.sandbox.registration.caFile).replace(/\/certificates$/, '');
  const relay = useRelay(folderOfBank);
  let rows = 100;
  beforeEach(() => {
    rows += 1;
    for (const [name, value] of Object.entries(relay.env(`row${rows}`))) vi.stubEnv(name, value);
    return () => vi.unstubAllEnvs();
  });

  return async () => {
    const folder = newConfigFolder(temporary);
    const cb = settingsFor(bank);
    const settings: Environment =
      kind === 'cb'
        ? cb
        : {
            ...cb,
            PSD2_BANK: doorBankFile(folderOfBank()),
            PSD2_BASE_URL: `${bank.sandbox.baseUrl}/nextgenpsd2`,
          };
    const wait = async (milliseconds: number) => {
      // On a busy machine, too, no minute passes before the customer has decided.
      await customersDecided();
      bank.clock.advance(milliseconds);
    };
    const open = (env: Environment, globals = {}, ends: Partial<Pick<Context, 'atLast' | 'onEnd'>> = {}) =>
      openCommand(folder, bank.clock.now, {
        env,
        globals,
        changes: ({ world }) => ({ world: { ...world, sleep: wait }, ...ends }),
      });
    const run = async (words: readonly string[], env: Environment): Promise<Ended> => {
      let command: Command | undefined;
      const last: (() => void)[] = [];
      const closers: (() => Promise<void>)[] = [];
      const program = await buildProgram('0.0.0', {
        words,
        runInstead: async (work) => {
          command = open(env, program.opts(), {
            atLast: (say) => last.push(say),
            onEnd: (close) => closers.push(close),
          });
          await work(command.context);
        },
      });
      const error = await program.parseAsync(words, { from: 'user' }).then(
        () => null,
        (thrown: unknown) => errorOf(thrown),
      );
      for (const say of last) say();
      await Promise.all(closers.map((close) => close()));
      const exitCode = error === null ? 0 : exitCodeOf(error.code);
      return { exitCode, error, stdout: command?.printed() ?? '', told: command?.said() ?? '' };
    };
    // An initiation that psd2 sends again brings the customer back to the address of the first one.
    const redirect = `http://127.0.0.1:${await freePort()}/callback`;
    const tokens = await bank.tpp.login('anna');
    await storeLogin(open(cb).context, ANNA, tokens);
    return {
      ...{ name: `row${rows}`, relay, config: folder.root, profile: 'env', amount: (rows / 100).toFixed(2) },
      run: (words, env) =>
        run(words, { ...settings, PSD2_BROWSER: 'none', PSD2_REDIRECT_URI: redirect, ...env }),
      pass: (milliseconds) => bank.clock.advance(milliseconds),
      booked: async () => {
        const path = `/private/customers/${ANNA}/products/${ACCOUNT}/transactions/retrieve`;
        const { text } = await bank.tpp.send({ path, token: tokens.accessToken });
        return text.split(`"amount":"-${(rows / 100).toFixed(2)}`).length - 1;
      },
    };
  };
}

function errorOf(error: unknown): Psd2Error {
  if (error instanceof Psd2Error) return error;
  throw error;
}

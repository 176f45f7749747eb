import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import type * as z from 'zod';
import type { SandboxOptions } from '../../src/sandbox/server/server.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import type { Environment } from '../../src/store/machine/settings.ts';
import { openTestBank, type TestBank } from '../sandbox/tpp.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { freePort } from '../support/free-port.ts';
import { storeLogin } from './access.ts';
import { type Command, type How, openCommand, runIn } from './command.ts';

/** Longer than psd2 takes to the customer's browser. */
const PATIENCE = { timeout: 30_000, interval: 5 };

/** An operator at a sandbox, both in the process of the test: a command takes milliseconds. */
export interface OperatorHere {
  bank: TestBank;
  /** Where the operator's psd2 stores everything. A test may give itself a new one. */
  folder: StoreFolder;
  /** The settings of the profile. A test may change them. */
  env: Environment;
  open(how?: How): Command;
  /** Runs a command to its end. @returns it, with what it printed. @throws Psd2Error */
  run(words: string[], how?: How): Promise<Command>;
  /** Runs a command with JSON on stdout. @returns the document */
  json<T>(shape: z.ZodType<T>, words: string[], how?: How): Promise<T>;
  /** As {@link OperatorHere.run}, with a customer who approves what psd2 sends their browser to. */
  runApproved(words: string[], user: User, how?: Omit<How, 'env'>): Promise<Command>;
  /** Stores a login of a customer of the sandbox, without a command. @returns the id of the customer */
  logIn(user: User): Promise<string>;
  idOf(user: User): string;
}

type User = 'anna' | 'bruno' | 'carla';

/**
 * Not quite a minute from now: the certificates are valid then, and it is the day that the server's own `Date` header says.
 * More than a minute from that header, psd2 doctor would take the clock for wrong.
 */
const soon = () => new Date(Date.now() + 50_000).toISOString();

/** Starts a sandbox for the tests of this file, with an operator who has a profile for it and no login. */
export function useOperatorHere(options: Partial<SandboxOptions> = {}): OperatorHere {
  const temporary = temporaryFolder();
  let bank: TestBank | undefined;
  beforeAll(async () => {
    bank = await openTestBank(options, soon());
    Object.assign(operator.env, settingsFor(bank));
  });
  afterAll(() => bank?.close());
  const opened = () => {
    if (bank === undefined) throw new TypeError('The sandbox starts before the first test');
    return bank;
  };
  const operator: OperatorHere = {
    get bank() {
      return opened();
    },
    folder: newConfigFolder(temporary),
    env: {},
    open: ({ env, ...how } = {}) =>
      openCommand(operator.folder, opened().clock.now, { ...how, env: { ...operator.env, ...env } }),
    async run(words, how) {
      const command = operator.open(how);
      await runIn(command.context, ...words);
      return command;
    },
    json: async (shape, words, how) => shape.parse(JSON.parse((await operator.run(words, how)).printed())),
    async runApproved(words, user, how = {}) {
      const redirect = { PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback` };
      const command = operator.open({ ...how, env: { PSD2_BROWSER: 'none', ...redirect } });
      const { customers } = opened().sandbox;
      const work = runIn(command.context, ...words);
      const approve = async () => {
        const address = await vi.waitFor(
          () => new URL(/http:\S+\?\S+/.exec(command.said())?.[0] ?? ''),
          PATIENCE,
        );
        const id = address.searchParams.get('request') ?? address.searchParams.get('resourceId') ?? '';
        const isLogin = address.pathname.endsWith('/login');
        await fetch(isLogin ? customers.allowLogin(id, operator.idOf(user)) : customers.approveSca(id));
      };
      // A command that fails before it sends the customer anywhere ends the wait.
      await Promise.race([work, approve()]);
      await work;
      return command;
    },
    idOf: (user) =>
      opened()
        .sandbox.customers.logins()
        .find((login) => login.user === user)?.customerId ?? '',
    async logIn(user) {
      const customerId = operator.idOf(user);
      const { accessToken, refreshToken } = await opened().tpp.login(user);
      await storeLogin(operator.open().context, customerId, { accessToken, refreshToken });
      return customerId;
    },
  };
  return operator;
}

/** The same, with a new folder for each test. */
export function useOperatorOfEachTest(options: Partial<SandboxOptions> = {}): OperatorHere {
  const operator = useOperatorHere(options);
  const temporary = temporaryFolder();
  beforeEach(() => {
    operator.folder = newConfigFolder(temporary);
  });
  return operator;
}

/** The environment that makes the profile `env` one for the sandbox. */
export function settingsFor({ sandbox: { baseUrl, registration } }: Pick<TestBank, 'sandbox'>): Environment {
  const { authorizationCode, clientCredentials } = registration.applications;
  return {
    PSD2_BASE_URL: baseUrl,
    PSD2_CLIENT_ID: authorizationCode.clientId,
    PSD2_CLIENT_SECRET: authorizationCode.clientSecret,
    PSD2_APP_NAME: authorizationCode.applicationName,
    PSD2_CC_CLIENT_ID: clientCredentials.clientId,
    PSD2_CC_CLIENT_SECRET: clientCredentials.clientSecret,
    PSD2_CC_APP_NAME: clientCredentials.applicationName,
    PSD2_QWAC_CERT: registration.qwacCertFile,
    PSD2_QWAC_KEY: registration.qwacKeyFile,
    PSD2_QSEAL_CERT: registration.qsealCertFile,
    PSD2_QSEAL_KEY: registration.qsealKeyFile,
    PSD2_CA: registration.caFile,
    PSD2_BANK_SIGNING_CERT: registration.bankSigningCertFile,
  };
}

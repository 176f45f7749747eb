import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
import { jsonIn } from '../../domain/json.ts';
import { isBlockedPort } from '../../domain/local-address.ts';
import { Psd2Error } from '../../errors.ts';
import type { DoorRules } from '../../sandbox/nextgenpsd2/door-rules.ts';
import { isVariation, VARIATIONS, type Variation } from '../../sandbox/nextgenpsd2/variations.ts';
import { makePrivateFolder } from '../../store/disk/files.ts';
import { cleanLines } from '../../terminal/clean.ts';
import type { ValueOf } from '../../terminal/output/fields.ts';
import { environmentFor } from '../../terminal/program-environment.ts';
import type { Context } from '../context.ts';
import { collect, examples, type OptionsOf, verb } from '../declare.ts';
import { readWholeNumber } from '../shared/option-values.ts';
import { isOwnSandbox, SANDBOX_PROFILE, storeProfile } from './profile.ts';
import { ADDRESSES, addresses, addressesOf, sandboxFolderOf } from './running.ts';
import { readOutside, readSeedOf } from './start-for-team.ts';

/** Runs the bank in the foreground until it is interrupted, or in the background. */
export const start = verb(
  {
    prints: ADDRESSES,
    help: `
The payee's name can choose how a transfer ends: psd2 help sandbox.
${examples('psd2 sandbox start', 'psd2 sandbox start --host 0.0.0.0 --name bank.example --state /var/lib/sandbox', 'psd2 sandbox start --detach --port 0 --persona lived-in')}`,
  },
  withStartOptions,
  async (context, options) => {
    const port = parsePort(options.port);
    const outside = readOutside(options);
    const rules = {
      ...readRules(options),
      ...(await readDoorRules(options)),
      ...(await readSeedOf(options)),
    };
    if (options.detach) return startDetached(context);

    const { output, terminal, world, profiles } = context;
    const { startSandbox } = await import('../../sandbox/server/server.ts');
    const chosen = profiles.current();
    const sandbox = await startSandbox({
      folder: sandboxFolderOf(context),
      port,
      outside,
      state: options.state,
      log: (line) => terminal.say(cleanLines(line)),
      ...rules,
    });
    try {
      await storeProfile(context, sandbox.baseUrl, sandbox.registration, sandboxFolderOf(context));
      output.record(addressesOf(sandbox.running), addresses);
      sayReady(context, chosen, 'Stop it with Ctrl-C.');
      await new Promise<void>((resolve) => {
        if (world.signal.aborted) resolve();
        world.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      terminal.say('The sandbox has stopped.');
    } finally {
      await sandbox.close();
    }
  },
);

function withStartOptions(command: Command) {
  return command
    .option(
      '--port <n>',
      'port of the interface; 0 for any free port, with --state the last one if it is free',
      '8443',
    )
    .option('--host <address>', 'address to listen on, 0.0.0.0 for all; default: this computer only')
    .option(
      '--name <name>',
      'with --host: a host name or IP address that clients use; repeatable',
      collect,
      [],
    )
    .option('--state <folder>', 'keep everything in this folder, so that it survives a restart')
    .option('--seed <file>', 'begin with these customers, accounts, transactions and consents too')
    .option('--detach', 'leave the bank running in the background, and return when it is ready')
    .option(
      '--no-enforce-consents',
      'answer calls even if the customer gave no consent for the account or category',
    )
    .option('--roles <list>', 'check the PSD2 roles of the TPP: AISP, PISP, PIISP, separated by commas')
    .option('--token-ttl <seconds>', 'lifetime of access tokens (default: 3500)')
    .option('--no-rotation', 'keep the same refresh token when an access token is refreshed')
    .option('--rate-limit <n>', 'maximum number of calls of an application a minute')
    .option('--daily-limit <n>', 'maximum number of calls with client credentials a day')
    .option('--customers <n>', 'number of generated customers, in addition to anna, bruno and carla')
    .option(
      '--transactions <n>',
      "number of booked transactions of anna's account and of each generated account",
    )
    .option('--page-size <n>', 'number of transactions on a page (default: 10)')
    .option(
      '--bank <name|file>',
      'platform or bank file that the door /nextgenpsd2 plays (default: the standard)',
    )
    .option(
      '--variation <list>',
      `what a bank file cannot say of that door: ${Object.keys(VARIATIONS).join(', ')}, separated by commas`,
    )
    .option('--strict', 'refuse at that door what psd2 never sends, although HTTP and the standard allow it')
    .addOption(
      new Option(
        '--persona <name>',
        'answer as specified (clean), or with all oddities of the real bank (lived-in)',
      )
        .choices(['clean', 'lived-in'] as const)
        .default('clean' as const),
    );
}

type StartOptions = OptionsOf<typeof withStartOptions>;

/** Starts this same command in the background and waits until it answers. */
async function startDetached(context: Context): Promise<void> {
  const { folder, output, world, profiles } = context;
  const { refuseSecondStart } = await import('../../sandbox/folder/running.ts');
  await refuseSecondStart(sandboxFolderOf(context));
  const chosen = profiles.current();
  makePrivateFolder(folder.root);
  const logPath = join(folder.root, 'sandbox.log');
  const log = openSync(logPath, 'w', 0o600);
  const child = spawn(
    process.execPath,
    [...process.argv.slice(1).filter((word) => word !== '--detach'), '--json'],
    { detached: true, stdio: ['ignore', log, log], env: environmentFor('sandbox') },
  );
  closeSync(log);
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  while (!ended) {
    const started = readStarted(logPath);
    if (started) {
      child.unref();
      output.record(started, addresses);
      sayReady(context, chosen, 'Stop it with: psd2 sandbox stop');
      return;
    }
    try {
      await world.sleep(20);
    } catch (interrupted) {
      child.kill();
      throw interrupted;
    }
  }
  const { message, hint } = failureIn(logPath);
  throw new Psd2Error('sandbox', `The sandbox did not start: ${message}`, {
    hint: hint ?? `See ${logPath}, or choose another --port.`,
  });
}

/**
 * Says what to run next.
 *
 * @param chosenBefore the profile that was chosen before the start
 * @param howToStop a sentence
 */
function sayReady(context: Context, chosenBefore: string | undefined, howToStop: string): void {
  const { profiles, terminal, globals } = context;
  const stored = profiles.read(SANDBOX_PROFILE);
  if (!stored || !isOwnSandbox(stored, context)) {
    terminal.warn(
      `The profile ${SANDBOX_PROFILE} belongs to another bank, so psd2 does not change it. Use: eval "$(psd2 sandbox env)"`,
    );
    terminal.say(`The sandbox is ready. ${howToStop}`);
    return;
  }
  const chosen = profiles.current() === SANDBOX_PROFILE;
  if (chosen && chosenBefore !== SANDBOX_PROFILE)
    terminal.say(`psd2 now uses the profile ${SANDBOX_PROFILE} by default.`);
  const isDefault = chosen && (globals.profile ?? SANDBOX_PROFILE) === SANDBOX_PROFILE;
  const login = isDefault ? 'psd2 auth login' : `psd2 --profile ${SANDBOX_PROFILE} auth login`;
  terminal.say(`The sandbox is ready. Try: ${login}. ${howToStop}`);
}

/** What the sandbox in the background prints when it is ready; undefined until then. */
function readStarted(logPath: string): ValueOf<typeof addresses> | undefined {
  // The text after the last line end may be half a line.
  const lines = readFileSync(logPath, 'utf8').split('\n').slice(0, -1);
  for (const line of lines.filter((text) => text.startsWith('{'))) {
    const started: unknown = JSON.parse(line);
    if (addresses.is(started)) return started;
  }
  return undefined;
}

const failure = z.object({ error: z.object({ message: z.string(), hint: z.nullish(z.string()) }) });

/** What the sandbox in the background wrote last: its error, or another line. */
function failureIn(logPath: string): { message: string; hint?: string | null | undefined } {
  const last = readFileSync(logPath, 'utf8').trim().split('\n').at(-1) ?? '';
  return failure.safeParse(jsonIn(last)).data?.error ?? { message: last || 'it printed nothing' };
}

const ROLES = ['AISP', 'PISP', 'PIISP'] as const;

/** The rules of the bank. @throws Psd2Error `usage` */
function readRules(options: StartOptions) {
  const { enforceConsents, roles, tokenTtl, rotation, rateLimit, dailyLimit, persona } = options;
  const { customers, transactions, pageSize } = options;
  return {
    persona,
    consents: enforceConsents ? 'enforced' : 'recorded',
    rotateRefreshTokens: rotation,
    ...(roles !== undefined && { roles: roles.split(',').map(parseRole) }),
    ...(tokenTtl !== undefined && { tokenTtlSeconds: readWholeNumber('--token-ttl', tokenTtl, 1) }),
    ...(rateLimit !== undefined && { callsPerMinute: readWholeNumber('--rate-limit', rateLimit, 1) }),
    ...(dailyLimit !== undefined && {
      clientCredentialsCallsPerDay: readWholeNumber('--daily-limit', dailyLimit, 1),
    }),
    ...(customers !== undefined && { customers: readWholeNumber('--customers', customers, 1, 999_999) }),
    ...(transactions !== undefined && {
      transactions: readWholeNumber('--transactions', transactions, 1, 10_000_000),
    }),
    ...(pageSize !== undefined && { rowsAPage: readWholeNumber('--page-size', pageSize, 1, 10_000) }),
  } as const;
}

/** The rules of the second door. @throws Psd2Error `usage`, `config` */
async function readDoorRules({ bank, variation, strict }: StartOptions): Promise<Partial<DoorRules>> {
  const rules = {
    ...(variation !== undefined && { variations: variation.split(',').map(parseVariation) }),
    ...(strict && { strict }),
  };
  if (bank === undefined) {
    const { learnersDoor } = await import('../../sandbox/nextgenpsd2/door-rules.ts');
    return { ...learnersDoor, ...rules };
  }
  const { readBankFile } = await import('../../bank-file/bank-file.ts');
  const { nextgenpsd2 } = await import('../../bank/interfaces/nextgenpsd2/description/description.ts');
  const { file, description } = await readBankFile(bank, { nextgenpsd2: () => nextgenpsd2 });
  return { ...rules, own: file, description };
}

function parseVariation(text: string): Variation {
  const word = text.trim();
  if (isVariation(word)) return word;
  throw new Psd2Error('usage', `Unknown variation ${JSON.stringify(text)}`, {
    hint: `Use one or more of ${Object.keys(VARIATIONS).join(',')}.`,
  });
}

function parseRole(text: string): (typeof ROLES)[number] {
  const role = ROLES.find((each) => each === text.trim().toUpperCase());
  if (role) return role;
  throw new Psd2Error('usage', `Unknown role ${JSON.stringify(text)}`, {
    hint: `Use one or more of ${ROLES.join(',')}.`,
  });
}

/** @throws Psd2Error `usage` */
function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (port !== 0 && isBlockedPort(port))
    throw new Psd2Error('usage', `--port ${port} is a port that browsers and fetch refuse to open`, {
      hint: 'Choose another port, or 0 for any free port.',
    });
  if (port <= 65_535) return port;
  throw new Psd2Error('usage', `--port ${JSON.stringify(text)} is not a port from 0 to 65535`);
}

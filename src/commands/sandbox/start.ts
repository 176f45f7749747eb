import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { isBlockedPort } from '../../domain/blocked-ports.ts';
import { Psd2Error } from '../../errors.ts';
import type { Registration } from '../../sandbox/folder/registration.ts';
import type { RunningSandbox } from '../../sandbox/folder/running.ts';
import { makePrivateFolder } from '../../store/disk/json-file.ts';
import type { ProfileSettings } from '../../store/machine/profiles.ts';
import type { Column } from '../../terminal/output.ts';
import { environmentFor } from '../../terminal/program-environment.ts';
import type { Context } from '../context.ts';
import { sandboxFolderOf } from './folder.ts';

/** Where a sandbox is reached. */
export interface SandboxAddresses {
  baseUrl: string;
  customerSiteUrl: string;
  consoleUrl: string;
  pid: number;
  profile: string;
}

export const SANDBOX_PROFILE = 'sandbox';

export const SANDBOX_FIELDS: Column<SandboxAddresses>[] = [
  { title: 'Interface', value: ({ baseUrl }) => baseUrl },
  { title: 'Customer site', value: ({ customerSiteUrl }) => customerSiteUrl },
  { title: 'Console', value: ({ consoleUrl }) => consoleUrl },
  { title: 'Process', value: ({ pid }) => String(pid) },
  { title: 'Profile', value: ({ profile }) => profile },
];

/** Where a sandbox that runs is reached. */
export function addressesOf({ baseUrl, customerSiteUrl, pid }: RunningSandbox): SandboxAddresses {
  const consoleUrl = `${customerSiteUrl}/console`;
  return { baseUrl, customerSiteUrl, consoleUrl, pid, profile: SANDBOX_PROFILE };
}

export interface SandboxStartOptions {
  port: string;
  detach: boolean;
  enforceConsents: boolean;
  /** Separated by commas. */
  roles?: string | undefined;
  tokenTtl?: string | undefined;
  rotation: boolean;
  rateLimit?: string | undefined;
  dailyLimit?: string | undefined;
  customers?: string | undefined;
  transactions?: string | undefined;
  pageSize?: string | undefined;
  persona: 'clean' | 'lived-in';
}

/** `psd2 sandbox start`: in the foreground until it is interrupted, or detached. */
export async function sandboxStart(context: Context, options: SandboxStartOptions): Promise<void> {
  const port = parsePort(options.port);
  const rules = readRules(options);
  if (options.detach) return startDetached(context);

  const { output, terminal, world } = context;
  const { startSandbox } = await import('../../sandbox/server/server.ts');
  const sandbox = await startSandbox({ folder: sandboxFolderOf(context), port, ...rules });
  try {
    await writeProfile(context, sandbox.baseUrl, sandbox.registration);
    output.record(addressesOf(sandbox.running), SANDBOX_FIELDS);
    terminal.say(`The sandbox is ready. Try: psd2 --profile ${SANDBOX_PROFILE} auth login. Ctrl-C ends it.`);
    await new Promise<void>((resolve) => {
      if (world.signal.aborted) resolve();
      world.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    terminal.say('The sandbox has ended.');
  } finally {
    await sandbox.close();
  }
}

/** Starts this same command in the background and waits until it answers. */
async function startDetached(context: Context): Promise<void> {
  const { folder, output, terminal, world } = context;
  const { refuseSecondStart } = await import('../../sandbox/folder/running.ts');
  await refuseSecondStart(sandboxFolderOf(context));
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
      output.record(started, SANDBOX_FIELDS);
      terminal.say(
        `The sandbox is ready. Try: psd2 --profile ${SANDBOX_PROFILE} auth login. End it with: psd2 sandbox stop`,
      );
      return;
    }
    try {
      await world.sleep(20);
    } catch (interrupted) {
      child.kill();
      throw interrupted;
    }
  }
  throw new Psd2Error('sandbox', `The sandbox could not be started: ${lastWords(logPath)}`, {
    hint: `See ${logPath}, or choose another --port.`,
  });
}

const addresses = z.object({
  baseUrl: z.string(),
  customerSiteUrl: z.string(),
  consoleUrl: z.string(),
  pid: z.number(),
  profile: z.string(),
});

/** What the sandbox in the background printed once it was ready and its profile written. */
function readStarted(logPath: string): SandboxAddresses | undefined {
  // The last one may not be whole yet.
  const lines = readFileSync(logPath, 'utf8').split('\n').slice(0, -1);
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => addresses.safeParse(JSON.parse(line)).data)
    .find((started) => started !== undefined);
}

function lastWords(logPath: string): string {
  const last = readFileSync(logPath, 'utf8').trim().split('\n').at(-1) ?? '';
  try {
    return z.object({ error: z.object({ message: z.string() }) }).parse(JSON.parse(last)).error.message;
  } catch {
    return last || 'it said nothing';
  }
}

/** Stores how the sandbox is reached, unless the user keeps another bank under that name. */
async function writeProfile(
  { profiles, folder, terminal }: Context,
  baseUrl: string,
  registration: Registration,
): Promise<void> {
  const known = profiles.read(SANDBOX_PROFILE);
  const certificate = known?.qwacCertificate;
  if (known && !(certificate && 'path' in certificate && certificate.path.startsWith(folder.sandbox))) {
    terminal.warn(
      `The profile ${SANDBOX_PROFILE} is not of this sandbox and stays as it is; use: eval "$(psd2 sandbox env)"`,
    );
    return;
  }
  const profile = sandboxSettings(baseUrl, registration);
  // To write costs more than all else here, and at most starts nothing has changed.
  if (!isDeepStrictEqual(known, profile)) await profiles.write(SANDBOX_PROFILE, profile);
}

/** How the sandbox is reached, as a profile. */
export function sandboxSettings(baseUrl: string, registration: Registration): ProfileSettings {
  const { authorizationCode, clientCredentials } = registration.applications;
  return {
    baseUrl,
    clientId: authorizationCode.clientId,
    clientSecret: authorizationCode.clientSecret,
    applicationName: authorizationCode.applicationName,
    ccClientId: clientCredentials.clientId,
    ccClientSecret: clientCredentials.clientSecret,
    ccApplicationName: clientCredentials.applicationName,
    qwacCertificate: { path: registration.qwacCertFile },
    qwacKey: { path: registration.qwacKeyFile },
    qsealCertificate: { path: registration.qsealCertFile },
    qsealKey: { path: registration.qsealKeyFile },
    ca: { path: registration.caFile },
    bankSigningCertificate: { path: registration.bankSigningCertFile },
  };
}

const ROLES = ['AISP', 'PISP', 'PIISP'] as const;

/** How strict the bank is to be. @throws Psd2Error `usage` */
function readRules(options: SandboxStartOptions) {
  const { enforceConsents, roles, tokenTtl, rotation, rateLimit, dailyLimit, persona } = options;
  const { customers, transactions, pageSize } = options;
  return {
    persona,
    consents: enforceConsents ? 'enforced' : 'recorded',
    rotateRefreshTokens: rotation,
    ...(roles !== undefined && { roles: roles.split(',').map(parseRole) }),
    ...(tokenTtl !== undefined && { tokenTtlSeconds: parseCount('--token-ttl', tokenTtl) }),
    ...(rateLimit !== undefined && { callsPerMinute: parseCount('--rate-limit', rateLimit) }),
    ...(dailyLimit !== undefined && {
      clientCredentialsCallsPerDay: parseCount('--daily-limit', dailyLimit),
    }),
    ...(customers !== undefined && { customers: parseCount('--customers', customers, 999_999) }),
    ...(transactions !== undefined && {
      transactions: parseCount('--transactions', transactions, 10_000_000),
    }),
    ...(pageSize !== undefined && { rowsAPage: parseCount('--page-size', pageSize, 10_000) }),
  } as const;
}

function parseRole(text: string): (typeof ROLES)[number] {
  const role = ROLES.find((known) => known === text.trim().toUpperCase());
  if (role) return role;
  throw new Psd2Error('usage', `The role ${JSON.stringify(text)} is not known`, {
    hint: `Use some of ${ROLES.join(',')}.`,
  });
}

function parseCount(option: string, text: string, most = 999_999_999): number {
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
  const range = most === 999_999_999 ? 'from 1' : `from 1 to ${most}`;
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a whole number ${range}`);
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (port !== 0 && isBlockedPort(port)) {
    throw new Psd2Error('usage', `--port ${port} is a port that browsers and fetch refuse to open`, {
      hint: 'Choose another one, or 0 for any that is free.',
    });
  }
  if (port <= 65_535) return port;
  throw new Psd2Error('usage', `--port ${JSON.stringify(text)} is not a port from 0 to 65535`);
}

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../errors.ts';
import type { Registration } from '../sandbox/registration.ts';
import { makePrivateFolder } from '../store/json-file.ts';
import type { Column } from '../terminal/output.ts';
import type { Context } from './context.ts';

/** Where a sandbox is reached. */
export interface SandboxAddresses {
  baseUrl: string;
  customerSiteUrl: string;
  pid: number;
  profile: string;
}

export const SANDBOX_PROFILE = 'sandbox';

export const SANDBOX_FIELDS: Column<SandboxAddresses>[] = [
  { title: 'Interface', value: ({ baseUrl }) => baseUrl },
  { title: 'Customer site', value: ({ customerSiteUrl }) => customerSiteUrl },
  { title: 'Process', value: ({ pid }) => String(pid) },
  { title: 'Profile', value: ({ profile }) => profile },
];

/** `psd2 sandbox start`: in the foreground until it is interrupted, or detached. */
export async function sandboxStart(
  context: Context,
  options: { port: string; detach: boolean },
): Promise<void> {
  const port = parsePort(options.port);
  if (options.detach) return startDetached(context, port);

  const { folder, output, terminal, world } = context;
  const { startSandbox } = await import('../sandbox/server.ts');
  const sandbox = await startSandbox({ folder: folder.sandbox, port });
  try {
    await writeProfile(context, sandbox.baseUrl, sandbox.registration);
    const { baseUrl, customerSiteUrl } = sandbox;
    output.record({ baseUrl, customerSiteUrl, pid: process.pid, profile: SANDBOX_PROFILE }, SANDBOX_FIELDS);
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
async function startDetached(context: Context, port: number): Promise<void> {
  const { folder, output, terminal, world } = context;
  const { refuseSecondStart } = await import('../sandbox/running.ts');
  await refuseSecondStart(folder.sandbox);
  makePrivateFolder(folder.root);
  const logPath = join(folder.root, 'sandbox.log');
  const log = openSync(logPath, 'w', 0o600);
  const child = spawn(process.execPath, [process.argv[1] ?? '', 'sandbox', 'start', '--port', String(port)], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, PSD2_OUTPUT: 'json' },
  });
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
    await world.sleep(20);
  }
  throw new Psd2Error('sandbox', `The sandbox could not be started: ${lastWords(logPath)}`, {
    hint: `See ${logPath}, or choose another --port.`,
  });
}

const addresses = z.object({
  baseUrl: z.string(),
  customerSiteUrl: z.string(),
  pid: z.number(),
  profile: z.string(),
});

/** What the sandbox in the background printed once it was ready and its profile written. */
function readStarted(logPath: string): SandboxAddresses | undefined {
  const [line = '', rest] = readFileSync(logPath, 'utf8').split('\n');
  if (rest === undefined || !line.startsWith('{')) return undefined;
  return addresses.safeParse(JSON.parse(line)).data;
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
  const { authorizationCode, clientCredentials } = registration.applications;
  await profiles.write(SANDBOX_PROFILE, {
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
  });
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (port <= 65_535) return port;
  throw new Psd2Error('usage', `--port ${JSON.stringify(text)} is not a port from 0 to 65535`);
}

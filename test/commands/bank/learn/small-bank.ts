import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { learned } from '../../../../src/commands/bank/learn/learned.ts';
import { listFolder } from '../../../../src/store/disk/files.ts';
import type { StoreFolder } from '../../../../src/store/machine/folder.ts';
import type { Environment } from '../../../../src/store/machine/settings.ts';
import { openDoor, type TestDoor } from '../../../sandbox/nextgenpsd2/door-client.ts';
import { newConfigFolder, temporaryFolder } from '../../../store/temporary-folder.ts';
import { type Command, type How, openCommand, runIn } from '../../command.ts';
import { failureIfAny } from '../../failure.ts';

/** The certificates are valid from now on. */
export const now = () => new Date(Date.now() + 50_000);

/** What a bank of another hand answers. `null`: it closes the connection. */
export type Reply = { status: number; body?: unknown; headers?: Record<string, string> } | null;
export type SmallBank = (method: string, path: string, headers: IncomingHttpHeaders, body: string) => Reply;

export const refuses = (status: number, code: string, path?: string): Reply => ({
  status,
  body: { tppMessages: [{ category: 'ERROR', code, text: code, ...(path !== undefined && { path }) }] },
});

/** A small bank with http on this computer, and what it has begun. */
export async function atSmallBank(
  bank: SmallBank,
  work: (env: Environment, calls: string[]) => Promise<void>,
): Promise<void> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    void text(request).then((body) => {
      calls.push(`${method} ${url}`);
      const reply = bank(method, url, headers, body);
      if (!reply) {
        request.socket.destroy();
        return;
      }
      const id = String(headers['x-request-id'] ?? '');
      const isText = typeof reply.body === 'string';
      response.writeHead(reply.status, {
        'x-request-id': id,
        'content-type': isText ? 'text/html' : 'application/json',
        ...reply.headers,
      });
      response.end(reply.body === undefined ? '' : isText ? reply.body : JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    await work({ PSD2_BASE_URL: `http://127.0.0.1:${port}` }, calls);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** A bank without signature, that takes every consent. */
export const friendly: SmallBank = (method, path) => {
  if (path === '/v1/accounts') return refuses(403, 'CONSENT_UNKNOWN');
  if (method === 'POST' && path === '/v1/consents')
    return {
      status: 201,
      body: {
        consentId: 'c1',
        consentStatus: 'received',
        _links: { scaRedirect: { href: 'https://bank.example/sca' } },
      },
    };
  if (method === 'DELETE') return { status: 204 };
  if (/^\/v1\/consents\/c1/.test(path))
    return { status: 200, body: { consentStatus: 'received', validUntil: '2099-01-01', frequencyPerDay: 4 } };
  if (method === 'POST') return refuses(404, 'PRODUCT_UNKNOWN');
  return refuses(404, 'RESOURCE_UNKNOWN');
};

/** Opens a command with the certificates of a sandbox, at its second door unless the environment says another address. */
export function openLearning(
  { sandbox }: TestDoor,
  folder: StoreFolder,
  more: Environment = {},
  how: Omit<How, 'env'> = {},
): Command {
  const { registration } = sandbox;
  return openCommand(folder, now, {
    ...{ globals: { yes: true }, ...how },
    env: {
      ...{ PSD2_BASE_URL: `${sandbox.baseUrl}/nextgenpsd2`, PSD2_CA: registration.caFile },
      ...{ PSD2_QWAC_CERT: registration.qwacCertFile, PSD2_QWAC_KEY: registration.qwacKeyFile },
      ...{ PSD2_QSEAL_CERT: registration.qsealCertFile, PSD2_QSEAL_KEY: registration.qsealKeyFile },
      ...more,
    },
  });
}

/** Runs `psd2 bank learn`. @returns what it found out, printed and said, and whether something may be left at the bank */
export async function learnFrom(command: Command, file: string, words: string[] = []) {
  const failure = await failureIfAny(runIn(command.context, 'bank', 'learn', file, ...words));
  const printed = command.printed();
  const result = printed.startsWith('{') ? learned.read(JSON.parse(printed)) : null;
  const left = listFolder(command.context.folder.learning('env')).length > 0;
  return { file, failure, result, printed, said: command.said(), left };
}

/** Learns small banks, with the certificates of a sandbox that starts with the first of them. */
export function useSmallBanks() {
  const temporary = temporaryFolder();
  let files = 0;
  const newFile = () => join(temporary, `bank-${++files}.json`);
  const newFolder = () => newConfigFolder(temporary);
  let certified: Promise<TestDoor> | undefined;
  afterAll(async () => (await certified)?.close());
  const learnAt = async (
    env: Environment,
    file = newFile(),
    folder = newFolder(),
    { words = [], ...how }: { words?: string[] } & Omit<How, 'env'> = {},
  ) => {
    certified ??= openDoor({}, [], { now });
    return learnFrom(openLearning(await certified, folder, env, how), file, words);
  };
  return { newFile, newFolder, learnAt };
}

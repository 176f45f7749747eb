import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll } from 'vitest';
import { playCustomer } from '../../src/sandbox/player/play-customer.ts';

/** A call on its way to the bank. */
export interface Call {
  method: string;
  /** The path without the query. */
  path: string;
  /** The token in `Authorization`, without the scheme. */
  token: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
  /** The connection that it came over. */
  connection: object;
}

export interface Answer {
  status: number;
  /** Names and values alternate. */
  headers: string[];
  body: Buffer;
  /** A gateway that delivered the call twice hands on the second answer, too, on the same connection. */
  second?: Answer;
}

/**
 * Decides what happens to a call.
 *
 * @param toBank makes the call at the bank. @param headers are added to those of the call
 * @returns what the caller gets, or undefined to cut its connection
 */
export type Treatment = (
  call: Call,
  toBank: (headers?: Record<string, string>) => Promise<Answer>,
) => Promise<Answer | undefined>;

/**
 * Stands between psd2 and the bank as an HTTPS proxy from the environment. It has the keys of both ends, so it can read
 * what passes through. Each place has a treatment of its own.
 */
export interface Relay {
  /** The environment variables for psd2 at a place. */
  env(name: string): Record<string, string>;
  /** Sets how the relay treats the calls of a place from now on. */
  treat(name: string, treatment: Treatment): void;
}

/** Opens a relay for the tests of a file. @param sandbox the folder of the sandbox, with its certificates */
export function useRelay(sandbox: () => string): Relay {
  const treatments = new Map<string, Treatment>();
  const callers = new Map<object, { name: string; bankPort: number }>();
  const sockets = new Set<{ destroy(): void }>();
  const certificate = (file: string) => readFileSync(join(sandbox(), 'certificates', file));
  let address = '';
  let agent: Agent;

  const bank = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const caller = callers.get(incoming.socket);
    const treatment = treatments.get(caller?.name ?? '');
    if (!caller || !treatment) throw new Error('nobody knows this caller');
    const body = await bodyOf(incoming);
    const { method = '', url = '', rawHeaders } = incoming;
    const toBank = async (headers: Record<string, string> = {}): Promise<Answer> => {
      const call = request({
        ...{ agent, host: '127.0.0.1', port: caller.bankPort, method, path: url },
        headers: [...rawHeaders, ...Object.entries(headers).flat()],
      });
      call.end(body);
      const [response]: IncomingMessage[] = await once(call, 'response');
      if (!response) throw new Error('no answer');
      return {
        status: response.statusCode ?? 0,
        headers: response.rawHeaders,
        body: await bodyOf(response),
      };
    };
    const path = url.split('?', 1)[0] ?? '';
    const token = incoming.headers.authorization?.replace(/^Bearer /, '');
    const { headers } = incoming;
    const call = { method, path, token, headers, body: body.toString('utf8'), connection: incoming.socket };
    const answered = await treatment(call, toBank);
    if (!answered) {
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(answered.status, answered.headers);
    outgoing.end(answered.body);
    if (answered.second) incoming.socket.write(bytesOf(answered.second));
  };

  const proxy = createServer();
  proxy.on('connect', (asked: IncomingMessage, inside) => {
    const [, credentials = ''] = (asked.headers['proxy-authorization'] ?? '').split(' ');
    const [name = ''] = Buffer.from(credentials, 'base64').toString('utf8').split(':');
    const bankPort = Number((asked.url ?? '').split(':').at(-1));
    inside.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const secureContext = createSecureContext({
      key: certificate('server-key.pem'),
      cert: certificate('server.pem'),
      ca: certificate('ca.pem'),
    });
    const options = { isServer: true, secureContext, requestCert: true, rejectUnauthorized: false };
    const socket = new TLSSocket(inside, options);
    callers.set(socket, { name, bankPort });
    sockets.add(socket).add(inside);
    socket
      .on('error', () => {})
      .once('close', () => {
        callers.delete(socket);
        sockets.delete(socket);
        sockets.delete(inside);
      });
    inside.on('error', () => socket.destroy());
    bank.emit('connection', socket);
  });

  beforeAll(async () => {
    const mutual = {
      key: certificate('qwac-key.pem'),
      cert: certificate('qwac.pem'),
      ca: certificate('ca.pem'),
    };
    // The bank closes idle connections after 5 s. A request must not meet that.
    agent = new Agent({ keepAlive: true, timeout: 2_000, ...mutual });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const listening = proxy.address();
    if (listening === null || typeof listening === 'string')
      throw new TypeError('A TCP listener has no port');
    address = `127.0.0.1:${listening.port}`;
  });
  afterAll(async () => {
    agent?.destroy();
    for (const socket of sockets) socket.destroy();
    proxy.close();
    bank.close();
  });
  return {
    env: (name) => ({ HTTPS_PROXY: `http://${name}:x@${address}`, NO_PROXY: '' }),
    treat: (name, treatment) => void treatments.set(name, treatment),
  };
}

/** An answer as it is on the wire. */
function bytesOf({ status, headers, body }: Answer): Buffer {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${headers[at + 1]}` : []));
  return Buffer.concat([Buffer.from([`HTTP/1.1 ${status} OK`, ...lines, '', ''].join('\r\n')), body]);
}

/** Sends the customer, without a browser, to the address in the bank's answer. @param refuse they say no */
export function sendCustomer({ status, headers, body }: Answer, refuse = false): void {
  const location = headers[headers.findIndex((name) => name.toLowerCase() === 'location') + 1];
  const url =
    status === 302 || status === 303
      ? location
      : /"(?:scaRedirectURL":|scaRedirect":\{"href":)"([^"]+)"/.exec(body.toString())?.[1];
  if (!url) return;
  const played = playCustomer(url, { refuse });
  const decided: Promise<unknown> = played
    .catch(() => {})
    .finally(() => {
      deciding.delete(decided);
    });
  deciding.add(decided);
  // The process that listens for the customer's browser may be gone.
  comeBack(played).catch(() => {});
}

const deciding = new Set<Promise<unknown>>();

/** Resolves when all customers who were sent to the bank have decided there. */
export async function customersDecided(): Promise<void> {
  await Promise.all(deciding);
}

/** This customer is so quick that psd2 may not listen yet when they return. Their browser then tries again, for a while. */
async function comeBack(played: ReturnType<typeof playCustomer>): Promise<void> {
  let { opened, finalUrl } = await played;
  for (let tries = 0; !opened && tries < 100; tries += 1) {
    await setTimeout(50);
    opened = await fetch(finalUrl).then(
      () => true,
      () => false,
    );
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts);
}

import { randomUUID, sign, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { afterAll, onTestFinished } from 'vitest';
import { type BankFile, bankFile } from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Registration } from '../../../src/sandbox/folder/registration.ts';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/server/server.ts';
import { digestOf, type Json, openSandbox, type TestClock } from '../tpp.ts';

/** A signed call of the second door. Everything that is not given is what the standard says. */
export interface DoorRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  /** Below the base URL, or a link of an answer. */
  path: string;
  /** An object is sent as JSON, a string unchanged. */
  body?: object | string;
  /** Added before signing. `null` removes one. An array sends it several times. */
  headers?: Record<string, string | string[] | null>;
  /** Replaces headers after signing. */
  spoiled?: Record<string, string | null>;
  /** Default: `digest x-request-id`, and those of the standard that are sent. */
  signed?: string[];
  /** Default: `SN=<hex>,CA=<issuer>`. */
  keyId?: string;
  algorithm?: string;
  /** The hash of the signature. */
  hash?: 'RSA-SHA256' | 'RSA-SHA512';
  /** Default: the QSealC's. */
  key?: string;
  /** Neither Digest, nor Signature, nor certificate. */
  unsigned?: boolean;
}

export interface DoorReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: Json;
}

/** The names that the standard signs only if they are sent. */
const IF_SENT = ['psu-id', 'psu-corporate-id', 'tpp-redirect-uri'];

/**
 * A client for the tests of the second door. It uses only Node's own modules, so it shares no code with psd2 or with the
 * sandbox.
 */
export class DoorClient {
  readonly #sandbox: Sandbox;
  #agent: Agent | undefined;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  read(file: keyof Omit<Registration, 'applications'>): string {
    return readFileSync(this.#sandbox.registration[file], 'utf8');
  }

  get seal(): X509Certificate {
    return new X509Certificate(this.read('qsealCertFile'));
  }

  /** The serial number in lower-case hexadecimal, without leading zeros. */
  get serial(): string {
    return BigInt(`0x${this.seal.serialNumber}`).toString(16);
  }

  send(call: DoorRequest): Promise<DoorReply> {
    const body = typeof call.body === 'object' ? JSON.stringify(call.body) : call.body;
    return this.exchange(call.method ?? 'GET', call.path, this.headersOf(call, body), body);
  }

  get(path: string, consentId?: string, headers: DoorRequest['headers'] = {}): Promise<DoorReply> {
    return this.send({
      path,
      headers: { ...(consentId !== undefined && { 'consent-id': consentId }), ...headers },
    });
  }

  /** `POST` of a form to the token endpoint. */
  form(path: string, fields: Record<string, string>, more: Record<string, string> = {}): Promise<DoorReply> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...more };
    return this.exchange('POST', path, headers, new URLSearchParams(fields).toString());
  }

  /** The files of a TLS connection that the bank serves. */
  get tls(): { ca: string; cert: string; key: string } {
    return { ca: this.read('caFile'), cert: this.read('qwacCertFile'), key: this.read('qwacKeyFile') };
  }

  close(): void {
    this.#agent?.destroy();
  }

  /** The headers of a call, signed. */
  headersOf(call: DoorRequest, body?: string): Record<string, string | string[]> {
    const { method = 'GET' } = call;
    const headers: Record<string, string | string[] | null> = {
      accept: 'application/json',
      'x-request-id': randomUUID(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(!call.unsigned && {
        digest: digestOf(body ?? ''),
        'tpp-signature-certificate': this.seal.raw.toString('base64'),
      }),
    };
    for (const [name, value] of Object.entries(call.headers ?? {})) headers[name.toLowerCase()] = value;
    if (!call.unsigned) {
      const isSent = (name: string) => headers[name] !== undefined && headers[name] !== null;
      const names = call.signed ?? ['digest', 'x-request-id', ...IF_SENT.filter(isSent)];
      const text = names
        .map((name) => {
          const target = `${method.toLowerCase()} ${targetOf(call.path)}`;
          return `${name}: ${name === '(request-target)' ? target : headers[name]}`;
        })
        .join('\n');
      const key = call.key ?? this.read('qsealKeyFile');
      const signature = sign(call.hash ?? 'RSA-SHA256', Buffer.from(text), key);
      const issuer = 'CN=psd2 sandbox CA - not for production,C=IT';
      const keyId = call.keyId ?? `SN=${this.serial},CA=${issuer}`;
      headers.signature = `keyId="${keyId}",algorithm="${call.algorithm ?? 'rsa-sha256'}",headers="${names.join(' ')}",signature="${signature.toString('base64')}"`;
    }
    for (const [name, value] of Object.entries(call.spoiled ?? {})) headers[name.toLowerCase()] = value;
    return Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
    );
  }

  exchange(
    method: string,
    path: string,
    headers: Record<string, string | string[]>,
    body: string | undefined,
  ): Promise<DoorReply> {
    const { hostname, port } = new URL(this.#sandbox.baseUrl);
    this.#agent ??= new Agent({ ...this.tls, keepAlive: true });
    const agent = this.#agent;
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        { hostname, port, method, path: targetOf(path), agent, headers },
        (response) => {
          buffer(response).then((bytes) => {
            const text = bytes.toString('utf8');
            const json = text.startsWith('{') ? JSON.parse(text) : {};
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
          }, reject);
        },
      );
      request.on('error', reject);
      if (body !== undefined) request.setHeader('content-length', Buffer.byteLength(body));
      request.end(body);
    });
  }
}

/** The target of a request: a path below the base URL, a path of the host, or the path of an address. */
function targetOf(path: string): string {
  if (path.startsWith('https:')) return path.replace(/^https:\/\/[^/]+/, '');
  return path.startsWith('/nextgenpsd2') || path.endsWith('/nextgenpsd2') ? path : `/nextgenpsd2${path}`;
}

export interface TestDoor {
  sandbox: Sandbox;
  client: DoorClient;
  clock: TestClock;
  close(): Promise<void>;
}

/** What a bank file says of the bank, without its interface. */
export type Bank = Omit<BankFile, 'interface'>;

/** Starts a sandbox whose second door plays a bank, at noon on 20 November 2026 (a Friday) in Rome. */
export async function openDoor(
  bank: Bank = {},
  variations: readonly Variation[] = [],
  options: Partial<SandboxOptions> = {},
): Promise<TestDoor> {
  const own = { interface: 'nextgenpsd2', ...bank } as const;
  const description = bankFile.parse(own);
  const { sandbox, clock, close } = await openSandbox({ own, description, variations, ...options });
  const client = new DoorClient(sandbox);
  return {
    ...{ sandbox, client, clock },
    close: async () => {
      client.close();
      await close();
    },
  };
}

/** Starts a door for the tests of this file. */
export async function useDoor(...given: Parameters<typeof openDoor>): Promise<TestDoor> {
  const door = await openDoor(...given);
  afterAll(() => door.close());
  return door;
}

/** Starts a door for the test that runs. */
export async function newDoor(...given: Parameters<typeof openDoor>): Promise<TestDoor> {
  const door = await openDoor(...given);
  onTestFinished(() => door.close());
  return door;
}

export const ANNA = '1048262';
export const CURRENT = '0010482620';
export const SAVINGS = '0010482638';
export const CARD = '0000093017';

/** The headers of a call for which the customer goes back to `CALLBACK`. */
export const CALLBACK = 'http://127.0.0.1:8910/callback';
export const START = { 'psu-ip-address': '192.0.2.10', 'tpp-redirect-uri': CALLBACK };

/** The body of a consent. The default is a recurring one for everything. */
export function consentBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    access: { allPsd2: 'allAccounts' },
    recurringIndicator: true,
    validUntil: '2027-01-31',
    frequencyPerDay: 4,
    combinedServiceIndicator: false,
    ...changes,
  };
}

/** Asks for a consent. The customer goes back to `CALLBACK`. */
export function askConsent(
  { client }: TestDoor,
  changes: Record<string, unknown> = {},
  headers: DoorRequest['headers'] = {},
): Promise<DoorReply> {
  return client.send({
    method: 'POST',
    path: '/v1/consents',
    body: consentBody(changes),
    headers: { ...START, ...headers },
  });
}

/** The address of a link of an answer. */
export function linkOf({ json }: DoorReply, name: string): string {
  return String(json._links?.[name]?.href);
}

/** The authorisation of an answer. */
export function authorisationOf(reply: DoorReply): string {
  return linkOf(reply, 'scaStatus').split('/').at(-1) ?? '';
}

/** A consent that a customer gave. @returns its id */
export async function giveConsent(
  door: TestDoor,
  changes: Record<string, unknown> = {},
  customerId = ANNA,
): Promise<string> {
  const reply = await askConsent(door, changes);
  door.sandbox.access.approve(authorisationOf(reply), customerId);
  return String(reply.json.consentId);
}

/** The status, the first code and the path of a refusal: `400 FORMAT_ERROR PSU-ID`. */
export function refusalOf({ status, json }: DoorReply): string {
  const message = json.tppMessages?.[0];
  return [status, message?.code, message?.path].filter((part) => part !== undefined).join(' ');
}

/** The text of a refusal. */
export function textOf({ json }: DoorReply): string {
  return String(json.tppMessages?.[0]?.text);
}

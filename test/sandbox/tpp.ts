import { createHash, randomUUID, sign, verify, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { SecureVersion } from 'node:tls';
import { afterAll, inject, onTestFinished } from 'vitest';
import type { Application, Registration } from '../../src/sandbox/folder/registration.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server/server.ts';

/**
 * A third-party provider for tests. It uses only Node's own modules: it signs with `node:crypto` and speaks
 * `node:https`, so it shares no code with the client or the sandbox. A test can spoil every part of a request.
 */

/** The certificate and key of a connection. */
export interface Transport {
  cert?: string;
  key?: string;
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  path: string;
  /** An object is sent as JSON, a string unchanged. */
  body?: object | string;
  token?: string;
  /** Default: the authorization_code application. */
  application?: Application;
  /** Replaces headers after signing. `null` removes one, an array sends it several times. */
  headers?: Record<string, string | string[] | null>;
  /** Replaces headers before signing, so the signature is right for the wrong value. */
  signedValues?: Partial<Record<'date' | 'tpp-request-id' | 'digest', string>>;
  /** The list of signed headers. Default: the prescribed one. */
  signedHeaders?: string;
  /** The PEM of the signing key. Default: the QSealC's. */
  signingKey?: string;
  /** The `(request-target)` to sign. Default: the real one. */
  signedTarget?: string;
  transport?: Transport;
  tlsVersion?: SecureVersion;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  // Tests read answers of many shapes.
  json: Json;
}

/** A JSON value for tests to read without type checks. A missing part is `undefined`. */
export interface Json {
  readonly [part: string]: Json;
}

const ANNA = '1048262';
const ANNAS_CURRENT = `/private/customers/${ANNA}/products/0010482620`;
const ACCOUNT_INFO = [{ name: 'ACCOUNT_INFO', products: ['0010482620'] }];

export class Tpp {
  readonly #sandbox: Sandbox;
  readonly #now: () => Date;
  readonly #agents = new Map<string, Agent>();

  constructor(sandbox: Sandbox, now: () => Date) {
    this.#sandbox = sandbox;
    this.#now = now;
  }

  get registration(): Registration {
    return this.#sandbox.registration;
  }

  read(file: keyof Omit<Registration, 'applications'>): string {
    return readFileSync(this.registration[file], 'utf8');
  }

  /** Sends a correct request, except for what `call` spoils. */
  send(call: Call): Promise<Reply> {
    const body = typeof call.body === 'object' ? JSON.stringify(call.body) : call.body;
    return this.#exchange(call, this.#headers(call, body), body);
  }

  /** Logs a customer in with the authorization code and returns the tokens. */
  async login(
    user: 'anna' | 'bruno' | 'carla' = 'anna',
  ): Promise<{ accessToken: string; refreshToken: string }> {
    const reply = await this.send({ path: this.authorizePath() });
    const customer = this.#sandbox.customers.logins().find((login) => login.user === user);
    const id = new URL(String(reply.headers.location)).searchParams.get('request') ?? '';
    const back = this.#sandbox.customers.allowLogin(id, customer?.customerId ?? '');
    const tokens = await this.send(this.codeCall(back.searchParams.get('code') ?? ''));
    return {
      accessToken: String(tokens.json.data?.access_token),
      refreshToken: String(tokens.json.data?.refresh_token),
    };
  }

  /** Makes the token call with these fields, and the id and secret of an application. */
  tokenCall(
    fields: Record<string, string>,
    application = this.registration.applications.authorizationCode,
  ): Promise<Reply> {
    const client = { client_id: application.clientId, client_secret: application.clientSecret };
    const path = '/auth/oauth/v2/token';
    return this.send({ method: 'POST', path, body: { ...client, ...fields }, application });
  }

  /** Renews the tokens. @returns the answer */
  refresh(refreshToken: string): Promise<Reply> {
    return this.tokenCall({ grant_type: 'refresh_token', refresh_token: refreshToken });
  }

  /** Gets a token with client credentials, for calls under that application's own name. */
  async clientCredentials(): Promise<Pick<Call, 'token' | 'application'>> {
    const application = this.registration.applications.clientCredentials;
    const { json } = await this.tokenCall({ grant_type: 'client_credentials' }, application);
    return { token: String(json.data?.access_token), application };
  }

  /** Verifies a transfer for today. The default is an instant transfer from anna's current account. */
  verifyTransfer(
    token: string,
    order: {
      amount?: string;
      customerId?: string;
      productId?: string;
      iban?: string;
      name?: string;
      description?: string;
      /** Default: true. */
      instant?: boolean;
      headers?: Call['headers'];
    } = {},
  ): Promise<Reply> {
    const { customerId = '1048262', productId = '0010482620', headers } = order;
    const [year, month, day] = this.#now().toISOString().slice(0, 10).split('-');
    return this.send({
      method: 'POST',
      path: `/private/customers/${customerId}/products/${productId}/moneyTransfer/verify`,
      token,
      ...(headers && { headers }),
      body: {
        data: {
          moneyTransferAmount: { currency: 'EUR', amount: order.amount ?? '1.00' },
          flagUrgency: false,
          ...(order.instant !== false && { type: 'INSTANT' }),
          moneyTransferExecutionDate: `${day}/${month}/${year}`,
          ibanBeneficiary: order.iban ?? 'IT60X0542811101000000123456',
          beneficiaryName: order.name ?? 'Ada Lovelace',
          description: order.description ?? '',
        },
      },
    });
  }

  /** Starts SCA for a resource. */
  startSca(token: string, resourceId: string): Promise<Reply> {
    return this.send({
      path: `/private/auth/security/sca/${resourceId}/approach`,
      token,
      headers: { 'TPP-Redirect-URI': 'http://127.0.0.1:8910/callback' },
    });
  }

  /** Starts SCA and approves it as the customer. */
  async authorise(token: string, resourceId: string): Promise<void> {
    await this.startSca(token, resourceId);
    this.#sandbox.customers.approveSca(resourceId);
  }

  /** Executes a transfer from anna's current account, by default. */
  execute(token: string, id: string, product = ANNAS_CURRENT, headers: Call['headers'] = {}): Promise<Reply> {
    const path = `${product}/moneyTransfer/${id}/execute`;
    return this.send({ method: 'PUT', path, token, body: '{}', headers });
  }

  /** Asks for a consent, by default of anna to read her current account. */
  requestConsent(token: string, categories: object[] = ACCOUNT_INFO, customerId = ANNA): Promise<Reply> {
    const path = `/private/customers/${customerId}/consent/request`;
    return this.send({ method: 'POST', path, token, body: { data: { categories } } });
  }

  confirmConsent(token: string, id: string, body = '{}', customerId = ANNA): Promise<Reply> {
    const path = `/private/customers/${customerId}/consent/request/${id}/confirm`;
    return this.send({ method: 'PUT', path, token, body });
  }

  /** Runs the whole consent flow. @returns the answer to the request */
  async giveConsent(token: string, customerId?: string, categories?: object[]): Promise<Reply> {
    const reply = await this.requestConsent(token, categories, customerId);
    const id = resourceOf(reply);
    await this.authorise(token, id);
    await this.confirmConsent(token, id, '{}', customerId);
    return reply;
  }

  authorizePath(changes: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.registration.applications.authorizationCode.clientId,
      redirect_uri: 'http://127.0.0.1:8910/callback',
      state: 'abc',
      ...changes,
    });
    return `/auth/oauth/v2/authorize?${query}`;
  }

  /** The token call for an authorization code. */
  codeCall(code: string, changes: Record<string, string> = {}): Call {
    const { clientId, clientSecret } = this.registration.applications.authorizationCode;
    return {
      method: 'POST',
      path: '/auth/oauth/v2/token',
      body: {
        grant_type: 'authorization_code',
        code,
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uri: 'http://127.0.0.1:8910/callback',
        ...changes,
      },
    };
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #headers(call: Call, body: string | undefined): [string, string][] {
    const { method = 'GET', path, application = this.registration.applications.authorizationCode } = call;
    const headers: Record<string, string> = {
      accept: 'application/json',
      'tpp-transaction-id': randomUUID(),
      'tpp-request-id': randomUUID(),
      date: this.#now().toUTCString(),
      'tpp-certificate': new X509Certificate(this.read('qsealCertFile')).raw.toString('base64'),
      ...(call.token !== undefined && { authorization: `Bearer ${call.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json', digest: digestOf(body) }),
      ...call.signedValues,
    };
    const prescribed = `(request-target) ${body === undefined ? '' : 'digest '}tpp-request-id date`;
    const list = call.signedHeaders ?? prescribed;
    const signingString = list
      .split(' ')
      .map((name) =>
        name === '(request-target)'
          ? `(request-target): ${call.signedTarget ?? `${method.toLowerCase()} ${path}`}`
          : `${name}: ${headers[name]}`,
      )
      .join('\n');
    const key = call.signingKey ?? this.read('qsealKeyFile');
    const signature = sign('RSA-SHA256', Buffer.from(signingString), key);
    headers.signature = `keyId="${application.applicationName}",algorithm="rsa-sha256",headers="${list}",signature="${signature.toString('base64')}"`;
    const changed = new Map<string, string | string[] | null>(Object.entries(headers));
    for (const [name, value] of Object.entries(call.headers ?? {})) changed.set(name.toLowerCase(), value);
    return [...changed].flatMap(([name, value]) =>
      value === null ? [] : [value].flat().map((one): [string, string] => [name, one]),
    );
  }

  #exchange(call: Call, headers: [string, string][], body: string | undefined): Promise<Reply> {
    const { hostname, port } = new URL(this.#sandbox.baseUrl);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        { hostname, port, method: call.method ?? 'GET', path: call.path, agent: this.#agent(call) },
        (response) => {
          buffer(response).then((bytes) => {
            const text = bytes.toString('utf8');
            const json = readJson(text);
            resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, json });
          }, reject);
        },
      );
      request.on('error', reject);
      const names = new Set(headers.map(([name]) => name));
      for (const name of names) {
        const values = headers.filter(([other]) => other === name).map(([, value]) => value);
        request.setHeader(name, values.length === 1 ? String(values[0]) : values);
      }
      // Node sends the body of a GET without a header that announces it.
      if (body !== undefined) request.setHeader('content-length', Buffer.byteLength(body));
      request.end(body);
    });
  }

  #agent({ transport, tlsVersion }: Call): Agent {
    const { cert, key } = transport ?? { cert: this.read('qwacCertFile'), key: this.read('qwacKeyFile') };
    const id = `${cert} ${tlsVersion}`;
    const agent =
      this.#agents.get(id) ??
      new Agent({
        ca: this.read('caFile'),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...(tlsVersion !== undefined && { minVersion: tlsVersion, maxVersion: tlsVersion }),
        keepAlive: true,
      });
    this.#agents.set(id, agent);
    return agent;
  }
}

/** Returns an empty object if the text is not a JSON object. */
function readJson(text: string): Json {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : {};
  } catch {
    return {};
  }
}

/** The parts of an answer's Signature, and whether the bank's signing certificate verifies it over this request line. */
export function signatureOf(tpp: Tpp, reply: Reply, requestLine: string) {
  const parts = new Map(
    [...String(reply.headers.signature).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  const headers = parts.get('headers') ?? '';
  const text = headers
    .split(' ')
    .map((name) => `${name}: ${name === '(request-target)' ? requestLine : reply.headers[name]}`)
    .join('\n');
  const { publicKey } = new X509Certificate(tpp.read('bankSigningCertFile'));
  const bytes = Buffer.from(parts.get('signature') ?? '', 'base64');
  const isRsa = parts.get('algorithm') === 'rsa-sha256';
  return {
    keyId: parts.get('keyId') ?? '',
    headers,
    valid: isRsa && verify('RSA-SHA256', Buffer.from(text), publicKey, bytes),
  };
}

export function digestOf(body: string | Buffer): string {
  return `SHA-256=${createHash('sha256').update(body).digest('base64')}`;
}

/** Returns the code of the first message. */
export function codeOf({ json }: Reply): string {
  return String(json.result?.messages?.[0]?.code);
}

/** Returns the status and the code of the first message: `400 NOT_AUTHORIZED`. */
export function refusalOf(reply: Reply): string {
  return `${reply.status} ${codeOf(reply)}`;
}

/** Returns the id of the resource that a call is about. */
export function resourceOf({ json }: Reply): string {
  return String(json.resources?.resourceId);
}

/** Returns an amount of three decimals in cents. */
export function cents(amount: Json | undefined): number {
  return Number(String(amount?.amount).slice(0, -1).replace('.', ''));
}

/** Returns the members of a list, none if there is no list. */
export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the detail of the first message. */
export function detailOf({ json }: Reply): string {
  return String(json.result?.messages?.[0]?.detail);
}

/** A clock that only moves when a test moves it. */
export class TestClock {
  #at: Date;

  constructor(at: string) {
    this.#at = new Date(at);
  }

  readonly now = (): Date => new Date(this.#at);

  advance(milliseconds: number): void {
    this.#at = new Date(this.#at.getTime() + milliseconds);
  }
}

export interface TestBank {
  sandbox: Sandbox;
  tpp: Tpp;
  clock: TestClock;
  close(): Promise<void>;
}

/** Starts a test bank for the tests of this file. */
export async function useTestBank(options?: Partial<SandboxOptions>): Promise<TestBank> {
  const bank = await openTestBank(options);
  afterAll(() => bank.close());
  return bank;
}

/** Starts a test bank for the test that runs. */
export async function newTestBank(options?: Partial<SandboxOptions>): Promise<TestBank> {
  const bank = await openTestBank(options);
  onTestFinished(() => bank.close());
  return bank;
}

/** Starts a test bank in its own folder. Most tests are about other rules than consents, which permission.test.ts tests. */
export async function openTestBank(options: Partial<SandboxOptions> = {}, at?: string): Promise<TestBank> {
  const { sandbox, clock, close } = await openSandbox({ consents: 'recorded', ...options }, at);
  const tpp = new Tpp(sandbox, clock.now);
  return {
    ...{ sandbox, tpp, clock },
    close: async () => {
      tpp.close();
      await close();
    },
  };
}

/** Starts a strict sandbox on free ports in its own folder, by default at noon on 20 November 2026 (a Friday) in Rome. */
export async function openSandbox(options: Partial<SandboxOptions>, at = '2026-11-20T11:00:00Z') {
  const folder = await mkdtemp(join(tmpdir(), 'psd2-sandbox-'));
  await cp(inject('registration'), folder, { recursive: true });
  const clock = new TestClock(at);
  const sandbox = await startSandbox({ folder, port: 0, now: clock.now, strict: true, ...options });
  const close = async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { sandbox, clock, close };
}

/** Gives the sandbox an order, as a script does with the control token. */
export async function order(
  { running }: Sandbox,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Json }> {
  const answer = await fetch(`${running.customerSiteUrl}/control${path}`, {
    method,
    headers: { authorization: `Bearer ${running.controlToken}`, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: JSON.parse(await answer.text()) };
}

import { randomUUID } from 'node:crypto';
import { afterEach } from 'vitest';
import {
  type Caller,
  openCaller,
  openExchange,
  type Said,
  type Wire,
  type WireSettings,
  withTokens,
} from '../../../../src/bank/call/call.ts';
import { Pace } from '../../../../src/bank/call/pace.ts';
import { type BankFile, bankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { nextgenpsd2 } from '../../../../src/bank/interfaces/nextgenpsd2/interface.ts';
import type { Observation, TokenSource } from '../../../../src/bank/ports/call.ts';
import { type BankConnection, connectToBank } from '../../../../src/bank/transport/connection.ts';
import { keySigner } from '../../../../src/signature/http-signature.ts';
import { withOpenssl } from '../../../certificates/openssl.ts';
import { digestProblem, signatureProblem } from '../../../signature/independent-verifier.ts';
import { readPair } from '../../client.ts';
import {
  type Judge,
  publicKeyOf,
  type RecordedBank,
  useRecordedBank,
  type WrittenAnswer,
} from '../../recorded-bank.ts';

export { TRANSACTION_ID } from './scripted.ts';

export const CONSENT_ID = 'consent-1';
export const silent = async () => undefined;

/** What openssl says of the certificate of the signature. */
function certificateFacts({ cert }: { cert: string }) {
  return withOpenssl((openssl) => {
    const file = openssl.write('cert.pem', cert);
    const of = (...what: string[]) =>
      openssl
        .run('x509', '-in', file, '-noout', ...what)
        .replace(/^\w+=/, '')
        .trim();
    return { serial: of('-serial'), issuer: of('-issuer', '-nameopt', 'RFC2253') };
  });
}

const facts = new Map<string, ReturnType<typeof certificateFacts>>();

/** The keyId of the standard's own form. */
function standardKeyId(qseal: { cert: string }): string {
  const known = facts.get(qseal.cert) ?? certificateFacts(qseal);
  facts.set(qseal.cert, known);
  return `SN=${known.serial.toLowerCase().replace(/^0+/, '')},CA=${known.issuer}`;
}

/** Ids and headers that this interface has never. */
const NEVER = ['tpp-certificate', 'tpp-transaction-id', 'tpp-request-id', 'cb-trace-id', 'cb-apitrack-id'];
const IF_SENT = ['psu-id', 'psu-corporate-id', 'tpp-redirect-uri'];

/** Judges a request by the standard: id, digest, signature. */
export const judgeByStandard: Judge = ({ method, target, headers, body }, { qseal }, earlier) => {
  const requestId = headers['x-request-id'] ?? '';
  const isV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(requestId);
  const signed = ['digest', 'x-request-id', ...IF_SENT.filter((name) => headers[name] !== undefined)];
  const isLogin =
    headers['content-type'] === 'application/x-www-form-urlencoded' || target.includes('.well-known');
  const problems = isLogin
    ? []
    : [
        signatureProblem({ method, url: target, headers }, signed, standardKeyId(qseal), publicKeyOf(qseal)),
        digestProblem(headers.digest, body),
      ];
  return [
    ...problems.flatMap((problem) => (problem === null ? [] : [`which ${problem}`])),
    ...(isV4 ? [] : [`with the X-Request-ID ${requestId}, which is no UUID of version 4`]),
    ...NEVER.filter((name) => name in headers).map((name) => `with ${name}`),
    ...(earlier.some((other) => other.headers['x-request-id'] === requestId)
      ? ['with a used X-Request-ID']
      : []),
  ];
};

/** A recorded bank of the standard. Tests of another form of signature give their own judge. */
export function useNextGenBank(judge: Judge = judgeByStandard): RecordedBank {
  return useRecordedBank(judge);
}

export interface NextGenOptions extends Partial<WireSettings> {
  file?: Omit<BankFile, 'interface'>;
  tokens?: TokenSource;
  baseUrl?: string;
}

/** Opens clients for the tests of a file. They close after each test. */
export function useNextGen(recorded: RecordedBank) {
  const connections: BankConnection[] = [];
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.close()));
  });
  return ({ file = {}, tokens, baseUrl, ...settings }: NextGenOptions = {}) => {
    const { certificates } = recorded;
    const base = new URL(baseUrl ?? recorded.baseUrl);
    const [qwac, qseal] = [readPair('QWAC', certificates.qwac), readPair('QSealC', certificates.qseal)];
    const connection = connectToBank(base, qwac, certificates.ca);
    connections.push(connection);
    const sleeps: number[] = [];
    const observations: Observation[] = [];
    /** Which consents were asked for. */
    const consentsFor: unknown[] = [];
    let time = Date.now();
    const timing = {
      now: () => new Date(time),
      random: () => 0.5,
      sleep: async (milliseconds: number) => {
        sleeps.push(milliseconds);
        time += milliseconds;
      },
    };
    const session = { apiTrackId: undefined };
    const opened = nextgenpsd2(bankFile.parse({ interface: 'nextgenpsd2', ...file })).open({
      pathPrefix: base.pathname === '/' ? '' : base.pathname,
      origin: base.origin,
      identity: {
        applicationName: 'not used here',
        signer: keySigner(qseal.key),
        signingCertificate: qseal.certificate,
        qwacCertificate: qwac.certificate,
        tppCertificate: 'none',
      },
      bankSigningCertificate: undefined,
      session,
      ...{ psuIpAddress: undefined, language: undefined, traceComponent: undefined, psu: undefined },
      consents: {
        for: async (what) => {
          consentsFor.push(what);
          return { consentId: CONSENT_ID, reads: ['accounts', 'balances', 'transactions'] };
        },
      },
      ownAddress: async () => '192.0.2.7',
      newId: randomUUID,
      now: timing.now,
      ...settings,
    });
    const bank = opened.connect(<What extends Said>(wire: Wire<What>): Caller<What> => {
      const exchange = openExchange({
        connection,
        wire,
        session,
        pace: new Pace({ clock: () => time, ...timing }),
        timeoutMs: 10_000,
        signal: new AbortController().signal,
        observe: async (observation) => void observations.push(observation),
        ...timing,
      });
      return openCaller(tokens ? withTokens(exchange, tokens) : exchange, () => undefined);
    });
    return { bank, sleeps, consentsFor, observations };
  };
}

/** An answer in JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): WrittenAnswer {
  return { status, headers, body: JSON.stringify(body) };
}

/** A refusal in the standard's form. */
export function refusal(status: number, code: string, text = 'The test says no'): WrittenAnswer {
  return json({ tppMessages: [{ category: 'ERROR', code, text }] }, status);
}

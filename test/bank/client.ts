import { randomUUID } from 'node:crypto';
import { afterEach } from 'vitest';
import type { CallFacts, Exchange, Notice, Wire, WireSettings } from '../../src/bank/call/call.ts';
import { type ExchangeSettings, openCaller, openExchange, withTokens } from '../../src/bank/call/call.ts';
import { Pace } from '../../src/bank/call/pace.ts';
import type { CbCaller, CbSaid } from '../../src/bank/interfaces/cb/answer.ts';
import { bankOver, openWire } from '../../src/bank/interfaces/cb/interface.ts';
import type { Bank, TransactionQuery } from '../../src/bank/ports/bank.ts';
import type { Observation, TokenSource } from '../../src/bank/ports/call.ts';
import { type BankConnection, connectToBank } from '../../src/bank/transport/connection.ts';
import { type KeyPair, type PairName, readKeyPair } from '../../src/certificates/key-pair.ts';
import { keySigner } from '../../src/signature/http-signature.ts';
import type { PemPair } from '../certificates/openssl.ts';
import { APPLICATION_NAME, type RecordedBank } from './recorded-bank.ts';

/** The query for all transactions of an account. */
export const ALL_TRANSACTIONS: TransactionQuery = {
  customerId: '1234567',
  productId: '0000012345',
  from: undefined,
  to: undefined,
  status: undefined,
  transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
};

/** psd2's own client, and records of what it did. */
export interface Client {
  bank: Bank;
  /** What the bank makes its calls with. */
  caller: CbCaller;
  exchange: Exchange<CbSaid>;
  /** Opens a bank on the same exchange with other tokens, or none. */
  bankWith(tokens?: TokenSource): Bank;
  callerWith(tokens?: TokenSource): CbCaller;
  /** The pauses in milliseconds. The client does not really wait. */
  sleeps: number[];
  observations: Observation[];
  notices: Notice[];
}

export interface ClientOptions
  extends Partial<Omit<ExchangeSettings<CbSaid>, 'wire'> & WireSettings & Pick<Wire<CbSaid>, 'check'>> {
  tokens?: TokenSource;
  baseUrl?: string;
  ca?: string;
}

/** The token of private calls, unless a test gives another. */
export const TOKEN = '11111111-2222-4333-8444-555555555555';

const fixedToken: TokenSource = {
  current: async () => TOKEN,
  renewed: async () => {
    throw new TypeError('The test expects no token renewal');
  },
};

/** Opens clients for the tests of a file. They close after each test. */
export function useClients(recorded: RecordedBank): (options?: ClientOptions) => Client {
  const connections: BankConnection[] = [];
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.close()));
  });

  return ({ tokens = fixedToken, baseUrl, ca, ...settings } = {}) => {
    const { certificates } = recorded;
    const connection = connectToBank(
      new URL(baseUrl ?? recorded.baseUrl),
      readPair('QWAC', certificates.qwac),
      ca ?? certificates.ca,
    );
    connections.push(connection);
    const qseal = readPair('QSealC', certificates.qseal);
    const sleeps: number[] = [];
    const observations: Observation[] = [];
    const notices: Notice[] = [];
    // Only pauses move the time, so they have exactly the intended length.
    let time = Date.now();
    const now = () => new Date(time);
    const sleep = async (milliseconds: number) => {
      sleeps.push(milliseconds);
      time += milliseconds;
    };
    const session = settings.session ?? { apiTrackId: undefined };
    const wire = openWire({
      pathPrefix: '',
      origin: recorded.baseUrl,
      psu: undefined,
      consents: undefined,
      ownAddress: async () => '127.0.0.1',
      identity: {
        applicationName: APPLICATION_NAME,
        signer: keySigner(qseal.key),
        signingCertificate: qseal.certificate,
        qwacCertificate: readPair('QWAC', certificates.qwac).certificate,
        tppCertificate: 'der-base64',
      },
      bankSigningCertificate: undefined,
      session,
      psuIpAddress: undefined,
      language: undefined,
      traceComponent: undefined,
      now,
      newId: randomUUID,
      ...settings,
    });
    const exchange = openExchange({
      connection,
      wire: { ...wire, ...(settings.check && { check: settings.check }) },
      session,
      pace: new Pace({ clock: () => time, sleep, random: settings.random ?? (() => 0.5) }),
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      now,
      random: () => 0.5,
      sleep,
      observe: async (observation) => void observations.push(observation),
      ...settings,
    });
    const callerWith = (source?: TokenSource) =>
      openCaller(source ? withTokens(exchange, source) : exchange, (message) => notices.push(message));
    const bankWith = (source?: TokenSource) => bankOver(callerWith(source));
    const caller = callerWith(tokens);
    return { bank: bankOver(caller), caller, bankWith, callerWith, exchange, sleeps, observations, notices };
  };
}

/** The facts of a call of which nothing is known. */
export const PLAIN_FACTS: CallFacts = { reads: null, needsConsent: false, login: false };

/** Records what psd2 announces before a call leaves. */
export function announcements() {
  const announced: { requestId: string; digest: string | null }[] = [];
  return {
    announced,
    beforeSend: async (intent: { requestId: string; digest: string | null }) => void announced.push(intent),
  };
}

const read = new WeakMap<PemPair, KeyPair>();

/** Reads a pair, once: a file has hundreds of clients, and reading takes about a millisecond. */
export function readPair(name: PairName, pair: PemPair): KeyPair {
  const { cert, key } = pair;
  const known = read.get(pair);
  if (known) return known;
  const made = readKeyPair({ name, certificate: cert, key, passphrase: undefined, now: new Date() });
  read.set(pair, made);
  return made;
}

import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import {
  type GivenAnswer,
  type InitiationVerdict,
  judgeInitiation,
  type SentInitiation,
} from '../../../../../src/bank/interfaces/nextgenpsd2/judge/initiation.ts';
import { addDays, bankDay } from '../../../../../src/domain/calendar.ts';
import { described } from '../scripted.ts';

// A single transfer in JSON, an answer to it, and what the judge makes of it.

/** An answer to an initiation, and its verdict. */
export interface Row {
  /** Why the verdict is this one. */
  name: string;
  status: number;
  /** JSON. */
  body?: unknown;
  /** The body as it was on the wire, in the place of `body`. */
  bytes?: string | Buffer;
  headers?: Readonly<Record<string, string>>;
  more?: boolean;
  sent?: SentParts;
  bank?: Omit<BankFile, 'interface'>;
  /** Answers before this one. By default there is one more of the same where the bank promises the same answer. */
  before?: readonly Partial<GivenAnswer>[];
  says: InitiationVerdict['says'];
}

/** What differs from the transfer. */
export interface SentParts {
  with?: Readonly<Record<string, unknown>>;
  without?: readonly string[];
  /** A body in the place of the JSON. */
  xml?: string;
  service?: 'payments' | 'bulk-payments' | 'periodic-payments';
  /** Days from today. */
  requestedExecutionDate?: number;
  startDate?: number;
  /** Before the first byte left, or when it did. */
  certificateExpired?: boolean | 'now';
}

export const REQUEST_ID = 'd2f6b1b0-3a0e-4c1c-9e0b-6f0a3a1c5f10';
const FIRST_BYTE = new Date('2026-11-27T12:07:20+01:00');
const DAY_MS = 86_400_000;

const PAYMENT = {
  endToEndIdentification: 'RF-2026-0815',
  debtorAccount: { iban: 'DE40100100103307118608' },
  instructedAmount: { currency: 'EUR', amount: '123.50' },
  creditorAccount: { iban: 'DE02100100109307118603' },
  creditorName: 'Another Double Ltd',
  remittanceInformationUnstructured: 'Invoice 4711, already due',
};

const HEADERS: Readonly<Record<string, string>> = {
  'x-request-id': REQUEST_ID,
  'content-type': 'application/json',
  'psu-ip-address': '192.0.2.1',
  'tpp-redirect-uri': 'https://tpp.example/back?state=again',
  'tpp-redirect-preferred': 'true',
  digest: 'SHA-256=hl1/Eps8BEQW58FJhDApwJXjGY4nr1ArGDHIT25vq6A=',
  signature: 'keyId="SN=1,CA=CN=Other",algorithm="rsa-sha256",headers="digest x-request-id",signature="AAA="',
  'tpp-signature-certificate': 'MIIC',
};

/** The initiation, with what a row changes. */
export function sentWith(parts: SentParts = {}): SentInitiation {
  const { service = 'payments' } = parts;
  const today = bankDay(FIRST_BYTE);
  const isHeader = (name: string) => /^(psu|tpp|x)-|^(digest|signature|authorization|date)$/i.test(name);
  const entries = (own: boolean) =>
    Object.entries(parts.with ?? {}).filter(([name]) => isHeader(name) === own);
  const headers = {
    ...HEADERS,
    ...Object.fromEntries(entries(true).map(([name, value]) => [name.toLowerCase(), String(value)])),
  };
  const { debtorAccount, ...entry } = PAYMENT;
  const body = {
    ...(service === 'bulk-payments' ? { debtorAccount, payments: [entry, entry, entry] } : PAYMENT),
    ...(service === 'periodic-payments' && { startDate: addDays(today, 9), frequency: 'Monthly' }),
    ...(parts.requestedExecutionDate !== undefined && {
      requestedExecutionDate: addDays(today, parts.requestedExecutionDate),
    }),
    ...(parts.startDate !== undefined && { startDate: addDays(today, parts.startDate) }),
    ...Object.fromEntries(entries(false)),
  };
  const without = (record: object) =>
    Object.fromEntries(
      Object.entries(record).filter(
        ([name]) => !parts.without?.some((each) => each.toLowerCase() === name.toLowerCase()),
      ),
    );
  return {
    path: `/v1/${service}/sepa-credit-transfers`,
    headers: without(headers),
    body: parts.xml ?? JSON.stringify(without(body)),
    firstByteAt: FIRST_BYTE,
    certificateEnds: new Date(FIRST_BYTE.getTime() + certificateLeft(parts)),
  };
}

function certificateLeft({ certificateExpired }: SentParts): number {
  if (certificateExpired === 'now') return 0;
  return certificateExpired ? -1 : DAY_MS;
}

/** The answer of a row. */
export function answerOf({ status, body, bytes, headers, more = false }: Partial<Row>): GivenAnswer {
  return {
    status: status ?? 400,
    headers: { 'content-type': 'application/json', 'x-request-id': REQUEST_ID, ...headers },
    body: Buffer.from(bytes ?? (body === undefined ? '' : JSON.stringify(body))),
    more,
  };
}

/** The verdict on a row. */
export function judge(row: Omit<Row, 'name' | 'says'>): InitiationVerdict {
  const isRepeated = row.bank?.payments?.repeat === 'same-answer';
  const answer = answerOf(row);
  const before = row.before?.map((each) => ({ ...answer, ...each })) ?? (isRepeated ? [answer] : []);
  return judgeInitiation(sentWith(row.sent), [...before, answer], described(row.bank));
}

/** One error in `tppMessages`. */
export function error(code: string | number | null, text?: string, path?: string | null) {
  const message = { category: 'ERROR', ...(code !== null && { code }) };
  return { ...message, ...(text !== undefined && { text }), ...(path !== undefined && { path }) };
}

/** An answer with these errors. */
export function errors(...messages: readonly object[]) {
  return { tppMessages: messages };
}

import * as z from 'zod';
import type { Recorded } from './recorder.ts';

// The standard's requests of consents and readings (NextGenPSD2 1.3.11), as a judge that shares no code with psd2 or with its
// sandbox. It says what is wrong with a request, whatever the bank answered.

const iban = z.string().regex(/^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$/);
const accountReference = z.union([
  z.strictObject({ iban, currency: z.string().length(3).optional() }),
  z.strictObject({ bban: z.string().regex(/^[a-zA-Z0-9]{1,30}$/) }),
  z.strictObject({ maskedPan: z.string().max(35) }),
]);
const references = z.array(accountReference);

const consent = z.strictObject({
  access: z.union([
    z.strictObject({ allPsd2: z.literal('allAccounts') }),
    z.strictObject({ availableAccounts: z.literal('allAccounts') }),
    z.strictObject({
      accounts: references.optional(),
      balances: references.optional(),
      transactions: references.optional(),
    }),
  ]),
  recurringIndicator: z.boolean(),
  validUntil: z.iso.date(),
  frequencyPerDay: z.int().min(1).max(4),
  combinedServiceIndicator: z.boolean(),
});

/** What may be in the body: nothing, an object without fields, or this. */
type Body = 'none' | 'empty object' | z.ZodType;

interface Operation {
  method: string;
  /** Below the version. */
  path: RegExp;
  body: Body;
  /** Headers that only some operations have. */
  may: readonly string[];
  must: readonly string[];
  query: Readonly<Record<string, RegExp>>;
}

const CUSTOMER = ['psu-id', 'psu-id-type', 'psu-corporate-id', 'psu-corporate-id-type'];
const START = [
  'tpp-redirect-preferred',
  'tpp-decoupled-preferred',
  'tpp-redirect-uri',
  'tpp-nok-redirect-uri',
];
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const ID = '[^/]+';
/** In the sandbox's links to the next page. The standard leaves it to the bank. */
const PAGE = 'continuation';

const plain = { body: 'none', may: [], must: [], query: {} } as const;
const reading = { ...plain, may: ['accept-encoding'], must: ['consent-id'] } as const;
const report = {
  ...reading,
  query: {
    bookingStatus: /^(booked|pending|both|information)$/,
    dateFrom: DAY,
    dateTo: DAY,
    entryReferenceFrom: /./,
    deltaList: /^(true|false)$/,
    withBalance: /^(true|false)$/,
    pageIndex: /^\d+$/,
    itemsPerPage: /^\d+$/,
  },
};
const starts = { ...plain, may: [...CUSTOMER, ...START, 'tpp-explicit-authorisation-preferred'] };

const at = (path: string) => new RegExp(`^${path}$`);
const consents = `/consents/${ID}`;
const OPERATIONS: readonly Operation[] = [
  { ...starts, method: 'POST', path: at('/consents'), body: consent, must: ['psu-ip-address'] },
  { ...plain, method: 'GET', path: at(consents) },
  { ...plain, method: 'DELETE', path: at(consents) },
  { ...plain, method: 'GET', path: at(`${consents}/status`) },
  {
    ...plain,
    method: 'POST',
    path: at(`${consents}/authorisations`),
    body: 'empty object',
    may: [...CUSTOMER, ...START],
  },
  { ...plain, method: 'GET', path: at(`${consents}/authorisations`) },
  { ...plain, method: 'GET', path: at(`${consents}/authorisations/${ID}`) },
  {
    ...plain,
    method: 'PUT',
    path: at(`${consents}/authorisations/${ID}`),
    body: z.strictObject({ confirmationCode: z.string().min(1) }),
    may: CUSTOMER,
  },
  { ...reading, method: 'GET', path: at('/accounts'), query: { withBalance: /^(true|false)$/ } },
  { ...reading, method: 'GET', path: at(`/accounts/${ID}`), query: { withBalance: /^(true|false)$/ } },
  { ...reading, method: 'GET', path: at(`/(?:card-)?accounts/${ID}/balances`) },
  { ...report, method: 'GET', path: at(`/(?:card-)?accounts/${ID}/transactions`) },
  { ...reading, method: 'GET', path: at(`/accounts/${ID}/transactions/${ID}`) },
  { ...reading, method: 'GET', path: at('/card-accounts') },
  { ...reading, method: 'GET', path: at(`/card-accounts/${ID}`) },
];

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
/** The standard's headers that every operation may have, and HTTP's. */
const EVERYWHERE = [
  ...[
    'host',
    'connection',
    'user-agent',
    'accept',
    'content-type',
    'content-length',
    'date',
    'authorization',
  ],
  ...['x-request-id', 'digest', 'signature', 'tpp-signature-certificate', 'psu-ip-address'],
  'psu-accept-language',
];

/** Where a bank is not as the standard: what comes before `/consents`, further headers, further parameters. */
export interface Differing {
  version?: string | RegExp;
  headers?: readonly string[];
  /** Parameters with names of the bank's own: the standard's by these. */
  renamed?: Readonly<Record<string, string>>;
  /** The beginning of an operation's path that is the bank's own, and the standard's. */
  moved?: readonly [own: string, standard: string];
  /** How pages are asked for, beyond the standard. */
  parameters?: readonly string[];
}

function renamed(query: URLSearchParams, { renamed: names = {} }: Differing): URLSearchParams {
  const sent = [...query].map(([name, value]): [string, string] => [names[name] ?? name, value]);
  return new URLSearchParams(sent);
}

/** What the standard has against a request: its path, method, parameters, headers, body. Empty: nothing. */
export function departuresOf(request: Recorded, differing: Differing = {}): string[] {
  const [path = '', query = ''] = request.target.split('?', 2);
  const version = differing.version ?? '/v1';
  const root = typeof version === 'string' ? version : (version.exec(path)?.[0] ?? '');
  const own = path.startsWith(root) ? path.slice(root.length) : path;
  const [from, to] = differing.moved ?? ['', ''];
  const below = from !== '' && own.startsWith(from) ? `${to}${own.slice(from.length)}` : own;
  const operation = OPERATIONS.find((each) => each.method === request.method && each.path.test(below));
  if (!operation) return [`${request.method} ${path} is no operation of the standard`];
  return [
    ...headerDepartures(request, operation, differing),
    ...queryDepartures(renamed(new URLSearchParams(query), differing), operation, differing),
    ...bodyDepartures(request, operation.body),
  ].map((departure) => `${request.method} ${below}: ${departure}`);
}

function headerDepartures({ headers }: Recorded, { may, must }: Operation, differing: Differing): string[] {
  const known = [...EVERYWHERE, ...may, ...must, ...(differing.headers ?? [])];
  const address = headers['psu-ip-address'];
  return [
    ...Object.keys(headers)
      .filter((name) => !known.includes(name))
      .map((name) => `has the header ${name}`),
    ...must.filter((name) => headers[name] === undefined).map((name) => `has no ${name}`),
    ...Object.entries(headers)
      .filter(([, value]) => value.trim() === '')
      .map(([name]) => `has an empty ${name}`),
    ...(UUID_V4.test(headers['x-request-id'] ?? '') ? [] : ['has no X-Request-ID of version 4']),
    ...(address === undefined || IPV4.test(address) ? [] : [`has the PSU-IP-Address ${address}`]),
    ...['tpp-redirect-preferred', 'tpp-decoupled-preferred', 'tpp-explicit-authorisation-preferred']
      .filter((name) => headers[name] !== undefined && !/^(true|false)$/.test(headers[name] ?? ''))
      .map((name) => `has ${name}: ${headers[name]}`),
  ];
}

function queryDepartures(query: URLSearchParams, { query: its }: Operation, differing: Differing): string[] {
  // A link of the bank is followed as it is, so what the bank wrote is not psd2's.
  const own = [...query].filter(([name]) => ![PAGE, ...(differing.parameters ?? [])].includes(name));
  const wrong = own.filter(([name, value]) => !its[name]?.test(value));
  const isDated = query.has('dateFrom') || query.has('entryReferenceFrom') || query.has('deltaList');
  return [
    ...wrong.map(([name, value]) => `has the parameter ${name}=${value}`),
    ...(!query.has(PAGE) && 'bookingStatus' in its && !query.has('bookingStatus')
      ? ['has no bookingStatus']
      : []),
    ...(!query.has(PAGE) && 'dateFrom' in its && !isDated ? ['has no dateFrom'] : []),
  ];
}

function bodyDepartures({ body, headers }: Recorded, wanted: Body): string[] {
  if (wanted === 'none') return body.length === 0 ? [] : ['has a body'];
  if (!headers['content-type']?.startsWith('application/json')) return ['has a body that is not JSON'];
  const text = body.toString('utf8');
  if (wanted === 'empty object') return text === '{}' || text === '' ? [] : [`has the body ${text}`];
  const read = wanted.safeParse(JSON.parse(text));
  return read.success ? [] : [`has a body that is not the standard's: ${z.prettifyError(read.error)}`];
}

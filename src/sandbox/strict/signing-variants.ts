import { createHash } from 'node:crypto';
import { header } from './headers.ts';
import type { RawRequest } from './raw-request.ts';

/** A request, and the names that it should sign and says it signs. */
interface Signable {
  request: RawRequest;
  /** The prescribed names, separated by spaces. */
  prescribed: string;
  /** The names in the signature's `headers`. */
  declared: string;
  /** The hash of the whole body. */
  bodySha256: Buffer;
}

/** A signing string that a client may have signed. */
export interface Candidate {
  text: string;
  /** What is wrong with it. Empty for the right string. */
  mistakes: string[];
  /** The signed bytes: those of the text, or a hash of them if that is one of the mistakes. */
  signed: Buffer;
}

/** The parts of a signing string. */
interface Draft {
  target: string;
  names: string[];
  /** Values that replace those of the received headers. */
  digest?: string;
  date?: string;
  id?: string;
  writeName: (name: string) => string;
  colon: string;
  join: string;
  end: string;
  sign: (text: string) => Buffer;
}

/** A mistake that clients make. */
interface Mistake {
  says: string;
  changes: Partial<Draft>;
}

/** The maximum number of mistakes in one signing string. */
const MAX_MISTAKES = 3;

/**
 * The signing strings that a client may have signed (draft-cavage-http-signatures-09, section 2.3): the right one, then
 * those with one, two and three mistakes.
 */
export function* signingCandidates(signable: Signable): Generator<Candidate> {
  const groups = mistakesOf(signable);
  for (let count = 0; count <= MAX_MISTAKES; count += 1) {
    for (const mistakes of choices(groups, count)) yield compose(signable, mistakes);
  }
}

/** All choices of `count` mistakes, each from a different group. */
function* choices(groups: readonly Mistake[][], count: number): Generator<Mistake[]> {
  const [first, ...others] = groups;
  if (count === 0) yield [];
  if (count === 0 || !first) return;
  for (const mistake of first) {
    for (const rest of choices(others, count - 1)) yield [mistake, ...rest];
  }
  yield* choices(others, count);
}

function compose({ request, prescribed }: Signable, mistakes: readonly Mistake[]): Candidate {
  const draft: Draft = {
    target: `${request.method.toLowerCase()} ${request.target}`,
    names: prescribed.split(' '),
    writeName: (name) => name,
    colon: ': ',
    join: '\n',
    end: '',
    sign: (text) => Buffer.from(text),
  };
  for (const { changes } of mistakes) Object.assign(draft, changes);
  const { target, digest, date, id } = draft;
  const changed: Record<string, string | undefined> = {
    '(request-target)': target,
    digest,
    date,
    'tpp-request-id': id,
  };
  const write = (name: string): string => changed[name] ?? header(request, name) ?? '';
  const lines = draft.names.map((name) => `${draft.writeName(name)}${draft.colon}${write(name)}`);
  const text = `${lines.join(draft.join)}${draft.end}`;
  return { text, mistakes: mistakes.map(({ says }) => says), signed: draft.sign(text) };
}

/** The mistakes in groups. A client makes at most one of each group. */
function mistakesOf(signable: Signable): Mistake[][] {
  const { request, bodySha256 } = signable;
  return [
    nameMistakes(signable),
    targetMistakes(request),
    [
      says('a line break follows the last line', { end: '\n' }),
      says('CR LF follows the last line', { end: '\r\n' }),
    ],
    [
      says('the lines are separated by CR LF, not LF', { join: '\r\n' }),
      says('nothing separates the lines', { join: '' }),
      says('a space separates the lines, not LF', { join: ' ' }),
      says('a backslash and an n separate the lines, not LF', { join: '\\n' }),
    ],
    [
      says('no space follows the colons', { colon: ':' }),
      says('a space is before the colons', { colon: ' : ' }),
    ],
    [
      says('the names are not in lower case', {
        writeName: (name) => request.headers.find(([sent]) => sent.toLowerCase() === name)?.[0] ?? name,
      }),
      says('the names are not in lower case', {
        writeName: (name) =>
          ({ 'tpp-request-id': 'TPP-Request-ID', date: 'Date', digest: 'Digest' })[name] ?? name,
      }),
    ],
    digestMistakes(request, bodySha256),
    otherValues(request),
    [
      says('the SHA-256 of the text was signed, so it was hashed twice', {
        sign: (text) => sha256(text).digest(),
      }),
      says('the SHA-256 of the text in hexadecimal was signed, so it was hashed twice', {
        sign: (text) => Buffer.from(sha256(text).digest('hex')),
      }),
      says('the SHA-256 of the text in base64 was signed, so it was hashed twice', {
        sign: (text) => Buffer.from(sha256(text).digest('base64')),
      }),
    ],
  ];
}

function says(text: string, changes: Partial<Draft>): Mistake {
  return { says: text, changes };
}

function nameMistakes({ prescribed, declared }: Signable): Mistake[] {
  const right = prescribed.split(' ');
  const named = (names: string[]): Mistake =>
    says(`the lines are ${names.join(', ')}, not ${right.join(', ')}`, { names });
  const lists = [
    declared.split(' '),
    ...permutations(right),
    ...right.map((name) => right.filter((other) => other !== name)),
    ...['host', 'tpp-transaction-id', 'content-type', 'tpp-certificate', 'psu-ip-address'].map((more) => [
      ...right,
      more,
    ]),
    ['date'],
  ];
  return lists.filter((names) => names.join(' ') !== prescribed).map(named);
}

function targetMistakes({ method, target, headers }: RawRequest): Mistake[] {
  const verb = method.toLowerCase();
  const [path = ''] = target.split('?', 1);
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '';
  const line = (text: string, value: string): Mistake => says(`(request-target) ${text}`, { target: value });
  return [
    line('has no query', `${verb} ${path}`),
    line('has its method in capitals', `${method} ${target}`),
    line('is percent-decoded', `${verb} ${percentDecoded(target)}`),
    line('has its percent-encoding in lower case', `${verb} ${escapes(target, 'toLowerCase')}`),
    line('has its percent-encoding in capitals', `${verb} ${escapes(target, 'toUpperCase')}`),
    line('has another percent-encoding', `${verb} ${encodedAgain(target)}`),
    line('has no method', target),
    line('has no space after the method', `${verb}${target}`),
    line('is the whole address', `${verb} https://${host}${target}`),
    line('does not have the first part of the path', `${verb} ${target.replace(/^\/[^/]*/, '')}`),
    line('does not have the first slash of the path', `${verb} ${target.slice(1)}`),
    line('has a slash after the path', `${verb} ${path}/${target.slice(path.length)}`),
    line('ends with HTTP/1.1', `${verb} ${target} HTTP/1.1`),
    ...['get', 'post', 'put', 'delete']
      .filter((other) => other !== verb)
      .map((other) => line(`has the method ${other}`, `${other} ${target}`)),
  ];
}

function digestMistakes(request: RawRequest, bodySha256: Buffer): Mistake[] {
  const base64 = bodySha256.toString('base64');
  const line = (text: string, value: string): Mistake => says(`the digest ${text}`, { digest: value });
  return [
    line('matches the body, but differs from the Digest header', `SHA-256=${base64}`),
    line('has no SHA-256= before it', base64),
    line('has sha-256= in lower case', `sha-256=${base64}`),
    line('is in hexadecimal', `SHA-256=${bodySha256.toString('hex')}`),
    line('is in hexadecimal, without SHA-256=', bodySha256.toString('hex')),
    line('is that of an empty body', `SHA-256=${sha256('').digest('base64')}`),
    line('is that of the body {}', `SHA-256=${sha256('{}').digest('base64')}`),
  ].filter(() => request.body.length > 0);
}

function otherValues(request: RawRequest): Mistake[] {
  const date = header(request, 'date') ?? '';
  const at = new Date(date);
  const id = header(request, 'tpp-request-id') ?? '';

  const dates = Number.isNaN(at.getTime())
    ? []
    : [
        says('the date is written in ISO 8601', { date: at.toISOString() }),
        ...[-2, -1, 1, 2].map((seconds) =>
          says(
            `the date is that of ${Math.abs(seconds)} s ${seconds < 0 ? 'before' : 'after'} the Date header`,
            { date: new Date(at.getTime() + seconds * 1000).toUTCString() },
          ),
        ),
      ];
  return [
    ...dates,
    says('TPP-Request-ID is in capitals', { id: id.toUpperCase() }),
    says('TPP-Request-ID is in lower case', { id: id.toLowerCase() }),
    says('TPP-Transaction-ID is in the place of TPP-Request-ID', {
      id: header(request, 'tpp-transaction-id') ?? '',
    }),
  ];
}

function permutations(names: readonly string[]): string[][] {
  if (names.length < 2) return [[...names]];
  return names.flatMap((name) =>
    permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  );
}

function percentDecoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

function escapes(target: string, write: 'toLowerCase' | 'toUpperCase'): string {
  return target.replace(/%[0-9a-f]{2}/gi, (encoded) => encoded[write]());
}

/** With the percent-encoding of `URLSearchParams`. */
function encodedAgain(target: string): string {
  const [path = '', query] = target.split('?', 2);
  return query === undefined ? encodeURI(percentDecoded(path)) : `${path}?${new URLSearchParams(query)}`;
}

function sha256(text: string) {
  return createHash('sha256').update(text);
}

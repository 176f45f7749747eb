import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODES } from './code-rows.ts';
import { FORM } from './form-rows.ts';
import { judge, type Row } from './judged.ts';
import { SEEN } from './seen.ts';
import { WHOSE } from './whose-rows.ts';
import { WORDS } from './word-rows.ts';

const ROWS = [...SEEN, ...WHOSE, ...WORDS, ...CODES, ...FORM];

describe('the judge of an initiation', () => {
  it.each(ROWS)('says "$says" with HTTP $status: $name', ({ says, name, ...row }) => {
    expect(judge(row)).toMatchObject({ says });
  });
});

/** The reasons, without what differs from answer to answer. */
function reasonsOf(rows: readonly Row[]): string[] {
  const reasons = rows.map((row) => {
    const verdict = judge(row);
    const why = 'why' in verdict ? verdict.why : verdict.says;
    return why
      .replace(/"[^"]*"/, '"…"')
      .replace(
        /(?<=the member |the header |bank names |psd2 sent no )[^, ]+|(?<=psd2 sent )\S+(?=, which)/,
        '…',
      )
      .replace(/(?<=: )\S+(?= may be said)/, '…');
  });
  return [...new Set(reasons)].toSorted();
}

it('says why', () => {
  expect(reasonsOf(ROWS)).toMatchInlineSnapshot(`
    ["The answer has a UUID in its text, so something may stand at the bank",
     "The answer has a link, so something may stand at the bank",
     "The answer has a time of day in its text, so something may stand at the bank",
     "The answer has an error in WWW-Authenticate, so something may stand at the bank",
     "The answer has another HTTP status in its text, so something may stand at the bank",
     "The answer has more than the form of the standard in a message, so something may stand at the bank",
     "The answer has more words than psd2 reads", "The answer has no error",
     "The answer has the header …, so something may stand at the bank",
     "The answer has the member …, so something may stand at the bank",
     "The answer is a success and has an error", "The answer is a success without the id of a payment",
     "The answer is a success, but not the bank's own: it has the X-Request-ID of another request",
     "The answer is a success, but not the bank's own: it is empty",
     "The answer is a success, but not the bank's own: it is not JSON",
     "The answer is a success, but not the bank's own: its JSON can be read in two ways",
     "The answer is a success, but not the bank's own: the connection had more after it",
     "The answer is nobody's word: it has the X-Request-ID of another request",
     "The answer is nobody's word: it is a page", "The answer is nobody's word: it is empty",
     "The answer is nobody's word: it is no JSON object", "The answer is nobody's word: it is not JSON",
     "The answer is nobody's word: its JSON can be read in two ways",
     "The answer is nobody's word: its error does not have the form of the standard",
     "The answer is nobody's word: psd2 does not know its charset",
     "The bank executes nothing without SCA, and nobody has a link to authorise it",
     "The bank file says that PRODUCT_INVALID is no refusal",
     "The bank may speak of another payment or of an earlier request: "…"",
     "The bank promises the same answer to the same request",
     "The bank promises the same answer to the same request, and refused it twice",
     "The bank rejected it as one of two, so there is another one: "…"",
     "The bank rejected the payment", "The bank rejected the payment with HTTP 202, and not with 201",
     "The connection had more after the answer, and that may have been another one",
     "This does not prove that no payment began: CERTIFICATE_INVALID may be about the clock, or the signature of one delivery",
     "This does not prove that no payment began: EXECUTION_DATE_INVALID calls the day missing",
     "This does not prove that no payment began: FORMAT_ERROR does not say what is wrong, so the field may have been missing",
     "This does not prove that no payment began: FORMAT_ERROR names no field of the payment",
     "This does not prove that no payment began: SERVICE_INVALID names another method than POST",
     "This does not prove that no payment began: SERVICE_INVALID with HTTP 400 may be about what the bank has",
     "This does not prove that no payment began: an error has no code",
     "This does not prove that no payment began: its code is only the HTTP status",
     "This does not prove that no payment began: psd2 sent a certificate",
     "This does not prove that no payment began: psd2 sent a keyId",
     "This does not prove that no payment began: psd2 sent a signature",
     "This does not prove that no payment began: psd2 sent a token",
     "This does not prove that no payment began: psd2 sent no …",
     "This does not prove that no payment began: psd2 sent …, which the bank misses",
     "This does not prove that no payment began: the bank may speak of a state, which may have been another one: "…"",
     "This does not prove that no payment began: the bank names …, which is no field of the payment that psd2 sent",
     "This does not prove that no payment began: the bank says nothing of the form of a field",
     "This does not prove that no payment began: the certificate that psd2 sent had not expired",
     "This does not prove that no payment began: the day of execution is so near that two deliveries may differ",
     "This does not prove that no payment began: … may be said of a payment that the bank has",
     "What the bank says is true of every delivery of what psd2 sent",
     "With HTTP 300, a bank may speak of a payment that it has",
     "With HTTP 302, a bank may speak of a payment that it has",
     "With HTTP 307, a bank may speak of a payment that it has",
     "With HTTP 402, a bank may speak of a payment that it has",
     "With HTTP 407, a bank may speak of a payment that it has",
     "With HTTP 408, a bank may speak of a payment that it has",
     "With HTTP 409, a bank may speak of a payment that it has",
     "With HTTP 410, a bank may speak of a payment that it has",
     "With HTTP 411, a bank may speak of a payment that it has",
     "With HTTP 412, a bank may speak of a payment that it has",
     "With HTTP 413, a bank may speak of a payment that it has",
     "With HTTP 414, a bank may speak of a payment that it has",
     "With HTTP 417, a bank may speak of a payment that it has",
     "With HTTP 420, a bank may speak of a payment that it has",
     "With HTTP 422, a bank may speak of a payment that it has",
     "With HTTP 423, a bank may speak of a payment that it has",
     "With HTTP 424, a bank may speak of a payment that it has",
     "With HTTP 425, a bank may speak of a payment that it has",
     "With HTTP 426, a bank may speak of a payment that it has",
     "With HTTP 428, a bank may speak of a payment that it has",
     "With HTTP 429, a bank may speak of a payment that it has",
     "With HTTP 431, a bank may speak of a payment that it has",
     "With HTTP 451, a bank may speak of a payment that it has",
     "With HTTP 500, a bank may speak of a payment that it has",
     "With HTTP 501, a bank may speak of a payment that it has",
     "With HTTP 502, a bank may speak of a payment that it has",
     "With HTTP 503, a bank may speak of a payment that it has",
     "With HTTP 504, a bank may speak of a payment that it has", "began"]
  `);
});

/** Refusals that prove that nothing began, each in one answer. */
const PROVEN = ROWS.filter(
  ({ says, status, before, bank }) =>
    says === 'nothing began' && status >= 400 && !before && bank?.payments?.repeat !== 'same-answer',
);

describe('no refusal proves anything any more', () => {
  const adding =
    (more: object) =>
    ({ body, ...row }: Row) => ({
      ...row,
      body: typeof body === 'object' && body !== null ? { ...body, ...more } : more,
      ...(row.bytes !== undefined && {
        bytes: JSON.stringify({ ...JSON.parse(textOf(row.bytes)), ...more }),
      }),
    });
  it.each<[string, (row: Row) => Row]>([
    ['with a status for what a bank has', (row) => ({ ...row, status: 409 })],
    ['with a status for a bank that fails', (row) => ({ ...row, status: 500 })],
    ['with more on the connection', (row) => ({ ...row, more: true })],
    ['with the id of a payment', adding({ paymentId: '8f2c' })],
    ['with a link', adding({ _links: { self: { href: '/v1/payments/sepa-credit-transfers/8f2c' } } })],
    ['with a status of the payment', adding({ transactionStatus: 'RCVD' })],
    ['with a Location', (row) => ({ ...row, headers: { ...row.headers, location: '/v1/payments/8f2c' } })],
    ['as a page', (row) => ({ ...row, headers: { ...row.headers, 'content-type': 'text/html' } })],
    [
      'with a further error about a duplicate',
      adding({ errorManagement: { errorCode: 'X', errorDescription: 'sent twice' } }),
    ],
    [
      'after an answer that may have begun it',
      (row) => ({ ...row, before: [{ status: 201, body: Buffer.from('{}') }] }),
    ],
    ['after more on the connection of an answer', (row) => ({ ...row, before: [{ more: true }] })],
  ])('%s', (_what, change) => {
    expect(PROVEN.length).toBeGreaterThan(100);
    const left = PROVEN.map(change).filter((row) => judge(row).says === 'nothing began');
    expect(left.map(({ name }) => name)).toEqual([]);
  });

  it('with the X-Request-ID of another request, unless the bank writes its own', () => {
    const headers = { 'x-request-id': '11111111-1111-4111-8111-111111111111' };
    const left = PROVEN.filter(({ bank }) => bank?.headers?.requestId !== 'any').filter(
      (row) => judge({ ...row, headers: { ...row.headers, ...headers } }).says === 'nothing began',
    );
    expect(left).toEqual([]);
  });

  it('with a further error that the bank says of a payment that it has, but for who executes nothing without SCA', () => {
    const further = { errorManagement: { errorCode: 'PAYMENT_FAILED' } };
    const left = PROVEN.filter(
      ({ bank }) => bank?.payments?.executesWithoutSca !== 'never' && bank?.payments?.refusals === undefined,
    ).filter((row) => judge(adding(further)(row)).says === 'nothing began');
    expect(left).toEqual([]);
  });
});

describe('what nobody thought of', () => {
  const code = fc.constantFrom(
    'FORMAT_ERROR',
    'PRODUCT_INVALID',
    'PAYMENT_FAILED',
    'X',
    '400',
    '',
    null,
    400,
    true,
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom("'creditorName' is wrong", 'already', '&#0;&#x110000;&', '\ud800'),
  );
  const message = fc.record(
    {
      category: fc.constantFrom('ERROR', 'WARNING', null, 1),
      code,
      text,
      path: fc.oneof(text, fc.constantFrom('a.b[0]', '$', '//', null)),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        tppMessages: fc.oneof(fc.array(message), message, fc.jsonValue()),
        _links: fc.jsonValue(),
        errorManagement: fc.jsonValue(),
      },
      { requiredKeys: ['tppMessages'] },
    ),
    fc.record(
      { title: text, code, detail: text, additionalErrors: fc.oneof(fc.array(message), fc.jsonValue()) },
      { requiredKeys: [] },
    ),
  );
  const status = fc.constantFrom(200, 201, 202, 302, 400, 401, 403, 404, 409, 500);
  const xml = fc.constantFrom(undefined, '<', '<a><b', '<a>x</a></b>', '--x\r\n{', '{', '', 'null', '[]');

  it('has a verdict, whatever JSON comes', () => {
    fc.assert(
      fc.property(status, body, xml, (code_, json, sentBody) => {
        const { says } = judge({
          status: code_,
          body: json,
          sent: sentBody === undefined ? {} : { xml: sentBody },
        });
        expect(['began', 'nothing began', 'unknown']).toContain(says);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is unknown, whatever bytes come', () => {
    fc.assert(
      fc.property(status, fc.uint8Array(), fc.string({ unit: 'binary' }), (code_, bytes, type) => {
        const { says } = judge({
          status: code_,
          bytes: Buffer.from(bytes),
          headers: { 'content-type': type },
        });
        expect(says).toBe('unknown');
      }),
      { numRuns: 1_000 },
    );
  });
});

function textOf(bytes: string | Buffer): string {
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

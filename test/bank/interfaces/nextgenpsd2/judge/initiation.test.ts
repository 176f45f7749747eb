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

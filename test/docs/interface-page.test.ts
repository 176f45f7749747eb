import { describe, expect, it } from 'vitest';
import { readPage } from './pages.ts';

/** The rows of all tables, without their headings. */
const rows = readPage('docs/interface.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| what |'))
  .map((line) => line.slice(2, -2).split(' | '));

const CUSTOMER = '/private/customers/{customerId}';
const PRODUCT = `${CUSTOMER}/products/{productId}`;

/** The endpoints of the interface specification. */
const ENDPOINTS = [
  'GET /auth/oauth/v2/authorize',
  'POST /auth/oauth/v2/token',
  'POST /auth/oauth/v2/token/revoke',
  'GET /private/customers/customerid-info',
  `GET ${CUSTOMER}/accounts`,
  `GET ${CUSTOMER}`,
  `GET ${CUSTOMER}/products`,
  `GET ${PRODUCT}`,
  `GET ${PRODUCT}/balance/retrieve`,
  `GET ${PRODUCT}/transactions/retrieve`,
  `POST ${CUSTOMER}/consent/request`,
  'GET /private/auth/security/sca/{resourceId}/approach',
  `PUT ${CUSTOMER}/consent/request/{resourceId}/confirm`,
  `GET ${PRODUCT}/<OPERATION_NAME>/prepare`,
  `POST ${PRODUCT}/<OPERATION_NAME>/verify`,
  `PUT ${PRODUCT}/<OPERATION_NAME>/{resourceId}/verify<NUMBER>`,
  'GET /private/operations/{resourceId}/status',
  `PUT ${PRODUCT}/<OPERATION_NAME>/{resourceId}/execute`,
  `GET ${PRODUCT}/common/printer/{resourceId}/retrieve`,
  `GET ${PRODUCT}/moneyTransfer/prepare`,
  `POST ${PRODUCT}/moneyTransfer/verify`,
  `PUT ${PRODUCT}/moneyTransfer/{resourceId}/execute`,
  `GET ${PRODUCT}/moneyTransfer/{resourceId}/execution/status`,
];

/** The headers of the interface specification. */
const HEADERS = [
  ...[
    'Authorization',
    'TPP-Transaction-ID',
    'TPP-Request-ID',
    'TPP-Certificate',
    'Signature',
    'Digest',
    'Date',
  ],
  ...['PSU-IP-Address', 'Accept', 'Content-Type', 'Accept-Language', 'CB-Trace-Id', 'cb-apitrack-id'],
  'TPP-Redirect-URI',
];

/** The HTTP statuses of the interface specification. */
const STATUSES = ['200', '204', '302', '400', '401', '403', '412', '417', '420', '422', '500'];

describe('the page docs/interface.md', () => {
  it.each([...ENDPOINTS, ...HEADERS])('docs/interface.md has a row for `%s`', (name) => {
    const found = rows.filter(([what]) => what === `\`${name}\`` || what?.startsWith(`\`${name}\`,`));
    expect(found).not.toEqual([]);
  });

  it.each(STATUSES)('docs/interface.md has a row for the status %s', (status) => {
    expect(rows.filter(([what]) => what === status)).toHaveLength(1);
  });
});

import { expect, it } from 'vitest';
import { success } from '../../answers.ts';
import { PLAIN_FACTS, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

// A route is what the log, the metrics and the counters of calls know of one: no id of a customer, an account or a payment may be in it.

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const CUSTOMER = '/private/customers/1234567';
const PRODUCT = `${CUSTOMER}/products/0000012345`;
const [customer, product] = ['/private/customers/{customer}', '/products/{product}'];

/** The calls of psd2, with the ids of a bank, and what stays of them. */
const ROUTES: readonly [path: string, route: string, kind: string][] = [
  ['/auth/oauth/v2/authorize?client_id=c&state=s', '/auth/oauth/v2/authorize', 'auth'],
  ['/auth/oauth/v2/token', '/auth/oauth/v2/token', 'auth'],
  ['/auth/oauth/v2/token/revoke', '/auth/oauth/v2/token/revoke', 'auth'],
  ['/private/customers/customerid-info', '/private/customers/customerid-info', 'ais'],
  [CUSTOMER, customer, 'ais'],
  [`${CUSTOMER}/accounts`, `${customer}/accounts`, 'ais'],
  [`${CUSTOMER}/products`, `${customer}/products`, 'ais'],
  [`${CUSTOMER}/consent/request`, `${customer}/consent/request`, 'consent'],
  [`${CUSTOMER}/consent/request/c-1/confirm`, `${customer}/consent/request/{resource}/confirm`, 'consent'],
  [PRODUCT, `${customer}${product}`, 'ais'],
  [`${PRODUCT}/balance/retrieve`, `${customer}${product}/balance/retrieve`, 'ais'],
  [`${PRODUCT}/transactions/retrieve?page=2`, `${customer}${product}/transactions/retrieve`, 'ais'],
  [
    `${PRODUCT}/common/printer/r-1/retrieve`,
    `${customer}${product}/common/printer/{resource}/retrieve`,
    'pis',
  ],
  [`${PRODUCT}/moneyTransfer/prepare`, `${customer}${product}/{operation}/prepare`, 'pis'],
  [`${PRODUCT}/moneyTransfer/verify`, `${customer}${product}/{operation}/verify`, 'pis'],
  [`${PRODUCT}/moneyTransfer/r-1/execute`, `${customer}${product}/{operation}/{resource}/execute`, 'pis'],
  [
    `${PRODUCT}/moneyTransfer/r-1/execution/status`,
    `${customer}${product}/{operation}/{resource}/execution/status`,
    'pis',
  ],
  [`${PRODUCT}/moneyTransfer/r-1/details`, `${customer}${product}/{operation}/{resource}/{step}`, 'pis'],
  ['/private/operations/r-1/status', '/private/operations/{resource}/status', 'consent'],
  ['/private/auth/security/sca/r-1/approach', '/private/auth/security/sca/{resource}/approach', 'consent'],
  // Those of `psd2 api`, whose ids psd2 does not know.
  ['/private/customers/1234567/cards/4111', '{other}', 'other'],
  ['/v2/private/customers/1234567', '{other}', 'other'],
  ['/', '{other}', 'other'],
];

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

it.each(ROUTES)('a call of %s is known as %s, which is %s', async (path, route, kind) => {
  recorded.expect('GET', path, success('{}'));
  const { exchange } = openClient();
  const answer = await exchange({ method: 'GET', path, facts: PLAIN_FACTS, transactionId });
  expect(answer.route).toEqual({ path: route, kind });
});

import { randomUUID } from 'node:crypto';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import * as z from 'zod';
import { playCustomer } from '../../../../src/sandbox/player/play-customer.ts';
import { CURRENT, consentBody } from '../door-client.ts';
import { paymentBody } from '../payment-client.ts';
import { CALLS, REFUSAL } from './description.ts';

/** An answer of the sandbox, as a client of another hand got it. */
export interface Answer {
  status: number;
  body: unknown;
}

/**
 * Makes a call of the description.
 *
 * @param values of the parameters, wherever they belong
 */
export type Call = (operationId: string, values: Record<string, string>, body?: object) => Promise<Answer>;

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);

/** Makes a call, and holds the answer against the standard. */
function checked(call: Call): Call {
  return async (operationId, values, body) => {
    const answer = await call(operationId, { 'X-Request-ID': randomUUID(), ...values }, body);
    const [status, schema] = CALLS[operationId]?.answers ?? [];
    const validate = ajv.compile(String(answer.status) === status ? (schema ?? false) : REFUSAL);
    expect([validate(answer.body), validate.errors], `${operationId} ${JSON.stringify(answer)}`).toEqual([
      true,
      null,
    ]);
    return answer;
  };
}

const started = z.looseObject({
  consentId: z.optional(z.string()),
  paymentId: z.optional(z.string()),
  _links: z.looseObject({
    scaRedirect: z.object({ href: z.string() }),
    scaStatus: z.object({ href: z.string() }),
  }),
});

/** Has the customer authorise what an answer asks for. Nobody listens where the browser would go. */
async function authorise({ body }: Answer) {
  const answer = started.parse(body);
  const { finalUrl } = await playCustomer(answer._links.scaRedirect.href, { user: 'anna' });
  expect(finalUrl).toBe(RETURN['TPP-Redirect-URI']);
  return answer;
}

const RETURN = { 'PSU-IP-Address': '192.0.2.10', 'TPP-Redirect-URI': 'https://tpp.example/back' };

/** A client of another hand reads accounts and pays, with the defaults of its library. */
export async function readAndPay(client: Call): Promise<void> {
  const call = checked(client);
  const consent = await authorise(await call('createConsent', RETURN, consentBody()));
  const consentId = consent.consentId ?? '';
  expect((await call('getConsentStatus', { consentId })).body).toEqual({ consentStatus: 'valid' });

  const reading = { 'Consent-ID': consentId };
  // This call does not use PSU-ID.
  const list = await call('getAccountList', { ...reading, 'PSU-ID': 'anna', withBalance: 'true' });
  expect(list.body).toMatchObject({ accounts: [{ resourceId: CURRENT }, {}] });
  const account = { ...reading, 'account-id': CURRENT };
  expect((await call('getBalances', account)).status).toBe(200);
  const rows = await call('getTransactionList', {
    ...account,
    bookingStatus: 'both',
    dateFrom: '2026-10-01',
  });
  expect(rows.status).toBe(200);
  expect((await call('getBalances', { ...account, 'Consent-ID': 'unknown' })).status).toBe(400);

  const product = { 'payment-product': 'sepa-credit-transfers' };
  const begun = await authorise(await call('initiatePayment', { ...RETURN, ...product }, paymentBody()));
  const payment = { ...product, paymentId: begun.paymentId ?? '' };
  const authorisationId = begun._links.scaStatus.href.split('/').at(-1) ?? '';
  const sca = await call('getPaymentInitiationScaStatus', { ...payment, authorisationId });
  expect(sca.body).toEqual({ scaStatus: 'finalised' });
  expect((await call('getPaymentInitiationStatus', payment)).body).toEqual({ transactionStatus: 'ACSP' });
}

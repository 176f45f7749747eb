import * as z from 'zod/mini';
import type { ConsentCategoryRequest } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import { consentAnswer } from '../../wire/consent.ts';
import type { Bank } from '../call/bank.ts';
import type { BeforeSend } from '../call/exchange.ts';
import { assertDone } from './belonging.ts';
import { customerPath } from './customers.ts';
import { pathSegment } from './path-segment.ts';

/**
 * Requests a consent (interface specification, "Consent").
 *
 * @returns the resource that the customer authorises, and for each category whether the bank would grant it
 * @throws Psd2Error
 */
export async function requestConsent(
  bank: Bank,
  request: {
    customerId: string;
    categories: ConsentCategoryRequest[];
    transactionId: string;
    beforeSend: BeforeSend;
  },
): Promise<{ resourceId: string; outcomes: { name: string; outcome: boolean }[] }> {
  const { data, envelope } = await bank.call(
    {
      method: 'POST',
      path: `${customerPath(request.customerId)}/consent/request`,
      body: { data: { categories: request.categories.map(({ name, products }) => ({ name, products })) } },
      transactionId: request.transactionId,
      beforeSend: request.beforeSend,
    },
    consentAnswer,
  );
  if (!envelope.resourceId) {
    throw new Psd2Error(
      'bank_answer',
      "The bank's answer to the consent request has no resources.resourceId",
      {
        transactionId: request.transactionId,
      },
    );
  }
  return { resourceId: envelope.resourceId, outcomes: data.categoriesOutcome };
}

/**
 * Confirms a consent that the customer has authorised. The body is `{}`.
 *
 * @throws Psd2Error; `bank_answer` for an answer that belongs to another request
 */
export async function confirmConsent(
  bank: Bank,
  consent: { customerId: string; resourceId: string; transactionId: string; beforeSend: BeforeSend },
): Promise<void> {
  const { envelope } = await bank.call(
    {
      method: 'PUT',
      path: `${customerPath(consent.customerId)}/consent/request/${pathSegment(consent.resourceId)}/confirm`,
      body: {},
      transactionId: consent.transactionId,
      beforeSend: consent.beforeSend,
      irrevocable: true,
    },
    z.unknown(),
  );
  assertDone(envelope, { name: 'confirm', ...consent });
}

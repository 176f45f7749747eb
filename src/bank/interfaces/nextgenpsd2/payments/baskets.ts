import * as z from 'zod/mini';
import type { Initiation } from '../../../../domain/operation.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { Baskets } from '../../../ports/basket.ts';
import type { BeforeSend } from '../../../ports/call.ts';
import type { Sca } from '../../../ports/customer.ts';
import type { PaymentCalls } from '../../../ports/payment-calls.ts';
import type { OAuth } from '../access/oauth.ts';
import { linksOf, type Resource, scaOf, timed, usableLinks } from '../access/sca.ts';
import { ask, type NextGenAnswer, readAnswer, readBegun, readDeletion } from '../wire/answer.ts';
import { begunWith, type Calls, lackingService } from '../wire/calls.ts';
import { scaPart } from '../wire/consent.ts';
import { costIn, costPart } from '../wire/costs.ts';
import { headerId, optionalMessage } from '../wire/fields.ts';
import { callOf } from '../wire/paths.ts';
import { authorisationsAnswer, transactionStatus } from '../wire/payment.ts';
import { reasonsIn } from '../wire/reasons.ts';
import { saidBeside } from '../wire/said-beside.ts';
import { termsOf } from './initiation.ts';
import { assertHolds } from './ordered.ts';
import { aboutPayment, rejectedIn } from './payment-calls.ts';
import { isPastAuthorisation, resourceStatus } from './payment-status.ts';
import { sendInitiation } from './send-initiation.ts';

/**
 * The signing baskets of the standard (NextGenPSD2 1.3, `signing-baskets`): payments that the bank has, authorised with one SCA. The
 * bank file does not say whether a bank has them: one without them refuses the first.
 */
export function basketsOf(calls: Calls, oauth: OAuth): Baskets {
  return {
    initiation: (paymentIds, back, newId) => ({
      service: 'signing-baskets',
      product: '',
      endToEndId: newId().replaceAll('-', ''),
      body: JSON.stringify({ paymentIds }),
      ...termsOf(calls.description, back),
    }),
    refuseOther: assertHolds,
    calls: (basket) => basketCalls({ ...calls, oauth, ...basket }),
  };
}

/** A basket, with what its calls share. */
interface Basket extends Calls {
  oauth: OAuth;
  transactionId: string;
  initiation: Initiation;
}

const NOT_INSTANT = { instant: false, futureDated: false };

function basketCalls(created: Basket): PaymentCalls {
  const basket = { ...created, bank: aboutPayment(created.bank, created.transactionId) };
  const { bank, paths, transactionId } = basket;
  const sca = scaOfBasket(basket);
  return {
    name: 'signing basket',
    verify: (beforeSend, requestId) => create(created, beforeSend, requestId),
    verifyFurther: () => Promise.reject(lackingService('further steps of a verification')),
    execute: null,
    executionStatus: null,
    sca,
    cancellation: {
      sca,
      // It ends the basket alone: its payments stay at the bank, and can be authorised or cancelled one by one.
      async request({ resourceId: basketId, beforeSend, wasTaken }) {
        const call = callOf(paths, 'deleteSigningBasket', { basketId }, transactionId);
        return bank.ask({ ...call, beforeSend }, (answer) => {
          const { verdict, notices } = readDeletion(answer, { what: 'signing basket', wasTaken });
          return { verdict: verdict === 'is gone' ? verdict : ('taken' as const), notices };
        });
      },
    },
  };
}

function scaOfBasket(basket: Basket): Sca {
  const { bank, paths, description, transactionId } = basket;
  return scaOf(basket, basket.oauth, {
    resource: basketResource,
    oauth: { scope: description.oauth.scope.pis, id: 'paymentId' },
    async status(basketId, _, decides) {
      const call = callOf(paths, 'getSigningBasketStatus', { basketId }, transactionId);
      const basketStatus = await bank.ask({ ...call, decides: decides || true }, readStatus);
      // As soon as the bank has checked it, the customer has nothing more to do for it.
      return resourceStatus(basketStatus, NOT_INSTANT, description.payments.final);
    },
    async authorisations(basketId) {
      const call = callOf(paths, 'getSigningBasketAuthorisation', { basketId }, transactionId);
      return (await ask(bank, { ...call, decides: true }, authorisationsAnswer)).data.authorisationIds;
    },
  });
}

function readStatus(answer: NextGenAnswer) {
  const { data, notices } = readAnswer(answer, basketStatusAnswer);
  const { json, messages } = answer.reply;
  const reasons = reasonsIn(json, 'group', messages);
  return { status: data.transactionStatus, reasons, notices, ...timed('saidAt', answer.headers) };
}

function basketResource(basketId: string): Resource {
  return { start: 'startSigningBasketAuthorisation', values: { basketId } };
}

/** Creates the basket: the bytes are those of the flow's first event, whenever this is. */
async function create(
  basket: Basket,
  beforeSend: BeforeSend,
  requestId: string | undefined,
): ReturnType<PaymentCalls['verify']> {
  const { bank, paths, transactionId, initiation } = basket;
  const { data, headers, notices, reasons, isRejected, isDuplicate } = await sendInitiation(
    bank,
    {
      ...callOf(paths, 'createSigningBasket', {}, transactionId),
      body: initiation.body,
      beforeSend,
      redirectUri: initiation.returnAddress,
      irrevocable: true,
      judged: 'signing basket',
      ...(requestId !== undefined && { requestId }),
    },
    readCreated,
  );
  const { basketId, transactionStatus, scaStatus } = data;
  const linked = { ...basket, resource: basketResource(basketId) };
  return {
    resourceId: basketId,
    ...(costIn(data) ?? { totalAmount: null, commissions: null }),
    bankName: null,
    nextStep: 'authorisation',
    ...begunWith(basket),
    bank: { transactionStatus, scaStatus },
    links: usableLinks(() => linksOf(data, headers, linked, isPastAuthorisation(transactionStatus))),
    ...saidBeside({ notices, data }),
    ...rejectedIn({ isRejected, isDuplicate, reasons }),
  };
}

/** @throws Psd2Error as {@link readBegun}; `bank_refused` if the bank has no signing baskets */
function readCreated(answer: NextGenAnswer) {
  const { json, messages, verdict } = answer.reply;
  try {
    return { ...readBegun(answer, basketAnswer), reasons: reasonsIn(json, 'group', messages) };
  } catch (error) {
    const isLacking = verdict !== undefined && 'isLacking' in verdict;
    if (!isLacking || !(error instanceof Psd2Error)) throw error;
    const says = `The bank has no signing baskets: ${error.message}`;
    throw error.restated('bank_refused', says).with({ beganNothing: true, lacksService: true });
  }
}

/** The answer to a new signing basket. */
export const basketAnswer = z.object({ transactionStatus, basketId: headerId, ...costPart, ...scaPart });

/** The status of a signing basket. */
export const basketStatusAnswer = z.object({ transactionStatus, psuMessage: optionalMessage });

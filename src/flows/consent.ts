import type { BeforeSend } from '../bank/call/exchange.ts';
import { isBanksRefusal, isInterruption, isOvertaken, isRefusal } from '../bank/call/failure.ts';
import { confirmConsent, requestConsent } from '../bank/endpoints/consents.ts';
import { fetchOperationStatus } from '../bank/endpoints/operations.ts';
import { type Consent, type ConsentEvent, nextConsentStep } from '../domain/consent.ts';
import { type Authorization, isExecuted, isPending, readAuthorization } from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import type { Open } from '../store/ports/flows.ts';
import { announcing } from './announce.ts';
import { lackingResource } from './lacking-resource.ts';
import { findOut } from './outcome/execute-outcome.ts';
import type { FlowPorts } from './ports.ts';
import { awaitAuthorization, type ScaSubject, sendCustomerToSca } from './sca.ts';

type OpenConsent = Open<'consent'>;

/**
 * Takes a consent from where its journal says it stands to its end: request, SCA, confirm (interface
 * specification, "Consent"). Every request is announced in the journal before it leaves and its outcome
 * written after; `confirm` is sent at most once.
 *
 * @returns the confirmed consent
 * @throws Psd2Error for every other end; the journal knows the state then
 */
export async function runConsent(open: OpenConsent, ports: FlowPorts): Promise<Consent> {
  if (open.current.state === 'authorizing') await askHowFar(open, ports);
  const run = new ConsentRun(open, ports);
  for (;;) {
    const consent = open.current;
    switch (nextConsentStep(consent)) {
      case 'request':
        await run.request(consent);
        break;
      case 'authorize':
        await run.authorize(consent);
        break;
      case 'confirm':
        await run.confirm(consent);
        break;
      case 'ask-outcome':
        await run.askOutcome(consent);
        break;
      case 'done':
        return endOf(consent);
    }
  }
}

/** The steps of a consent, and what this very run of them knows that the journal does not say. */
class ConsentRun {
  readonly #open: OpenConsent;
  readonly #ports: FlowPorts;
  /** The customer's decision was waited for since the return. */
  #awaited = false;

  constructor(open: OpenConsent, ports: FlowPorts) {
    this.#open = open;
    this.#ports = ports;
  }

  async request({ customerId, categories, transactionId }: Consent): Promise<void> {
    try {
      const beforeSend = this.#announcing('request-sent', { type: 'request-not-begun' });
      const requested = await requestConsent(this.#ports.bank, {
        customerId,
        categories,
        transactionId,
        beforeSend,
      });
      const { categories: answered } = await this.#open.record({ type: 'requested', ...requested });
      if (!answered.some(({ outcome }) => outcome)) await this.#open.record({ type: 'all-refused' });
    } catch (error) {
      if (isBanksRefusal(error)) await this.#open.record({ type: 'request-refused' });
      throw error;
    }
  }

  async authorize(consent: Consent): Promise<void> {
    try {
      await sendCustomerToSca(this.#ports, subjectOf(consent), {
        beforeSend: this.#announcing('approach-sent'),
        started: async () => {
          await this.#open.record({ type: 'sca-started' });
        },
        returned: async () => {
          await this.#open.record({ type: 'sca-returned' });
        },
      });
    } catch (error) {
      if (consent.state !== 'authorizing' || !isRefusal(error)) throw error;
      // The customer may have decided in the meantime, on a page that an earlier run opened.
      await askHowFar(this.#open, this.#ports);
      if (nextConsentStep(this.#open.current) === 'authorize') throw error;
      return;
    }
    // With the redirect URI elsewhere nothing tells of the return: the status is asked for instead.
    if (this.#open.current.returned) return;
    await this.#open.record(await awaitAuthorization(this.#ports, subjectOf(consent)));
    if (this.#open.current.state === 'authorizing') await this.#open.record({ type: 'sca-returned' });
  }

  async confirm(consent: Consent): Promise<void> {
    const { customerId, transactionId } = consent;
    const { resourceId } = subjectOf(consent);
    const beforeSend = this.#announcing('confirm-sent', { type: 'confirm-not-begun' });
    try {
      await this.#ports.customer.whileWaiting(
        'Confirming the consent',
        confirmConsent(this.#ports.bank, { customerId, resourceId, transactionId, beforeSend }),
      );
      await recordAnswer(this.#open, { type: 'confirmed' });
    } catch (error) {
      if (isInterruption(error) || isOvertaken(error)) throw error;
      // It was not even announced, since there was no token or the journal could not be written; or the
      // journal knows already that it was not begun.
      if (this.#open.current.state !== 'confirming') throw error;
      if (isBanksRefusal(error)) await this.#recordRefusal(consent, error);
      else await recordAnswer(this.#open, { type: 'confirm-unanswered' });
    }
  }

  /** The bank says no to `confirm`; its status may say that it is the customer who did. @throws Psd2Error `error`, else */
  async #recordRefusal(consent: Consent, error: Psd2Error): Promise<void> {
    const decision = await askDecision(this.#ports, consent);
    if (decision && isPending(decision) && !this.#awaited) {
      // The browser was back before the bank knew how the customer has decided.
      await this.#open.record({ type: 'confirm-not-begun' });
      await this.#open.record(await awaitAuthorization(this.#ports, subjectOf(consent)));
      this.#awaited = true;
      return;
    }
    const isDecided = decision !== null && !isPending(decision);
    await this.#open.record(isDecided ? decision : { type: 'confirm-refused' });
    if (!isDecided) throw error;
  }

  async askOutcome(consent: Consent): Promise<void> {
    const decision = await askDecision(this.#ports, consent);
    if (decision && !isPending(decision)) {
      await this.#open.record(decision);
      return;
    }
    if (consent.state !== 'unknown') await this.#open.record({ type: 'confirm-unanswered' });
    throw new Psd2Error(
      'outcome_unknown',
      'The bank gave no usable answer to the confirmation of the consent, and does not tell what became of it',
      {
        ...findOut(
          'consent',
          consent.flow,
          'The first asks the bank again. See too whether the accounts can be read.',
        ),
        transactionId: consent.transactionId,
      },
    );
  }

  #announcing(
    type: Extract<ConsentEvent, { digest: string | null }>['type'],
    notBegun?: { type: 'request-not-begun' | 'confirm-not-begun' },
  ): BeforeSend {
    return announcing<Consent, ConsentEvent>(this.#open, (intent) => ({ type, ...intent }), notBegun);
  }
}

/**
 * Writes down what became of a `confirm` that was sent: also where this process was stopped before the answer came, and
 * another has taken the flow up since and could not tell.
 */
async function recordAnswer(open: OpenConsent, answer: ConsentEvent): Promise<void> {
  try {
    await open.record(answer);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const { state } = await open.reread();
    const isNews = state === 'confirming' || (state === 'unknown' && answer.type === 'confirmed');
    if (isNews) await recordAnswer(open, answer);
  }
}

/** Takes up a consent that the customer was sent to authorise: they may have decided already. */
async function askHowFar(open: OpenConsent, { bank }: FlowPorts): Promise<void> {
  const { resourceId, transactionId } = subjectOf(open.current);
  let decision: Authorization;
  try {
    const { authorizationStatus } = await fetchOperationStatus(bank, resourceId, transactionId);
    decision = readAuthorization(authorizationStatus);
  } catch (error) {
    // A bank that tells nothing of consents: their confirmation decides.
    if (isRefusal(error)) return;
    throw error;
  }
  if (isPending(decision)) return;
  await open.record(decision);
  if (decision.status === 'AUTHORIZED' && !open.current.returned) await open.record({ type: 'sca-returned' });
}

/** What became of a consent that could not be confirmed, or whose confirmation was not answered; null where that is not told. */
async function askDecision({ bank }: FlowPorts, consent: Consent): Promise<ConsentEvent | null> {
  const { resourceId, transactionId } = subjectOf(consent);
  try {
    const { authorizationStatus, executionStatus } = await fetchOperationStatus(
      bank,
      resourceId,
      transactionId,
    );
    if (isExecuted(executionStatus)) return { type: 'confirmed' };
    const decision = readAuthorization(authorizationStatus);
    return decision.status === 'AUTHORIZED' ? null : decision;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/** @throws Psd2Error unless it is confirmed */
function endOf(consent: Consent): Consent {
  const { transactionId } = consent;
  switch (consent.state) {
    case 'rejected':
      throw new Psd2Error('not_authorised', 'The customer did not authorise the consent', { transactionId });
    case 'expired':
      throw new Psd2Error('authorisation_expired', 'The time to authorise the consent has run out', {
        hint: 'Request it again.',
        transactionId,
      });
    case 'cancelled':
      throw new Psd2Error('cancelled', `The consent ${consent.flow} was cancelled before it was confirmed`, {
        hint: 'Request it again.',
        transactionId,
      });
    case 'failed': {
      if (consent.resolution) {
        const { by, note } = consent.resolution;
        throw new Psd2Error(
          'bank_refused',
          `The consent ${consent.flow} has ended: ${by} said that it was not confirmed${note ? `: ${note}` : ''}`,
          { hint: 'Request it again.', transactionId },
        );
      }
      if (consent.categories.every(({ outcome }) => outcome === false)) {
        throw new Psd2Error('bank_refused', 'The bank grants none of the categories for these products', {
          hint: 'See which products the customer has with:',
          next: [['accounts', 'list']],
          transactionId,
        });
      }
      const what = consent.resourceId === null ? 'the request of' : 'to confirm';
      throw new Psd2Error('bank_refused', `The bank refused ${what} the consent ${consent.flow}`, {
        hint: 'Request it again. What the bank said is in:',
        next: [['log']],
        transactionId,
      });
    }
    default:
      return consent;
  }
}

function subjectOf({ flow, resourceId, transactionId }: Consent): ScaSubject {
  if (!resourceId) throw lackingResource(flow);
  return {
    transactionId,
    doing: 'authorise the consent',
    whenLate: { hint: 'Go on with:', next: [['consent', 'resume', flow]], flow },
    resourceId,
  };
}

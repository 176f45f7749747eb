import type { BeforeSend } from '../bank/call/exchange.ts';
import { isBanksRefusal, isInterruption, isOvertaken, isRefusal } from '../bank/call/failure.ts';
import { confirmConsent, requestConsent } from '../bank/endpoints/consents.ts';
import { fetchOperationStatus } from '../bank/endpoints/operations.ts';
import { type Consent, type ConsentEvent, nextConsentStep } from '../domain/consent.ts';
import { type Authorization, isExecuted, isPending, readAuthorization } from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenConsent } from '../store/files/journal.ts';
import { findOut } from './execute-outcome.ts';
import { lackingResource } from './lacking-resource.ts';
import type { FlowPorts } from './ports.ts';
import { awaitAuthorization, type ScaSubject, sendCustomerToSca } from './sca.ts';

/**
 * Takes a consent from where its journal says it stands to its end: request, SCA, confirm (interface
 * specification, "Consent"). Every request is announced in the journal before it leaves and its outcome
 * written after; `confirm` is sent at most once.
 *
 * @returns the confirmed consent
 * @throws Psd2Error for every other end; the journal knows the state then
 */
export async function runConsent(open: OpenConsent, ports: FlowPorts): Promise<Consent> {
  const { bank, customer } = ports;
  const { customerId, categories, transactionId } = open.current;
  const announce =
    (
      type: Extract<ConsentEvent, { digest: string | null }>['type'],
      notBegun?: 'request-not-begun' | 'confirm-not-begun',
    ): BeforeSend =>
    (intent) => {
      open.record({ type, ...intent });
      return {
        // Another psd2 may have gone on with the flow while the connection was made, or this process stood still.
        beforeFirstByte: () => open.assertOurs(),
        ...(notBegun && { notBegun: () => open.record({ type: notBegun }) }),
      };
    };

  /** The customer's decision was waited for since the return. */
  let awaited = false;

  if (open.current.state === 'authorizing') await askHowFar(open, ports);
  for (;;) {
    const consent = open.current;
    switch (nextConsentStep(consent)) {
      case 'request': {
        try {
          const requested = await requestConsent(bank, {
            customerId,
            categories,
            transactionId,
            beforeSend: announce('request-sent', 'request-not-begun'),
          });
          const { categories: answered } = open.record({ type: 'requested', ...requested });
          if (!answered.some(({ outcome }) => outcome)) open.record({ type: 'all-refused' });
        } catch (error) {
          if (isBanksRefusal(error)) open.record({ type: 'request-refused' });
          throw error;
        }
        break;
      }

      case 'authorize': {
        try {
          await sendCustomerToSca(ports, subjectOf(consent), {
            beforeSend: announce('approach-sent'),
            started: () => open.record({ type: 'sca-started' }),
            returned: () => open.record({ type: 'sca-returned' }),
          });
        } catch (error) {
          if (consent.state !== 'authorizing' || !isRefusal(error)) throw error;
          // The customer may have decided in the meantime, on a page that an earlier run opened.
          await askHowFar(open, ports);
          if (nextConsentStep(open.current) === 'authorize') throw error;
          break;
        }
        // With the redirect URI elsewhere nothing tells of the return: the status is asked for instead.
        if (!open.current.returned) {
          open.record(await awaitAuthorization(ports, subjectOf(consent)));
          if (open.current.state === 'authorizing') open.record({ type: 'sca-returned' });
        }
        break;
      }

      case 'confirm': {
        const { resourceId } = subjectOf(consent);
        try {
          await customer.whileWaiting(
            'Confirming the consent',
            confirmConsent(bank, {
              customerId,
              resourceId,
              transactionId,
              beforeSend: announce('confirm-sent', 'confirm-not-begun'),
            }),
          );
          recordAnswer(open, { type: 'confirmed' });
        } catch (error) {
          if (isInterruption(error) || isOvertaken(error)) throw error;
          // It was not even announced, since there was no token or the journal could not be written; or the
          // journal knows already that it was not begun.
          if (open.current.state !== 'confirming') throw error;
          if (!isBanksRefusal(error)) {
            recordAnswer(open, { type: 'confirm-unanswered' });
            break;
          }
          // The bank says no; its status may say that it is the customer who did.
          const decision = await askDecision(ports, consent);
          if (decision && isPending(decision) && !awaited) {
            // The browser was back before the bank knew how the customer has decided.
            open.record({ type: 'confirm-not-begun' });
            open.record(await awaitAuthorization(ports, subjectOf(consent)));
            awaited = true;
            break;
          }
          const isDecided = decision !== null && !isPending(decision);
          open.record(isDecided ? decision : { type: 'confirm-refused' });
          if (!isDecided) throw error;
        }
        break;
      }

      case 'ask-outcome': {
        const decision = await askDecision(ports, consent);
        if (decision && !isPending(decision)) {
          open.record(decision);
          break;
        }
        if (consent.state !== 'unknown') open.record({ type: 'confirm-unanswered' });
        throw new Psd2Error(
          'outcome_unknown',
          'The bank gave no usable answer to the confirmation of the consent, and does not tell what became of it',
          {
            ...findOut(
              'consent',
              consent.flow,
              'The first asks the bank again. See too whether the accounts can be read.',
            ),
            transactionId,
          },
        );
      }

      case 'done':
        return endOf(consent);
    }
  }
}

/**
 * Writes down what became of a `confirm` that was sent: also where this process was stopped before the answer came, and
 * another has taken the flow up since and could not tell.
 */
function recordAnswer(open: OpenConsent, answer: ConsentEvent): void {
  try {
    open.record(answer);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const { state } = open.reread();
    const isNews = state === 'confirming' || (state === 'unknown' && answer.type === 'confirmed');
    if (isNews) recordAnswer(open, answer);
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
  open.record(decision);
  if (decision.status === 'AUTHORIZED' && !open.current.returned) open.record({ type: 'sca-returned' });
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

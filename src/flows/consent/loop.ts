import type { BeforeSend } from '../../bank/ports/call.ts';
import { type Consent, type ConsentEvent, nextConsentStep } from '../../domain/consent.ts';
import { type Authorization, isPending } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import type { Open } from '../../store/ports/flows.ts';
import { announcing, askBefore, type Once, recordOutcome, sendOnce } from '../once.ts';
import { lackingResource } from '../payment/status.ts';
import type { FlowPorts } from '../ports.ts';
import {
  isBanksRefusal,
  isInterruption,
  isOvertaken,
  isRefusal,
  NobodyKnows,
  unconfirmedRefusal,
  withWayOut,
} from '../refusals.ts';
import { awaitAuthorization, type ScaSubject, sendCustomerToSca } from '../sca.ts';

type OpenConsent = Open<'consent'>;

/**
 * Runs a consent from the state in its journal to its end: request, SCA, confirm (interface specification, "Consent").
 * The journal announces each request before it leaves, and records its outcome afterwards. `confirm` is sent at most once.
 * After any refusal of it, and before it is sent again, psd2 asks for the status.
 *
 * @returns the confirmed consent
 * @throws Psd2Error for every other end. The journal then has the state
 */
export async function runConsent(open: OpenConsent, ports: FlowPorts): Promise<Consent> {
  try {
    return await runSteps(open, ports);
  } catch (error) {
    throw withWayOut(open.current, error);
  }
}

async function runSteps(open: OpenConsent, ports: FlowPorts): Promise<Consent> {
  if (open.current.state === 'authorizing') await askHowFar(open, ports);
  const run = new ConsentRun(open, ports);
  await run.askAfterRefusal(open.current);
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

/** The steps of a consent, with the knowledge of this run that is not in the journal. */
class ConsentRun {
  readonly #open: OpenConsent;
  readonly #ports: FlowPorts;
  /** This run has waited for the customer's decision after the return. */
  #awaited = false;
  /** The bank turned `confirm` away in this run. psd2 sends it again only once. */
  #wasTurnedAway = false;

  constructor(open: OpenConsent, ports: FlowPorts) {
    this.#open = open;
    this.#ports = ports;
  }

  async request({ customerId, categories, transactionId }: Consent): Promise<void> {
    try {
      const beforeSend = announcingRequest(this.#open);
      const requested = await this.#ports.bank.consents.request({
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
        beforeSend: announcing<ConsentEvent>(this.#open, (intent) => ({ type: 'approach-sent', ...intent })),
        started: async () => {
          await this.#open.record({ type: 'sca-started' });
        },
        returned: async () => {
          await this.#open.record({ type: 'sca-returned' });
        },
      });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The customer may have decided in the meantime, on a page that an earlier run opened.
      await askHowFar(this.#open, this.#ports).catch((problem: unknown) => {
        throw isInterruption(problem) || isOvertaken(problem) ? problem : error;
      });
      if (nextConsentStep(this.#open.current) === 'authorize') throw error;
      return;
    }
    // If the redirect URI is on another machine, psd2 does not see the return and asks the bank for the status.
    if (this.#open.current.returned) return;
    await this.#open.record(await awaitAuthorization(this.#ports, subjectOf(consent)));
    if (this.#open.current.state === 'authorizing') await this.#open.record({ type: 'sca-returned' });
  }

  confirm(consent: Consent): Promise<void> {
    return sendOnce(this.#confirmation(consent));
  }

  /** `confirm`, as what cannot be undone. */
  #confirmation(consent: Consent): Once<ConsentEvent> {
    const { customerId, transactionId } = consent;
    const { resourceId } = subjectOf(consent);
    return {
      ...onceOf(this.#open),
      send: (beforeSend) =>
        this.#ports.customer.whileWaiting(
          'Confirming the consent',
          this.#ports.bank.consents.confirm({ customerId, resourceId, transactionId, beforeSend }),
        ),
      answered: () => recordOutcome(this.#open, { type: 'confirmed' }),
      asking: {
        turnedAway: TURNED_AWAY,
        ask: (after) => this.#recordsDecision(after),
        again: async () => {
          if (this.#wasTurnedAway) return false;
          this.#wasTurnedAway = true;
          await askHowFar(this.#open, this.#ports);
          return true;
        },
      },
    };
  }

  /** Asks the bank once for the outcome of a `confirm`, and records it. @returns whether its status shows one */
  async #recordsDecision(after: 'refused' | 'turned away'): Promise<boolean> {
    const decision = await askDecision(this.#ports, this.#open.current);
    if (decision && !isPending(decision)) {
      if (after === 'refused') await recordOutcome(this.#open, decision);
      else await this.#open.record(decision);
      return true;
    }
    if (!decision || after === 'turned away' || this.#awaited) return false;
    // The browser returned before the bank knew the customer's decision.
    await this.#open.record(TURNED_AWAY);
    await this.#open.record(await awaitAuthorization(this.#ports, subjectOf(this.#open.current)));
    this.#awaited = true;
    return true;
  }

  /** A consent that a refusal alone has ended may have been confirmed all the same. Ask again if it is resumed. */
  async askAfterRefusal(consent: Consent): Promise<void> {
    if (consent.refusedUnconfirmed && nextConsentStep(consent) === 'done')
      await this.#recordsDecision('turned away');
  }

  async askOutcome({ confirmRequestId, state }: Consent): Promise<void> {
    if (confirmRequestId !== null && (await this.#ports.neverLeft?.(confirmRequestId))) {
      await this.#open.record({ type: 'confirm-not-begun' });
      return;
    }
    if (await this.#recordsDecision('turned away')) return;
    if (state !== 'unknown') await this.#open.record({ type: 'confirm-unanswered' });
    throw new NobodyKnows(
      'The bank gave no usable answer to the confirmation of the consent, and does not report the outcome',
    );
  }
}

/** Announces the request of a consent. Nothing is granted yet, so one that the bank has not read may be sent again. */
export function announcingRequest(open: OpenConsent): BeforeSend {
  const notBegun = { type: 'request-not-begun' } as const;
  return announcing<ConsentEvent>(open, (intent) => ({ type: 'request-sent', ...intent }), {
    notBegun,
    turnedAway: notBegun,
  });
}

/** The bank turned `confirm` away, so it may be sent again. */
const TURNED_AWAY = { type: 'confirm-turned-away' } as const;

/** The words and events of `confirm`. */
function onceOf(open: OpenConsent): Pick<Once<ConsentEvent>, 'open' | 'words' | 'events'> {
  return {
    open,
    words: { call: 'confirm', did: 'confirmed', what: 'the consent' },
    events: {
      sent: (intent) => ({ type: 'confirm-sent', ...intent }),
      revoking: { notBegun: { type: 'confirm-not-begun' } },
      unanswered: () => ({ type: 'confirm-unanswered' }),
      refused: () => ({ type: 'confirm-refused' }),
    },
  };
}

/**
 * Asks for the customer's decision when a consent is resumed during SCA. The customer may already have decided.
 *
 * @throws Psd2Error `outcome_unknown` if `confirm` was sent before, and the bank refuses its status
 */
async function askHowFar(open: OpenConsent, { bank }: FlowPorts): Promise<void> {
  const { resourceId, transactionId } = subjectOf(open.current);
  const ask = async (): Promise<Authorization | { type: 'confirmed' } | null> => {
    const { authorization, became } = await bank.sca.status(resourceId, transactionId, true);
    return became === 'executed' ? { type: 'confirmed' } : authorization;
  };
  const decision = await askBefore(onceOf(open), ask).catch((error: unknown) => {
    // The bank has no status for consents, so their confirmation decides.
    if (isRefusal(error) && !open.current.refusedUnconfirmed) return null;
    throw error;
  });
  if (!decision || isPending(decision)) return;
  await open.record(decision);
  if (decision.type === 'authorization' && decision.status === 'AUTHORIZED' && !open.current.returned)
    await open.record({ type: 'sca-returned' });
}

/** The outcome of a consent whose confirmation was refused or not answered. Null if the bank does not say. */
async function askDecision({ bank }: FlowPorts, consent: Consent): Promise<ConsentEvent | null> {
  const { resourceId, transactionId } = subjectOf(consent);
  try {
    const { authorization, became } = await bank.sca.status(resourceId, transactionId, true);
    if (became === 'executed') return { type: 'confirmed' };
    return authorization.status === 'AUTHORIZED' ? null : authorization;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/** Returns a confirmed consent. @throws Psd2Error for any other end */
export function endOf(consent: Consent): Consent {
  const { transactionId } = consent;
  switch (consent.state) {
    case 'rejected':
      throw new Psd2Error('not_authorised', 'The customer did not authorise the consent', { transactionId });
    case 'expired': {
      const hint = 'Request it again.';
      if (consent.grantedAt !== null)
        throw new Psd2Error('not_authorised', 'The consent has expired', { hint, transactionId });
      throw new Psd2Error('authorisation_expired', 'The customer did not authorise the consent in time', {
        hint,
        transactionId,
      });
    }
    case 'revoked':
      throw new Psd2Error('not_authorised', 'The customer has revoked the consent at the bank', {
        hint: 'Request it again.',
        transactionId,
      });
    case 'cancelled':
      throw new Psd2Error('cancelled', `The consent ${consent.flow} was ${howCancelled(consent)}`, {
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
      if (consent.categories.every(({ outcome }) => outcome === false))
        throw new Psd2Error('bank_refused', 'The bank grants none of the categories for these products', {
          hint: 'See which products the customer has with:',
          next: [['accounts', 'list']],
          transactionId,
        });
      const what = consent.resourceId === null ? 'the request of' : 'to confirm';
      const refused = `The bank refused ${what} the consent ${consent.flow}`;
      if (consent.refusedUnconfirmed)
        throw unconfirmedRefusal(consent, new Psd2Error('bank_refused', refused));
      throw new Psd2Error('bank_refused', refused, {
        hint: 'Request it again. See what the bank said with:',
        next: [['log']],
        transactionId,
      });
    }
    default:
      return consent;
  }
}

function howCancelled({ grantedAt }: Consent): string {
  return grantedAt === null ? 'cancelled before it was confirmed' : 'ended by psd2';
}

function subjectOf({ flow, resourceId, transactionId }: Consent): ScaSubject {
  if (!resourceId) throw lackingResource(flow);
  return {
    transactionId,
    doing: 'authorise the consent',
    whenLate: { hint: 'Continue with:', next: [['consent', 'resume', flow]], flow },
    resourceId,
  };
}

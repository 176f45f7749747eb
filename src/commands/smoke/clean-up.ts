import { writeCommand } from '../../advice.ts';
import type { Consent } from '../../domain/consent.ts';
import { isOpen, isOpenAtBank, isOver, standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import { isNotKnown } from '../../flows/not-known.ts';
import { findOut } from '../../flows/refusals.ts';
import { stillOpen } from '../../flows/still-open.ts';
import type { SmokeWarning } from '../../smoke/result.ts';
import { endLogin } from '../auth/logout.ts';
import { CONSENTS } from '../consent/consents.ts';
import { endConsent } from '../consent/delete.ts';
import type { Context } from '../context.ts';
import { cancelFlow } from '../flow/cancel.ts';
import { forFlow } from '../flow/customer.ts';
import { TRANSFERS } from '../transfer/transfers.ts';
import { printsOf } from './access.ts';
import { giveUp } from './payments.ts';
import type { Made } from './record.ts';
import type { Found, Smoke } from './smoke.ts';

/** What became of something that a run has made: it has ended, it stays at the bank, or it must be ended later. */
type End = { ended: string } | { stays: SmokeWarning } | { gone: true };

/**
 * Ends what a run has made, and nothing else. One that cannot be ended stays noted, and the next run tries again.
 *
 * @param isOwn the run is this one, so what it has made is certainly its own
 * @throws Psd2Error of the first one that could not be ended
 */
export async function endMade(smoke: Smoke, made: readonly Made[], isOwn: boolean): Promise<Found> {
  const context = smoke.cleaning;
  const ended: string[] = [];
  const warnings: SmokeWarning[] = [];
  let failure: unknown;
  // What was made last may need what was made before it.
  for (const each of made.toReversed()) {
    try {
      const end = await endOne(context, each, isOwn);
      if ('ended' in end) ended.push(end.ended);
      if ('stays' in end) warnings.push(end.stays);
      smoke.note((left) => left.filter((other) => other !== each));
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return { detail: ended.length > 0 ? `ended ${ended.join(', ')}` : 'nothing to end', warnings };
}

function endOne(context: Context, made: Made, isOwn: boolean): Promise<End> {
  switch (made.kind) {
    case 'login':
      return endTestLogin(context, made, isOwn);
    case 'consent':
      return endTestConsent(context, made.transactionId);
    case 'transfer':
    case 'payment':
      return endTestTransfer(context, made);
  }
}

async function endTestLogin(
  context: Context,
  { customerId, tokens: prints }: Extract<Made, { kind: 'login' }>,
  isOwn: boolean,
): Promise<End> {
  const { tokens } = await context.store();
  const stored = await tokens.read(customerId);
  if (!stored) return { gone: true };
  // Somebody may have logged the same customer in since.
  if (!isOwn && !printsOf(stored).some((print) => prints.includes(print)))
    return {
      stays: {
        code: 'login_stays',
        message: `the login of customer ${customerId} was made again or renewed since: it stays`,
      },
    };
  await endLogin(context.forCustomer(customerId), customerId, true);
  return { ended: 'the login' };
}

async function endTestConsent(context: Context, transactionId: string): Promise<End> {
  const { flows } = await context.store();
  const { has, customers } = await context.bankInterface();
  for await (const flow of flows.list('consent')) {
    if (flow.transactionId !== transactionId) continue;
    const isAtBank = flow.resourceId !== null;
    if (has.has('consent deletion') && isAtBank) {
      return endAtBank(context, flow);
    }
    const isUndecided = isOpen(flow);
    if (isUndecided) await cancelFlow(context, flow.flow, CONSENTS);
    // Where the customer's SCA alone grants it, they may still do so with the link that they have.
    if (isUndecided && isAtBank && customers === 'named by the operator') {
      const why = 'this bank has no call that ends it, and its customer may still authorise it';
      return { stays: { code: 'consent_stays', message: `the consent ${flow.flow} stays: ${why}` } };
    }
    const isConfirmed = flow.state === 'confirmed';
    // The step has said so. It is as it always is at this bank, so nobody is warned.
    if (isConfirmed && !has.has('consent deletion')) return { gone: true };
    const message = `the consent ${flow.flow} stays: psd2 does not know whether the bank has it`;
    const mayStay = isConfirmed || standingOf(flow) === 'sent';
    return mayStay ? { stays: { code: 'consent_stays', message } } : { ended: `the consent ${flow.flow}` };
  }
  return { gone: true };
}

/** Ends a consent at the bank. One that the bank does not know, or wants the customer for, may stay: no later run could end it either. */
async function endAtBank(context: Context, consent: Consent): Promise<End> {
  try {
    if (consent.state === 'confirmed' || !isOver(consent))
      await endConsent(context, consent.flow, 'is absent');
    return { ended: `the consent ${consent.flow}` };
  } catch (error) {
    const isOpen = error instanceof Psd2Error && error.code === 'still_open';
    if (!isNotKnown(error) && !isOpen) throw error;
    return { stays: { code: 'consent_stays', message: error.message } };
  }
}

function staysAtBank(flow: string, { repeated }: Context): string {
  const cancel = writeCommand(['transfer', 'cancel', flow], repeated);
  return `the transfer ${flow} stays at the bank: its customer must authorise the cancellation. Nobody has the link to pay it. Cancel it with: ${cancel}`;
}

/** @throws Psd2Error `outcome_unknown` if the bank does not say that it has ended, `still_open` if the customer can still authorise it */
async function endTestTransfer(
  context: Context,
  { kind, transactionId }: Made & { transactionId: string },
): Promise<End> {
  const { flows } = await context.store();
  for await (const flow of flows.list('transfer')) {
    if (flow.transactionId !== transactionId) continue;
    const ended = { ended: `the transfer ${flow.flow}` };
    const standing = standingOf(flow);
    if (standing === 'refused') return ended;
    if (standing === 'done') return { gone: true };
    // The bank has it, and nobody has its link: only the bank can end it. The customer may have the link of a payment.
    const isUnlinked = kind === 'transfer' || (flow.state === 'verified' && !flow.linkIsOut);
    if (isUnlinked && flow.commits === 'by the customer' && flow.verification) {
      const opened = await (await forFlow(context, flow)).unattendedBank();
      try {
        await opened.flows.resume('transfer', flow.flow, (open) => giveUp(context, opened, open));
      } catch (error) {
        // No later run could end it either, and the step that was to pay it has said why it did not.
        if (kind === 'payment' && error instanceof Psd2Error && error.code === 'still_open')
          return { stays: { code: 'payment_stays', message: staysAtBank(flow.flow, context) } };
        throw error;
      }
      return ended;
    }
    if (isOpenAtBank(flow)) throw stillOpen(flow, `The transfer ${flow.flow} of a smoke test has not ended.`);
    if (standing === 'sent')
      throw new Psd2Error(
        'outcome_unknown',
        `What became of the transfer ${flow.flow} of a smoke test is not known`,
        {
          ...findOut('transfer', flow.flow, 'First ask the bank again, which never pays twice.'),
          transactionId,
        },
      );
    await cancelFlow(context, flow.flow, TRANSFERS);
    return ended;
  }
  return { gone: true };
}

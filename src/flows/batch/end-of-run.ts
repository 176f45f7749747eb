import { Psd2Error } from '../../errors.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { mayExecuteUnseen } from '../payment/begin.ts';
import { basketWithoutLink } from './basket.ts';
import type { KnownLine } from './known-lines.ts';
import type { Choice } from './pay-share.ts';

// How a run ends: whether all is paid, and what to do if not.

/** Whether the outcome of a payment is unknown because the bank may have its signing basket, which only a person can give up. */
export async function isAnyStuck(flows: Flows, ends: readonly KnownLine[]): Promise<boolean> {
  for (const { outcome, transfer } of ends) {
    const basket = outcome === 'unknown' && transfer ? await basketWithoutLink(flows, transfer) : null;
    if (basket && mayExecuteUnseen(basket)) return true;
  }
  return false;
}

/** @throws Psd2Error `outcome_unknown` (9), `payment_failed` (8), `not_authorised` (6) unless all are paid */
export function refuseUnpaid(
  batch: string,
  ends: readonly KnownLine[],
  { isBasket, isStuck }: Pick<Choice, 'isBasket'> & { isStuck: boolean },
): void {
  const count = (...outcomes: string[]) => ends.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const again = { next: [['batch', 'run', batch]] };
  const unknown = count('unknown');
  if (unknown > 0)
    throw new Psd2Error(
      'outcome_unknown',
      `The outcome of ${unknown} of ${ends.length} payments is not known`,
      whileUnknown(batch, isStuck),
    );
  const open = count('unfinished');
  const refused = count('refused');
  const unpaid = count('not paid');
  const own = ends.filter(({ row: { state, flow } }) => state === 'failed' && flow === null).length;
  const unmade = unpaid + refused + open;
  if (unmade > 0)
    throw new Psd2Error(
      'payment_failed',
      `${unmade} of ${ends.length} payments ${unmade === 1 ? 'was' : 'were'} not made`,
      open > 0
        ? { hint: 'Go on with:', next: [['batch', 'run', batch]] }
        : afterRefusals(batch, { unpaid, refused, own }),
    );
  const awaited = count('awaited');
  const unasked = ends.filter(({ row: { state } }) => state === 'verified').length;
  if (isBasket && unasked > 0)
    throw new Psd2Error(
      'not_authorised',
      `The customer could not be asked for ${unasked} of ${ends.length} payments`,
      {
        hint: 'The bank has the payments, but not the signing basket. Have each payment authorised alone with:',
        next: [['batch', 'run', batch, '--as', 'single']],
      },
    );
  if (awaited > 0)
    throw new Psd2Error(
      'not_authorised',
      `${awaited} of ${ends.length} payments ${awaited === 1 ? 'awaits its' : 'await their'} customer`,
      {
        hint: 'psd2 asks the bank for their decisions with:',
        ...again,
      },
    );
}

/** What to do about payments of which nobody knows what became. @param isStuck as {@link isAnyStuck} says */
function whileUnknown(batch: string, isStuck: boolean): { hint: string; next: string[][] } {
  const run = ['batch', 'run', batch];
  if (!isStuck) return { hint: 'Do not make them again. psd2 asks the bank with:', next: [run] };
  return {
    hint: 'Do not make them again. The bank may have their signing basket, and nobody has its link. Ask the bank again, have each payment authorised alone, or cancel them at the bank, with:',
    next: [run, [...run, '--as', 'single'], ['batch', 'cancel', batch]],
  };
}

/**
 * What to do about payments that were not made.
 *
 * @param refused how many of them the bank has refused by one answer alone
 * @param own how many of the unpaid psd2 has refused before they had a transfer
 */
function afterRefusals(
  batch: string,
  { unpaid, refused, own }: { unpaid: number; refused: number; own: number },
): { hint: string; next: string[][] } {
  if (refused === 0 && own === unpaid)
    return {
      hint: 'psd2 refused them and sent nothing: their reasons say what to correct. See them with:',
      next: [['batch', 'report', batch]],
    };
  const retry = 'Make a new batch of those that are known not to be paid with:';
  if (refused === 0) return { hint: retry, next: [['batch', 'retry', batch]] };
  const kept = `The bank refused ${refused} and does not say that nothing was paid, so psd2 keeps their references until psd2 transfer resolve ends them.`;
  return unpaid > 0
    ? { hint: `${kept} ${retry}`, next: [['batch', 'retry', batch]] }
    : { hint: `${kept} psd2 asks the bank again with:`, next: [['batch', 'run', batch]] };
}

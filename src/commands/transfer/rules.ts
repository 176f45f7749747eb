// What a transfer is refused for before anything is sent that moves money (command contract, "One set of rules").

import Big from 'big.js';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';

/** @throws Psd2Error `confirmation_needed` when nothing and nobody can say who the payee of an instant transfer is */
export function refuseUncheckedPayee(
  { terminal }: Context,
  { settings }: Profile,
  { instant, payeeVerified }: { instant: boolean; payeeVerified: boolean },
): void {
  if (!instant || payeeVerified || settings.payeeCheck !== undefined || terminal.canAsk) return;
  throw new Psd2Error(
    'confirmation_needed',
    'An instant transfer needs the payee to be verified, and there is no terminal to ask at',
    {
      hint: 'Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. Nothing was sent.',
    },
  );
}

/** @throws Psd2Error `invalid_amount` when the profile does not let so much be sent at once */
export function refuseAboveLimit(
  profile: Profile,
  { amount, currency }: Pick<TransferOrder, 'amount' | 'currency'>,
): void {
  const limit = maxAmountOf(profile);
  if (limit === null || new Big(amount).lte(limit)) return;
  throw new Psd2Error(
    'invalid_amount',
    `The amount ${amount} ${currency} is more than the ${limit} ${currency} that the profile ${profile.name} allows`,
    { hint: 'Nothing was sent. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.' },
  );
}

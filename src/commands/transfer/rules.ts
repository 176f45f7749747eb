// The rules that refuse a transfer before psd2 sends anything that moves money (command contract, "One set of rules").

import Big from 'big.js';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';

/** @throws Psd2Error `confirmation_needed` if no check, option or person can verify the payee of an instant transfer */
export function refuseUncheckedPayee(
  { terminal }: Context,
  { settings }: Profile,
  { instant, payeeVerified }: { instant: boolean; payeeVerified: boolean },
): void {
  if (!instant || payeeVerified || settings.payeeCheck !== undefined || terminal.canAsk) return;
  throw new Psd2Error(
    'confirmation_needed',
    'An instant transfer needs a verified payee, and there is no terminal to ask at',
    {
      hint: 'Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. psd2 has sent nothing.',
    },
  );
}

/** @throws Psd2Error `invalid_amount` if the amount is above the profile's limit */
export function refuseAboveLimit(
  profile: Profile,
  { amount, currency }: Pick<TransferOrder, 'amount' | 'currency'>,
): void {
  const limit = maxAmountOf(profile);
  if (limit === null || new Big(amount).lte(limit)) return;
  throw new Psd2Error(
    'invalid_amount',
    `The amount ${amount} ${currency} is more than the ${limit} ${currency} that the profile ${profile.name} allows`,
    {
      hint: 'psd2 has sent nothing. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.',
    },
  );
}

import { createHash } from 'node:crypto';

/** @throws TypeError if a command opened the data of a profile without its bank */
export function requireBank(bank: URL | undefined): URL {
  if (bank === undefined) throw new TypeError('PINs are counted by bank, and none is named');
  return bank;
}

/**
 * Whose PINs are counted together: the same person at the same bank, whatever the profile, and however the operator has written both.
 * Most banks read `Anna` and `anna` as one: to ask a person once more is better than to block a customer.
 */
export function keyOfPins({ origin, pathname }: URL, psuId: string | undefined): string {
  const bank = `${origin.replace(/\.(?=:|$)/, '')}${pathname.replace(/\/+$/, '').toLowerCase()}`;
  const person = psuId?.normalize('NFKC').toLowerCase().replace(/\s/gu, '');
  return createHash('sha256')
    .update(JSON.stringify([bank, person ?? null]))
    .digest('hex');
}

import { createHash } from 'node:crypto';

/** @throws TypeError if a command opened the data of a profile without its bank */
export function requireBank(bank: URL | undefined): URL {
  if (bank === undefined) throw new TypeError('PINs are counted by bank, and none is named');
  return bank;
}

/** Whose PINs are counted together: the same person at the same bank, whatever the profile. */
export function keyOfPins(bank: URL, psuId: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([bank.href, psuId ?? null]))
    .digest('hex');
}

import { Psd2Error } from '../../errors.ts';
import type { Environment } from '../machine/settings.ts';

/**
 * Whether this machine may keep tokens in clear text if it has no key (`PSD2_STORE_PLAIN_TOKENS`). The database alone must not
 * decide this.
 *
 * @throws Psd2Error `config` for any value but yes and no
 */
export function mayKeepPlainTokens({ PSD2_STORE_PLAIN_TOKENS: value = '' }: Environment): boolean {
  if (value === '1' || value === 'true') return true;
  if (value === '0' || value === 'false' || value === '') return false;
  throw new Psd2Error('config', `PSD2_STORE_PLAIN_TOKENS is ${JSON.stringify(value)}, and must be 1 or 0`, {
    hint: 'With 1, this machine stores tokens in clear text in a database that psd2 store init --plain-tokens has prepared.',
  });
}

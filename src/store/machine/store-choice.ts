import { Psd2Error } from '../../errors.ts';
import type { Environment } from './settings.ts';
import type { RememberedStore } from './store-memory.ts';

/** Where the choice of a store comes from (command contract, "Precedence"). */
export type StoreSource = 'environment' | 'profile' | 'default';

/** A chosen store. Without an address it is the configuration folder. */
export interface StoreChoice {
  source: StoreSource;
  /** Of the database. In the environment it may contain a password. */
  address: string | undefined;
}

/**
 * Chooses the store: `PSD2_STORE`, else the setting of the profile, else the configuration folder.
 *
 * @param remembered what this machine remembers of the profile
 * @throws Psd2Error `config` if `PSD2_STORE` is not the address of a database
 */
export function chooseStore(env: Environment, remembered: RememberedStore | undefined): StoreChoice {
  const { PSD2_STORE: address } = env;
  if (address) {
    if (isDatabaseAddress(address)) return { source: 'environment', address };
    throw new Psd2Error('config', 'PSD2_STORE is not the address of a database', {
      hint: 'Give postgres://user@host:5432/database, or unset it: the store is then the configuration folder.',
    });
  }
  if (!remembered?.isSet) return { source: 'default', address: undefined };
  return { source: 'profile', address: remembered.home === 'postgres' ? remembered.address : undefined };
}

/** For the operator: where the choice comes from, and whether the machine remembers the store. */
export function describeChoice(source: StoreSource, isRemembered: boolean): string {
  const from = { environment: 'PSD2_STORE', profile: 'setting of the profile', default: 'default' }[source];
  return isRemembered ? `${from}; remembered` : from;
}

/** Whether a text is meant as the address of a database. */
export function isDatabaseAddress(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/**
 * Refuses an address with a password in an argument, and does not repeat it. The user and password of an address end at its
 * last @. The password begins after the first colon, and may contain anything.
 *
 * @param option that has the address, for example `--store`
 * @throws Psd2Error `usage`
 */
export function refusePassword(option: string, address: string): void {
  if (!containsPassword(address)) return;
  throw new Psd2Error(
    'usage',
    `${option} contains a password, which others can read in the list of processes`,
    { hint: 'Leave it out, and set PGPASSWORD or PGPASSFILE. Or set the address in PSD2_STORE.' },
  );
}

/** The address of a database, without its passwords. */
export function hidePassword(address: string): string {
  if (!containsPassword(address)) return address;
  return address
    .replace(/^([^:]*:\/\/)([^:]*).*@/s, '$1$2@')
    .replace(/([?&](?:password|sslpassword)=)[^&]*/gi, '$1…');
}

/** Whether the address of a database contains a password. */
export function containsPassword(address: string): boolean {
  const [, user = ''] = /^[^:]*:\/\/(.*)@/s.exec(address) ?? [];
  return user.includes(':') || /[?&](?:password|sslpassword)=/i.test(address);
}

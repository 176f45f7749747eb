import type { BankHead } from '../bank-file/description.ts';
import type { KnownInterface } from './call/call.ts';

/** The interfaces that psd2 knows, by their names. Each is loaded when a profile needs it. */
export const INTERFACES: Record<string, (bank: BankHead | undefined) => Promise<KnownInterface>> = {
  cb: async () => (await import('./interfaces/cb/interface.ts')).cb,
  nextgenpsd2: async (bank) => {
    const { isNextGenPsd2 } = await import('./interfaces/nextgenpsd2/description/description.ts');
    if (!isNextGenPsd2(bank))
      throw new TypeError('A bank of the interface nextgenpsd2 needs its description');
    return (await import('./interfaces/nextgenpsd2/interface.ts')).nextgenpsd2(bank);
  },
};

/** The interface of a profile that names none. */
export const DEFAULT_INTERFACE = 'cb';

export { CAPABILITIES as DEFAULT_CAPABILITIES } from './interfaces/cb/capabilities.ts';

/**
 * @param bank the bank's description, for an interface that many banks have. Its secrets from the environment are filled in
 * @throws TypeError if psd2 knows no such interface: a profile is checked when it is read
 */
export async function interfaceNamed(name: string, bank?: BankHead): Promise<KnownInterface> {
  const load = INTERFACES[name];
  if (!load) throw new TypeError(`There is no interface ${name}`);
  return load(bank);
}

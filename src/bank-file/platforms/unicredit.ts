import type { BankFile } from '../schema.ts';

/** withBalance is refused. The payee's address is demanded; since November 2026 a country alone is not one. */
export const unicredit: BankFile = {
  interface: 'nextgenpsd2',
  name: 'UniCredit (HypoVereinsbank)',
  source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/unicredit-adapter',
  headers: { accept: 'application/json', contentType: 'application/json' },
  psu: { idType: 'required', ip: 'required' },
  signing: { when: 'never' },
  accounts: { withBalance: false },
  payments: { required: ['creditorAddress.townName', 'creditorAddress.country'], address: 'required' },
  verifiedOn: null,
};

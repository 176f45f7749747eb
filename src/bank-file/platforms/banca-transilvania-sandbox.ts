import type { BankFile } from '../schema.ts';

export const bancaTransilvaniaSandbox: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Banca Transilvania (sandbox)',
  extends: 'banca-transilvania',
  source: 'https://apistorebt.ro/bt/sb/',
  api: { version: 'v2' },
  verifiedOn: null,
};

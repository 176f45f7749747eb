import type { BankFile } from '../schema.ts';

export const comdirect: BankFile = {
  interface: 'nextgenpsd2',
  name: 'comdirect',
  extends: 'commerzbank',
  source: 'https://xs2a-developer.comdirect.de/content/howto/ais-manage-consents',
  verifiedOn: null,
};

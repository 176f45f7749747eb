import type { BankFile } from '../schema.ts';

export const commerzbankSandbox: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Commerzbank (sandbox)',
  extends: 'commerzbank',
  source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/commerzbank-adapter',
  oauth: {
    metadata: 'https://psd2.api-sandbox.commerzbank.com/berlingroup/.well-known/openid-configuration',
    tokenEndpoint: 'https://psd2.api-sandbox.commerzbank.com/berlingroup/v1/token',
  },
  verifiedOn: null,
};

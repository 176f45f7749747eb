import type { KnownInterface } from '../../../src/bank/call/call.ts';
import type { Bank } from '../../../src/bank/ports/bank.ts';
import { isAccountId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';

/** A bank of the tests' own, without any server, which answers nothing. Its customers and accounts have names. */
export class ToyBank {
  readonly interface: KnownInterface = {
    name: 'toy',
    has: new Set(['payments']),
    probes: 'authorize',
    customers: 'named by the bank',
    logsIn: 'customers',
    ownHeaders: [],
    readCustomerId: (text) => text,
    readAccountId(text) {
      if (isAccountId(text)) return text;
      throw new Psd2Error('invalid_product_id', `The toy has no account ${JSON.stringify(text)}`);
    },
    refusalOf: () => null,
    open: () => ({
      client: () => null,
      connect: () => BANK,
      compose: lacking,
    }),
  };
}

const BANK: Bank = {
  accounts: {
    isId: (text) => text !== '',
    ...{ list: async () => [], balance: lacking, pages: none, document: lacking, details: lacking },
  },
  consents: { request: lacking, confirm: lacking },
  login: { authorize: lacking, probe: lacking, tokens: lacking, revoke: lacking, whose: lacking },
  payments: {
    commits: 'by the customer',
    ...{ transfer: none, operation: none, terms: lacking, operationTerms: lacking, receipt: lacking },
  },
  sca: { start: lacking, status: lacking },
  send: lacking,
  pages: none,
  earliestAnswer: () => undefined,
};

function lacking(): Promise<never> {
  return Promise.reject(new TypeError('The toy does not have this'));
}

function none(): never {
  throw new TypeError('The toy does not have this');
}

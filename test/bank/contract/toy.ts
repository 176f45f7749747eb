import type { KnownInterface } from '../../../src/bank/call/call.ts';
import type { Bank } from '../../../src/bank/ports/bank.ts';
import type { ResourceStatus } from '../../../src/bank/ports/customer.ts';
import type { PaymentCalls } from '../../../src/bank/ports/payment-calls.ts';
import { isAccountId } from '../../../src/domain/identifiers.ts';
import type { OrderTarget } from '../../../src/domain/operation.ts';
import { Psd2Error } from '../../../src/errors.ts';

/** A payment at the toy bank. */
interface ToyPayment {
  id: string;
  /** What the bank's status says, for each question. The last word stays. */
  words: ToyWord[];
}

/** `open`: the customer has not decided. `yes`: authorised, not executed yet. */
export type ToyWord = 'open' | 'yes' | 'paid' | 'no';

/** What happens to an initiation. */
export type ToyFate = 'answered' | 'lost' | 'refused';

/**
 * A bank of the tests' own, without any server: its customers commit, so there is no `execute`, and a payment may run as soon as
 * the customer has the link. Customers and accounts have names.
 */
export class ToyBank {
  readonly payments: ToyPayment[] = [];
  /** The links that customers were given. */
  readonly links: string[] = [];
  /** The fates of the next initiations. */
  readonly fates: ToyFate[] = [];
  /** What the status of the next payments will say. */
  words: ToyWord[] = ['open', 'yes', 'paid'];

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
      connect: () => this.#bank(),
      compose: () => Promise.reject(new TypeError('The toy composes no request')),
    }),
  };

  #bank(): Bank {
    return {
      accounts: {
        isId: (text) => text !== '',
        list: async () => [],
        balance: lacking,
        pages: () => {
          throw new TypeError('The toy has no transactions');
        },
        document: lacking,
        details: lacking,
      },
      consents: { request: lacking, confirm: lacking },
      login: { authorize: lacking, probe: lacking, tokens: lacking, revoke: lacking, whose: lacking },
      payments: {
        commits: 'by the customer',
        transfer: () => this.#calls(),
        operation: () => {
          throw new TypeError('The toy has no operations');
        },
        terms: lacking,
        operationTerms: lacking,
        receipt: (_target: OrderTarget) => lacking(),
      },
      sca: {
        start: async ({ resourceId, beforeSend }) => {
          const announced = await beforeSend({ requestId: `link-${resourceId}`, digest: null });
          await announced?.beforeFirstByte?.();
          const link = `https://customers.toy.example/${resourceId}`;
          this.links.push(link);
          return link;
        },
        status: async (resourceId) => this.#statusOf(resourceId),
      },
      send: lacking,
      pages: () => {
        throw new TypeError('The toy has no free calls');
      },
      earliestAnswer: () => undefined,
    };
  }

  #calls(): PaymentCalls {
    return {
      name: 'transfer',
      verify: async (beforeSend) => {
        const fate = this.fates.shift() ?? 'answered';
        const id = `pay-${this.payments.length + 1}`;
        const announced = await beforeSend({ requestId: `begin-${id}`, digest: null });
        await announced?.beforeFirstByte?.();
        if (fate === 'refused')
          throw new Psd2Error('bank_refused', 'The bank refused it', { refusal: 'content', isBanks: true });
        this.payments.push({ id, words: [...this.words] });
        if (fate === 'lost') throw new Psd2Error('bank_unreachable', 'The connection was lost');
        return { resourceId: id, totalAmount: null, commissions: null, bankName: null, nextStep: 'sca' };
      },
      verifyFurther: lacking,
      execute: null,
      executionStatus: null,
    };
  }

  #statusOf(resourceId: string): ResourceStatus {
    const payment = this.payments.find(({ id }) => id === resourceId);
    if (!payment) throw new Psd2Error('bank_refused', 'Unknown payment', { refusal: 'other', isBanks: true });
    const word = (payment.words.length > 1 ? payment.words.shift() : payment.words[0]) ?? 'open';
    const status = (
      { open: 'PENDING', yes: 'AUTHORIZED', paid: 'AUTHORIZED', no: 'NOT_AUTHORIZED' } as const
    )[word];
    return {
      authorizationStatus: word,
      executionStatus: word === 'paid' ? 'toy-paid' : null,
      authorization: { type: 'authorization', status, bankStatus: word },
      became: word === 'paid' ? 'executed' : null,
    };
  }
}

function lacking(): Promise<never> {
  return Promise.reject(new TypeError('The toy does not have this'));
}

import * as z from 'zod';
import type { KnownInterface } from '../../src/bank/call/call.ts';
import type {
  Account,
  Balance,
  Bank,
  Capability,
  Transaction,
  TransferTerms,
} from '../../src/bank/ports/bank.ts';
import type { BulkPayments, EntryState } from '../../src/bank/ports/bulk.ts';
import type { BeforeSend } from '../../src/bank/ports/call.ts';
import type { Sca } from '../../src/bank/ports/customer.ts';
import type { PaymentCalls, Verified } from '../../src/bank/ports/payment-calls.ts';
import type { IsoDate } from '../../src/domain/calendar.ts';
import { parseCustomerId, parseProductId } from '../../src/domain/identifiers.ts';
import type { Authorization, Commits, Initiation, SettlementStatus } from '../../src/domain/operation.ts';
import type { ResourceStatus } from '../../src/domain/payment-answers.ts';
import { type BankReason, Psd2Error } from '../../src/errors.ts';

/** A payment, a bulk payment or a basket, as the bank has it. */
export interface PaymentHere {
  id: string;
  /** What psd2 sent: an order, or the body of an initiation. */
  asked: unknown;
  decision: Authorization['status'];
  became: ResourceStatus['became'];
  /** Why the bank has rejected it. */
  reasons?: BankReason[];
  /** The bank's own word, if it is not that of the decision. */
  word?: string;
  /** Somebody has authorised it, and others must. */
  isPartly?: true;
  settlement: SettlementStatus;
  /** What becomes of it at `execute`, or as soon as the customer has authorised it. */
  becomes: ResourceStatus['became'];
}

type CallName =
  /** Before anything is sent. */
  | 'prepare'
  | 'accounts'
  | 'details'
  | 'balance'
  | 'terms'
  | 'receipt'
  | 'verify'
  | 'verify further'
  | 'sca'
  | 'status'
  | 'execute'
  | 'settlement'
  | 'entries'
  | 'bookings'
  | 'funds'
  | 'cancel';

/** What happens to a call: it has no effect and this error, or an effect and no answer. */
export type Fate = Psd2Error | 'lost';

interface Options {
  commits?: Commits;
  /** What the interface does not have. */
  lacks?: Capability[];
  bulk?: { maxEntries: number | null };
  hasBaskets?: boolean;
  executesWithoutSca?: Initiation['executesWithoutSca'];
}

const ALL: Capability[] = [
  ...(['payments', 'standing orders', 'signing baskets', 'confirmation of funds', 'products'] as const),
  ...(['data of the customer', 'Consent-ID', 'operations', 'terms', 'receipts', 'documents'] as const),
  'addresses of payees',
];

/** The IBAN of the account of the payer. */
export const OWN_IBAN = 'DE02100100109307118603';
export const OWN_ACCOUNT = '0000012345';

/**
 * A bank in the memory of the test. It does what it is asked for, and its customers authorise at once, unless the test says
 * otherwise. `calls` has what reached it.
 */
export class BankHere {
  readonly calls: string[] = [];
  readonly payments: PaymentHere[] = [];
  /** What happens to the next calls of a name. */
  readonly fates = new Map<CallName, Fate[]>();
  /** What the next payments are. */
  next: Partial<PaymentHere> = {};
  /** What somebody else does before the bank answers a call, or before psd2 has written what it will send. */
  meanwhile: (call: string) => Promise<void> = async () => {};
  /** What the next verifications say besides. */
  verified: Partial<Verified> = {};
  /** What the next further verifications want then, before `execute`. */
  furtherSteps: string[] = [];
  /** The payments whose status was asked for with the login of their basket. */
  readonly withLogin: string[] = [];
  /** The transactions whose status was asked for. */
  readonly transactions: string[] = [];
  accounts: Account[] = [account(OWN_ACCOUNT, OWN_IBAN)];
  balances: Partial<Balance> = {};
  /** What the bank says of a customer or of products. */
  details: object | undefined;
  terms: Partial<TransferTerms> = {};
  /** The first day of its history. */
  earliestDay: IsoDate | undefined;
  /** What the accounts have, in euros. */
  funds = 100;
  /** Whether customers authorise as soon as they have a link. */
  customersAgree = true;
  /** Whether a link works on after the bank has cancelled its payment. */
  linksStay = false;
  /** The state of each transfer of a bulk payment, by its reference. */
  entries = new Map<string, EntryState>();
  /** Whether the bank calls final what it has executed. */
  isFinal = true;
  /** The rows of the account. */
  booked: Transaction[] = [];
  readonly #options: Options;
  readonly interface: KnownInterface;

  constructor(options: Options = {}) {
    this.#options = options;
    const { lacks = [], bulk, hasBaskets = false } = options;
    const hasAddresses = options.commits === 'by the customer';
    const lacksAny = [
      ...[...lacks, ...(hasBaskets ? [] : ['signing baskets'])],
      ...(hasAddresses ? [] : ['addresses of payees']),
    ];
    this.interface = {
      name: 'here',
      has: new Set(ALL.filter((each) => !lacksAny.includes(each))),
      ...(bulk && { bulk: { ...bulk, batchBooking: 'optional', takes: ({ instant }) => !instant } }),
      probes: 'authorize',
      customers: 'named by the bank',
      logsIn: 'customers',
      ownHeaders: [],
      readCustomerId: parseCustomerId,
      readAccountId: parseProductId,
      cannotPay: ({ productCode }) => productCode === 'CARD',
      refusalOf: () => null,
      open: () => ({
        client: () => null,
        connect: () => this.#bank(),
        compose: () => Promise.reject(new TypeError('This bank composes no request')),
      }),
    };
  }

  /** The last payment. */
  get last(): PaymentHere {
    return this.payment(this.payments.at(-1)?.id ?? 'pay-1');
  }

  payment(id: string): PaymentHere {
    const payment = this.payments.find((each) => each.id === id);
    if (!payment) throw new Psd2Error('bank_refused', `Unknown: ${id}`, { refusal: 'other', isBanks: true });
    return payment;
  }

  /** The calls that began something, or moved money. */
  get sent(): string[] {
    return this.calls.filter((call) => /^(verify|execute|sca|cancel)/.test(call));
  }

  /** Says what happens to the next calls of a name. */
  meets(call: CallName, ...fates: Fate[]): void {
    this.fates.set(call, [...(this.fates.get(call) ?? []), ...fates]);
  }

  #attempt<T>(call: CallName, id: string, effect: () => T | Promise<T>): Promise<T> {
    return this.#send(call, id, undefined, effect);
  }

  /** As {@link #attempt}, with what psd2 does before the call leaves. */
  async #send<T>(
    call: CallName,
    id: string,
    beforeSend: BeforeSend | undefined,
    effect: () => T | Promise<T>,
  ): Promise<T> {
    const announced = await beforeSend?.({ requestId: `request-${this.calls.length + 1}`, digest: null });
    await announced?.beforeFirstByte?.();
    this.calls.push(`${call} ${id}`.trimEnd());
    await this.meanwhile(`${call} ${id}`);
    const fate = this.fates.get(call)?.shift();
    if (fate instanceof Psd2Error) throw fate;
    const result = await effect();
    if (fate === 'lost') throw new Psd2Error('bank_unreachable', 'The connection was lost');
    return result;
  }

  #bank(): Bank {
    const { commits = 'on execute', bulk, hasBaskets, executesWithoutSca = 'never' } = this.#options;
    const initiation = (...given: Parameters<typeof initiationOf>) => ({
      ...initiationOf(...given),
      executesWithoutSca,
    });
    const isLinked = commits === 'by the customer';
    const { earliestDay } = this;
    return {
      accounts: {
        isId: (text) => text !== '',
        list: (customerId) => this.#attempt('accounts', customerId, () => this.accounts),
        balance: (_customerId, productId) =>
          this.#attempt('balance', productId, () => ({ ...noBalance(productId), ...this.balances })),
        pages: ({ productId, from, status }) => this.#pages(`${productId} from ${from}, ${status}`),
        document: lacking,
        details: ({ what, customerId }) =>
          this.#attempt('details', `${what} ${customerId}`, () => this.details ?? lacking()),
        ...(earliestDay && { earliestDay: () => earliestDay }),
      },
      consents: { request: lacking, confirm: lacking },
      login: { authorize: lacking, probe: lacking, tokens: lacking, revoke: lacking, whose: lacking },
      payments: {
        commits,
        ...(isLinked && {
          initiation: async (order, back) => {
            await this.meanwhile('write an order');
            return initiation('payments', order, back);
          },
        }),
        ...(bulk && { bulk: this.#bulk(bulk.maxEntries) }),
        ...(hasBaskets && {
          baskets: {
            initiation: (ids, back) => initiation('signing-baskets', ids, back),
            refuseOther: (ids, { body }) => refuseOther(ids, body),
            calls: ({ initiation }) => this.#calls('signing basket', initiation.body, false),
          },
        }),
        funds: ({ account, amount, currency }) =>
          this.#attempt('funds', `${account} ${amount} ${currency}`, () => Number(amount) <= this.funds),
        transfer: ({ order, initiation, authorisedBy }) =>
          this.#calls(
            'transfer',
            initiation?.body ?? order,
            order.instant && !order.futureDated,
            authorisedBy,
          ),
        operation: ({ order }) => this.#calls(order.operation, order, false),
        terms: ({ from }) => this.#attempt('terms', from ?? '', () => ({ ...NO_TERMS, ...this.terms })),
        operationTerms: ({ from, operation }) =>
          this.#attempt('terms', from ?? '', () => ({ data: { operation, from } })),
        receipt: (_target, resourceId) =>
          this.#attempt('receipt', resourceId, () => Buffer.from(`receipt of ${resourceId}`)),
      },
      sca: this.#sca(isLinked),
      send: lacking,
      pages: () => {
        throw new TypeError('This bank has no free calls');
      },
      earliestAnswer: () => undefined,
    };
  }

  async *#pages(query: string) {
    const rows = await this.#attempt('bookings', query, () => this.booked);
    yield { booked: { rows, total: null, hasMore: false } };
  }

  #bulk(maxEntries: number | null): BulkPayments {
    return {
      maxEntries,
      batchBooking: 'optional',
      takes: ({ instant }) => !instant,
      initiation: async (orders, back) => {
        await this.meanwhile(`write ${orders.length} orders`);
        return initiationOf('bulk-payments', orders, back);
      },
      refuseOther: async (orders, { body }) =>
        refuseOther(ordersIn(JSON.stringify(orders)), JSON.stringify(ordersIn(body))),
      calls: ({ order, initiation }) => this.#calls('bulk payment', initiation.body, order.instant),
      entries: (_initiation, resourceId) => this.#attempt('entries', resourceId, () => this.entries),
    };
  }

  #calls(name: string, asked: unknown, settles: boolean, authorisedBy?: string): PaymentCalls {
    const unprepared = this.fates.get('prepare')?.shift();
    if (unprepared instanceof Psd2Error) throw unprepared;
    const isLinked = this.#options.commits === 'by the customer';
    const about = (resourceId: string) => ({
      ...{ resourceId, totalAmount: null, commissions: null, bankName: null },
    });
    const begin = (): Verified => {
      const id = `pay-${this.payments.length + 1}`;
      this.payments.push({
        ...{ id, asked, decision: 'PENDING', became: null, settlement: 'OK', becomes: 'executed' },
        ...this.next,
      });
      const links = { approach: null, redirect: `https://customers.bank.example/${id}` };
      return {
        ...{ ...about(id), nextStep: isLinked ? 'sca' : 'execute' },
        ...{ ...(isLinked && { links }), ...this.verified },
      };
    };
    const execute = (id: string) => {
      const payment = this.payment(id);
      payment.became = payment.becomes;
      return { cro: `cro-${id}` };
    };
    return {
      name,
      verify: (beforeSend) => this.#send('verify', name, beforeSend, begin),
      verifyFurther: (id, step, data, beforeSend) =>
        this.#send('verify further', `${id} ${step} ${data}`, beforeSend, () => ({
          ...{ ...about(id), nextStep: this.furtherSteps.shift() ?? 'execute' },
        })),
      execute: isLinked ? null : (id, beforeSend) => this.#send('execute', id, beforeSend, () => execute(id)),
      executionStatus: settles ? (id) => this.#settlement(id) : null,
      ...(isLinked && {
        sca: this.#sca(true, authorisedBy),
        cancellation: {
          sca: this.#sca(true),
          request: ({ resourceId, beforeSend }) =>
            this.#send('cancel', resourceId, beforeSend, () => {
              this.payment(resourceId).became = 'cancelled';
              return { verdict: 'taken' as const };
            }),
        },
      }),
    };
  }

  #settlement(id: string) {
    return this.#attempt('settlement', id, () => {
      const { settlement } = this.payment(id);
      return {
        executionStatus: settlement,
        executionStatusDescription: settlement === 'KO' ? 'Account closed' : null,
        status: settlement,
      };
    });
  }

  /** The customer decides as soon as they have the link. */
  #decide(id: string): void {
    const payment = this.payment(id);
    if (!this.customersAgree || payment.decision !== 'PENDING') return;
    payment.decision = 'AUTHORIZED';
    if (this.#options.commits === 'by the customer') this.#runs(payment);
  }

  #runs(payment: PaymentHere): void {
    payment.became = payment.becomes;
    const { asked } = payment;
    const ids: unknown = typeof asked === 'string' ? JSON.parse(asked) : null;
    if (!Array.isArray(ids)) return;
    for (const each of ids) if (typeof each === 'string') this.#runs(this.payment(each));
  }

  #sca(isLinked: boolean, authorisedBy?: string): Sca {
    const open = (resourceId: string, beforeSend: BeforeSend | undefined) =>
      this.#send('sca', resourceId, beforeSend, () => {
        this.#decide(resourceId);
        return `https://customers.bank.example/${resourceId}`;
      });
    const proceed: NonNullable<Sca['proceed']> = async ({ resourceId, beforeSend }) => {
      const redirect = await open(resourceId, beforeSend);
      return { next: 'open', url: redirect, links: { approach: null, redirect } };
    };
    return {
      start: ({ resourceId, beforeSend }) => open(resourceId, beforeSend),
      status: (resourceId, transactionId) =>
        this.#attempt('status', resourceId, () => {
          this.transactions.push(transactionId);
          if (authorisedBy !== undefined) this.withLogin.push(`${resourceId} ${authorisedBy}`);
          const { decision, became, reasons, isPartly, word = became ?? decision } = this.payment(resourceId);
          return {
            ...{ authorizationStatus: word, executionStatus: became, became },
            authorization: { type: 'authorization', status: decision, bankStatus: word } as const,
            ...(became === 'failed' && reasons && { reasons }),
            ...(isLinked && this.isFinal && became === 'executed' && { isFinal: true as const }),
            ...(isLinked &&
              decision !== 'AUTHORIZED' && {
                awaitsSca: true as const,
                ...(isPartly ? { isPartly } : { isUnauthorised: true as const }),
              }),
          };
        }),
      ...(isLinked && {
        proceed,
        // The bank ends the authorisations of what it has cancelled.
        progress: async (resourceId: string) =>
          this.payment(resourceId).became !== 'cancelled'
            ? null
            : this.linksStay
              ? { scaStatus: 'started', means: 'going on' as const, message: null }
              : { scaStatus: 'failed', means: 'failed' as const, message: null },
      }),
    };
  }
}

export function account(productId: string, iban: string | null, more: Partial<Account> = {}): Account {
  return {
    ...{ accountId: productId, productId, iban, currency: 'EUR', name: 'Current account' },
    ...{ productCode: null, productDescription: null, ...more },
  };
}

function noBalance(productId: string): Balance {
  return {
    ...{ accountId: productId, productId, accountBalance: null, availableBalance: null },
    ...{ accountAvailability: null, accountAvailableCredit: null, asOf: null },
  };
}

const NO_TERMS: TransferTerms = {
  ...{ bankCode: null, sepa: null, swift: null, urgent: null, today: null, earliestDate: null },
  ...{ earliestDateInternal: null, latestDate: null, holidays: [], currency: null },
  ...{ currencies: [], countries: [] },
};

export function initiationOf(
  service: Initiation['service'],
  asked: unknown,
  { address, state }: { address: string; state: string },
): Initiation {
  return {
    ...{ service, product: service === 'signing-baskets' ? '' : 'sepa-credit-transfers', endToEndId: '' },
    ...{ body: JSON.stringify(asked), returnAddress: address, returnState: state },
    ...{ repeatMinutes: null, needsLink: true, executesWithoutSca: 'never' },
  };
}

/** What the payments of a bulk payment order. */
const ordersIn = (body: string) =>
  z
    .array(z.object({ to: z.string(), name: z.string(), amount: z.string(), reference: z.string() }))
    .parse(JSON.parse(body));

/** @throws Psd2Error `config` unless something stored is what was asked for */
function refuseOther(asked: unknown, body: string): void {
  if (body === JSON.stringify(asked)) return;
  throw new Psd2Error('config', 'What is stored is not what was asked for');
}

function lacking(): Promise<never> {
  return Promise.reject(new TypeError('This bank does not have this'));
}

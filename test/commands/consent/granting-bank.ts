import type { KnownInterface } from '../../../src/bank/call/call.ts';
import type { Capability } from '../../../src/bank/ports/bank.ts';
import type { ConsentDetails, Consents, RequestedConsent, Sca } from '../../../src/bank/ports/customer.ts';
import type { ResourceStatus } from '../../../src/domain/payment-answers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { BankHere } from '../bank-here.ts';
import { differing } from '../named-bank.ts';

/** The calls for a consent. */
type CallName = 'check' | 'request' | 'sca' | 'details' | 'delete' | 'confirm' | 'status';

interface Options {
  /** What the interface does not have. */
  lacks?: Capability[];
  /** The bank has categories instead of terms, and psd2 confirms what the customer has authorised. */
  confirms?: boolean;
}

const UNSAID = { validUntil: null, frequencyPerDay: null, recurring: null, access: null };

/** A bank in the memory of the test whose customers decide on consents as soon as they have the link. */
export class GrantingBank {
  readonly interface: KnownInterface;
  /** The calls so far. */
  readonly asked: string[] = [];
  /** The consents as the bank has them, by their ids. */
  readonly known = new Map<string, ConsentDetails>();
  /** What becomes of the next consents when the customer decides. */
  becomes: Partial<ConsentDetails> = { consentStatus: 'valid', means: 'valid' };
  /** Whether customers decide as soon as they have a link. */
  customersDecide = true;
  /** What the bank answers to the next requests besides. */
  answers: Partial<RequestedConsent> = {};
  /** The next call of a name fails like this. */
  readonly fails = new Map<CallName, Psd2Error>();
  /** Whether customers must authorise the end of a consent, at a page of the bank. */
  endsAtPage = false;
  /** The bank's word for a consent that a newer one has ended. */
  replaced: string | undefined;
  /** The accounts of the customers. */
  readonly #here = new BankHere();

  constructor({ lacks = [], confirms = false }: Options = {}) {
    const plain = this.#here.interface;
    const own: Capability[] = confirms ? [] : ['terms of consents', 'links for SCA', 'PSU-ID'];
    const has: Capability[] = [...plain.has, 'consent status', 'consent deletion', ...own];
    this.interface = {
      ...plain,
      has: new Set(has.filter((each) => !lacks.includes(each))),
      ...(!confirms && {
        customers: 'named by the operator',
        logsIn: 'nobody',
        readCustomerId: (text: string) => text,
      }),
      open: differing(plain, () => ({ consents: this.#consents(confirms), sca: this.#sca() })).open,
    };
  }

  /** The customers have no accounts. */
  closeAccounts(): void {
    this.#here.accounts = [];
  }

  /** Gives a consent another status at the bank. */
  says(id: string, details: Partial<ConsentDetails>): void {
    this.known.set(id, { ...this.#details(id), ...details });
  }

  #ask(name: CallName, about: string): void {
    this.asked.push(`${name} ${about}`);
    const failure = this.fails.get(name);
    this.fails.delete(name);
    if (failure) throw failure;
  }

  #details(id: string): ConsentDetails {
    const details = this.known.get(id);
    if (!details) throw new TypeError(`The bank does not know the consent ${id}`);
    return details;
  }

  #decide(id: string): void {
    if (this.customersDecide) this.says(id, this.becomes);
  }

  #consents(confirms: boolean): Consents {
    return {
      ...(!confirms && { checkTerms: (terms) => this.#ask('check', JSON.stringify(terms)) }),
      request: async ({ customerId, categories, beforeSend }) => {
        const announced = await beforeSend({ requestId: `request-${this.asked.length}`, digest: null });
        await announced?.beforeFirstByte?.();
        this.#ask('request', `${customerId}: ${categories.map(({ name }) => name).join(' ')}`);
        const resourceId = `c${this.known.size + 1}`;
        this.known.set(resourceId, { consentStatus: 'received', means: 'open', ...UNSAID });
        const redirect = `https://customers.bank.example/${resourceId}`;
        return {
          ...{ resourceId, outcomes: categories.map(({ name }) => ({ name, outcome: true })) },
          ...(!confirms && { bankStatus: 'received', links: { approach: null, redirect } }),
          ...this.answers,
        };
      },
      confirm: async ({ resourceId, beforeSend }) => {
        await beforeSend({ requestId: `confirm-${this.asked.length}`, digest: null });
        this.#ask('confirm', resourceId);
      },
      status: async (id) => this.#details(id),
      details: async (id) => {
        this.#ask('details', id);
        return this.#details(id);
      },
      delete: async (id) => {
        this.#ask('delete', id);
        if (!this.endsAtPage) return { bankStatus: 'terminatedByTpp' };
        if (this.customersDecide) this.says(id, { consentStatus: 'terminatedByPsu', means: 'revoked' });
        const redirect = `https://customers.bank.example/${id}/end`;
        return { bankStatus: 'valid', authorise: { page: redirect, links: { approach: null, redirect } } };
      },
      ...(this.replaced !== undefined && { replaced: this.replaced }),
    };
  }

  #sca(): Sca {
    const start: Sca['start'] = async ({ resourceId, beforeSend }) => {
      await beforeSend({ requestId: `sca-${this.asked.length}`, digest: null });
      this.#ask('sca', resourceId);
      this.#decide(resourceId);
      return `https://customers.bank.example/${resourceId}`;
    };
    return {
      start,
      proceed: async (step) => {
        const redirect = await start(step);
        return { next: 'open', url: redirect, links: { approach: null, redirect } };
      },
      status: async (id) => {
        this.#ask('status', id);
        return statusOf(this.#details(id));
      },
    };
  }
}

function statusOf({ consentStatus: bankStatus, means }: ConsentDetails): ResourceStatus {
  const status = means === 'valid' ? 'AUTHORIZED' : means === 'open' ? 'PENDING' : 'NOT_AUTHORIZED';
  return {
    ...{ authorizationStatus: bankStatus, executionStatus: null, became: null },
    authorization: { type: 'authorization', status, bankStatus },
  };
}

/** A refusal of the bank. */
export const refused = (message: string) =>
  new Psd2Error('bank_refused', message, { refusal: 'other', isBanks: true });

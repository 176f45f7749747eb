import fc from 'fast-check';
import { expect, it } from 'vitest';
import { progressOf } from '../../src/bank/interfaces/nextgenpsd2/access/sca.ts';
import { resourceStatus } from '../../src/bank/interfaces/nextgenpsd2/payments/payment-status.ts';
import type { PaymentCalls } from '../../src/bank/ports/payment-calls.ts';
import { applyOperationEvent, type Operation, type OperationEvent } from '../../src/domain/operation.ts';
import type { TransferOrder } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import { useNextGen } from '../bank/interfaces/nextgenpsd2/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { transferOrder, VERIFIED } from '../domain/orders.ts';
import { fakeCustomer, fakeWorld, returnsTo } from './doubles.ts';

// Several persons must authorise a payment. Whatever they do, and whenever psd2 is killed, the journal says what the bank does.

const PERSONS = ['ada', 'ben', 'cleo'] as const;
type Person = (typeof PERSONS)[number];
type Decision = 'approve' | 'refuse' | 'ignore';

/** A step of a history: somebody may authorise at the bank itself, then psd2 runs. */
interface Step {
  elsewhere: Person | null;
  /** `--psu-id`. Null: psd2 asks the bank alone. */
  person: Person | null;
  does: Decision;
  /** psd2 is killed before this line of its journal is written. */
  killedAt: number;
}

class Killed extends Error {}

/** A bank that executes a payment once `needed` persons have authorised it. */
class CompanyBank {
  readonly #needed: number;
  readonly #begun = new Map<string, { person: Person; scaStatus: string }>();

  constructor(needed: number) {
    this.#needed = needed;
  }

  begin(person: Person): string {
    const id = `a${this.#begun.size + 1}`;
    this.#begun.set(id, { person, scaStatus: 'received' });
    return id;
  }

  decide(id: string, decision: Decision): void {
    const found = this.#begun.get(id);
    if (found?.scaStatus !== 'received' || decision === 'ignore') return;
    this.#begun.set(id, { ...found, scaStatus: decision === 'approve' ? 'finalised' : 'failed' });
  }

  get signed(): Set<Person> {
    const done = [...this.#begun.values()].filter(({ scaStatus }) => scaStatus === 'finalised');
    return new Set(done.map(({ person }) => person));
  }

  get word(): string {
    const { size } = this.signed;
    return size >= this.#needed ? 'ACSC' : size > 0 ? 'PATC' : 'RCVD';
  }

  scaStatus(id: string | undefined): string {
    return this.#begun.get(id ?? '')?.scaStatus ?? 'received';
  }
}

/** What a payment needs of a bank is in its own calls. */
const openBank = useNextGen(useRecordedBank());

function setting(needed: number) {
  const { bank: others } = openBank();
  const bank = new CompanyBank(needed);
  const order = transferOrder({ instant: false, type: null });
  let now: Operation<TransferOrder> | undefined;
  let left = Infinity;
  const record = async (event: OperationEvent<TransferOrder>) => {
    if (left === 0) throw new Killed();
    left -= 1;
    now = applyOperationEvent('transfer', now, event, new Date(0).toISOString());
    return now;
  };
  const current = () => now ?? expect.unreachable();
  const open = {
    get current() {
      return current();
    },
    record,
    assertOurs: async () => {},
    reread: async () => current(),
  };
  const calls: PaymentCalls = {
    name: 'transfer',
    verify: () => Promise.reject(new TypeError('It is initiated once')),
    verifyFurther: () => Promise.reject(new TypeError('There are no further steps')),
    execute: null,
    executionStatus: null,
    sca: {
      start: () => Promise.reject(new TypeError('Links lead the SCA')),
      status: async () => resourceStatus({ status: bank.word }, order, ['ACSC']),
      progress: async (_, { id }) => progressOf({ scaStatus: bank.scaStatus(id), psuMessage: null }),
      async proceed({ links, psu, beforeSend }) {
        if (links?.redirect !== undefined) return { next: 'open', url: links.redirect, links };
        await beforeSend({ requestId: 'r', digest: null });
        const id = bank.begin(PERSONS.find((each) => each === psu?.id) ?? 'ada');
        return { next: 'open', url: id, links: { approach: null, id, redirect: id, status: id } };
      },
      authorisations: async () => ['a1', 'a2'],
    },
  };
  const run = async ({ elsewhere, person, does, killedAt }: Step) => {
    if (elsewhere !== null) bank.decide(bank.begin(elsewhere), 'approve');
    left = killedAt;
    const customer = fakeCustomer({
      listen: async () => null,
      sendBrowser: async (url) => bank.decide(url, does),
    });
    const psu = person === null ? {} : { person: { id: person, idType: undefined, corporateId: undefined } };
    const returns = returnsTo({ ...psu, psuId: person ?? 'ada' });
    const ports = { bank: others, customer, world: fakeWorld(), returns, accept: async () => true };
    try {
      await runOperation(open, calls, ports);
      return null;
    } catch (error) {
      if (error instanceof Killed || error instanceof Psd2Error) return error;
      throw error;
    } finally {
      left = Infinity;
    }
  };
  const begin = async () => {
    const initiation = {
      ...({ service: 'payments', product: 'p', endToEndId: 'E', body: '{}', returnState: 's' } as const),
      ...{ returnAddress: 'http://127.0.0.1/', repeatMinutes: null, needsLink: true },
      executesWithoutSca: 'never' as const,
    };
    const created = {
      type: 'created',
      flow: 'tr-1',
      transactionId: 't',
      commits: 'by the customer',
    } as const;
    await record({ ...created, order, initiation });
    await record({ type: 'accepted' });
    await record({ type: 'verify-sent', requestId: 'q', digest: null });
    const id = bank.begin('ada');
    await record({ ...VERIFIED, links: { approach: null, id, redirect: id, status: id } });
  };
  return { bank, run, begin, current };
}

const FIRST: Step = { elsewhere: null, person: null, does: 'approve', killedAt: Infinity };
const ASK: Step = { ...FIRST, does: 'ignore' };
const step = fc.record<Step>({
  elsewhere: fc.option(fc.constantFrom(...PERSONS), { freq: 2 }),
  person: fc.option(fc.constantFrom(...PERSONS)),
  does: fc.constantFrom('approve', 'refuse', 'ignore'),
  killedAt: fc.oneof(fc.constant(Infinity), fc.nat({ max: 4 })),
});

it('a payment is executed once all have authorised it, and nothing before or beside that ends or frees it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(2, 3), fc.array(step, { maxLength: 6 }), async (needed, steps) => {
      const { bank, run, begin, current } = setting(needed);
      await begin();
      for (const [index, each] of [FIRST, ...steps, ASK].entries()) {
        const error = await run(each);
        const isDone = bank.signed.size >= needed;
        // Killed or not, the journal never says more than the bank does, and nothing is free.
        expect(current().state, `step ${index}`).toMatch(/^(authorizing|unknown|authorized|executed)$/);
        if (current().state === 'executed') expect(isDone).toBe(true);
        if (each.killedAt !== Infinity || isDone || !(error instanceof Psd2Error)) continue;
        expect(error.code).toBe('still_open');
        expect(error.next?.flat()).toContain('resume');
      }
      const isDone = bank.signed.size >= needed;
      expect(current().state).toBe(isDone ? 'executed' : 'authorizing');
      const known = current().authorisations.filter(({ scaStatus }) => scaStatus === 'finalised');
      expect([...bank.signed]).toEqual(expect.arrayContaining(known.map(({ psuId }) => psuId)));
    }),
    { numRuns: 400 },
  );
});

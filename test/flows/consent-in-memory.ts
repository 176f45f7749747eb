import { expect } from 'vitest';
import { applyConsentEvent, type Consent, type ConsentEvent } from '../../src/domain/consent.ts';
import { STATE } from './linked-consents.ts';

/** A consent in memory, after these events. @returns `done`: the types of all later ones */
export async function inMemory(events: ConsentEvent[]) {
  let now: Consent | undefined;
  const done: string[] = [];
  const record = async (event: ConsentEvent) => {
    now = applyConsentEvent(now, event, '2026-11-24T10:00:00Z');
    done.push(event.type);
    return now;
  };
  for (const event of events) await record(event);
  done.length = 0;
  const current = () => now ?? expect.unreachable();
  const open = {
    get current() {
      return current();
    },
    ...{ record, assertOurs: async () => {}, reread: async () => current() },
  };
  return { open, done };
}

export const CREATED: ConsentEvent = {
  ...{ type: 'created', flow: 'co-1', transactionId: 't1', customerId: 'ada' },
  ...{ categories: [{ name: 'ACCOUNT_INFO', products: [] }], terms: {}, returnState: STATE },
};
export const NOTHING_SAID = { validUntil: null, frequencyPerDay: null, recurring: null, access: null };

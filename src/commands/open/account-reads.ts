import type { Bank } from '../../bank/call/bank.ts';
import { pathOf } from '../../bank/transport/connection.ts';
import { bankDay } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import type { ProfileContext } from '../context.ts';

/** Counts the reads of accounts that psd2 makes while the customer is absent. */
export interface AccountReads {
  /** Begins a run. All calls of one run to the same account are one read. */
  begin(): void;
  /**
   * Counts a read before it is made, once per run.
   *
   * @param productId null for the list of accounts
   * @param budget maximum number of reads a day
   * @returns false if the budget is used up. The caller must not read then
   */
  take(customerId: string, productId: string | null, budget?: number): Promise<boolean>;
}

/**
 * With `--psu-ip` the customer is present, so psd2 counts nothing. If it cannot count, it warns once and reads anyway.
 */
export async function openAccountReads(context: ProfileContext): Promise<AccountReads> {
  const { globals, terminal, world } = context;
  const { reads } = (await context.home()).open(context.profile().name);
  let hasFailed = false;
  return {
    begin: () => reads.begin(),
    async take(customerId, productId, budget) {
      if (globals.psuIpAddress !== undefined) return true;
      try {
        return await reads.take({ day: bankDay(world.now()), customerId, productId }, budget);
      } catch (error) {
        if (!(error instanceof Psd2Error)) throw error;
        if (!hasFailed) terminal.warn(error.message);
        hasFailed = true;
        return true;
      }
    },
  };
}

/** Wraps a bank: counts the calls that read an account. */
export function countingReads(bank: Bank, reads: AccountReads, customerId: string): Bank {
  const count = async ({ method, path }: { method: string; path: string }) => {
    const productId = method === 'GET' ? readBy(path) : undefined;
    if (productId !== undefined) await reads.take(customerId, productId);
  };
  return {
    async call(call, schema) {
      await count(call);
      return bank.call(call, schema);
    },
    async exchange(call) {
      await count(call);
      return bank.exchange(call);
    },
  };
}

/** @returns the product that a call reads, null for the list of accounts, undefined if it reads no account */
function readBy(path: string): string | null | undefined {
  const asked = pathOf({ target: path });
  if (/\/private\/customers\/[^/]+\/(?:accounts|products)$/.test(asked)) return null;
  const product = /\/private\/customers\/[^/]+\/products\/([A-Za-z0-9]{1,35})(?:\/[A-Za-z]+\/retrieve)?$/;
  return product.exec(asked)?.[1];
}

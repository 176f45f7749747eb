import type { Bank } from '../../bank/call/bank.ts';
import { pathOf } from '../../bank/transport/connection.ts';
import { bankDay } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import type { ProfileContext } from '../context.ts';

/** The count of reads that are made while the customer is not there. */
export interface AccountReads {
  /** A new run: the same accounts count anew. */
  begin(): void;
  /**
   * Counts a read that is about to be made; the calls of one account count once a run.
   *
   * @param productId null for the list of accounts
   * @param budget how many may be made a day
   * @returns false where that many are made already
   */
  take(customerId: string, productId: string | null, budget?: number): Promise<boolean>;
}

/** Where `--psu-ip` says that the customer is there nothing is counted. What can't be counted is said once, and the read is made. */
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

/** The same bank, whose calls that read an account are counted. */
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

/** @returns the product that a call reads, null for the list of accounts, undefined where it reads no account */
function readBy(path: string): string | null | undefined {
  const asked = pathOf({ target: path });
  if (/\/private\/customers\/[^/]+\/(?:accounts|products)$/.test(asked)) return null;
  const product = /\/private\/customers\/[^/]+\/products\/([A-Za-z0-9]{1,35})(?:\/[A-Za-z]+\/retrieve)?$/;
  return product.exec(asked)?.[1];
}

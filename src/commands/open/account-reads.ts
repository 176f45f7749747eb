import type { Bank } from '../../bank/call/bank.ts';
import { pathOf } from '../../bank/transport/connection.ts';
import { bankDay } from '../../domain/calendar.ts';
import { minuteOfDay, readsBy } from '../../domain/read-turns.ts';
import { type ErrorCode, Psd2Error } from '../../errors.ts';
import type { AccountRead, ReadLimit, Taken } from '../../store/ports/access.ts';
import type { ProfileContext } from '../context.ts';

/** How often psd2 may read an account while the customer is absent. */
export interface Allowance {
  /** Maximum number of reads a day. */
  budget: number;
  /** Spread the reads over the day, and pause after failed ones. */
  isSpread: boolean;
}

/** Counts the reads of accounts that psd2 makes while the customer is absent. Only reads that brought data count. */
export interface AccountReads {
  /** Begins a run. All calls of one run to the same account are one read. */
  begin(): void;
  /**
   * Counts a read before it is made, once per run.
   *
   * @param productId null for the list of accounts
   * @returns `taken`, or why the caller must not read
   */
  take(customerId: string, productId: string | null, allowance?: Allowance): Promise<Taken>;
  /**
   * Makes a call that reads an account, and counts it. If it brings no data, and this run has no data of the account yet, the
   * read is given back.
   *
   * @throws what the call throws
   */
  during<T>(read: OwnCall<T>): Promise<T>;
  /** Gives back what was taken for a customer, if no call followed. */
  giveBack(customerId: string): Promise<void>;
}

/** A call that reads an account. */
interface OwnCall<T> {
  customerId: string;
  /** Null for the list of accounts. */
  productId: string | null;
  call(): Promise<T>;
  hasData(answer: T): boolean;
}

/** A read that this run has taken, and that has brought no data yet. */
interface OwnRead {
  read: AccountRead;
  /** Its calls that have not ended. */
  calls: number;
}

/** The failures after which psd2 pauses. After 420 all calls wait already. */
const PAUSED_AFTER: readonly ErrorCode[] = [
  ...(['not_logged_in', 'forbidden', 'sca_required', 'bank_refused'] as const),
  ...(['bank_answer', 'list_changed', 'bank_unreachable', 'bank_failing'] as const),
];

/** Whether the bank was asked in vain, and would be again. Without a login, psd2 asks it only for a new token. */
function pausesAfter(error: unknown): boolean {
  if (!(error instanceof Psd2Error) || !PAUSED_AFTER.includes(error.code)) return false;
  return error.code !== 'not_logged_in' || error.httpStatus !== undefined;
}

/**
 * With `--psu-ip` the customer is present, so psd2 counts nothing. If it cannot count, it warns once and reads anyway.
 */
export async function openAccountReads(context: ProfileContext): Promise<AccountReads> {
  const { globals, terminal, world } = context;
  const { reads } = (await context.home()).open(context.profile().name);
  const taken = new Map<string, OwnRead>();
  let hasFailed = false;
  const unlessItFails = async <T>(count: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await count();
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (!hasFailed) terminal.warn(error.message);
      hasFailed = true;
      return undefined;
    }
  };
  const free = (name: string, own: OwnRead, error?: unknown) => {
    const { read } = own;
    if (taken.get(name) === own) taken.delete(name);
    const failedAt = pausesAfter(error) ? minuteOfDay(world.now()) : undefined;
    return unlessItFails(() => reads.giveBack(read, failedAt));
  };
  const take: AccountReads['take'] = async (customerId, productId, allowance) => {
    if (globals.psuIpAddress !== undefined) return 'taken';
    const now = world.now();
    const read = { day: bankDay(now), customerId, productId };
    const outcome = await unlessItFails(() => reads.take(read, allowance && limitAt(now, allowance)));
    const name = nameOf(customerId, productId);
    if (outcome === 'taken' && taken.get(name)?.read.day !== read.day) taken.set(name, { read, calls: 0 });
    return outcome ?? 'taken';
  };
  return {
    take,
    begin() {
      reads.begin();
      taken.clear();
    },
    async during({ customerId, productId, call, hasData }) {
      const name = nameOf(customerId, productId);
      await take(customerId, productId);
      const own = taken.get(name);
      if (!own) return call();
      own.calls += 1;
      const end = async (brought: boolean, error?: unknown) => {
        own.calls -= 1;
        if (brought) {
          taken.delete(name);
          await unlessItFails(() => reads.succeeded(own.read));
        } else if (own.calls === 0) await free(name, own, error);
      };
      let answer: Awaited<ReturnType<typeof call>>;
      try {
        answer = await call();
      } catch (error) {
        await end(false, error);
        throw error;
      }
      await end(hasData(answer));
      return answer;
    },
    async giveBack(customerId) {
      for (const [name, own] of taken)
        if (own.read.customerId === customerId && own.calls === 0) await free(name, own);
    },
  };
}

function limitAt(now: Date, { budget, isSpread }: Allowance): ReadLimit {
  return isSpread ? { budget: readsBy(now, budget), minute: minuteOfDay(now) } : { budget };
}

function nameOf(customerId: string, productId: string | null): string {
  return `${customerId} ${productId ?? '*'}`;
}

/** Wraps a bank: counts the calls that read an account. */
export function countingReads(bank: Bank, reads: AccountReads, customerId: string): Bank {
  const counted = <T>(
    { method, path }: { method: string; path: string },
    { call, hasData }: Pick<OwnCall<T>, 'call' | 'hasData'>,
  ) => {
    const productId = method === 'GET' ? readBy(path) : undefined;
    return productId === undefined ? call() : reads.during({ customerId, productId, call, hasData });
  };
  return {
    // If the answer has no data, the call throws.
    call: (call, schema) => counted(call, { call: () => bank.call(call, schema), hasData: () => true }),
    exchange: (call) =>
      counted(call, {
        call: () => bank.exchange(call),
        hasData: ({ status }) => status >= 200 && status < 300 && status !== 204,
      }),
  };
}

/** @returns the product that a call reads, null for the list of accounts, undefined if it reads no account */
function readBy(path: string): string | null | undefined {
  const asked = pathOf({ target: path });
  if (/\/private\/customers\/[^/]+\/(?:accounts|products)$/.test(asked)) return null;
  const product = /\/private\/customers\/[^/]+\/products\/([A-Za-z0-9]{1,35})(?:\/[A-Za-z]+\/retrieve)?$/;
  return product.exec(asked)?.[1];
}

import * as z from 'zod/mini';
import type { Customer } from '../customers/seed-customers.ts';
import { seededRandom } from '../seeded-random.ts';
import type { StatePart } from '../state-part.ts';
import { BadFault, type Fault, faultText, parseFault } from './fault.ts';
import { type IncomingCall, parseTarget } from './target.ts';

const MAX_RULES = 100;

/** A request for a fault: what it does, for which calls, and when. Omitted conditions do not restrict it. */
export const faultOrder = z.strictObject({
  /** Read by `parseFault`. */
  fault: z.string(),
  /** Read by `parseTarget`. Default: every call. */
  on: z.optional(z.string()),
  /** The maximum number of calls that it changes. */
  times: z.optional(z.int().check(z.positive())),
  /** The number of calls to skip first. */
  after: z.optional(z.int().check(z.minimum(0))),
  /** The probability that it changes a call: above 0, at most 1. */
  probability: z.optional(z.number().check(z.gt(0), z.maximum(1))),
  /** With the same seed, the same calls fail. */
  seed: z.optional(z.string()),
  /** How long it lasts, in seconds of the bank's time. Default: until it is cleared. */
  forSeconds: z.optional(z.int().check(z.positive())),
  /** The user or the customer id whose calls it changes. Default: everybody's. */
  customer: z.optional(z.string()),
});

export type FaultOrder = z.infer<typeof faultOrder>;

/** A fault and its counters. */
export const faultRecord = z.object({
  id: z.int(),
  fault: z.string(),
  on: z.nullable(z.string()),
  customer: z.nullable(z.string()),
  /** When it ends in the bank's time: ISO 8601, UTC. */
  until: z.nullable(z.string()),
  times: z.nullable(z.int()),
  after: z.int(),
  probability: z.number(),
  seed: z.string(),
  /** The number of calls that matched. */
  seen: z.int(),
  /** The number of matching calls that it changed. */
  fired: z.int(),
});

export type FaultRecord = z.infer<typeof faultRecord>;

interface KeptFault extends FaultRecord {
  /** The id of `customer`. */
  customerId: string | undefined;
}

/** Who makes a call, and when. */
export interface CallMoment {
  now: Date;
  /** Undefined: no customer is known. */
  customerId: string | undefined;
}

/** The active faults. */
export class FaultBook implements StatePart {
  memory: { faults: KeptFault[]; lastId: number } = { faults: [], lastId: 0 };

  /**
   * @param now the time of the bank, for a fault that ends
   * @param customerId the one that the order names
   * @throws BadFault
   */
  add(order: FaultOrder, now: Date, customerId?: string): FaultRecord {
    const { fault, on, times, after = 0, probability = 1, seed = '1', forSeconds, customer } = order;
    const parsed = parseFault(fault);
    const target = on === undefined ? undefined : parseTarget(on);
    this.#forgetEnded(now);
    if (this.memory.faults.length >= MAX_RULES)
      throw new BadFault(`There are already ${MAX_RULES} faults`, 'Clear them: psd2 sandbox fault clear');
    this.memory.lastId += 1;
    const rule: KeptFault = {
      id: this.memory.lastId,
      fault: faultText(parsed),
      on: target?.text ?? null,
      customer: customer ?? null,
      until: forSeconds === undefined ? null : new Date(now.getTime() + forSeconds * 1000).toISOString(),
      times: times ?? null,
      after,
      probability,
      seed,
      seen: 0,
      fired: 0,
      customerId,
    };
    this.memory.faults.push(rule);
    return publicRecord(rule);
  }

  list(now: Date): FaultRecord[] {
    this.#forgetEnded(now);
    return this.memory.faults.map(publicRecord);
  }

  /** @param id the fault to remove. Default: all faults. @returns the number of removed faults */
  clear(id?: number): number {
    const before = this.memory.faults.length;
    this.memory.faults = id === undefined ? [] : this.memory.faults.filter((rule) => rule.id !== id);
    return before - this.memory.faults.length;
  }

  /** The faults that apply to a new call. Call this once for each call: it counts. */
  due(call: IncomingCall, moment: CallMoment): Fault[] {
    this.#forgetEnded(moment.now);
    return this.memory.faults
      .filter((rule) => fires(rule, call, moment))
      .map(({ fault }) => parseFault(fault));
  }

  /** Removes the faults of a customer. */
  forgetCustomer({ customerId }: Customer): void {
    this.memory.faults = this.memory.faults.filter((rule) => rule.customerId !== customerId);
  }

  #forgetEnded(now: Date): void {
    this.memory.faults = this.memory.faults.filter(({ until }) => until === null || now < new Date(until));
  }
}

function fires(rule: KeptFault, call: IncomingCall, { customerId }: CallMoment): boolean {
  if (rule.customerId !== undefined && rule.customerId !== customerId) return false;
  if (rule.on !== null && !parseTarget(rule.on).matches(call)) return false;
  rule.seen += 1;
  if (rule.seen <= rule.after || (rule.times !== null && rule.fired >= rule.times)) return false;
  if (!seededRandom(`${rule.seed} ${rule.seen}`).chance(rule.probability)) return false;
  rule.fired += 1;
  return true;
}

function publicRecord({ customerId: _customerId, ...record }: KeptFault): FaultRecord {
  return record;
}

/** The calls and flows whose magic value was applied. */
export class UsedMagic implements StatePart {
  memory = { used: new Set<string>() };

  /** @returns false if it was used before */
  use(key: string): boolean {
    if (this.memory.used.has(key)) return false;
    this.memory.used.add(key);
    return true;
  }

  /** Magic values belong to flows, and a forgotten customer has none left. */
  forgetCustomer(): void {}
}

import * as z from 'zod/mini';
import { seededRandom } from '../seeded-random.ts';
import { BadFault, type Fault, faultText, parseFault } from './fault.ts';
import { type FaultTarget, type IncomingCall, parseTarget } from './target.ts';

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
});

export type FaultOrder = z.infer<typeof faultOrder>;

/** A fault and its counters. */
export const faultRecord = z.object({
  id: z.int(),
  fault: z.string(),
  on: z.nullable(z.string()),
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

interface Rule extends FaultRecord {
  parsed: Fault;
  target: FaultTarget | undefined;
}

/** The active faults. */
export class FaultBook {
  #rules: Rule[] = [];
  #lastId = 0;

  /** @throws BadFault */
  add({ fault, on, times, after = 0, probability = 1, seed = '1' }: FaultOrder): FaultRecord {
    const parsed = parseFault(fault);
    const target = on === undefined ? undefined : parseTarget(on);
    if (this.#rules.length >= MAX_RULES) {
      throw new BadFault(`There are already ${MAX_RULES} faults`, 'Clear them: psd2 sandbox fault clear');
    }
    this.#lastId += 1;
    const rule: Rule = {
      id: this.#lastId,
      fault: faultText(parsed),
      on: target?.text ?? null,
      times: times ?? null,
      after,
      probability,
      seed,
      seen: 0,
      fired: 0,
      parsed,
      target,
    };
    this.#rules.push(rule);
    return recordOf(rule);
  }

  list(): FaultRecord[] {
    return this.#rules.map(recordOf);
  }

  /** @param id the fault to remove. Default: all faults. @returns the number of removed faults */
  clear(id?: number): number {
    const before = this.#rules.length;
    this.#rules = id === undefined ? [] : this.#rules.filter((rule) => rule.id !== id);
    return before - this.#rules.length;
  }

  /** The faults that apply to a new call. Call this once for each call: it counts. */
  due(call: IncomingCall): Fault[] {
    return this.#rules.filter((rule) => this.#fires(rule, call)).map(({ parsed }) => parsed);
  }

  #fires(rule: Rule, call: IncomingCall): boolean {
    if (rule.target && !rule.target.matches(call)) return false;
    rule.seen += 1;
    if (rule.seen <= rule.after || (rule.times !== null && rule.fired >= rule.times)) return false;
    if (!seededRandom(`${rule.seed} ${rule.seen}`).chance(rule.probability)) return false;
    rule.fired += 1;
    return true;
  }
}

function recordOf({ parsed: _parsed, target: _target, ...record }: Rule): FaultRecord {
  return record;
}

import * as z from 'zod/mini';
import { seededRandom } from '../seeded-random.ts';
import { BadFault, type Fault, faultText, parseFault } from './fault.ts';
import { type FaultTarget, parseTarget } from './target.ts';

const MOST_RULES = 100;

/** A fault as it is ordered: what, for which calls, and when. What is left out is no condition. */
export const faultOrder = z.strictObject({
  /** As `parseFault` reads it. */
  fault: z.string(),
  /** As `parseTarget` reads it. Default: every call. */
  on: z.optional(z.string()),
  /** How many calls go wrong. */
  times: z.optional(z.int().check(z.positive())),
  /** How many calls go well before. */
  after: z.optional(z.int().check(z.minimum(0))),
  /** The share of the calls that go wrong, above 0 to 1, chosen by the seed. */
  probability: z.optional(z.number().check(z.gt(0), z.maximum(1))),
  /** Calls of the same number go wrong for the same seed. */
  seed: z.optional(z.string()),
});

export type FaultOrder = z.infer<typeof faultOrder>;

/** An ordered fault, and what has become of it. */
export const faultRecord = z.object({
  id: z.int(),
  fault: z.string(),
  on: z.nullable(z.string()),
  times: z.nullable(z.int()),
  after: z.int(),
  probability: z.number(),
  seed: z.string(),
  /** How many calls it was for. */
  seen: z.int(),
  /** How many of them went wrong. */
  fired: z.int(),
});

export type FaultRecord = z.infer<typeof faultRecord>;

interface Rule extends FaultRecord {
  parsed: Fault;
  target: FaultTarget | undefined;
}

/** The faults that were ordered for the calls to come. */
export class FaultBook {
  #rules: Rule[] = [];
  #lastId = 0;

  /** @throws BadFault */
  add({ fault, on, times, after = 0, probability = 1, seed = '1' }: FaultOrder): FaultRecord {
    const parsed = parseFault(fault);
    const target = on === undefined ? undefined : parseTarget(on);
    if (this.#rules.length >= MOST_RULES) {
      throw new BadFault(`There are ${MOST_RULES} faults already`, 'Clear them: psd2 sandbox fault clear');
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

  /** @param id one of them; undefined: all. @returns how many there were */
  clear(id?: number): number {
    const before = this.#rules.length;
    this.#rules = id === undefined ? [] : this.#rules.filter((rule) => rule.id !== id);
    return before - this.#rules.length;
  }

  /** What goes wrong with a call that has come now. Each call is asked about once. */
  due(call: { method: string; target: string }): Fault[] {
    return this.#rules.filter((rule) => this.#fires(rule, call)).map(({ parsed }) => parsed);
  }

  #fires(rule: Rule, call: { method: string; target: string }): boolean {
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

import type { Place } from './bank.ts';
import {
  between,
  CONSENT_REQUEST,
  forAnotherOrder,
  INSTANTLY,
  isCall,
  type Means,
  newFlows,
  refusal,
  resourceIn,
  resumeOf,
  transferOrder,
} from './gateway.ts';
import type { Answer, Call } from './relay.ts';
import { type Flow, flowsAt, judgeEnd, newTry, type Tried } from './tried.ts';

/** What a gateway that mixes answers up gives instead of a call's own answer. */
export const MIXES = [
  'the answer before it on the connection',
  'the last status answer',
  'another flow’s success',
] as const;
export type Mix = (typeof MIXES)[number];

/** What becomes of the request that may be made once. */
export const FATES = ['done', 'done, then answered 504', 'refused', 'never delivered'] as const;
export type Fate = (typeof FATES)[number];

/** A flow, and the calls of it whose answers can be mixed up. */
export interface Mixed {
  name: string;
  kind: 'transfer' | 'consent';
  once: 'execute' | 'confirm';
  /** The states of a flow that is done. */
  done: string[];
  begin(place: Place): string[];
  resume?: string[];
  calls: (
    | 'verify'
    | 'consent request'
    | 'approach'
    | 'status'
    | 'execute'
    | 'confirm'
    | 'execution status'
  )[];
}

const done = ['executed', 'settled'];
export const MIXED: Mixed[] = [
  {
    ...{ name: 'transfer', kind: 'transfer', once: 'execute', done },
    begin: (place) => transferOrder(place),
    calls: ['verify', 'approach', 'status', 'execute'],
  },
  {
    ...{ name: 'instant transfer', kind: 'transfer', once: 'execute', done, resume: ['--payee-verified'] },
    begin: (place) => transferOrder(place, INSTANTLY),
    calls: ['status', 'execute', 'execution status'],
  },
  {
    ...{ name: 'consent', kind: 'consent', once: 'confirm', done: ['confirmed'] },
    begin: () => CONSENT_REQUEST,
    calls: ['consent request', 'approach', 'status', 'confirm'],
  },
];

/** From when on answers are mixed up. */
export const SINCES = ['from the start', 'after it was sent'] as const;

/** One way to mix up the answers of a flow. */
export interface Mixture {
  at: string;
  call: Mixed['calls'][number];
  mix: Mix;
  since: (typeof SINCES)[number];
}

/** All mixtures of a flow. What comes before the request that may be made once cannot be mixed up after it. */
export function mixturesOf({ calls, once }: Mixed): Mixture[] {
  return calls.flatMap((call) =>
    SINCES.filter((since) => (call === 'status' ? true : since === sinceOf(call, once))).flatMap((since) =>
      MIXES.map((mix) => ({ at: `${call} gets ${mix}, ${since}`, call, mix, since })),
    ),
  );
}

function sinceOf(call: Mixture['call'], once: Mixed['once']): Mixture['since'] {
  return call === once || call !== 'execution status' ? 'from the start' : 'after it was sent';
}

/** Long enough for a customer who decides at once. */
const IMPATIENT = { PSD2_SCA_TIMEOUT: '2' };

/** A gateway that mixes answers up. */
class MixingGateway {
  /** The resources whose operation the bank has done. */
  readonly done = new Set<string>();
  /** How many answers it has given instead of others. */
  mixedUp = 0;
  readonly #mixed: Mixed;
  readonly #fate: Fate;
  readonly #mixture: Mixture;
  readonly #before = new Map<object, Answer>();
  readonly #ofAnother = new Map<string, Answer>();
  #lastStatus: Answer | undefined;
  #isMixing = false;
  #wasSent = false;

  constructor(mixed: Mixed, fate: Fate, mixture: Mixture) {
    this.#mixed = mixed;
    this.#fate = fate;
    this.#mixture = mixture;
  }

  /** Until then it behaves, and learns the answers of another flow. */
  mix(isMixing: boolean): void {
    this.#isMixing = isMixing;
    this.#wasSent = false;
  }

  async answer(call: Call, toBank: (headers?: Record<string, string>) => Promise<Answer>): Promise<Answer> {
    const { once, calls } = this.#mixed;
    const isOnce = isCall(once, call);
    const name = calls.find((each) => isCall(each, call));
    const own = this.#isMixing && isOnce ? await this.#answerOnce(call, toBank) : await toBank();
    if (isOnce && own.status === 200) this.done.add(resourceIn(call) ?? '');
    if (this.#isMixing && isOnce) this.#wasSent = true;
    const instead = this.#isMixing && name ? this.#instead(call, name) : undefined;
    if (instead) this.mixedUp += 1;
    this.#before.set(call.connection, own);
    if (isCall('status', call)) this.#lastStatus = own;
    if (!this.#isMixing && name && own.status === 200) this.#ofAnother.set(name, own);
    return instead ?? own;
  }

  async #answerOnce(
    call: Call,
    toBank: (headers?: Record<string, string>) => Promise<Answer>,
  ): Promise<Answer> {
    const late = refusal(504, 'LATE');
    switch (this.#fate) {
      case 'done':
        return toBank();
      case 'done, then answered 504':
        if ((await toBank()).status === 200) this.done.add(resourceIn(call) ?? '');
        return late;
      case 'refused':
        return toBank({ 'x-sandbox-fault': 'status=422' });
      case 'never delivered':
        return late;
    }
  }

  #instead(call: Call, name: string): Answer | undefined {
    const { mix, since } = this.#mixture;
    if (name !== this.#mixture.call || (since === 'after it was sent' && !this.#wasSent)) return undefined;
    switch (mix) {
      case 'the answer before it on the connection':
        return this.#before.get(call.connection);
      case 'the last status answer':
        return this.#lastStatus;
      case 'another flow’s success':
        return this.#ofAnother.get(name);
    }
  }
}

/** Mixes the answers of a flow up. psd2 must neither call something done that is not, nor something failed that is done. */
export async function tryMixed(
  { bank, relay, followers }: Means,
  mixed: Mixed,
  fate: Fate,
  mixture: Mixture,
): Promise<Tried> {
  const place = bank.newPlace();
  const { name, kind, begin, resume } = mixed;
  const tried = newTry('another’s answer', name, fate, mixture.at, kind === 'transfer' ? place.amount : '');
  const gateway = new MixingGateway(mixed, fate, mixture);
  const env = {
    ...between(relay, place, 'status is conclusive', (call, toBank) => gateway.answer(call, toBank)),
    ...IMPATIENT,
  };
  // Another flow, which goes well.
  const other = forAnotherOrder(bank, place);
  judgeEnd('the other flow', await followers.psd2(place, begin(other), env), tried.problems);
  const before = await flowsAt(followers, place, kind);
  const judge = async (who: string): Promise<Flow[]> => {
    const flows = await newFlows(followers, place, kind, env, before);
    judgeStates(who, flows, mixed, gateway.done, tried);
    return flows;
  };

  gateway.mix(true);
  judgeEnd('it', await followers.psd2(place, begin(place), env), tried.problems);
  for (const flow of await judge('it')) {
    judgeEnd('resume', await followers.psd2(place, resumeOf(kind, flow, resume), env), tried.problems);
  }
  await judge('resume');
  gateway.mix(false);
  if (kind === 'transfer') {
    judgeEnd('the same again', await followers.psd2(place, begin(place), env), tried.problems);
  }
  for (const flow of await judge('the same again')) {
    judgeEnd(
      'the last resume',
      await followers.psd2(place, resumeOf(kind, flow, resume), env),
      tried.problems,
    );
  }
  tried.reached = gateway.mixedUp > 0;
  tried.ends = (await judge('the last resume')).map(({ state }) => state);
  place.remove();
  return tried;
}

function judgeStates(
  who: string,
  flows: Flow[],
  mixed: Mixed,
  doneAtTheBank: Set<string>,
  { problems }: Tried,
): void {
  for (const { state, resourceId } of flows) {
    const isDone = resourceId !== null && doneAtTheBank.has(resourceId);
    if (mixed.done.includes(state) && !isDone) {
      problems.push(`reported done though not: after ${who} psd2 shows ${state}`);
    }
    if (['failed', 'rejected', 'cancelled', 'expired'].includes(state) && isDone) {
      problems.push(`reported failed though done: after ${who} psd2 shows ${state}`);
    }
  }
  const resources = flows.flatMap(({ resourceId }) => resourceId ?? []);
  if (new Set(resources).size < resources.length) problems.push(`after ${who} two flows have one resource`);
}

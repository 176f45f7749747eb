import type { Intent } from '../../../bank/ports/call.ts';
import type { Begun, BegunConsent, Ended, Heard, Questions, With } from '../../../bank/ports/questions.ts';
import { addDays, bankDay } from '../../../domain/calendar.ts';
import type { ConsentTerms, Covered } from '../../../domain/consent.ts';
import { Psd2Error } from '../../../errors.ts';
import { baseUrlOf, type Profile, redirectUriOf } from '../../../store/machine/settings.ts';
import type { ApplicationBank, Context } from '../../context.ts';
import type { BegunThing, BegunThings } from './begun.ts';
import { type Change, type Draft, over } from './draft.ts';

/** Between two questions: nobody is in a hurry. */
const PAUSE_MS = 500;

const OWN_IDS =
  'the answer has another X-Request-ID than the request. If all answers have, the bank file needs "any" here';

/** Why psd2 asks no more. */
export class Stopped extends Error {
  /** The bank's refusal, or why there was no answer. */
  readonly error: Psd2Error;

  /** What psd2 no longer asks for. */
  readonly what: 'anything' | 'consents' | 'products of files';

  /** The question that the bank minded has begun nothing. */
  readonly beganNothing: boolean;

  constructor(reason: string, error: Psd2Error, what: Stopped['what'] = 'anything', beganNothing = false) {
    super(reason);
    this.error = error;
    this.what = what;
    this.beganNothing = beganNothing;
  }
}

/** With what the bank takes a question or a consent. */
export interface Taken {
  change: Change;
  more: With;
}

/** What the operator said. */
export interface Known {
  account: string | undefined;
  psuId: string | undefined;
}

/** Asks a bank, slowly, each time as a draft of its file describes it. It stops at the first sign that the bank minds. */
export class Asker {
  readonly bank: string;
  /** The number of questions so far. */
  asked = 0;
  /** How the bank takes questions and consents, as far as that is known. */
  taken: Taken = { change: {}, more: {} };
  /** A consent was begun. */
  hasBegun = false;
  readonly draft: Draft;
  readonly known: Known;
  readonly #context: Context;
  readonly #profile: Profile;
  readonly #begun: BegunThings;
  readonly #open = new Map<string, Promise<ApplicationBank>>();
  #failures = 0;
  /** The ids of what the bank did not know when it was to be ended, and of payments that it was asked to cancel. */
  readonly #notKnown = new Set<string>();
  readonly #givenUp = new Set<string>();
  #keepsConsents: string | undefined;

  constructor(context: Context, profile: Profile, draft: Draft, begun: BegunThings, named: Known) {
    this.#context = context;
    this.#profile = profile;
    this.#begun = begun;
    this.draft = draft;
    this.known = named;
    this.bank = baseUrlOf(profile).href.replace(/\/$/, '');
  }

  /** The bank takes what comes with a further change. */
  change(change: Change): void {
    this.taken = { ...this.taken, change: over(this.taken.change, change) };
  }

  /** The bank as the draft with a change describes it. */
  at(change: Change = {}): Promise<ApplicationBank> {
    const file = JSON.stringify(this.draft.full(change));
    const { name, settings } = this.#profile;
    const opened =
      this.#open.get(file) ??
      this.#context
        .forProfile({ name, settings: { ...settings, bank: file } })
        .applicationBank('authorization_code');
    this.#open.set(file, opened);
    return opened;
  }

  /** Asks a question. @throws Stopped if the bank minds, or does not answer */
  async ask<H extends Heard | null>(
    question: (bank: Questions, more: With) => Promise<H>,
    { change = this.taken.change, more = this.taken.more }: Partial<Taken> = {},
  ): Promise<H> {
    const { sleep } = this.#context.world;
    if (this.asked > 0) await sleep(PAUSE_MS);
    this.asked += 1;
    let heard: H;
    try {
      heard = await question(await this.questions(change), more);
    } catch (error) {
      // At first it is the connection, the certificate or the key.
      if (!(error instanceof Psd2Error) || error.code === 'interrupted' || this.asked === 1) throw error;
      throw new Stopped(`psd2 got no usable answer: ${error.message}`, error);
    }
    if (heard?.hasOwnId) this.draft.say('headers.requestId', OWN_IDS, heard);
    if (heard?.refusal) this.#stopIfMinded(heard, heard.refusal);
    return heard;
  }

  async questions(change: Change): Promise<Questions> {
    const { questions } = (await this.at(change)).connect();
    if (questions) return questions;
    throw new TypeError('The interface of a bank file has no questions');
  }

  #stopIfMinded(heard: Heard, refusal: Psd2Error): void {
    const { verdict, code, says } = heard;
    const stop = (reason: string) => {
      const beganNothing = 'beganNothing' in heard && heard.beganNothing === true;
      throw new Stopped(`${reason}: ${says}`, refusal, 'anything', beganNothing);
    };
    if (verdict === 'minds being asked') stop('psd2 asked no more, because the bank minds');
    if (/^CERTIFICATE_(EXPIRED|BLOCKED|REVOKED)$/.test(code ?? ''))
      stop('the bank does not accept the certificate');
    if (verdict !== 'fails' && verdict !== 'is down') return;
    this.#failures += 1;
    if (this.#failures > 1 || verdict === 'is down') stop('psd2 asked no more, because the bank fails');
  }

  /**
   * Asks what may begin something. What it begins is on disk before the request leaves, until the bank refuses it or it ends.
   *
   * @param what the kind of consent, or `payments/…`
   */
  async begin<H extends Begun>(
    what: string,
    question: (bank: Questions, more: With) => Promise<H>,
    accepted: Taken = this.taken,
  ): Promise<H> {
    const { now } = this.#context.world;
    let thing: BegunThing | undefined;
    const drop = () => thing && this.#begun.drop(thing);
    const beforeSend = async ({ requestId }: Intent) => {
      thing = { what, id: null, requestId, at: now().toISOString(), bank: this.bank };
      this.#begun.keep(thing);
      return { notBegun: async () => drop() };
    };
    try {
      const { change, more } = accepted;
      const heard = await this.ask((bank) => question(bank, { ...more, beforeSend }), { change });
      if (heard.id !== null && thing) this.#begun.keep({ ...thing, id: heard.id });
      else if (heard.beganNothing) drop();
      return heard;
    } catch (error) {
      if (error instanceof Stopped && error.beganNothing) drop();
      throw error;
    }
  }

  /** Begins a consent that nobody authorises. @throws Stopped also if the bank deletes no consents: then psd2 begins no other */
  async consent(
    access: Covered,
    { terms, ...accepted }: Taken & { terms?: Partial<ConsentTerms> } = this.taken,
  ): Promise<BegunConsent & { validUntil: string }> {
    if (this.#keepsConsents !== undefined)
      throw new Stopped(this.#keepsConsents, new Psd2Error('bank_refused', this.#keepsConsents), 'consents');
    const { consent } = await this.draft.describe(accepted.change);
    const order = {
      access,
      recurring: true,
      redirectUri: redirectUriOf(this.#profile),
      validUntil: addDays(bankDay(this.#context.world.now()), consent.maxDays),
      frequencyPerDay: consent.frequencyPerDay,
      ...terms,
    };
    const heard = await this.begin(access.type, (bank, more) => bank.consent(order, more), accepted);
    this.hasBegun ||= heard.id !== null;
    return { ...heard, validUntil: order.validUntil };
  }

  /** Deletes a consent at once. If it stays, psd2 begins no other. */
  async end(id: string, accepted: Taken = this.taken): Promise<Ended> {
    const ended = await this.ask((bank, more) => bank.deleteConsent(id, more), accepted);
    const thing = this.#begun.all.find((each) => each.id === id && each.bank === this.bank);
    if (thing) this.#note(thing, ended);
    if (!ended.isGone)
      this.#keepsConsents = `the bank did not delete a consent (${ended.says}), so psd2 began no other`;
    return ended;
  }

  /** Ends what is left, of this run and of those before it, also after Ctrl-C. @returns what could not be ended */
  async endAll(): Promise<readonly BegunThing[]> {
    for (const thing of this.#begun.all) if (!this.#isGivenUp(thing)) await this.#endThing(thing);
    return this.#begun.all;
  }

  /** Cancels at once the payments that a question has begun. What stays is not asked for again: the next run does. */
  async cancelPayments(): Promise<void> {
    for (const thing of this.#begun.all) {
      if (thing.id === null || !thing.what.includes('/')) continue;
      await this.#endThing(thing);
      this.#givenUp.add(thing.id);
    }
  }

  /** Whether the bank does not know a thing that it was asked to end. Nobody can end it then. */
  isNotKnown({ id }: BegunThing): boolean {
    return id !== null && this.#notKnown.has(id);
  }

  #isGivenUp({ id }: BegunThing): boolean {
    return id !== null && this.#givenUp.has(id);
  }

  async #endThing(thing: BegunThing): Promise<void> {
    const { what, id, bank: where } = thing;
    if (id === null || where !== this.bank) return;
    const { change, more } = this.taken;
    const [service = '', product] = what.split('/');
    try {
      const bank = await this.questions(change);
      const ended = await (product !== undefined
        ? bank.cancelPayment(
            { service, product, paymentId: id, redirectUri: redirectUriOf(this.#profile) },
            more,
          )
        : what === 'funds'
          ? bank.deleteFundsConsent(id, more)
          : bank.deleteConsent(id, more));
      this.#note(thing, ended);
    } catch (error) {
      // What could not be ended is said.
      if (!(error instanceof Psd2Error)) throw error;
    }
  }

  #note(thing: BegunThing, { isGone, isNotKnown }: Ended): void {
    if (isGone) this.#begun.drop(thing);
    if (isNotKnown && thing.id !== null) this.#notKnown.add(thing.id);
  }
}

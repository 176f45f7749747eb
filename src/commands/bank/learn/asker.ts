import type { ConsentAccess, ConsentTerms } from '../../../bank/ports/customer.ts';
import type { BegunConsent, Heard, Questions, With } from '../../../bank/ports/questions.ts';
import { addDays, bankDay } from '../../../domain/calendar.ts';
import { Psd2Error } from '../../../errors.ts';
import { baseUrlOf, type Profile, redirectUriOf } from '../../../store/machine/settings.ts';
import type { ApplicationBank, Context } from '../../context.ts';
import type { BegunThing, BegunThings } from './begun.ts';
import type { Change, Draft } from './draft.ts';

/** Between two questions: nobody is in a hurry. */
const PAUSE_MS = 500;

/** Why psd2 asks no more. */
export class Stopped extends Error {
  /** The bank's refusal, or why there was no answer. */
  readonly error: Psd2Error;

  /** What psd2 no longer asks for. */
  readonly what: 'anything' | 'consents';

  constructor(reason: string, error: Psd2Error, what: Stopped['what'] = 'anything') {
    super(reason);
    this.error = error;
    this.what = what;
  }
}

/** With what the bank takes a consent. */
export interface Taken {
  change: Change;
  more: With;
}

/** What the operator said. */
export interface Known {
  account: string | undefined;
  psuId: string | undefined;
}

/** Codes that answer a question although their status is 403. */
const ANSWERS =
  /^((CONSENT|RESOURCE|PRODUCT|SIGNATURE|KID|TOKEN|PARAMETER|STATUS)_|(SERVICE|ROLE)_INVALID$|FORMAT_ERROR$)/;

/** Asks a bank, slowly, each time as a draft of its file describes it. It stops at the first sign that the bank minds. */
export class Asker {
  readonly draft: Draft;
  readonly known: Known;
  readonly begun: BegunThings;
  readonly bank: string;
  /** The number of questions so far. */
  asked = 0;
  readonly #context: Context;
  readonly #profile: Profile;
  readonly #open = new Map<string, Promise<ApplicationBank>>();
  /** How the bank takes consents, as far as that is known. */
  taken: Taken = { change: {}, more: {} };
  /** A consent was begun. */
  hasBegun = false;
  #failures = 0;
  #keepsConsents: string | undefined;

  constructor(context: Context, profile: Profile, draft: Draft, begun: BegunThings, known: Known) {
    this.#context = context;
    this.#profile = profile;
    this.draft = draft;
    this.begun = begun;
    this.known = known;
    this.bank = baseUrlOf(profile).href.replace(/\/$/, '');
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
    question: (bank: Questions) => Promise<H>,
    change: Change = {},
  ): Promise<H> {
    const { sleep } = this.#context.world;
    if (this.asked > 0) await sleep(PAUSE_MS);
    this.asked += 1;
    let heard: H;
    try {
      heard = await question(await this.questions(change));
    } catch (error) {
      // At first it is the connection, the certificate or the key.
      if (!(error instanceof Psd2Error) || error.code === 'interrupted' || this.asked === 1) throw error;
      throw new Stopped(`psd2 got no usable answer: ${error.message}`, error);
    }
    if (heard?.refusal) this.#stopIfMinded(heard, heard.refusal);
    return heard;
  }

  async questions(change: Change = {}): Promise<Questions> {
    const { questions } = (await this.at(change)).connect();
    if (questions) return questions;
    throw new TypeError('The interface of a bank file has no questions');
  }

  #stopIfMinded({ status, code, says }: Heard, refusal: Psd2Error): void {
    const isForbidden = status === 403 && !ANSWERS.test(code ?? '');
    if (isForbidden || status === 420 || status === 429)
      throw new Stopped(`psd2 asked no more, because the bank minds: ${says}`, refusal);
    if (/^CERTIFICATE_(EXPIRED|BLOCKED|REVOKED)$/.test(code ?? ''))
      throw new Stopped(`the bank does not accept the certificate: ${says}`, refusal);
    if (status < 500) return;
    this.#failures += 1;
    if (this.#failures > 1 || status !== 500)
      throw new Stopped(`psd2 asked no more, because the bank fails: ${says}`, refusal);
  }

  /**
   * Begins a consent that nobody authorises. What it begins is on disk before the request leaves.
   *
   * @throws Stopped also if the bank deletes no consents: then psd2 begins no other
   */
  async begin(
    access: ConsentAccess,
    { terms, change, more }: Taken & { terms?: Partial<ConsentTerms> },
  ): Promise<BegunConsent & { validUntil: string }> {
    if (this.#keepsConsents !== undefined)
      throw new Stopped(this.#keepsConsents, new Psd2Error('bank_refused', this.#keepsConsents), 'consents');
    const { consent } = await this.draft.describe(change);
    const { now } = this.#context.world;
    const asked = {
      ...{ access, recurring: true, redirectUri: redirectUriOf(this.#profile) },
      validUntil: addDays(bankDay(now()), consent.maxDays),
      frequencyPerDay: consent.frequencyPerDay,
      ...terms,
    };
    let requestId = '';
    const beforeSend = async (intent: { requestId: string }) => {
      ({ requestId } = intent);
      this.begun.add({ what: access.type, id: null, requestId, at: now().toISOString(), bank: this.bank });
      return { notBegun: async () => this.begun.drop(requestId) };
    };
    const heard = await this.ask((bank) => bank.consent({ ...asked, beforeSend }, more), change).catch(
      (error) => {
        // An answer that refuses it has begun nothing.
        if (error instanceof Stopped && isRefusal(error.error.httpStatus ?? 0)) this.begun.drop(requestId);
        throw error;
      },
    );
    if (heard.id !== null) {
      this.begun.name(requestId, heard.id);
      this.hasBegun = true;
    } else if (isRefusal(heard.status)) this.begun.drop(requestId);
    return { ...heard, validUntil: asked.validUntil };
  }

  /** Deletes a consent at once. Refused, psd2 begins no other. */
  async end(id: string, change: Change, more?: With): Promise<Heard> {
    const heard = await this.ask((bank) => bank.deleteConsent(id, more), change);
    if (isGone(heard)) this.#forget(id);
    else this.#keepsConsents = `the bank did not delete a consent (${heard.says}), so psd2 began no other`;
    return heard;
  }

  /** The bank has made something of an empty object: it is on disk, and ends with the rest. @param what `payments/…` or `funds` */
  async tookNothing(what: string, id: string | null): Promise<void> {
    const { newId, now } = this.#context.world;
    this.begun.add({ what, id, requestId: newId(), at: now().toISOString(), bank: this.bank });
  }

  /** Ends what is left, of this run and of those before it, also after Ctrl-C. @returns what could not be ended */
  async endAll(): Promise<readonly BegunThing[]> {
    const { change, more } = this.taken;
    const own = this.begun.all.filter(({ bank, id }) => bank === this.bank && id !== null);
    for (const { what, id } of own) {
      if (id === null) continue;
      const [service, product] = what.split('/');
      try {
        const bank = await this.questions(change);
        const heard = await (product !== undefined
          ? bank.cancelPayment(service ?? '', product, id, more)
          : what === 'funds'
            ? bank.deleteFundsConsent(id, more)
            : bank.deleteConsent(id, more));
        if (isGone(heard)) this.#forget(id);
      } catch (error) {
        // What could not be ended is said.
        if (!(error instanceof Psd2Error)) throw error;
      }
    }
    return this.begun.all;
  }

  #forget(id: string): void {
    const thing = this.begun.all.find((each) => each.id === id);
    if (thing) this.begun.drop(thing.requestId);
  }
}

/** Whether a request has begun nothing. */
function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408;
}

/** Whether what was to be deleted is not there any more. */
function isGone({ refusal, code, form }: Heard): boolean {
  if (!refusal) return form !== 'other';
  return /^(CONSENT|RESOURCE)_(UNKNOWN|EXPIRED)$/.test(code ?? '');
}

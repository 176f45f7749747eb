import type { Sca, ScaGift, ScaLinks, ScaStepAnswer, ScaTurn } from '../bank/ports/customer.ts';
import {
  type AfterStep,
  type AskedAfter,
  type Became,
  type EmbeddedStep,
  type Given,
  readAfterAsking,
  readStep,
  type SentCredential,
} from '../domain/embedded.ts';
import type { Cost } from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import type { GiftRecord } from './gifts.ts';
import type { CredentialQuestion, FlowPorts, ReturnPorts } from './ports.ts';
import { isInterruption, isOvertaken, isRefusal } from './refusals.ts';

// Embedded SCA: the customer gives psd2 a PIN, the choice of a method, and a TAN, and psd2 passes them on (docs/embedded.md). Each goes once.
// What an answer means is in the domain (`readStep`). An error proves nothing: psd2 asks the bank before it asks the customer again.

/** The journal's callbacks that these steps need of those of any SCA. */
interface StepRecord {
  gifts: GiftRecord;
  cost?(told: Cost): Promise<void>;
  started(links: ScaLinks): Promise<void>;
}

interface StepSubject {
  resourceId: string;
  /** Where the customer's browser would return to. */
  redirectUri: string;
  transactionId: string;
}

/** What the steps need of the rest. */
interface StepPorts {
  ports: FlowPorts;
  returns: ReturnPorts;
  /** Begins another authorisation. */
  begin(links: ScaLinks | null): Promise<ScaTurn>;
}

/**
 * Takes the customer through embedded SCA, as far as the bank wants something of psd2. Then the bank's status decides.
 *
 * @param links of the authorisation, with the step that is next
 * @throws Psd2Error `still_open` if psd2 cannot go on, or the customer gives nothing; `interrupted`, with the ways on; what the bank could not be asked with
 */
export async function giveCredentials(
  subject: StepSubject,
  links: ScaLinks,
  ports: StepPorts,
  record: StepRecord,
): Promise<void> {
  const steps = new Steps(subject, links, ports, record);
  try {
    await steps.take();
  } catch (error) {
    throw withWaysOn(error, record.gifts);
  } finally {
    await ports.returns.credentials.close();
  }
}

/** The error of a command that Ctrl-C ended: it names the same ways on as one that stopped by itself. */
function withWaysOn(error: unknown, gifts: GiftRecord): unknown {
  if (!(error instanceof Psd2Error) || error.code !== 'interrupted') return error;
  const { message, context } = gifts.stop('Interrupted');
  return new Psd2Error('interrupted', message, { ...context, cause: error });
}

class Steps {
  readonly #subject: StepSubject;
  readonly #ports: StepPorts;
  readonly #record: StepRecord;
  #links: ScaLinks;
  #hasBegunAnew = false;

  constructor(subject: StepSubject, links: ScaLinks, ports: StepPorts, record: StepRecord) {
    this.#subject = subject;
    this.#links = links;
    this.#ports = ports;
    this.#record = record;
  }

  async take(): Promise<void> {
    if ((await this.#settleEarlier()) === 'is over') return;
    for (;;) {
      const { step } = this.#links;
      if (!step) return;
      const gift = await this.#ask(step);
      const next = await this.#give(gift);
      if (next === 'is over' || next === 'wait') return;
    }
  }

  /** What an earlier run has sent may have done its work: psd2 asks the bank, and sends nothing again before. */
  async #settleEarlier(): Promise<'is over' | 'goes on'> {
    const last = this.#ofThisPerson().at(-1);
    if (!last) return 'goes on';
    const bankStatus = last.isAnswered
      ? await this.#record.gifts.look()
      : await this.#lookUntilSaid(last.what, this.#known(false));
    const { next, became } = readAfterAsking(last.what, bankStatus, this.#known(false));
    if (!last.isAnswered) {
      // Nobody has written down what became of it.
      if (!last.isAnyones) await this.#note(last.what, this.#question(last.what), became);
      return this.#goOn(last.what, next, bankStatus);
    }
    if (next === 'is over') return this.#goOn(last.what, next, bankStatus);
    return bankStatus.scaStatus === 'failed' || bankStatus.scaStatus === 'expired'
      ? this.#anew(last.what)
      : 'goes on';
  }

  /** What was sent before of the person who authorises now. Each has an authorisation of their own. */
  #ofThisPerson(): SentCredential[] {
    const { psuId = null } = this.#ports.returns;
    return this.#record.gifts.sent().filter((each) => each.isAnyones || each.psuId === psuId);
  }

  /** @throws Psd2Error `still_open` if the customer gives nothing */
  async #ask({ next, methods = [], chosen, challenge }: EmbeddedStep): Promise<ScaGift> {
    const { credentials } = this.#ports.returns;
    const question = this.#question(next);
    switch (next) {
      case 'password': {
        const value = await credentials.password(question);
        if (value === null) throw this.#stop(nothing('PIN', question));
        return { what: 'password', value };
      }
      case 'method': {
        const [only] = methods;
        const value = methods.length === 1 && only ? only.id : await credentials.method(methods, question);
        if (value === null)
          throw this.#stop(notChosen(methods.map(({ id, name, type }) => name ?? (type || id))));
        return { what: 'method', value };
      }
      case 'code': {
        const value = await credentials.code({ ...challenge, ...(chosen && { method: chosen }) }, question);
        if (value === null) throw this.#stop(nothing('TAN', question));
        return { what: 'code', value };
      }
    }
  }

  #question(what: Given): CredentialQuestion {
    const { gifts } = this.#record;
    const { psuId } = this.#ports.returns;
    const wasSent = this.#ofThisPerson().some((each) => each.what === what);
    const { message } = this.#links;
    return { psuId, subject: gifts.subject, message, ...(wasSent && { wasSent }) };
  }

  /** Sends it, and does what the answer says. */
  async #give(gift: ScaGift): Promise<AfterStep> {
    const question = this.#question(gift.what);
    const answer = await this.#send(gift, question).catch(async (error: unknown) => {
      await this.#note(gift.what, question, 'unknown');
      throw error;
    });
    const { next, became } = readStep(gift.what, stepOf(answer));
    if (answer?.refusal) this.#say(answer.refusal);
    const { lacksMethod } = this.#record.gifts;
    if (answer?.refusal?.lacksMethod && lacksMethod) {
      await this.#note(gift.what, question, 'unknown');
      await lacksMethod();
      return 'is over';
    }
    if (!answer || next === 'ask the bank') return this.#asked(gift.what, answer, question, became);
    await this.#answered(gift, answer);
    await this.#note(gift.what, question, became);
    const { unusable } = answer.links;
    if (unusable !== undefined)
      throw new Psd2Error('bank_answer', unusable, {
        transactionId: this.#subject.transactionId,
        isDeadEnd: true,
      });
    if (next === 'stop')
      throw this.#stop('The bank waits for a code that only a page of its own brings back');
    // What the bank tells before the TAN can still be refused.
    if (answer.cost && next !== 'is over' && next !== 'wait') await this.#record.cost?.(answer.cost);
    return next;
  }

  /** @returns null if its answer is lost. @throws Psd2Error if it never left, or psd2 must stop */
  async #send(gift: ScaGift, question: CredentialQuestion): Promise<ScaStepAnswer | null> {
    const { ports, returns } = this.#ports;
    const { give, begins } = ports.bank.sca;
    const { resourceId, redirectUri, transactionId } = this.#subject;
    const { gifts } = this.#record;
    if (!give) throw new TypeError('This interface has no embedded SCA');
    const before = gifts.sent().length;
    const announce = gifts.announce(gift.what, begins?.(resourceId, this.#links) ?? false);
    try {
      return await give({
        resourceId,
        links: this.#links,
        gift,
        redirectUri,
        transactionId,
        psu: returns.person,
        beforeSend: async (intent) => {
          // A psd2 that is killed now has said too much, never too little.
          await this.#note(gift.what, question, 'sent');
          return announce(intent);
        },
      });
    } catch (error) {
      const hasLeft = gifts.sent().length > before;
      if (isInterruption(error) || isOvertaken(error) || !hasLeft) throw error;
      return null;
    }
  }

  async #answered(gift: ScaGift, { links, scaStatus }: ScaStepAnswer): Promise<void> {
    const chosen =
      gift.what === 'method' ? this.#links.step?.methods?.find(({ id }) => id === gift.value) : undefined;
    const { step } = links;
    this.#links = step && chosen && !step.chosen ? { ...links, step: { ...step, chosen } } : links;
    await this.#record.gifts.answered({ links: this.#links, scaStatus });
  }

  /** The answer does not say what became of it. */
  async #asked(
    what: Given,
    answer: ScaStepAnswer | null,
    question: CredentialQuestion,
    became: Became,
  ): Promise<AfterStep> {
    if (answer && answer.links !== this.#links) {
      this.#links = answer.links;
      await this.#record.gifts.kept(answer.links);
    }
    const facts = this.#known(became === 'refused' || answer?.refusal?.isBanks === true);
    const status = await this.#lookUntilSaid(what, facts).catch(async (error: unknown) => {
      await this.#note(what, question, became);
      throw error;
    });
    const bankStatus = { ...status, scaStatus: status.scaStatus ?? answer?.scaStatus ?? null };
    const read = readAfterAsking(what, bankStatus, facts);
    await this.#note(what, question, read.became);
    return (await this.#goOn(what, read.next, bankStatus, answer?.refusal)) === 'is over' ? 'is over' : what;
  }

  /**
   * Asks the bank what became of it. Where the bank has not refused it itself, an unfinished authorisation may be one that is slow: psd2
   * asks a few times before it believes that.
   */
  async #lookUntilSaid(what: Given, facts: Parameters<typeof readAfterAsking>[2]): Promise<AskedAfter> {
    const { bank, customer, world } = this.#ports.ports;
    const pauseMs = (bank.sca.timing?.pollSeconds ?? POLL_SECONDS) * 1000;
    const isOpen = (answer: AskedAfter) => readAfterAsking(what, answer, facts).next === 'again';
    const ask = async () => {
      let answer = await this.#record.gifts.look();
      for (let looks = 0; looks < LOOKS_AGAIN && !facts.isRefused && isOpen(answer); looks += 1) {
        await world.sleep(pauseMs);
        answer = await this.#record.gifts.look();
      }
      return answer;
    };
    return customer.whileWaiting('Asking the bank what became of it', ask(), LOOKS_AGAIN * pauseMs);
  }

  #known(isRefused: boolean): Parameters<typeof readAfterAsking>[2] {
    return { hasId: this.#links.id !== undefined, isRefused };
  }

  /** Does what follows from the bank's word. @param why it was asked */
  async #goOn(
    what: Given,
    next: ReturnType<typeof readAfterAsking>['next'],
    { scaStatus }: AskedAfter,
    why?: Psd2Error,
  ): Promise<'is over' | 'goes on'> {
    if (next === 'stop' || (next === 'again' && !this.#links.step)) throw this.#stop(why ?? UNSAID[what]);
    await this.#record.gifts.answered({ links: this.#links, scaStatus });
    if (next === 'is over') return 'is over';
    return next === 'anew' ? this.#anew(what, why) : 'goes on';
  }

  /** Begins another authorisation, if the customer wants it: once in a run. */
  async #anew(what: Given, why?: Psd2Error): Promise<'is over' | 'goes on'> {
    const { ports, returns, begin } = this.#ports;
    if (this.#hasBegunAnew) throw this.#stop(why ?? UNSAID[what]);
    if (!(await returns.credentials.beginsAgain(this.#question('password'))))
      throw this.#stop(why ?? UNSAID[what]);
    // Somebody may have authorised it with another authorisation.
    if (await isListedAsDone(ports.bank.sca, this.#subject)) return 'is over';
    this.#hasBegunAnew = true;
    const turn = await begin(ports.bank.sca.anew?.(this.#links) ?? null);
    if (turn.cost) await this.#record.cost?.(turn.cost);
    await this.#record.started(turn.links);
    this.#links = turn.links;
    if (turn.next !== 'give') throw this.#stop('The bank wants another way for the new authorisation');
    return 'goes on';
  }

  async #note(what: Given, question: CredentialQuestion, became: Became | 'sent'): Promise<void> {
    if (what !== 'method') await this.#ports.returns.credentials.note(what, question, became);
  }

  /** Tells the operator what the bank said, before they are asked again. */
  #say(refusal: Psd2Error): void {
    this.#ports.returns.quote(refusal.message);
  }

  #stop(why: Psd2Error | string): Psd2Error {
    return this.#record.gifts.stop(why);
  }
}

/** How often psd2 asks again, before an unfinished authorisation means that the bank has not got what was sent. */
const LOOKS_AGAIN = 3;
/** For a bank that does not say how often it may be asked. */
const POLL_SECONDS = 3;

/** An answer, as the domain reads it. */
function stepOf(answer: ScaStepAnswer | null): Parameters<typeof readStep>[1] {
  if (!answer || answer.refusal) return null;
  const { links, scaStatus } = answer;
  return { scaStatus, next: links.step?.next ?? null, isElsewhere: links.approach === 'decoupled' };
}

async function isListedAsDone(sca: Sca, { resourceId, transactionId }: StepSubject): Promise<boolean> {
  const listed = await sca.progressWithoutLink?.(resourceId, transactionId).catch((error: unknown) => {
    // Not every bank has a list.
    if (isRefusal(error) || (error instanceof Psd2Error && error.code === 'bank_answer')) return null;
    throw error;
  });
  return listed?.means === 'done';
}

function nothing(what: 'PIN' | 'TAN', { wasSent }: CredentialQuestion): string {
  return wasSent ? `psd2 was given no other ${what}` : `psd2 was given no ${what}, and has sent none`;
}

const UNSAID: Readonly<Record<Given, string>> = {
  password: 'The bank does not say what became of the PIN',
  method: 'The bank does not say what became of the choice of a method',
  code: 'The bank does not say what became of the TAN',
};

function notChosen(names: readonly string[]): string {
  return `No method was chosen. The bank has: ${names.join(', ')}`;
}

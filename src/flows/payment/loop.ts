import type { BeforeSend } from '../../bank/ports/call.ts';
import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { nextOperationStep, type OperationStep } from '../../domain/next-step.ts';
import {
  isPending,
  type Operation,
  type OperationEvent,
  type OrderTarget,
  type StepEvent,
} from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import type { OpenFlow } from '../../store/ports/flows.ts';
import { type ReturnPorts, recordLinksLeft } from '../linked-sca.ts';
import {
  announcing,
  askBefore,
  type Once,
  type Revoking,
  recordFound,
  recordOutcome,
  sendOnce,
} from '../once.ts';
import type { FlowPorts } from '../ports.ts';
import { isRefusal, isTrouble } from '../refusals.ts';
import { askUntil, awaitDecision, type ScaSubject, sendCustomerToSca } from '../sca.ts';
import { outcomeUnknown } from '../unknown.ts';
import {
  authorisePayment,
  awaitPayment,
  feesRefused,
  othersMust,
  unknownIfUnsaid,
  unsaid,
} from './authorise.ts';
import { recordsLogged, repeatInitiation, type Verifying, verify, verifyFurther } from './begin.ts';
import { readClock, recoveryOf } from './lost-initiation.ts';
import {
  askDecision,
  askIfFinal,
  askIfSettled,
  askOutcome,
  askSettlement,
  endOfOperation,
  settlementEvent,
} from './outcome.ts';
import { lookAt, needsLoginAgain, resourceOf, statusOf, whatHappened } from './status.ts';

export interface OperationPorts<Order extends OrderTarget> extends FlowPorts {
  /** Shows the operator the verified order and asks for confirmation. False means no. */
  accept(operation: Operation<Order>): Promise<boolean>;
  /** Shows the operator the fees in the answer to an initiation and asks for confirmation. Absent: it needs none. */
  acceptFees?(operation: Operation<Order>): Promise<boolean>;
  /** For SCA at a bank whose links lead it. */
  returns?: ReturnPorts;
}

/**
 * Runs an operation (a transfer is one) from the state in its journal to its end: verify, the operator's confirmation, SCA,
 * execute, and for an instant transfer the settlement (interface specification, "Generic operation flow"). The journal
 * announces each request before it leaves, and records its outcome afterwards, so this function also resumes an interrupted
 * operation. `execute` is sent at most once: if its answer is lost, psd2 asks the bank what happened. A refusal of `execute`
 * is about one delivery only, so after any refusal, and before it sends `execute` again, psd2 asks for the status.
 *
 * If the customer commits, there is no `execute`: the bank runs the payment once the customer has authorised it. Then the
 * initiation (`verify`) is what psd2 sends at most once.
 *
 * @param until the steps before which it stops, after at least one step. For operators who go step by step
 * @returns the operation at its end: executed or settled
 * @throws Psd2Error for every other end. The journal then has the state. `outcome_unknown` if the bank does not say yet
 *   whether it was executed.
 */
export async function runOperation<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  calls: PaymentCalls,
  ports: OperationPorts<Order>,
  until: OperationStep[] = [],
): Promise<Operation<Order>> {
  const { sca } = calls;
  const run = new OperationRun(open, calls, sca ? { ...ports, bank: { ...ports.bank, sca } } : ports);
  await run.askAfterEnd(open.current);
  for (let steps = 0; ; steps += 1) {
    const operation = open.current;
    const refusal = operation.state === 'verified' && ports.refusesCost?.(operation);
    if (refusal) {
      await run.giveUp(refusal);
      continue;
    }
    const step = nextOperationStep(operation, calls.executionStatus !== null);
    if (steps > 0 && until.includes(step)) return operation;
    switch (step) {
      case 'verify':
        await verify(run, operation);
        break;
      case 'verify-further':
        await verifyFurther(run, operation);
        break;
      case 'accept':
        await run.accept(operation);
        break;
      case 'accept-fees':
        await run.acceptFees(operation);
        break;
      case 'authorize':
        await run.authorize(operation);
        break;
      case 'await-authorization':
        await run.awaitAuthorization(operation);
        break;
      case 'execute':
        await run.execute(operation);
        break;
      case 'ask-outcome':
        await run.askOutcome(operation);
        break;
      case 'await-settlement':
        await run.awaitSettlement(operation);
        break;
      case 'done':
        return endOfOperation(operation, calls.name);
    }
  }
}

/** The steps of an operation, with the knowledge of this run that is not in the journal. */
class OperationRun<Order extends OrderTarget> implements Verifying<Order> {
  readonly open: OpenFlow<Operation<Order>, OperationEvent<Order>>;
  readonly calls: PaymentCalls;
  readonly ports: OperationPorts<Order>;
  /** This run sent the customer to SCA. If the status is pending, psd2 waits instead of starting SCA again. */
  #customerSent = false;
  /** The bank has the confirmation code of this run. */
  #sentCode = false;
  /** The bank reported the authorisation in this run. */
  #authorizedNow = false;
  /** The bank turned `execute` away in this run. psd2 sends it again only once. */
  #wasTurnedAway = false;
  /** When `execute` ended in this run, in milliseconds since 1970. */
  #executeEnded: number | undefined;

  constructor(
    open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
    calls: PaymentCalls,
    ports: OperationPorts<Order>,
  ) {
    this.open = open;
    this.calls = calls;
    this.ports = ports;
  }

  async accept(operation: Operation<Order>): Promise<void> {
    const accepted = await this.ports.accept(operation);
    await this.open.record({ type: accepted ? 'accepted' : 'cancelled' });
  }

  async acceptFees(operation: Operation<Order>): Promise<void> {
    if ((await this.ports.acceptFees?.(operation)) ?? true) await this.open.record({ type: 'fees-accepted' });
    else if (operation.mayExecuteWithoutUs) throw feesRefused(operation, this.calls.name);
    else await this.open.record({ type: 'cancelled' });
  }

  async authorize(operation: Operation<Order>): Promise<void> {
    try {
      const { returns } = this.ports;
      if (operation.initiation && returns) {
        this.#sentCode = await authorisePayment(this, operation, operation.initiation, returns);
      } else {
        await sendCustomerToSca(this.ports, this.#subjectOf(operation), {
          beforeSend: this.announcing('approach-sent'),
          started: async () => {
            await this.open.record({ type: 'sca-started' });
          },
          returned: async () => {
            await this.open.record({ type: 'sca-returned' });
          },
        });
      }
      this.#customerSent = true;
    } catch (error) {
      if (error instanceof Psd2Error && error.isDeadEnd) return this.giveUp(error);
      // The customer may have decided in the meantime, on a page that an earlier run opened.
      const decision = isRefusal(error) && (await askDecision(this.ports, operation));
      if (!decision) throw this.#isUnsaid(error) ? unsaid(this, error) : error;
      await this.open.record(decision);
      this.#authorizedNow = true;
    }
  }

  /**
   * Ends an operation before the customer has a link to it, because they must not get one.
   *
   * @throws Psd2Error `why`, unless the bank has executed it meanwhile
   */
  async giveUp(why: Psd2Error): Promise<void> {
    const { giveUpUnauthorised } = await import('./cancel.ts');
    await giveUpUnauthorised(this.open, this.calls, this.ports, why);
    this.ports.returns?.say(`The bank has executed the ${this.calls.name} at once. ${why.message}.`);
  }

  /** Whether the bank's trouble stopped a payment for which the customer had a link. */
  #isUnsaid(error: unknown): boolean {
    const { mayExecuteWithoutUs, state } = this.open.current;
    return (
      mayExecuteWithoutUs && isTrouble(error) && (state === 'authorizing' || error.code !== 'bank_answer')
    );
  }

  async awaitAuthorization(operation: Operation<Order>): Promise<void> {
    if (this.#customerSent && operation.initiation) {
      const decided = awaitPayment(this, operation, this.#subjectOf(operation), this.#sentCode);
      await unknownIfUnsaid(this, decided);
    } else if (this.#customerSent) {
      // The status shows an `execute` that an older journal has lost.
      await this.open.record(await awaitDecision(this.ports, this.#subjectOf(operation), whatHappened));
    } else {
      const found = await unknownIfUnsaid(this, this.#decisionOrAgain(operation));
      if (found === 'another person') return this.#authorizeAnother(operation);
      if (found) await this.open.record(found);
      this.#customerSent = found === null;
    }
    this.#authorizedNow = true;
  }

  /** Another person authorises it, too. What they do or cannot do ends nothing of what others have authorised. */
  async #authorizeAnother(operation: Operation<Order>): Promise<void> {
    const { returns } = this.ports;
    if (!operation.initiation || !returns) throw new TypeError('Only links lead several persons to the bank');
    try {
      this.#sentCode = await authorisePayment(this, operation, operation.initiation, returns);
    } catch (error) {
      throw isTrouble(error) ? unsaid(this, error) : error;
    }
    this.#customerSent = true;
  }

  /**
   * The customer's decision, asked for once. Without one, they go to the bank again. Null: they have authorised it, so they do not, and the
   * bank has not said what becomes of it.
   */
  async #decisionOrAgain(operation: Operation<Order>): Promise<StepEvent | null | 'another person'> {
    try {
      const { found, isSigned, partly } = await lookAt(this.ports, operation, operation.refusedUnconfirmed);
      await recordLinksLeft(this.open, this.ports.bank.sca);
      if (!isPending(found)) return found;
      if (this.ports.returns?.person) return 'another person';
      if (partly) {
        await this.open.record(found);
        throw othersMust(this.open.current, this.open.current.transactionStatus);
      }
      return isSigned ? null : { type: 'sca-again' };
    } catch (error) {
      // The token of the customer's login with this payment is lost or has ended. Only another login gives one.
      if (!needsLoginAgain(error, operation)) throw error;
      return { type: 'sca-again' };
    }
  }

  async execute(operation: Operation<Order>): Promise<void> {
    if (!this.#authorizedNow) {
      // The flow was resumed, or `execute` was turned away. Ask the bank first, because the resource may have changed.
      const settled = operation.refusedUnconfirmed
        ? await askIfSettled(this.ports, this.calls, operation, this.#endOfExecute(operation), 'once')
        : null;
      const ask = async () => settled ?? [await this.statusOf(operation)];
      for (const found of await askBefore(this.#execution(operation), ask)) await this.open.record(found);
      this.#authorizedNow = true;
      return;
    }
    await sendOnce(this.#execution(operation));
  }

  /** `execute`, as what cannot be undone. */
  #execution(
    operation: Operation<Order>,
  ): Once<Operation<Order>, OperationEvent<Order>, { cro: string | null }> {
    const { resourceId } = resourceOf(operation);
    const { name, execute } = this.calls;
    const { customer, world } = this.ports;
    if (!execute) throw new TypeError(`The bank has no execute for ${operation.flow}`);
    return {
      open: this.open,
      words: { call: 'execute', did: 'executed', what: `the ${name}` },
      events: {
        sent: (intent) => ({ type: 'execute-sent', ...intent }),
        revoking: { notBegun: { type: 'execute-not-begun' } },
        unanswered: (why) => ({ type: 'execute-unanswered', ...why }),
        refused: (why) => ({ type: 'execute-refused', ...why }),
      },
      send: (beforeSend) =>
        customer.whileWaiting(`Executing the ${name}`, execute(resourceId, beforeSend)).finally(() => {
          this.#executeEnded = world.now().getTime();
        }),
      answered: ({ cro }) => recordOutcome(this.open, { type: 'executed', cro }),
      asking: {
        turnedAway: { type: 'execute-turned-away' },
        ask: () => this.#recordsOutcome(this.open.current),
        again: async () => {
          if (this.#wasTurnedAway) return false;
          this.#wasTurnedAway = true;
          // The next step asks for the status, and sends it with a new token.
          this.#authorizedNow = false;
          return true;
        },
      },
    };
  }

  /** Asks the bank once for the outcome of an `execute` that it refused. @returns whether the status shows one */
  async #recordsOutcome(operation: Operation<Order>): Promise<boolean> {
    const outcome = await this.ports.customer.whileWaiting(
      `Asking the bank what became of the ${this.calls.name}`,
      askOutcome(this.ports, this.calls, operation, this.#endOfExecute(operation), 'once'),
    );
    if (outcome) await recordFound(this.open, ...outcome);
    return outcome !== null;
  }

  /**
   * Asks again about an operation that is resumed although it has ended: one that a refusal alone has ended may have been executed
   * all the same, and a bank where the customer commits may still reject or cancel what it has accepted.
   */
  async askAfterEnd(operation: Operation<Order>): Promise<void> {
    const isDone = nextOperationStep(operation, this.calls.executionStatus !== null) === 'done';
    if (!operation.verification || !isDone) return;
    if (operation.refusedUnconfirmed) await this.#recordsOutcome(operation);
    await askIfFinal(this.open, this.ports);
  }

  async askOutcome(operation: Operation<Order>): Promise<void> {
    const { name } = this.calls;
    const { executeRequestId, commits, flow, state, isRepeated } = operation;
    if (executeRequestId !== null && !isRepeated && (await this.ports.neverLeft?.(executeRequestId))) {
      await this.open.record({
        type: commits === 'on execute' ? 'execute-not-begun' : 'verify-not-begun',
      });
      return;
    }
    const isSent = state === 'unknown' || (state === 'executing' && commits === 'by the customer');
    if (!operation.verification && isSent) {
      const clock = await readClock(this.ports, operation);
      const way = await recoveryOf(operation, this.ports, clock);
      if (way === 'repeat' && executeRequestId !== null)
        return repeatInitiation(this, operation, executeRequestId, clock);
      if (way === 'begin again') {
        this.ports.returns?.say(
          `The answer to the initiation was lost. Nobody has the link to authorise that ${name}, so psd2 initiates it again under the same reference.`,
        );
        await this.open.record({ type: 'initiate-again' });
        return;
      }
      if (await recordsLogged(this, operation)) return;
      if (state !== 'unknown' && !(await recordFound(this.open, { type: 'execute-unanswered' }))) return;
      const isAnswered = (await this.ports.initiated?.(operation.transactionId))?.answer === 'answered';
      throw outcomeUnknown(
        operation,
        isAnswered
          ? `The bank has answered the initiation, but the journal of ${flow} does not have the answer. It may be older than a link that the customer has, so psd2 initiates nothing`
          : `The journal of ${flow} does not say which resource of the bank it has, so psd2 cannot ask whether the ${name} was executed`,
      );
    }
    const outcome = await this.#whatBecame(operation);
    if (outcome) {
      await recordFound(this.open, ...outcome);
      return;
    }
    const isNews = operation.state !== 'unknown';
    if (isNews && !(await recordFound(this.open, { type: 'execute-unanswered' }))) return;
    throw outcomeUnknown(operation, `The bank does not say yet whether the ${name} was executed`);
  }

  /** The outcome of an operation, or null. After the customer's yes, a payment that runs without psd2 gets their time for it. */
  #whatBecame(operation: Operation<Order>): Promise<StepEvent[] | null> {
    const { customer, world } = this.ports;
    // An instant payment is over soon after the SCA.
    const isInstant = this.calls.executionStatus !== null;
    const isRunning = operation.state === 'authorized' && !isInstant;
    this.#executeEnded ??= Date.parse(operation.updatedAt);
    const ask = () =>
      askOutcome(
        ...([this.ports, this.calls, operation, this.#endOfExecute(operation)] as const),
        isRunning ? 'once' : 'to the end',
      );
    return customer.whileWaiting(
      `Asking the bank for the outcome of the ${this.calls.name}`,
      isRunning ? askUntil(world, customer.scaTimeoutMs, ask) : ask(),
      isRunning ? customer.scaTimeoutMs : undefined,
    );
  }

  async awaitSettlement(operation: Operation<Order>): Promise<void> {
    const settlement = await this.ports.customer.whileWaiting(
      'Waiting for the instant transfer to settle',
      askSettlement(this.ports, this.calls, operation, this.#endOfExecute(operation)),
    );
    if (!(await recordFound(this.open, settlementEvent(settlement, operation)))) return;
    if (settlement.status === 'PENDING') {
      throw outcomeUnknown(
        operation,
        `The instant transfer is executed, but its status at the bank is still ${settlement.said ?? 'PENDING'}`,
      );
    }
  }

  announcing(
    type: Extract<StepEvent, { digest: string | null }>['type'],
    revoking?: Revoking<StepEvent>,
    more: { bankTime?: string; psuId?: string } = {},
  ): BeforeSend {
    return announcing<Operation<Order>, OperationEvent<Order>>(
      this.open,
      (intent) => ({ type, ...intent, ...more }),
      revoking,
    );
  }

  statusOf(operation: Operation<Order>): Promise<StepEvent> {
    return statusOf(this.ports, operation, operation.refusedUnconfirmed);
  }

  /** When `execute` ended. For a resumed operation, its last change. */
  #endOfExecute({ updatedAt }: Operation<Order>): number {
    return this.#executeEnded ?? Date.parse(updatedAt);
  }

  #subjectOf(operation: Operation<Order>): ScaSubject {
    const { kind, flow, transactionId } = operation;
    return {
      transactionId,
      doing: `authorise the ${this.calls.name}`,
      whenLate: { hint: 'Continue with:', next: [[kind, 'resume', flow]], flow },
      resourceId: resourceOf(operation).resourceId,
    };
  }
}

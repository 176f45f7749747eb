import type { BeforeSend } from '../bank/call/exchange.ts';
import {
  isAboutContent,
  isBanksRefusal,
  isInterruption,
  isOvertaken,
  isRefusal,
  isTurningAway,
} from '../bank/call/failure.ts';
import { fetchOperationStatus } from '../bank/endpoints/operations.ts';
import {
  isPending,
  nextFurtherData,
  nextOperationStep,
  type Operation,
  type OperationEvent,
  type OperationStep,
  type OrderTarget,
  type StepEvent,
  type Verification,
} from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';
import { announcing, NeverLeft, type Revoking } from './announce.ts';
import {
  askDecision,
  askIfSettled,
  askOutcome,
  askSettlement,
  resourceOf,
  whatHappened,
} from './outcome/ask-operation.ts';
import {
  isUnrecorded,
  outcomeUnknown,
  recordFound,
  recordOutcome,
  refusedAlone,
} from './outcome/execute-outcome.ts';
import { endOfOperation } from './outcome/operation-end.ts';
import type { ExecutionStatus } from './outcome/settlement.ts';
import type { FlowPorts } from './ports.ts';
import { awaitAuthorization, type ScaSubject, sendCustomerToSca } from './sca.ts';

export interface OperationPorts<Order extends OrderTarget> extends FlowPorts {
  /** Shows the operator the verified order and asks for confirmation. False means no. */
  accept(operation: Operation<Order>): Promise<boolean>;
}

/** The calls that differ from operation to operation. */
export interface OperationCalls {
  /** The name in messages: `transfer`, or the operation's name. */
  name: string;
  verify(beforeSend: BeforeSend): Promise<Verification>;
  /** @param step `verify<N>`. @param data JSON from the operator, unchanged */
  verifyFurther(
    resourceId: string,
    step: string,
    data: string,
    beforeSend: BeforeSend,
  ): Promise<Verification>;
  execute(resourceId: string, beforeSend: BeforeSend): Promise<{ cro: string | null }>;
  /** Asks for the execution status. Null if there is none: only instant transfers that are executed at once have one. */
  executionStatus: ((resourceId: string) => Promise<ExecutionStatus>) | null;
}

/**
 * Runs an operation (a transfer is one) from the state in its journal to its end: verify, the operator's confirmation, SCA,
 * execute, and for an instant transfer the settlement (interface specification, "Generic operation flow"). The journal
 * announces each request before it leaves, and records its outcome afterwards, so this function also resumes an interrupted
 * operation. `execute` is sent at most once: if its answer is lost, psd2 asks the bank what happened. A refusal of `execute`
 * is the word of one delivery, so after any refusal, and before it sends `execute` again, psd2 asks for the status.
 *
 * @param until the steps before which it stops, after at least one step. For operators who go step by step
 * @returns the operation at its end: executed or settled
 * @throws Psd2Error for every other end. The journal then has the state. `outcome_unknown` if the bank does not tell yet
 *   whether it was executed.
 */
export async function runOperation<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  calls: OperationCalls,
  ports: OperationPorts<Order>,
  until: OperationStep[] = [],
): Promise<Operation<Order>> {
  const run = new OperationRun(open, calls, ports);
  await run.askAfterRefusal(open.current);
  for (let steps = 0; ; steps += 1) {
    const operation = open.current;
    const step = nextOperationStep(operation, calls.executionStatus !== null);
    if (steps > 0 && until.includes(step)) return operation;
    switch (step) {
      case 'verify':
        await run.verify(operation);
        break;
      case 'verify-further':
        await run.verifyFurther(operation);
        break;
      case 'accept':
        await run.accept(operation);
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

/** Why the outcome of an operation is unknown although its journal has no `execute`. */
const SENT_BEFORE = 'The journal is older than what the bank or the log of calls knows';

/** Nothing has moved, so a refused verification may be sent again. */
const VERIFY_NOT_BEGUN = {
  notBegun: { type: 'verify-not-begun' },
  turnedAway: { type: 'verify-not-begun' },
} as const;

/** The steps of an operation, with the knowledge of this run that is not in the journal. */
class OperationRun<Order extends OrderTarget> {
  readonly #open: OpenFlow<Operation<Order>, OperationEvent<Order>>;
  readonly #calls: OperationCalls;
  readonly #ports: OperationPorts<Order>;
  /** This run sent the customer to SCA. If the status is pending, psd2 waits instead of starting SCA again. */
  #customerSent = false;
  /** The bank reported the authorisation in this run. */
  #authorizedNow = false;
  /** The bank turned `execute` away in this run. psd2 sends it again only once. */
  #wasTurnedAway = false;
  /** When `execute` ended in this run, in milliseconds since 1970. */
  #executeEnded: number | undefined;

  constructor(
    open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
    calls: OperationCalls,
    ports: OperationPorts<Order>,
  ) {
    this.#open = open;
    this.#calls = calls;
    this.#ports = ports;
  }

  async verify(operation: Operation<Order>): Promise<void> {
    // A store that was restored from an older state may have lost the lines of an execution.
    if (operation.reached && (await this.#ports.hasSent?.(operation.transactionId))) {
      await this.#open.record({ type: 'execute-unanswered', description: SENT_BEFORE });
      return;
    }
    await this.#orRefused(async () => {
      const verification = await this.#calls.verify(this.#announcing('verify-sent', VERIFY_NOT_BEGUN));
      await this.#open.record({ type: 'verified', ...verification });
    });
  }

  async verifyFurther(operation: Operation<Order>): Promise<void> {
    if (operation.furtherStepOpen) {
      if (await this.#isPastVerification(operation)) return;
      // The bank accepts a step only once, and does not tell whether it has. A new resource has no steps yet.
      await this.#open.record({ type: 'verify-again' });
      return;
    }
    const { kind, flow, transactionId } = operation;
    const { resourceId, nextStep } = resourceOf(operation);
    const data = nextFurtherData(operation);
    if (data === undefined) {
      throw new Psd2Error(
        'further_data_needed',
        `The bank requires further data before SCA, in the step ${nextStep}`,
        {
          hint: 'Give it as JSON: as text, as @file, or as - for standard input. Continue with:',
          next: [[kind, 'resume', flow, '--verify-data', '-']],
          flow,
          transactionId,
        },
      );
    }
    const verifying = async () => {
      const sent = this.#announcing('further-verify-sent');
      const verification = await this.#calls.verifyFurther(resourceId, nextStep, data, sent);
      await this.#open.record({ type: 'further-verified', ...verification });
    };
    await this.#orRefused(verifying, () => this.#isPastVerification(operation));
  }

  /**
   * Asks for the status of an operation before its last step of verification, if the bank refused that step or did not answer
   * it. If the customer has decided, which they can do only afterwards, the journal was restored from an older state.
   *
   * @returns whether something was recorded
   */
  async #isPastVerification(operation: Operation<Order>): Promise<boolean> {
    const status = await this.#statusOf(operation).catch((error: unknown) => {
      // The bank may have no status before SCA.
      if (isRefusal(error)) return null;
      throw error;
    });
    if (!status || isPending(status)) return false;
    const isAuthorized = status.type === 'authorization' && status.status === 'AUTHORIZED';
    await this.#open.record(isAuthorized ? { type: 'execute-unanswered', description: SENT_BEFORE } : status);
    return true;
  }

  async accept(operation: Operation<Order>): Promise<void> {
    const accepted = await this.#ports.accept(operation);
    await this.#open.record({ type: accepted ? 'accepted' : 'cancelled' });
  }

  async authorize(operation: Operation<Order>): Promise<void> {
    try {
      await sendCustomerToSca(this.#ports, this.#subjectOf(operation), {
        beforeSend: this.#announcing('approach-sent'),
        started: async () => {
          await this.#open.record({ type: 'sca-started' });
        },
        returned: async () => {
          await this.#open.record({ type: 'sca-returned' });
        },
      });
      this.#customerSent = true;
    } catch (error) {
      // The customer may have decided in the meantime, on a page that an earlier run opened.
      const decision = isRefusal(error) && (await askDecision(this.#ports, operation));
      if (!decision) throw error;
      await this.#open.record(decision);
      this.#authorizedNow = true;
    }
  }

  async awaitAuthorization(operation: Operation<Order>): Promise<void> {
    if (this.#customerSent) {
      await this.#open.record(await awaitAuthorization(this.#ports, this.#subjectOf(operation)));
    } else {
      const found = await this.#statusOf(operation);
      await this.#open.record(isPending(found) ? { type: 'sca-again' } : found);
    }
    this.#authorizedNow = true;
  }

  async execute(operation: Operation<Order>): Promise<void> {
    const { resourceId } = resourceOf(operation);
    if (!this.#authorizedNow) {
      // The flow was resumed, or `execute` was turned away. Ask the bank first, because the resource may have changed.
      const settled = operation.refusalAlone
        ? await askIfSettled(this.#ports, this.#calls, operation, this.#endOfExecute(operation), 'once')
        : null;
      for (const found of settled ?? [await this.#statusOf(operation)]) await this.#open.record(found);
      this.#authorizedNow = true;
      return;
    }
    const { customer, world } = this.#ports;
    const { name } = this.#calls;
    try {
      const sent = this.#announcing('execute-sent', { notBegun: { type: 'execute-not-begun' } });
      const { cro } = await customer.whileWaiting(
        `Executing the ${name}`,
        this.#calls.execute(resourceId, sent),
      );
      await recordOutcome(this.#open, { type: 'executed', cro });
    } catch (error) {
      // Either the call was not announced, because there was no token or the journal could not be written, or the journal
      // already has that it did not begin.
      if (this.#open.current.state !== 'executing' || isUnrecorded(error) || isOvertaken(error)) throw error;
      if (isInterruption(error) || error instanceof NeverLeft) throw error;
      this.#executeEnded = world.now().getTime();
      if (isTurningAway(error)) await this.#turnedAway(error);
      else if (isBanksRefusal(error)) await this.#refused(operation, error);
      else await recordOutcome(this.#open, { type: 'execute-unanswered' });
    }
    this.#executeEnded = world.now().getTime();
  }

  /** The bank says that it refused `execute` unread. @throws Psd2Error `error`, unless `execute` may be sent again now */
  async #turnedAway(error: Psd2Error): Promise<void> {
    await recordOutcome(this.#open, { type: 'execute-turned-away' });
    const isFirst = !this.#wasTurnedAway;
    this.#wasTurnedAway = true;
    // The next step asks for the status, and sends `execute` again with a new token.
    this.#authorizedNow = false;
    if (isFirst && error.code === 'not_logged_in') return;
    if (!(await this.#recordsOutcome(this.#open.current))) throw error;
  }

  /** The bank refused `execute`. @throws Psd2Error unless its status shows the outcome */
  async #refused(operation: Operation<Order>, error: Psd2Error): Promise<void> {
    if (await this.#recordsOutcome(operation)) return;
    const description = error.message;
    if (isAboutContent(error)) {
      await recordOutcome(this.#open, { type: 'execute-refused', description });
      throw refusedAlone(this.#open.current, error);
    }
    await recordOutcome(this.#open, { type: 'execute-unanswered', description });
    throw outcomeUnknown(
      operation,
      `The bank refused execute, but its status does not show whether it had executed the ${this.#calls.name} before`,
      error,
    );
  }

  /** Asks the bank once for the outcome of an `execute` that it refused. @returns whether the status shows one */
  async #recordsOutcome(operation: Operation<Order>): Promise<boolean> {
    const outcome = await this.#ports.customer.whileWaiting(
      `Asking the bank what became of the ${this.#calls.name}`,
      askOutcome(this.#ports, this.#calls, operation, this.#endOfExecute(operation), 'once'),
    );
    if (outcome) await recordFound(this.#open, ...outcome);
    return outcome !== null;
  }

  /** An operation that a refusal alone has ended may have been executed all the same. Ask again if it is resumed. */
  async askAfterRefusal(operation: Operation<Order>): Promise<void> {
    if (operation.refusalAlone && nextOperationStep(operation, false) === 'done')
      await this.#recordsOutcome(operation);
  }

  async askOutcome(operation: Operation<Order>): Promise<void> {
    const { name } = this.#calls;
    const { executeRequestId } = operation;
    if (executeRequestId !== null && (await this.#ports.neverLeft?.(executeRequestId))) {
      await this.#open.record({ type: 'execute-not-begun' });
      return;
    }
    if (operation.state === 'unknown' && !operation.verification)
      throw outcomeUnknown(
        operation,
        `The journal of ${operation.flow} does not say which resource of the bank it has, so psd2 cannot ask whether the ${name} was executed`,
      );
    const outcome = await this.#ports.customer.whileWaiting(
      `Asking the bank for the outcome of the ${name}`,
      askOutcome(this.#ports, this.#calls, operation, this.#endOfExecute(operation)),
    );
    if (outcome) {
      await recordFound(this.#open, ...outcome);
      return;
    }
    const isNews = operation.state !== 'unknown';
    if (isNews && !(await recordFound(this.#open, { type: 'execute-unanswered' }))) return;
    throw outcomeUnknown(operation, `The bank does not tell yet whether the ${name} was executed`);
  }

  async awaitSettlement(operation: Operation<Order>): Promise<void> {
    const settlement = await this.#ports.customer.whileWaiting(
      'Waiting for the instant transfer to settle',
      askSettlement(this.#ports, this.#calls, operation, this.#endOfExecute(operation)),
    );
    if (!(await recordFound(this.#open, { type: 'settlement', ...settlement }))) return;
    if (settlement.status === 'PENDING') {
      throw outcomeUnknown(
        operation,
        'The instant transfer is executed, but its status at the bank is still PENDING',
      );
    }
  }

  #announcing(
    type: Extract<StepEvent, { digest: string | null }>['type'],
    revoking?: Revoking<StepEvent>,
  ): BeforeSend {
    return announcing<Operation<Order>, OperationEvent<Order>>(
      this.#open,
      (intent) => ({ type, ...intent }),
      revoking,
    );
  }

  /**
   * Runs a step of the verification. A refusal by the bank ends the operation.
   *
   * @param isPast records it if the operation is further than its journal says
   */
  async #orRefused(step: () => Promise<void>, isPast = async () => false): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!isBanksRefusal(error)) throw error;
      if (await isPast()) return;
      await this.#open.record({ type: 'verify-refused', description: error.message });
      throw error;
    }
  }

  async #statusOf(operation: Operation<Order>): Promise<StepEvent> {
    const { resourceId } = resourceOf(operation);
    const { refusalAlone, transactionId } = operation;
    return whatHappened(
      await fetchOperationStatus(this.#ports.bank, resourceId, transactionId, refusalAlone),
    );
  }

  /** When `execute` ended. For a resumed operation, its last change. */
  #endOfExecute({ updatedAt }: Operation<Order>): number {
    return this.#executeEnded ?? Date.parse(updatedAt);
  }

  #subjectOf(operation: Operation<Order>): ScaSubject {
    const { kind, flow, transactionId } = operation;
    return {
      transactionId,
      doing: `authorise the ${this.#calls.name}`,
      whenLate: { hint: 'Continue with:', next: [[kind, 'resume', flow]], flow },
      resourceId: resourceOf(operation).resourceId,
    };
  }
}

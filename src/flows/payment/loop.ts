import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { isOver, isUntouched } from '../../domain/flow-states.ts';
import { nextOperationStep, type OperationStep } from '../../domain/next-step.ts';
import type { Operation, OperationEvent, OrderTarget } from '../../domain/operation.ts';
import type { OpenFlow } from '../../store/ports/flows.ts';
import { recordLoggedGifts, refuseBeforehand } from '../gifts.ts';
import { recordFound } from '../once.ts';
import type { OpenPayment, OperationPorts, Payment, Run } from '../ports.ts';
import { isRefusal, isTurningAway, withWayOut } from '../refusals.ts';
import { isOnlyAStop, unlessOpen } from '../still-open.ts';
import {
  acceptFees,
  authorise,
  awaitAuthorisation,
  giveUpPayment,
  noOtherAuthorisation,
  noteLastWord,
} from './authorise.ts';
import { verify, verifyFurther } from './begin.ts';
import { endOfOperation } from './end.ts';
import { execute } from './execute.ts';
import { isRecovered } from './initiation.ts';
import { askAfterEnd, askDebtor, awaitSettlement, findOutcome, ifAnswered, type Learnt } from './outcome.ts';
import { askBank, resourceOf } from './status.ts';

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
 *   whether it was executed; `still_open` if somebody can still authorise it at the bank, whatever stopped psd2
 */
export async function runOperation<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  calls: PaymentCalls,
  ports: OperationPorts<Order>,
  until: OperationStep[] = [],
): Promise<Operation<Order>> {
  const { sca = ports.bank.sca } = calls;
  const ask: Run['ask'] = (payment, question) => askBank(sca, payment, question);
  const run: Run = {
    open,
    calls,
    ports: { ...ports, bank: { ...ports.bank, sca } },
    ask,
    askIfAnswered: (payment, question) => ifAnswered(ask(payment, question)),
    resource: resourceOf,
  };
  try {
    await askAfterEnd(run);
    return await takeSteps(run, open, until);
  } catch (error) {
    if (isOnlyAStop(error)) await noteLastWord(run);
    throw run.isBeginning && (isRefusal(error) || isTurningAway(error))
      ? await noOtherAuthorisation(run, error)
      : withWayOut(open.current, unlessOpen(open.current, error, ports.returns?.psuId));
  }
}

async function takeSteps<Order extends OrderTarget>(
  run: Run,
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  until: OperationStep[],
): Promise<Operation<Order>> {
  const { calls, ports } = run;
  if (ports.returns && isUntouched(open.current) && open.current.authorises === 'by links')
    refuseBeforehand(ports.bank.sca, ports.returns);
  let isLogRead = false;
  for (let steps = 0; ; steps += 1) {
    // A journal that was restored may not know of a PIN or TAN.
    if (!isLogRead && open.current.verification) {
      isLogRead = true;
      if (!isOver(open.current)) await recordLoggedGifts(open, run.ports);
    }
    const operation = open.current;
    const next = asBeforeSca(run, operation);
    const refusal = next.state === 'verified' && ports.refusesCost?.(operation);
    if (refusal) {
      await giveUpPayment(run, refusal);
      continue;
    }
    const step = nextOperationStep(next, calls.executionStatus !== null);
    if (steps > 0 && until.includes(step)) return operation;
    let learnt: Learnt | null = null;
    switch (step) {
      case 'verify':
        await verify(run, operation);
        break;
      case 'verify-further':
        await verifyFurther(run, operation);
        break;
      case 'accept':
        await open.record({ type: (await ports.accept(operation)) ? 'accepted' : 'cancelled' });
        break;
      case 'accept-fees':
        await acceptFees(run, operation);
        break;
      case 'authorize':
        await authorise(run, operation);
        break;
      case 'await-authorization':
        await awaitAuthorisation(run, operation);
        break;
      case 'execute':
        await execute(run, operation);
        break;
      case 'ask-outcome':
        if (!(await isRecovered(run, operation))) learnt = await findOutcome(run, operation);
        break;
      case 'await-settlement':
        learnt = await awaitSettlement(run, operation);
        break;
      case 'done':
        await askDebtor(run);
        return endOfOperation(open.current, calls.name);
    }
    if (learnt) await learn(open, learnt);
  }
}

/** What the next step follows from. Before the customer goes to SCA once more, the same must hold as before the first time. */
function asBeforeSca({ goesAgain = false }: Run, operation: Payment): Payment {
  return goesAgain && operation.state === 'authorizing' ? { ...operation, state: 'verified' } : operation;
}

/**
 * Records what a step has learnt of the bank. If another psd2 has gone on with the payment meanwhile, this one goes on from there.
 *
 * @throws Psd2Error why psd2 stops then
 */
async function learn(open: OpenPayment, { events, stops }: Learnt): Promise<void> {
  if (!(await recordFound(open, ...events))) return;
  const why = stops(open.current);
  if (why) throw why;
}

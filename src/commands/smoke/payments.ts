import Big from 'big.js';
import type { BankInterface } from '../../bank/ports/bank.ts';
import type { CancellationAnswer } from '../../bank/ports/payment-calls.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { cancelAtBank } from '../../flows/payment/cancel.ts';
import { runOperation } from '../../flows/payment/loop.ts';
import type { Open } from '../../store/ports/flows.ts';
import type { Context, CustomerBank } from '../context.ts';
import { flowPortsOf } from '../flow/ports.ts';
import { returnPortsOf } from '../open/returns.ts';
import { UNATTENDED_LIMIT } from '../shared/cost-limit.ts';
import { beginTransfer, makeTransfer, recordPayeeCheck, type TransferOptions } from '../transfer/create.ts';
import type { PlannedPayment } from './plan.ts';
import { accountId } from './readings.ts';
import { bankOf, type Found, type Smoke } from './smoke.ts';

/** What `--initiate` asks the bank for. */
const LEAST = '0.01';

/**
 * Step 11: begins a payment and gives it up. No money moves, and nobody sees a link: where psd2 commits, it ends before SCA and
 * `execute`; where the customer commits, the bank cancels it.
 */
export async function initiate(smoke: Smoke): Promise<Found> {
  const { bankInterface } = smoke.context;
  const refused = refusedToBegin(smoke, await bankInterface());
  if (refused) return refused;
  const context = withoutCustomer(smoke.context);
  const options = await orderOf(smoke, LEAST);
  const transactionId = context.world.newId();
  if ((await bankInterface()).has.has('terms')) {
    const { bank, customerId } = await context.bank();
    await bank.payments.terms(
      { customerId, from: (await bankInterface()).readAccountId(options.from) },
      transactionId,
    );
  }
  smoke.note((made) => [...made, { kind: 'transfer', transactionId, run: smoke.run }]);
  await beginTransfer(
    context,
    options,
    (opened, open) => beginAndGiveUp(context, opened, open),
    transactionId,
  );
  smoke.note((made) =>
    made.filter((each) => each.kind !== 'transfer' || each.transactionId !== transactionId),
  );
  return { detail: 'begun and given up' };
}

/**
 * Whether no payment may be begun here, because the bank may execute it, or ask the customer, before it is given up. `--pay` makes
 * a whole one instead.
 *
 * @throws Psd2Error `usage` if the operator asks for exactly that
 */
export function refusedToBegin(
  { plan }: Pick<Smoke, 'plan'>,
  { refuseGivingUp }: Pick<BankInterface, 'refuseGivingUp'>,
): Found | undefined {
  try {
    refuseGivingUp?.();
    return undefined;
  } catch (error) {
    if (!(error instanceof Psd2Error) || plan.pay === undefined) throw error;
    return { skipped: 'this bank may not let psd2 give it up: the step pay makes a whole one' };
  }
}

/** The inquiries of `--initiate` send no customer to the bank. */
function withoutCustomer(context: Context): Context {
  const inside = context.within({ globals: { ...context.globals, yes: true } });
  return { ...inside, bank: inside.unattendedBank };
}

/** The order of this run. Its reference says which run it is, and can be used only once. */
async function orderOf(smoke: Smoke, amount: string): Promise<TransferOptions & { from: string }> {
  const { plan, run } = smoke;
  const from = plan.from ?? (await accountId(smoke, await bankOf(smoke)));
  if (from === undefined)
    throw new Psd2Error('usage', 'No account to debit is known', { hint: 'Name it with --from.' });
  return {
    from,
    to: plan.to,
    name: plan.name,
    amount,
    currency: 'EUR',
    reference: `SMOKE-${run}`,
    instant: false,
    urgent: false,
    payeeVerified: false,
    prepare: false,
    paste: false,
    verifyData: [],
  };
}

async function beginAndGiveUp(context: Context, opened: CustomerBank, open: Open<'transfer'>): Promise<void> {
  const calls = opened.bank.payments.transfer(open.current);
  const isPsd2s = open.current.commits === 'on execute';
  const ports = {
    ...flowPortsOf(context, opened),
    async accept() {
      await recordPayeeCheck(context, opened, open);
      // Where psd2 commits, this ends the payment: it is only verified, and nobody was asked.
      return !isPsd2s;
    },
  };
  try {
    await runOperation(open, calls, ports, [
      'accept-fees',
      'authorize',
      'verify-further',
      'await-authorization',
    ]);
  } catch (error) {
    if (open.current.state === 'cancelled' && isPsd2s) return;
    throw error;
  }
  if (isPsd2s) await open.record({ type: 'cancelled' });
  else await giveUp(context, opened, open);
}

/**
 * Has the bank cancel a payment that nobody has the link of. The customer is not asked: if the bank wants that, the payment stays.
 *
 * @throws Psd2Error `still_open` if the bank wants that; `outcome_unknown` if it does not say that the payment has ended
 */
export async function giveUp(context: Context, opened: CustomerBank, open: Open<'transfer'>): Promise<void> {
  const { flow, transactionId } = open.current;
  const calls = opened.bank.payments.transfer(open.current);
  const { cancellation } = calls;
  const returns = await returnPortsOf(context, opened, false, transactionId);
  let wantsCustomer = false;
  const unlinked = cancellation && {
    ...cancellation,
    async request(intent: Parameters<typeof cancellation.request>[0]): Promise<CancellationAnswer> {
      const answer = await cancellation.request(intent);
      // Whether or not the bank may want the customer, its status says whether it has cancelled it.
      if (answer.verdict !== 'to be authorised') return { verdict: answer.verdict };
      wantsCustomer = true;
      throw new Psd2Error('outcome_unknown', 'The bank wants the customer to authorise the cancellation');
    },
  };
  try {
    const { resourceId } = open.current.verification ?? {};
    if (resourceId) await calls.sca?.status(resourceId, transactionId);
    await cancelAtBank(
      open,
      { ...calls, ...(unlinked && { cancellation: unlinked }) },
      flowPortsOf(context, opened),
      returns,
    );
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    if (standingOf(open.current) === 'refused') return;
    if (['executed', 'settled'].includes(open.current.state)) throw wasExecuted(open.current, error);
    throw new Psd2Error(
      wantsCustomer ? 'still_open' : 'outcome_unknown',
      `The payment ${flow} of this smoke test is still at the bank: ${error.message}`,
      {
        // `resume` would pay it.
        hint: 'Nobody has the link to authorise it. Ask the bank, or cancel it:',
        next: [
          ['transfer', 'status', flow],
          ['transfer', 'cancel', flow],
        ],
        flow,
        transactionId,
        cause: error,
      },
    );
  }
}

/** The error for a payment that the bank has executed, although nobody has authorised it. */
function wasExecuted({ flow, transactionId }: Transfer, why: Psd2Error): Psd2Error {
  return new Psd2Error(
    'outcome_unknown',
    `The payment ${flow} of this smoke test was executed: ${why.message}`,
    {
      hint: 'Money has moved, although nobody authorised it. Write payments.executesWithoutSca "possible" into the bank file: then --initiate begins nothing. See the payment with:',
      next: [['transfer', 'show', flow]],
      flow,
      transactionId,
      cause: why,
    },
  );
}

/** Step 12: a whole payment, with the customer's SCA. */
export async function pay(smoke: Smoke): Promise<Found> {
  const { plan, asking } = smoke;
  if (!plan.pay) throw new TypeError('The step pay needs --pay');
  const { amount, maxFee } = plan.pay;
  const most = new Big(amount).plus(maxFee ?? 0);
  // Unattended, no fees take it above the limit.
  const isLarge = most.gt(UNATTENDED_LIMIT) && asking.terminal.canAsk;
  if (isLarge) await confirmLarge(asking, plan.pay);
  // The option names the amount and the payee: a small payment needs no more, except --yes in production.
  const confirmed = isLarge ? asking : asking.within({ globals: { ...asking.globals, yes: true } });
  const transactionId = asking.world.newId();
  const options = await orderOf(smoke, amount);
  smoke.note((made) => [...made, { kind: 'payment', transactionId, run: smoke.run }]);
  // Where psd2 executes, the fees are part of what it verifies, and count only if the operator says so.
  const countsFees = maxFee !== null || (await asking.bankInterface()).has.has('links for SCA');
  const limit = isLarge || most.lt(UNATTENDED_LIMIT) ? most.toFixed(2) : UNATTENDED_LIMIT;
  const maxCost = countsFees ? parsePaymentAmount(limit) : undefined;
  await makeTransfer(confirmed, { ...options, maxCost }, transactionId);
  smoke.note((made) =>
    made.filter((each) => each.kind !== 'payment' || each.transactionId !== transactionId),
  );
  const { state } = await (await asking.store()).flows.find('transfer', options.reference ?? '');
  return { detail: state };
}

/** A person at the terminal must want it, whatever was confirmed in advance. @throws Psd2Error `cancelled` */
async function confirmLarge({ terminal }: Context, { amount, maxFee }: PlannedPayment): Promise<void> {
  const fees = new Big(maxFee ?? 0).eq(0) ? '' : `, and fees of at most ${maxFee} EUR,`;
  if (!(await terminal.confirm(`Pay ${amount} EUR${fees} for this smoke test?`)))
    throw new Psd2Error('cancelled', 'The payment was not made');
}

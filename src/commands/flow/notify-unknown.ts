import { commandOf } from '../../advice.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { type Notification, notifyOnce } from '../shared/notify-once.ts';
import { customerIdOf } from './customer.ts';
import { commandThatContinues } from './next-command.ts';

const PAYMENTS = ['transfer', 'operation'] as const;

/** Tells the operator's command (`PSD2_NOTIFY`) of a payment whose outcome is not known, once. Not after Ctrl-C. */
export async function notifyOfOutcome(context: Context, flow: FlowOf<Kind>): Promise<void> {
  const unknown = notificationsOf(context, [flow]);
  try {
    await notifyOnce(context, unknown, (key) => unknown.length === 0 && key === keyOf(flow));
  } catch (error) {
    // The command says what became of the payment, whatever happens here.
    if (!(error instanceof Psd2Error)) throw error;
  }
}

/** Tells the operator's command of all payments of the profile whose outcome is not known, each once. */
export async function notifyOfUnknown(context: Context): Promise<void> {
  if (!context.env.PSD2_NOTIFY) return;
  const { flows } = await context.store();
  const undecided: FlowOf<Kind>[] = [];
  for (const kind of PAYMENTS)
    for await (const flow of flows.list(kind, { attention: true, onDamaged: () => {} })) undecided.push(flow);
  const unknown = notificationsOf(context, undecided);
  const keys = new Set(unknown.map(({ key }) => key));
  await notifyOnce(context, unknown, (key) => key.startsWith('payment ') && !keys.has(key));
}

function notificationsOf(context: Context, flows: readonly FlowOf<Kind>[]): Notification[] {
  return flows
    .filter(({ kind, state }) => kind !== 'consent' && (state === 'unknown' || state === 'executing'))
    .map((flow) => {
      const customerId = customerIdOf(flow);
      const money = 'order' in flow && 'amount' in flow.order ? flow.order : { amount: null, currency: null };
      const content = {
        kind: flow.kind,
        id: flow.flow,
        state: 'unknown',
        since: flow.updatedAt,
        customerId,
        amount: money.amount,
        currency: money.currency,
        message: 'It is not known whether the bank has executed the payment',
        next: commandOf(commandThatContinues(flow), { profile: context.profile().name }),
      };
      return { key: keyOf(flow), version: 'unknown', content };
    });
}

function keyOf({ flow }: FlowOf<Kind>): string {
  return `payment ${flow}`;
}

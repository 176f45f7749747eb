import { describePayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { runOperation } from '../../flows/operation.ts';
import { transferCalls } from '../../flows/transfer.ts';
import type { Open } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { evidenceIn } from '../flow/evidence.ts';
import { endIfUntouched, tellFlow, withNext, withWarning } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';
import { describePayment, printTransfer, sayPaid, showVerified } from './output.ts';

/**
 * Continues a transfer from its journal to its end, and prints the outcome.
 *
 * @param payeeVerified the operator has verified the payee by other means
 * @throws what {@link runOperation} throws, with the commands to run next
 */
export async function driveTransfer(
  context: Context,
  opened: CustomerBank,
  open: Open<'transfer'>,
  payeeVerified: boolean,
): Promise<void> {
  const { terminal, world } = context;
  tellFlow(terminal, open.current);
  try {
    await runOperation(open, transferCalls(opened.bank, open.current), {
      bank: opened.bank,
      world,
      customer: customerPortsOf(context, opened.profile),
      ...evidenceIn(context),
      accept: () => accept(context, opened, open, payeeVerified),
    });
  } catch (error) {
    await endIfUntouched(open, error);
    printTransfer(context, open.current);
    const confirmed = [
      ...(payeeVerified ? ['--payee-verified'] : []),
      ...(context.globals.yes ? ['--yes'] : []),
    ];
    throw withNext(
      withWarning(error, open.current, describePayment(open.current)),
      open.current,
      open.current.accepted ? [] : confirmed,
    );
  }
  printTransfer(context, open.current);
  if (context.output.format === 'table') terminal.say(cleanText(sayPaid(open.current)));
}

/** Checks the payee, shows what the bank verified, and asks the operator (command contract, "Nobody pays by accident"). */
async function accept(
  context: Context,
  { profile }: CustomerBank,
  open: Open<'transfer'>,
  payeeVerified: boolean,
): Promise<boolean> {
  const { globals, terminal } = context;
  const { order } = open.current;
  const command = profile.settings.payeeCheck;
  if (command !== undefined && !payeeVerified) {
    const { checkPayee } = await import('./order/payee-check.ts');
    const checked = await terminal.whileWaiting('Checking the payee', checkPayee(context, command, order));
    await open.record({ type: 'payee-checked', ...checked, source: order.payeeSource });
  }
  const summary = terminal.marked(showVerified(open.current));
  // The person who confirms must see it.
  if (globals.yes) terminal.say(summary);
  else terminal.warn(summary);
  if (!payeeVerified && !(await isPayeeRight(context, open.current))) return false;
  return globals.yes || terminal.confirm('Send the customer to authorise this transfer?');
}

/**
 * Whether the payee check found a match or the operator confirms the payee. A transfer that is not instant needs no check.
 * If there was one, anything but a match needs a person's confirmation.
 *
 * @throws Psd2Error `confirmation_needed` if psd2 cannot ask
 */
async function isPayeeRight({ terminal }: Context, { order, payeeCheck, flow }: Transfer): Promise<boolean> {
  if (payeeCheck ? payeeCheck.result === 'match' : !order.instant) return true;
  const said = payeeCheck && describePayeeCheck(payeeCheck);
  if (said !== null && !terminal.canAsk) {
    throw new Psd2Error(
      'confirmation_needed',
      `The payee check of ${order.name} and ${order.to} says: ${said}`,
      {
        hint: 'psd2 has not asked the customer yet. If the payee is right after all:',
        next: [['transfer', 'resume', flow, '--payee-verified', '--yes']],
        flow,
      },
    );
  }
  const question =
    said === null
      ? `Is ${order.name} verified as the payee behind ${order.to}?`
      : `The payee check says: ${said}. Is ${order.name} the right payee after all?`;
  return terminal.confirm(`${question}${order.instant ? " You can't call back an instant transfer" : ''}`);
}

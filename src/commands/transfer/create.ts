import { Option } from '@commander-js/extra-typings';
import type { PsuIdentification } from '../../bank/ports/call.ts';
import { bankDay } from '../../domain/calendar.ts';
import { lacking } from '../../domain/interface-name.ts';
import { whyKept } from '../../domain/kept.ts';
import { describePayeeCheck, PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import { type OrderOptions, readOrder } from '../../domain/order/read-order.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { beginTransferFlow } from '../../flows/batch/free-reference.ts';
import { withLogin } from '../../flows/batch/known-lines.ts';
import { returnAddress } from '../../flows/linked-sca.ts';
import { runOperation } from '../../flows/payment/loop.ts';
import { redirectUriOf } from '../../store/machine/settings.ts';
import type { Open } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context, CustomerBank } from '../context.ts';
import { collect, verb, where } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { driveFlow, refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { customerOf } from '../open/customer.ts';
import { refusePasting, returnPortsOf } from '../open/returns.ts';
import { refuseOtherBank } from '../open/serving.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { keepPsu, type PsuOptions, refusePsu, withPsuOptions } from '../shared/psu.ts';
import { readFurtherData, refuseFurtherData } from '../shared/read-data.ts';
import { withDebtor } from './debtor.ts';
import { askForMissing, refuseAboveLimit, refuseUncheckedPayee } from './order.ts';
import { spelled, TRANSLITERATE } from './spelling.ts';
import { showFees, showVerified } from './summary.ts';
import { noteConfirmed, sayPaid, TRANSFERS, wasConfirmed } from './transfers.ts';

const CREATE_NOTE = `
On a terminal, the command asks for what is missing: the account (from a list with balances), the payee, the IBAN and the
amount. It checks each as you type. Elsewhere, and with --no-input, it names everything that is missing at once.

The bank verifies the transfer first. Then the command shows the result and asks you, before it sends the customer to
authorise. In a pipeline, --yes confirms in advance.

A --reference is refused if an earlier transfer already used it, unless that transfer definitely failed. The error says what is
different in the two. A reference stays reserved if its journal is missing. If a damaged journal does not show its reference, every
--reference is refused.

Exit codes that matter to a script: 6 the customer did not authorise, 8 the payment failed, 9 the outcome is not known yet, 13 somebody
can still authorise it at the bank ("psd2 transfer resume <flow>" finds out and never pays again).

Examples:
  $ psd2 transfer --from 0010482620 --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50
  $ psd2 transfer --instant --payee-verified --yes --json --from 0010482620 \\
      --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50 --reference INV-1 | jq -r .cro`;

export interface TransferOptions extends OrderOptions, PsuOptions {
  /** The operator has verified the payee by other means. */
  payeeVerified: boolean;
  /** Ask for the bank's dates first, and refuse a date outside them. */
  prepare: boolean;
  /** The data of the further steps `verify<N>`, in their order: JSON, `@file` or `-`. */
  verifyData: string[];
  /** The operator pastes the address that the customer's browser ended at. */
  paste: boolean;
  /** The most that it may take from the account, with the bank's fees, beside the limit of the profile. */
  maxCost?: TransferOrder['maxCost'] | undefined;
  /** Texts are paid in the characters of SEPA. */
  transliterate?: boolean;
}

const ADDRESS_NEEDS = where(
  'addresses of payees',
  "the payee's country, which every address needs, for example DE",
);
/** What holds without an option. */
const NOT_GIVEN = { instant: false, urgent: false, payeeVerified: false, prepare: false, paste: false };

/** `psd2 transfer create` */
export const create = verb(
  { prints: printsOne(TRANSFERS), help: CREATE_NOTE },
  (command) =>
    withCredentialOptions(
      withPsuOptions(
        command
          .option(
            '--from <account>',
            'account to debit: its id, or at some banks its IBAN (required, unless the customer may choose it at the bank; psd2 asks on a terminal)',
          )
          .option('--to <iban>', "the payee's IBAN (required; psd2 asks on a terminal)")
          .option('--name <text>', "the payee's name (required; psd2 asks on a terminal)")
          .option('--amount <decimal>', 'for example 12.50 (required; psd2 asks on a terminal)')
          .option('--currency <code>', 'currency of the amount', 'EUR')
          .option('--description <text>', 'remittance information, at most 140 characters')
          .option('--instant', 'make an instant transfer (SCT Inst): settled within ten seconds, and final')
          .option('--date <date>', "execution day, YYYY-MM-DD; default: today in the bank's time zone")
          .option('--transliterate', TRANSLITERATE)
          .option('--urgent', 'ask for urgent execution')
          .option('--type <text>', 'type of the transfer, sent to the bank unchanged')
          .option(
            '--reference <text>',
            'your own reference; psd2 refuses a second transfer with the same one',
          )
          .option(
            '--payee-verified',
            'you have checked that the name belongs to the IBAN; --instant needs it (psd2 asks on a terminal)',
          )
          .addOption(
            new Option(
              '--payee-source <who>',
              "who gave the payee's name and IBAN; decides who must check the payee, stored in the journal",
            ).choices(PAYEE_SOURCES),
          )
          .option(
            '--verify-data <json>',
            'data for a further verify step, in order: JSON, @file or -; may be repeated',
            collect,
            [],
          )
          .option('--payee-street <text>', where('addresses of payees', "the payee's street"))
          .option('--payee-building <text>', where('addresses of payees', "the payee's house number"))
          .option('--payee-postcode <text>', where('addresses of payees', "the payee's postcode"))
          .option(
            '--payee-town <text>',
            where('addresses of payees', "the payee's town, which every address needs"),
          )
          .option('--payee-country <code>', ADDRESS_NEEDS),
      ),
    )
      .option(
        '--paste',
        where('links for SCA', 'prompt for the address in the browser after the customer has finished'),
      )
      .option('--prepare', 'first ask the bank which dates it allows, and refuse any other --date'),
  async (context, typed) => makeTransfer(await givenCredentials(context, typed), { ...NOT_GIVEN, ...typed }),
);

/** Reads the order, records it, and runs it to its end: verify, the operator's confirmation, SCA and execute. */
export function makeTransfer(
  context: Context,
  typed: TransferOptions,
  transactionId = context.world.newId(),
): Promise<void> {
  return beginTransfer(
    context,
    typed,
    (opened, open, options) => driveTransfer(context, opened, open, { ...options, isNew: true }),
    transactionId,
  );
}

/**
 * Reads the order, refuses what must not be paid, and begins the flow.
 *
 * @param work goes on with it
 * @throws Psd2Error for an order that is refused, before anything is sent that moves money; and what `work` throws
 */
export async function beginTransfer(
  context: Context,
  typed: TransferOptions,
  work: (opened: CustomerBank, open: Open<'transfer'>, options: TransferOptions) => Promise<void>,
  transactionId: string,
): Promise<void> {
  await context.needs('payments');
  if (typed.paste) refusePasting(context);
  const options = spelled(context, await askForMissing(context, spelled(context, typed)));
  const bankInterface = await context.bankInterface();
  if (bankInterface.customers !== 'named by the operator') refusePsu(bankInterface, options);
  if (options.verifyData.length > 0) refuseFurtherData(bankInterface);
  const order = readOrder(options, context.world.now(), bankInterface);
  if (options.prepare) await context.needs('terms');
  refuseClientCredentials(context);
  if (options.from !== undefined) refuseOtherBank(context, options.from);
  refuseUnconfirmable(context, 'A transfer');
  await context.store();
  const profile = context.profile();
  refuseUncheckedPayee(context, profile, { ...options, instant: order.instant });
  refuseAboveLimit(profile, order);

  const furtherData = await readFurtherData(context, options.verifyData);

  if (bankInterface.customers === 'named by the operator')
    await keepPsu(context, await customerOf(context), options);
  const opened = await context.bank();
  const { maxCost } = options;
  const wanted = { ...order, customerId: opened.customerId, ...(maxCost !== undefined && { maxCost }) };
  // What the bank does not take is refused before it is asked for anything.
  await transferInitiation(context, opened, wanted, options);
  const ordered = await withDebtor(context, opened, wanted, transactionId);
  const begin = {
    transactionId,
    commits: opened.bank.payments.commits,
    order: ordered,
    furtherData,
    ...(await transferInitiation(context, opened, ordered, options)),
  };
  // The transfer begins after this. If the bank does not answer or refuses the day, there is nothing to resume.
  if (options.prepare) await checkTerms(opened, begin);
  await beginTransferFlow(opened.flows, opened.bank, begin, (open) => work(opened, open, options));
}

/** What the flow keeps of the payment, at a bank where the customer authorises it by links. @throws Psd2Error for what the bank does not take */
async function transferInitiation(
  { world, bankInterface }: Pick<Context, 'world' | 'bankInterface'>,
  { bank, profile }: Pick<CustomerBank, 'bank' | 'profile'>,
  order: TransferOrder,
  { paste }: { paste: boolean },
) {
  const { payments } = bank;
  if (!payments.initiation) {
    const foreign = paste ? '--paste' : order.payeeAddress ? 'address of the payee' : null;
    if (foreign !== null) throw lacking((await bankInterface()).name, foreign);
    (await bankInterface()).refusePayment?.({ ...order, address: null }, bankDay(world.now()));
    return {};
  }
  const { newId } = world;
  const state = newId();
  const back = { address: returnAddress(redirectUriOf(profile), state), state };
  return { initiation: await payments.initiation(order, back, newId) };
}

/** @throws Psd2Error `invalid_date` if the bank does not execute transfers on that day */
async function checkTerms(
  { bank }: CustomerBank,
  { order, transactionId }: { order: TransferOrder; transactionId: string },
): Promise<void> {
  const { earliestDate: earliest, latestDate: latest } = await bank.payments.terms(order, transactionId);
  const day = order.executionDate;
  if ((earliest === null || day >= earliest) && (latest === null || day <= latest)) return;
  throw new Psd2Error('invalid_date', `The bank does not execute transfers on ${day}`, {
    hint: `It accepts ${earliest ?? 'any day'} to ${latest ?? 'any day'}.`,
    transactionId,
  });
}

interface DriveOptions {
  /** The operator has verified the payee by other means. */
  payeeVerified: boolean;
  paste: boolean;
  /** Who authorises it now, if it is not the customer. */
  person?: PsuIdentification | undefined;
  isNew?: boolean;
}

/**
 * Continues a transfer from its journal to its end, and prints the outcome.
 *
 * @throws what {@link runOperation} throws, with the commands to run next
 */
export async function driveTransfer(
  context: Context,
  opened: CustomerBank,
  open: Open<'transfer'>,
  { payeeVerified, paste, person, isNew = false }: DriveOptions,
): Promise<void> {
  const { terminal, globals, output } = context;
  const { initiation, transactionId } = open.current;
  const returns = initiation && (await returnPortsOf(context, opened, paste, transactionId, person));
  await driveFlow(
    context,
    TRANSFERS,
    opened,
    open,
    async ({ initiated, ...ports }) =>
      runOperation(open, opened.bank.payments.transfer(await withLogin(opened.flows, open.current)), {
        ...ports,
        // The log has nothing of a new flow.
        ...(!isNew && { initiated }),
        accept: () => accept(context, opened, open, payeeVerified),
        ...(returns && { returns, acceptFees: () => acceptFees(context, open) }),
      }),
    [...(payeeVerified ? ['--payee-verified'] : []), ...(globals.yes ? ['--yes'] : [])],
  );
  const linkReason = whyKept(open.current, 'standing order');
  if (linkReason !== null) terminal.say(cleanText(endSentence(linkReason)));
  // At a terminal, that may be all that is printed.
  else if (output.format === 'table' && TRANSFERS.inOneLine?.(context, open.current) === undefined)
    terminal.say(cleanText(sayPaid(open.current)));
}

/** Shows the fees that the bank has told, and the payment if this command has not shown it. A person at a terminal confirms them. */
async function acceptFees(context: Context, open: Open<'transfer'>): Promise<boolean> {
  const { globals, terminal } = context;
  const show = wasConfirmed(terminal, open.current) ? showFees : showVerified;
  const summary = terminal.marked(show(terminal, open.current));
  noteConfirmed(context, open.current);
  if (globals.yes || !terminal.canAsk) {
    terminal.say(summary);
    return true;
  }
  terminal.warn(summary);
  return terminal.confirm('Ask the customer to authorise this transfer with these fees?');
}

/** Checks the payee, shows what the bank verified, and asks the operator (command contract, "Nobody pays by accident"). */
async function accept(
  context: Context,
  opened: CustomerBank,
  open: Open<'transfer'>,
  payeeVerified: boolean,
): Promise<boolean> {
  const { globals, terminal } = context;
  if (!payeeVerified) await recordPayeeCheck(context, opened, open);
  const summary = terminal.marked(showVerified(terminal, open.current));
  noteConfirmed(context, open.current);
  // The person who confirms must see it.
  if (globals.yes) terminal.say(summary);
  else terminal.warn(summary);
  if (!payeeVerified && !(await isPayeeRight(context, open.current))) return false;
  return globals.yes || terminal.confirm('Ask the customer to authorise this transfer?');
}

/** Runs the operator's check of the payee, if there is one. */
export async function recordPayeeCheck(
  context: Context,
  { profile }: Pick<CustomerBank, 'profile'>,
  open: Open<'transfer'>,
): Promise<void> {
  const { order } = open.current;
  const command = profile.settings.payeeCheck;
  if (command === undefined) return;
  const { checkPayee } = await import('./payee-check.ts');
  const checked = await context.terminal.whileWaiting(
    'Checking the payee',
    checkPayee(context, command, order),
  );
  await open.record({ type: 'payee-checked', ...checked, source: order.payeeSource });
}

/**
 * Whether the payee check found a match or the operator confirms the payee. A transfer that is not instant needs no check.
 * If there was one, anything but a match needs a person's confirmation.
 *
 * @throws Psd2Error `confirmation_needed` if psd2 cannot ask
 */
async function isPayeeRight({ terminal }: Context, { order, payeeCheck, flow }: Transfer): Promise<boolean> {
  if (payeeCheck ? payeeCheck.result === 'match' : !order.instant) return true;
  const checkWords = payeeCheck && describePayeeCheck(payeeCheck);
  if (checkWords !== null && !terminal.canAsk)
    throw new Psd2Error(
      'confirmation_needed',
      `The payee check of ${order.name} and ${order.to} says: ${checkWords}`,
      {
        hint: 'psd2 has not asked the customer yet. If the payee is right after all:',
        next: [['transfer', 'resume', flow, '--payee-verified', '--yes']],
        flow,
      },
    );
  const question =
    checkWords === null
      ? `Have you verified that ${order.to} belongs to ${order.name}?`
      : `The payee check says: ${checkWords}. Is ${order.name} the right payee after all?`;
  return terminal.confirm(`${question}${order.instant ? ' An instant transfer cannot be recalled' : ''}`);
}

import Big from 'big.js';
import { prepareTransfer } from '../../bank/endpoints/transfers.ts';
import { bankDay, parseDate } from '../../domain/calendar.ts';
import { parseSepaIban } from '../../domain/iban.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { isPlainlyFailed } from '../../domain/operation.ts';
import { describePayeeCheck } from '../../domain/payee-check.ts';
import { parsePaymentAmount } from '../../domain/payment-amount.ts';
import { parseBeneficiaryName, parseDescription, parseReference } from '../../domain/sepa-text.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { runOperation } from '../../flows/operation.ts';
import { transferCalls } from '../../flows/transfer.ts';
import type { ReferencedTransfer } from '../../store/flow-lookup.ts';
import type { FlowJournal, OpenTransfer } from '../../store/journal.ts';
import { maxAmountOf, type Profile } from '../../store/settings.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { refuseClientCredentials, refuseUnconfirmable, withWayOn } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { printTransfer, showVerified } from './transfer.ts';

export interface TransferOptions {
  from: string | undefined;
  to: string | undefined;
  name: string | undefined;
  amount: string | undefined;
  currency: string;
  description: string | undefined;
  instant: boolean;
  date: string | undefined;
  urgent: boolean;
  type: string | undefined;
  reference: string | undefined;
  /** The operator has had the payee verified by other means. */
  payeeVerified: boolean;
  /** Ask for the bank's dates first, and refuse a date outside them. */
  prepare: boolean;
  /** The data of the further steps `verify<N>`, in their order: JSON, `@file` or `-`. */
  verifyData: string[];
}

/**
 * `psd2 transfer create`: reads the order, writes it down, and takes it through verify, the operator's yes,
 * SCA and execute to its end.
 */
export async function transferCreate(context: Context, options: TransferOptions): Promise<void> {
  const order = readOrder(options, context.world.now());
  refuseClientCredentials(context);
  refuseUnconfirmable(context, 'A transfer');
  await context.store();
  const profile = context.profile();
  refuseUncheckedPayee(context, profile, { ...options, instant: order.instant });
  refuseAboveLimit(profile, order);

  const furtherData = await readFurtherData(context, options.verifyData);

  const opened = await context.bank();
  const open = await opened.journal.locked(async () => {
    refuseKnownReference(opened.journal, order.reference);
    const begun = opened.journal.createTransfer({
      transactionId: context.world.newId(),
      order: { ...order, customerId: opened.customerId },
      furtherData,
    });
    takeReference(opened.journal, begun);
    return begun;
  });
  await opened.journal.claimed(open.current.flow, async () => {
    if (options.prepare) await checkTerms(opened, open);
    await run(context, opened, open, options.payeeVerified);
  });
}

/** @throws Psd2Error `invalid_date` when the bank does not execute transfers on that day */
async function checkTerms({ bank }: CustomerBank, open: OpenTransfer): Promise<void> {
  const { order, transactionId } = open.current;
  const terms = await prepareTransfer(bank, order, transactionId);
  const [earliest, latest] = [terms.executionDateMinimumWireTransferAtBank, terms.executionDateLimit];
  const day = order.executionDate;
  if ((earliest === null || day >= earliest) && (latest === null || day <= latest)) return;
  open.record({ type: 'cancelled' });
  throw new Psd2Error('invalid_date', `The bank does not execute transfers on ${day}`, {
    hint: `Its days are ${earliest ?? 'any'} to ${latest ?? 'any'}.`,
    transactionId,
  });
}

/** `psd2 transfer resume <flow>`: goes on from what is on disk; never pays twice. */
export async function transferResume(
  context: Context,
  flow: string,
  options: { payeeVerified: boolean; verifyData: string[] },
): Promise<void> {
  const { journal } = await context.store(flow);
  const profile = context.profile();
  const { current } = journal.openTransfer(flow);
  const { order } = current;
  if (['created', 'verified'].includes(current.state) && !current.accepted) {
    refuseUnconfirmable(context, 'A transfer');
    refuseUncheckedPayee(context, profile, { ...options, instant: order.instant });
    refuseAboveLimit(profile, order);
  }
  const furtherData = await readFurtherData(context, options.verifyData);
  const opened = await context.forCustomer(order.customerId).bank();
  await opened.journal.claimed(current.flow, async () => {
    const open = opened.journal.openTransfer(current.flow);
    // It may have been stopped before it had the reference, and another transfer have it since.
    if (!hasPaidOrMay(open.current)) takeReference(opened.journal, open);
    if (furtherData.length > 0) open.record({ type: 'further-data', data: furtherData });
    await run(context, opened, open, options.payeeVerified);
  });
}

async function run(
  context: Context,
  opened: CustomerBank,
  open: OpenTransfer,
  payeeVerified: boolean,
): Promise<void> {
  const { terminal, world } = context;
  terminal.say(`Transfer ${open.current.flow}`);
  try {
    await runOperation(open, transferCalls(opened.bank, open.current), {
      bank: opened.bank,
      world,
      customer: customerPortsOf(context, opened.profile),
      accept: () => accept(context, opened, open, payeeVerified),
    });
  } catch (error) {
    printTransfer(context, open.current);
    const confirmed = [
      ...(payeeVerified ? ['--payee-verified'] : []),
      ...(context.globals.yes ? ['--yes'] : []),
    ];
    throw withWayOn(error, open.current, open.current.accepted ? [] : confirmed);
  }
  printTransfer(context, open.current);
}

/** Has the payee checked, shows what the bank verified, and asks (command contract, "Nobody pays by accident"). */
async function accept(
  context: Context,
  { profile }: CustomerBank,
  open: OpenTransfer,
  payeeVerified: boolean,
): Promise<boolean> {
  const { globals, terminal } = context;
  const { order } = open.current;
  const command = profile.settings.payeeCheck;
  if (command !== undefined && !payeeVerified) {
    const { checkPayee } = await import('./payee-check.ts');
    const checked = await terminal.whileWaiting('Checking the payee', checkPayee(context, command, order));
    open.record({ type: 'payee-checked', ...checked });
  }
  terminal.warn(terminal.marked(showVerified(open.current)));
  if (!payeeVerified && !(await isPayeeRight(context, open.current))) return false;
  return globals.yes || terminal.confirm('Send the customer to authorise this transfer?');
}

/**
 * Whether the payee check found a match, or the operator says that the payee is right. A transfer that is not
 * instant needs no check, but where there was one, only a match passes without a person's yes.
 *
 * @throws Psd2Error `confirmation_needed` when there is nobody to ask
 */
async function isPayeeRight({ terminal }: Context, { order, payeeCheck, flow }: Transfer): Promise<boolean> {
  if (payeeCheck ? payeeCheck.result === 'match' : !order.instant) return true;
  const said = payeeCheck && describePayeeCheck(payeeCheck);
  if (said !== null && !terminal.canAsk) {
    throw new Psd2Error(
      'confirmation_needed',
      `The payee check of ${order.name} and ${order.to} says: ${said}`,
      {
        hint: `The customer was not asked yet. If the payee is right nevertheless: psd2 transfer resume ${flow} --payee-verified --yes`,
      },
    );
  }
  const question =
    said === null
      ? `Is ${order.name} verified as the payee behind ${order.to}?`
      : `The payee check says: ${said}. Is ${order.name} the right payee all the same?`;
  return terminal.confirm(`${question}${order.instant ? " An instant transfer can't be called back" : ''}`);
}

/** @throws Psd2Error `usage` and the `invalid_…` codes, before anything is sent */
function readOrder(options: TransferOptions, now: Date): Omit<TransferOrder, 'customerId'> {
  const today = bankDay(now);
  const needed = { from: options.from, to: options.to, name: options.name, amount: options.amount };
  if (!isComplete(needed)) throw optionsMissing(needed);
  const from = parseProductId(needed.from);
  const to = parseSepaIban(needed.to);
  const name = parseBeneficiaryName(needed.name);
  const amount = parsePaymentAmount(needed.amount);
  if (options.currency !== 'EUR') {
    throw new Psd2Error(
      'usage',
      `The currency ${JSON.stringify(options.currency)} is not possible: SEPA transfers are in EUR`,
    );
  }
  const description = parseDescription(options.description ?? '');
  const executionDate = options.date === undefined ? today : parseDate('--date', options.date);
  if (executionDate < today) {
    throw new Psd2Error('invalid_date', `--date ${executionDate} is in the past: at the bank it is ${today}`);
  }
  if (options.instant && options.type !== undefined && options.type !== 'INSTANT') {
    throw new Psd2Error('usage', `--instant and --type ${options.type} contradict each other`, {
      hint: 'Give one of them.',
    });
  }
  const type = options.instant ? 'INSTANT' : (options.type ?? null);
  if (type !== null && !/^[A-Za-z0-9_-]{1,35}$/.test(type)) {
    throw new Psd2Error('usage', `--type ${JSON.stringify(type)} is not a word of letters, digits, - and _`);
  }
  return {
    from,
    to,
    name,
    amount,
    currency: options.currency,
    description,
    instant: type === 'INSTANT',
    type,
    executionDate,
    futureDated: executionDate > today,
    urgent: options.urgent,
    reference: options.reference === undefined ? null : parseReference(options.reference),
  };
}

/** What every transfer needs. */
type Needed<Value> = Record<'from' | 'to' | 'name' | 'amount', Value>;

function isComplete(needed: Needed<string | undefined>): needed is Needed<string> {
  return Object.values(needed).every((value) => value !== undefined);
}

/** All that is missing, at once. */
function optionsMissing(needed: Needed<string | undefined>): Psd2Error {
  const missing = Object.entries(needed).flatMap(([name, value]) =>
    value === undefined ? [`--${name}`] : [],
  );
  const what =
    missing.length === 1
      ? `The option ${missing[0]} is missing`
      : `Options are missing: ${missing.join(', ')}`;
  return new Psd2Error('usage', what, { hint: 'Add --help to see how the command is used.' });
}

/** @throws Psd2Error `confirmation_needed` when nothing and nobody can say who the payee of an instant transfer is */
function refuseUncheckedPayee(
  { terminal }: Context,
  { settings }: Profile,
  { instant, payeeVerified }: { instant: boolean; payeeVerified: boolean },
): void {
  if (!instant || payeeVerified || settings.payeeCheck !== undefined || terminal.canAsk) return;
  throw new Psd2Error(
    'confirmation_needed',
    'An instant transfer needs the payee to be verified, and there is no terminal to ask at',
    {
      hint: 'Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. Nothing was sent.',
    },
  );
}

/** @throws Psd2Error `invalid_amount` when the profile does not let so much be sent at once */
function refuseAboveLimit(
  profile: Profile,
  { amount, currency }: Pick<TransferOrder, 'amount' | 'currency'>,
): void {
  const limit = maxAmountOf(profile);
  if (limit === null || new Big(amount).lte(limit)) return;
  throw new Psd2Error(
    'invalid_amount',
    `The amount ${amount} ${currency} is more than the ${limit} ${currency} that the profile ${profile.name} allows`,
    { hint: 'Nothing was sent. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.' },
  );
}

/**
 * Refuses a reference that another transfer has which was paid, or may be. One whose journal is damaged may be.
 *
 * @throws Psd2Error `duplicate_reference` naming the flow that has it, `config` when a journal can't tell its reference
 */
function refuseKnownReference(journal: FlowJournal, reference: string | null): void {
  if (reference === null) return;
  for (const earlier of journal.transfersWithReference(reference)) {
    if ('transfer' in earlier && isPlainlyFailed(earlier.transfer)) continue;
    throw referenceIsUsed(reference, earlier);
  }
}

/**
 * Takes the reference of a transfer that was begun, for good. A process that was stopped since it looked for the
 * reference finds here that another was quicker, and cancels its own transfer.
 *
 * @throws Psd2Error `duplicate_reference` naming the flow that has it
 */
function takeReference(journal: FlowJournal, open: OpenTransfer): void {
  const { flow, order } = open.current;
  const { reference } = order;
  if (reference === null) return;
  const holder = journal.takeReference(reference, flow);
  if (holder === flow) return;
  open.record({ type: 'cancelled' });
  const found = journal.transfersWithReference(reference).find((each) => each.flow === holder);
  throw referenceIsUsed(reference, found ?? { flow: holder });
}

/** Whether `execute` was sent: then the reference is the transfer's, whatever comes. */
function hasPaidOrMay({ state }: Transfer): boolean {
  return !['created', 'verified', 'authorizing', 'authorized'].includes(state);
}

function referenceIsUsed(reference: string, by: ReferencedTransfer | { flow: string }): Psd2Error {
  const { flow } = by;
  const was = `The reference ${JSON.stringify(reference)} was used by transfer ${flow}`;
  if ('damage' in by) {
    const { message, hint } = by.damage;
    return new Psd2Error('duplicate_reference', `${was}, and what became of it can't be told: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
    });
  }
  const hint = `See it with: psd2 transfer show ${flow}`;
  if (!('transfer' in by)) return new Psd2Error('duplicate_reference', was, { hint });
  const { state, transactionId } = by.transfer;
  return new Psd2Error('duplicate_reference', `${was}, which is ${state}`, { hint, transactionId });
}

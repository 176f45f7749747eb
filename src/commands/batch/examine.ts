import { open } from 'node:fs/promises';
import type { BankInterface } from '../../bank/ports/bank.ts';
import type { Finding } from '../../batch-file/finding.ts';
import { readBatchFile } from '../../batch-file/read.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { bankDay } from '../../domain/calendar.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { type EarlierPayments, readEarlierPayments } from '../../flows/batch/earlier-payments.ts';
import {
  type Examination,
  type Examined,
  examine,
  type KnownAccounts,
  readKnownAccounts,
  type Yardstick,
} from '../../flows/batch/examine.ts';
import { checkPayees } from '../../flows/batch/payees.ts';
import { isMissing, reasonOf } from '../../store/disk/files.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { customerOf } from '../open/customer.ts';
import { payeeCheckOf } from '../transfer/payee-check.ts';

interface How extends Omit<Examination, 'keep'> {
  instant: boolean;
  payeeVerified: boolean;
  transliterate: boolean;
}

/**
 * Reads and checks a file of payments, and compares it with the profile's limit and its earlier transfers, if there is a
 * profile. It asks no bank.
 *
 * @param payeeCheck the operator's payee check, if it shall run for all lines
 * @param how what holds for all lines. @param keep gets each line
 * @throws Psd2Error `usage` if the file cannot be read
 */
export async function examineFile(
  context: Context,
  file: string,
  payeeCheck: string | undefined,
  { instant, payeeVerified, transliterate, again, complete }: How,
  keep: (line: BatchLine) => void = () => {},
): Promise<Examined> {
  const today = bankDay(context.world.now());
  const bank = await context.bankInterface();
  const { readAccountId, readCustomerId } = bank;
  const yardstick = await readYardstick(context, { bank, today }, payeeCheck);
  const findings = readBatchFile(bytesOf(context, file), {
    today,
    readAccountId,
    readCustomerId,
    instant,
    payeeVerified,
    transliterate,
  });
  const payees = payeeCheck === undefined ? null : checkPayees(payeeCheckOf(context, payeeCheck));
  return examine(withCause(findings, file), yardstick, payees, { again, complete, keep });
}

/** Reads what the profile knows. @throws Psd2Error if the store or its settings cannot be read */
async function readYardstick(
  context: Context,
  basis: Pick<Yardstick, 'bank' | 'today'>,
  payeeCheck: string | undefined,
): Promise<Yardstick> {
  const profile = profileIn(context);
  const earlier = profile && (await earlierPayments(context));
  const accounts = profile && (await accountsIn(context, basis.bank));
  const checksPayees = (payeeCheck ?? profile?.settings.payeeCheck) !== undefined;
  return { ...basis, earlier, accounts, checksPayees, limit: profile && maxAmountOf(profile) };
}

/** Elsewhere than at a bank that names its customers, a consent is for reading alone, and says nothing of the accounts that pay. */
async function accountsIn(
  context: Context,
  { customers }: BankInterface,
): Promise<KnownAccounts | undefined> {
  if (customers !== 'named by the bank') return undefined;
  const { flows, tokens } = await context.store();
  const usual = context.globals.customer === undefined ? await tokens.last() : await customerOf(context);
  return readKnownAccounts(flows, usual);
}

/** Undefined if there is no profile: a file can be checked without one. */
function profileIn(context: Context): Profile | undefined {
  try {
    return context.profile();
  } catch (error) {
    if (error instanceof Psd2Error && error.code === 'no_profile') return undefined;
    throw error;
  }
}

/** What the store of a profile knows. */
export async function earlierPayments(context: Context): Promise<EarlierPayments> {
  return readEarlierPayments(await context.store(), bankDay(context.world.now()), ({ message }) =>
    context.terminal.warn(`${endSentence(message)} psd2 cannot compare it with the file`),
  );
}

/** The bytes of a file; `-` is standard input. @throws Psd2Error `usage` if somebody changes the file meanwhile */
async function* bytesOf({ readStdin }: Context, file: string): AsyncGenerator<Uint8Array> {
  if (file === '-') {
    yield Buffer.from(await readStdin());
    return;
  }
  const handle = await open(file);
  try {
    const before = await handle.stat();
    yield* handle.createReadStream({ highWaterMark: 64 * 1024, autoClose: false });
    const after = await handle.stat();
    const isSame = before.size === after.size && before.mtimeMs === after.mtimeMs;
    if (before.isFile() && !isSame)
      throw new Psd2Error('usage', `The file ${file} has changed while psd2 read it`, {
        hint: 'psd2 has stored nothing. Run this again once the file is complete.',
      });
  } finally {
    await handle.close();
  }
}

/** Names the file in an error of the system. */
async function* withCause(findings: AsyncIterable<Finding>, file: string): AsyncGenerator<Finding> {
  try {
    yield* findings;
  } catch (cause) {
    if (cause instanceof Psd2Error || !(cause instanceof Error) || !('code' in cause)) throw cause;
    const why = isMissing(cause) ? 'it does not exist' : reasonOf(cause);
    throw new Psd2Error('usage', `psd2 cannot read ${JSON.stringify(file)}: ${why}`, { cause });
  }
}

import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import type { BankInterface } from '../../bank/ports/bank.ts';
import type { PsuIdentification } from '../../bank/ports/call.ts';
import { lacking } from '../../domain/interface-name.ts';
import { Psd2Error } from '../../errors.ts';
import type { KeptPsu } from '../../store/ports/customers.ts';
import type { Context } from '../context.ts';
import { where } from '../declare.ts';

/** Who the customer (PSU) is where the operator says it. */
export interface PsuOptions {
  psuId?: string | undefined;
  psuIdType?: string | undefined;
  psuCorporateId?: string | undefined;
}

export function withPsuOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .option('--psu-id <id>', where('PSU-ID', "the customer's id at the bank, kept with the customer"))
    .option('--psu-id-type <type>', where('PSU-ID', 'kind of that id'))
    .option('--psu-corporate-id <id>', where('PSU-ID', "the id of the customer's company"));
}

/** As {@link withPsuOptions}, for the person whose authorisation begins now: they are not kept. */
export function withPersonOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
  isHidden = false,
) {
  const option = <Flags extends string>(flags: Flags, says: string) =>
    new Option(flags, where('PSU-ID', says)).hideHelp(isHidden);
  return command
    .addOption(option('--psu-id <id>', 'who authorises it now: their id at the bank'))
    .addOption(option('--psu-id-type <type>', 'kind of that id'))
    .addOption(option('--psu-corporate-id <id>', 'the id of their company'));
}

/**
 * The person whose authorisation begins. Undefined: the operator names nobody.
 *
 * @throws Psd2Error `usage` at a bank whose customers have ids, and for what no header can carry
 */
export async function readPerson(
  context: Pick<Context, 'bankInterface'>,
  options: PsuOptions,
): Promise<PsuIdentification | undefined> {
  refuseWithoutId(options);
  const named = readGiven(options);
  if (named.id === undefined) return undefined;
  const bankInterface = await context.bankInterface();
  if (bankInterface.customers !== 'named by the operator') refusePsu(bankInterface, options);
  const { id, idType, corporateId } = named;
  return { id, idType, corporateId };
}

/** @throws Psd2Error `usage` if the other options have nobody of whom they say more */
export function refuseWithoutId({ psuId, psuIdType, psuCorporateId }: PsuOptions): void {
  if (psuId !== undefined || (psuIdType ?? psuCorporateId) === undefined) return;
  throw new Psd2Error('usage', 'The person who authorises it needs --psu-id', {
    hint: '--psu-id-type and --psu-corporate-id say more of that person.',
  });
}

function readGiven({ psuId, psuIdType, psuCorporateId }: PsuOptions) {
  return {
    ...(psuId !== undefined && { id: readPsu('--psu-id', psuId) }),
    ...(psuIdType !== undefined && { idType: readPsu('--psu-id-type', psuIdType) }),
    ...(psuCorporateId !== undefined && { corporateId: readPsu('--psu-corporate-id', psuCorporateId) }),
  };
}

/** Keeps who the customer is at the bank, as far as the operator says it. */
export async function keepPsu(context: Context, customer: string, options: PsuOptions): Promise<void> {
  const named: Partial<KeptPsu> = readGiven(options);
  if (Object.keys(named).length === 0) return;
  const { customers } = await context.store();
  await customers.change(customer, (before) => ({ ...before, psu: { ...before.psu, ...named } }));
}

/**
 * At a bank whose customers have ids, psd2 names the customer in no header.
 *
 * @param name of the bank's interface
 * @throws Psd2Error `usage`
 */
export function refusePsu(
  { name }: Pick<BankInterface, 'name'>,
  { psuId, psuIdType, psuCorporateId }: PsuOptions,
): void {
  const byOption = { '--psu-id': psuId, '--psu-id-type': psuIdType, '--psu-corporate-id': psuCorporateId };
  const foreign = Object.entries(byOption).find(([, value]) => value !== undefined)?.[0];
  if (foreign === undefined) return;
  throw lacking(name, foreign, { hint: 'It is for banks that learn from psd2 who their customer is.' });
}

/** It goes into a header. @throws Psd2Error `usage` */
export function readPsu(option: string, text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]{0,98}[\x21-\x7e])?$/.test(text)) return text;
  throw new Psd2Error('usage', `${option} has characters that a header cannot carry, or too many`, {
    hint: 'Use 1 to 100 visible characters of ASCII.',
  });
}

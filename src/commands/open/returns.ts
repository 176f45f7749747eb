import type { PsuIdentification } from '../../bank/ports/call.ts';
import { paymentHolder } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import { readReturnAddress } from '../../flows/login.ts';
import type { ReturnPorts } from '../../flows/ports.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context, CustomerBank } from '../context.ts';
import { customerPortsOf } from '../flow/ports.ts';
import { isFirst } from '../shared/once.ts';
import { openAccessNotes } from './call-records.ts';
import { credentialPortsOf } from './credentials.ts';

/** psd2 stores a granted login even if the operator interrupts. */
const NEVER = new AbortController().signal;

/**
 * What psd2 needs of the operator for SCA that the bank's links lead.
 *
 * @param paste the operator pastes the address that the customer's browser ended at
 * @param payment the transaction id of the payment that the customer authorises: its tokens are for it alone
 * @param person who authorises it now, if it is not the customer
 */
export async function returnPortsOf(
  context: Context,
  { client, customerId, profile, tokens }: Pick<CustomerBank, 'client' | 'customerId' | 'profile' | 'tokens'>,
  paste: boolean,
  payment?: string,
  person?: PsuIdentification,
): Promise<ReturnPorts> {
  const { terminal } = context;
  const psuId = person ? person.id : (await (await context.store()).customers.read(customerId))?.psu.id;
  return {
    person,
    credentials: await credentialPortsOf(context, { customerId, profile }),
    psuId: psuId ?? undefined,
    client,
    async readyToKeep() {
      const giveBack = await tokens.ready();
      await giveBack();
    },
    async keepTokens(granted) {
      const giveBack = await tokens.ready();
      const grantedTokens = await granted();
      await giveBack();
      const holder = payment === undefined ? customerId : paymentHolder(payment);
      await tokens.change(holder, (slot) => slot.write(grantedTokens), NEVER);
      if (payment === undefined) await (await openAccessNotes(context)).forget(customerId);
    },
    askForReturn: paste
      ? (state) =>
          readReturnAddress(
            {
              askForReturnAddress: (check) =>
                terminal.askSecret('The address that the browser ended at', check),
              customer: customerPortsOf(context, profile),
            },
            state,
          )
      : undefined,
    say: (text) => terminal.say(cleanText(text)),
    quote: (words) => {
      if (isFirst(terminal, words)) terminal.say(cleanText(`The bank says: ${words}`));
    },
  };
}

/** @throws Psd2Error `usage` without a terminal to ask at */
export function refusePasting({ terminal }: Pick<Context, 'terminal'>): void {
  if (terminal.canAsk) return;
  throw new Psd2Error('usage', '--paste asks for an address, and psd2 cannot ask without a terminal', {
    hint: 'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
  });
}

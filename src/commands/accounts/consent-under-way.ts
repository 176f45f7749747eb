import { describePersons, personsIn } from '../../domain/authorisations.ts';
import { type Consent, isForFunds } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import { othersIn } from '../../flows/still-open.ts';
import type { Context } from '../context.ts';
import { customerOf } from '../open/customer.ts';

/**
 * An error that advises to ask the customer for a consent. If one is under way, it names that instead: nobody needs a second one.
 *
 * @returns any other error as it is
 */
export async function namingConsentUnderWay(context: Context, error: unknown): Promise<unknown> {
  if (!(error instanceof Psd2Error)) return error;
  const [command] = error.next ?? [];
  if (command?.[0] !== 'consent' || command[1] !== 'request') return error;
  const consent = await consentUnderWay(context);
  if (!consent) return error;
  const { flow, authorisations } = consent;
  const who = describePersons(personsIn(authorisations)) || 'waits for the customer';
  const { authorisedBy } = personsIn(authorisations);
  const resume = ['consent', 'resume', flow];
  return authorisedBy.length > 0
    ? error.with({
        hint: `The consent ${flow} is under way: ${who}. Ask the bank, or take that person there:`,
        next: [resume, [...resume, ...othersIn(authorisations).named]],
        flow,
      })
    : error.with({
        hint: `The consent ${flow} is under way: ${who}. Ask the bank, or take the customer there:`,
        next: [resume],
        flow,
      });
}

/** The newest consent for readings that the customer, or another person, can still authorise. */
async function consentUnderWay(context: Context): Promise<Consent | undefined> {
  const { flows } = await context.store();
  const customerId = await customerOf(context);
  const states = ['requested', 'authorizing'] as const;
  for await (const consent of flows.list('consent', { states, onDamaged: () => {} })) {
    const isOpen = consent.state === 'requested' || consent.state === 'authorizing';
    if (isOpen && consent.customerId === customerId && !isForFunds(consent)) return consent;
  }
  return undefined;
}

import type { Consent } from '../../domain/consent.ts';
import type { Context } from '../context.ts';
import { cancelFlow } from '../flow/cancel.ts';
import { describeConsent, printConsent } from './output.ts';

/** `psd2 consent cancel <flow>`: gives up a consent for which \`confirm\` was not sent. */
export function consentCancel(context: Context, flow: string): Promise<void> {
  return cancelFlow<Consent>(context, flow, {
    open: (journal, reference) => journal.openConsent(reference),
    describe: describeConsent,
    print: printConsent,
    sent: 'confirm',
    referenceOf: () => null,
  });
}

import type { Consent } from '../../domain/consent.ts';
import type { Context } from '../context.ts';
import { cancelFlow } from '../flow/cancel.ts';
import { describeConsent, printConsent } from './output.ts';

/** `psd2 consent cancel <flow>`: gives up a consent, unless `confirm` was sent. */
export function consentCancel(context: Context, flow: string): Promise<void> {
  return cancelFlow<Consent>(context, flow, {
    find: (flows, reference) => flows.find('consent', reference),
    resume: (flows, flow, work) => flows.resume('consent', flow, work),
    describe: describeConsent,
    print: printConsent,
    sent: 'confirm',
    referenceOf: () => null,
  });
}

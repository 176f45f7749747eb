import { type Consent, type ConsentEvent, nextConsentStep } from '../../domain/consent.ts';
import { askOfConsent } from '../../flows/resolve.ts';
import type { Context } from '../context.ts';
import { type ResolveOptions, resolve } from '../flow/resolve.ts';
import { describeConsent, printConsent } from './output.ts';

/** `psd2 consent resolve <flow>`: like `transfer resolve`. `--executed` means that the bank has confirmed the consent. */
export function consentResolve(context: Context, flow: string, options: ResolveOptions): Promise<void> {
  return resolve<Consent, ConsentEvent>(context, flow, options, {
    find: (flows, reference) => flows.find('consent', reference),
    resume: (flows, flow, work) => flows.resume('consent', flow, work),
    isOpen: (consent) => consent.refusalAlone || nextConsentStep(consent) === 'ask-outcome',
    isEnded: (consent) => nextConsentStep(consent) === 'done',
    askBank: askOfConsent,
    describe: describeConsent,
    print: printConsent,
    done: 'confirmed',
    referenceOf: () => null,
  });
}

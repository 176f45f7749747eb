import type { Context } from '../context.ts';
import { isChosen, type ListOptions, listedFlows } from '../flow/listed.ts';
import { collect } from '../flow/rules.ts';
import { CONSENT_COLUMNS, toListedConsent } from './output.ts';
import { consents } from './shape.ts';

/** `psd2 consent list`: newest first, with what the bank granted and when it ends. */
export async function consentList(context: Context, options: ListOptions): Promise<void> {
  const found = await collect(listedFlows(context, 'consent', options));
  await context.output.table(
    found.map((consent) => toListedConsent(consent, context.world.now())),
    CONSENT_COLUMNS,
    isChosen(context, options) ? 'No consent matches.' : 'This profile has no consents.',
    consents,
  );
}

import type { Context } from '../context.ts';
import { warnOfDamaged } from '../flow/rules.ts';
import { openProfileOf } from '../open/profile.ts';
import { CONSENT_COLUMNS, CONSENT_CSV, toListedConsent } from './output.ts';

/** `psd2 consent list`: newest first; what was granted, when, for what, and how long it is good. */
export async function consentList(context: Context): Promise<void> {
  const consents = [...openProfileOf(context).journal.consents(warnOfDamaged(context))];
  await context.output.table(
    consents.map((consent) => toListedConsent(consent, context.world.now())),
    CONSENT_COLUMNS,
    'No consent was requested with this profile.',
    CONSENT_CSV,
  );
}

import type { Context } from '../context.ts';
import { collect, warnOfDamaged } from '../flow/rules.ts';
import { CONSENT_COLUMNS, toListedConsent } from './output.ts';
import { consents } from './shape.ts';

/** `psd2 consent list`: newest first; what was granted, when, for what, and how long it is good. */
export async function consentList(context: Context): Promise<void> {
  const { flows } = await context.store();
  const found = await collect(flows.list('consent', { onDamaged: warnOfDamaged(context) }));
  await context.output.table(
    found.map((consent) => toListedConsent(consent, context.world.now())),
    CONSENT_COLUMNS,
    'No consent was requested with this profile.',
    consents,
  );
}

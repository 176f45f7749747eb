import type { Context } from '../context.ts';
import { collect, warnOfDamaged } from '../flow/rules.ts';
import { CONSENT_COLUMNS, toListedConsent } from './output.ts';
import { consents } from './shape.ts';

/** `psd2 consent list`: newest first, with what the bank granted and when it ends. */
export async function consentList(context: Context): Promise<void> {
  const { flows } = await context.store();
  const found = await collect(flows.list('consent', { onDamaged: warnOfDamaged(context) }));
  await context.output.table(
    found.map((consent) => toListedConsent(consent, context.world.now())),
    CONSENT_COLUMNS,
    'This profile has no consents.',
    consents,
  );
}

import { bankDay, endOfDay, type IsoDate } from '../../domain/calendar.ts';
import { consentEnd, DAYS_OF_CONSENT, untilSca } from '../../domain/consent.ts';
import type { ConsentCategory } from '../../domain/consent-category.ts';
import type { KeptConsent, KeptCustomer } from '../../store/ports/customers.ts';
import type { Context } from '../context.ts';
import { customerOf } from '../open/customer.ts';
import { describeElsewhere } from '../open/other-logins.ts';
import { finding } from '../shared/checks.ts';
import type { Check } from './check.ts';
import type { Finding } from './diagnosis.ts';
import { endsSoon, SOON_DAYS } from './endings.ts';

/** How long the consent of the customer lasts, as far as psd2 knows. The bank is not asked. */
export const consent: Check = {
  id: 'consent',
  needs: ['settings', 'store'],
  names: async () => ['consents'],
  async run({ context, diagnosis }) {
    const { customers } = await context.bankInterface();
    await diagnosis.make('consents', () =>
      customers === 'named by the operator' ? checkKept(context) : checkGranted(context),
    );
    return undefined;
  },
};

/** What psd2 knows of a customer who is named by the operator. */
interface CustomerConsents {
  customerId: string;
  record: KeptCustomer | undefined;
  /** The consents for readings that are in force, the newest first, each with the last day before its SCA. */
  inForce: KeptConsent[];
}

/** The consents of the customer that readings can use. */
export async function findConsents(context: Context): Promise<CustomerConsents> {
  const customerId = await customerOf(context);
  const record = await (await context.store()).customers.read(customerId);
  const today = bankDay(context.world.now());
  const inForce = (record?.consents ?? [])
    .map((each) => ({ ...each, validUntil: untilSca(each) }))
    .filter(({ validUntil }) => validUntil === null || validUntil >= today);
  return { customerId, record, inForce };
}

/** When a consent that the bank does not tell of ends. */
type GrantedEnd = NonNullable<ReturnType<typeof consentEnd>>;

/** When each category ends that the customer has granted, as far as this profile's journal knows. */
export async function findGranted(context: Context): Promise<Map<ConsentCategory, GrantedEnd>> {
  const { tokens, flows } = await context.store();
  const customerId = context.globals.customer ?? (await tokens.last());
  const ends = new Map<ConsentCategory, GrantedEnd>();
  for await (const flow of flows.list('consent')) {
    const end = consentEnd(flow, context.world.now());
    if (!end || flow.customerId !== customerId) continue;
    for (const { name, outcome } of flow.categories) {
      // Newest first: an older one of the same category was replaced.
      if (outcome !== false && !ends.has(name)) ends.set(name, end);
    }
  }
  return ends;
}

/** Whether a consent does not end within some days. @param lastDay null: it has no end */
function lastsFor(lastDay: IsoDate | null, now: Date, days: number): boolean {
  return lastDay === null || !endsSoon(endOfDay(lastDay), now, days);
}

async function checkKept(context: Context): Promise<Finding> {
  const { customerId, record, inForce } = await findConsents(context);
  const { consents = [], funds = [] } = record ?? {};
  const fix = { next: [['consent', 'request', '--customer', customerId]] };
  // Who only confirms funds reads nothing.
  if (consents.length === 0 && funds.length > 0)
    return finding('ok', `for confirmations of funds: ${funds.map(({ flow }) => flow).join(', ')}`);
  if (consents.length === 0) {
    const elsewhere = await describeElsewhere(await context.store());
    const none = `customer ${customerId} ${record ? 'has no valid consent' : 'has given no consent'}`;
    return finding('warn', elsewhere ? `${none}; ${elsewhere}` : none, fix);
  }
  if (inForce.length === 0) return finding('warn', `customer ${customerId}: the consent has ended`, fix);
  const detail = inForce
    .map(
      ({ flow, validUntil }) => `${flow} ${validUntil === null ? 'without an end' : `until ${validUntil}`}`,
    )
    .join(', ');
  const now = context.world.now();
  const lasts = inForce.some(
    ({ validUntil, recurring }) => recurring && lastsFor(validUntil, now, SOON_DAYS),
  );
  return lasts ? finding('ok', detail) : finding('warn', detail, fix);
}

async function checkGranted(context: Context): Promise<Finding> {
  const granted = [...(await findGranted(context))];
  if (granted.length === 0)
    return finding('skip', 'no consent of this customer was requested with this profile');
  const now = context.world.now();
  const ending = granted
    .filter(([, { expiresAt }]) => endsSoon(expiresAt, now, SOON_DAYS))
    .map(([name]) => ['--category', name]);
  const left = granted.map(([name, { daysLeft }]) =>
    daysLeft > 0 ? `${name} for ${daysLeft} more days` : `${name} is older than ${DAYS_OF_CONSENT} days`,
  );
  const fix = { next: [['consent', 'request', '--all-accounts', ...ending.flat()]] };
  return ending.length === 0 ? finding('ok', left.join(', ')) : finding('warn', left.join(', '), fix);
}

import { fetchAccounts } from '../../bank/endpoints/customers.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { CONSENT_CATEGORIES, type Consent, type ConsentCategory, consentEnd } from '../../domain/consent.ts';
import { type ProductId, parseProductId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import { runConsent } from '../../flows/consent.ts';
import type { OpenConsent } from '../../store/journal.ts';
import type { Column } from '../../terminal/output.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { RESOLUTION_CSV, resolutionField } from '../flow/resolution-field.ts';
import { refuseClientCredentials, warnOfDamaged, withWayOn } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';

export interface ConsentOptions {
  category: string[];
  product: string[];
  allProducts: boolean;
  /** A consent that was granted for some of the categories only is a success too. */
  allowPartial: boolean;
}

/** `psd2 consent request`: one consent for each category, all for the same products. */
export async function consentRequest(context: Context, options: ConsentOptions): Promise<void> {
  const names = [...new Set(options.category.map(parseCategory))];
  const given = [...new Set(options.product.map(parseProductId))];
  if (names.length === 0) {
    throw new Psd2Error('usage', 'No category was given', {
      hint: `Add --category with one of ${CONSENT_CATEGORIES.join(', ')}.`,
    });
  }
  if (options.allProducts === given.length > 0) {
    throw new Psd2Error(
      'usage',
      options.allProducts ? '--product and --all-products exclude each other' : 'No product was given',
      {
        hint: 'Add --product <id> for each product, or --all-products.',
      },
    );
  }
  refuseClientCredentials(context);

  const opened = await context.bank();
  const transactionId = context.world.newId();
  const products = options.allProducts ? await everyProduct(opened, transactionId) : given;
  const open = opened.journal.createConsent({
    transactionId,
    customerId: opened.customerId,
    categories: names.map((name) => ({ name, products })),
  });
  await opened.journal.claimed(open.current.flow, () => run(context, opened, open, options.allowPartial));
}

/** `psd2 consent resume <flow>` */
export async function consentResume(
  context: Context,
  flow: string,
  options: { allowPartial: boolean },
): Promise<void> {
  const { current } = (await context.store(flow)).journal.openConsent(flow);
  const opened = await context.forCustomer(current.customerId).bank();
  await opened.journal.claimed(current.flow, () =>
    run(context, opened, opened.journal.openConsent(current.flow), options.allowPartial),
  );
}

/** `psd2 consent show <flow>` */
export async function consentShow(context: Context, flow: string): Promise<void> {
  printConsent(context, (await context.store()).journal.openConsent(flow).current);
}

/** A consent as the list has it: with the time that it is good for. */
type ListedConsent = ReturnType<typeof toListed>;

const CONSENT_COLUMNS: Column<ListedConsent>[] = [
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'STATE', value: ({ state }) => state, whole: true },
  { title: 'CATEGORIES', value: ({ categories }) => categories.map(writeCategory).join(', '), whole: true },
  {
    title: 'PRODUCTS',
    value: ({ categories }) => [...new Set(categories.flatMap(({ products }) => products))].join(' '),
    whole: true,
  },
  { title: 'GRANTED', value: ({ expiresAt, updatedAt }) => expiresAt && updatedAt, kind: 'time' },
  {
    title: 'DAYS LEFT',
    value: ({ daysLeft }) => (daysLeft === 0 ? 'over' : daysLeft?.toString()),
    right: true,
  },
];
const CONSENT_CSV = [
  ...['flow', 'kind', 'state', 'resourceId', 'transactionId', 'categories', ...RESOLUTION_CSV],
  ...['createdAt', 'updatedAt', 'expiresAt', 'daysLeft'],
];

/** `psd2 consent list`: newest first; what was granted, when, for what, and how long it is good. */
export async function consentList(context: Context): Promise<void> {
  const consents = [...(await context.store()).journal.consents(warnOfDamaged(context))];
  await context.output.table(
    consents.map((consent) => toListed(consent, context.world.now())),
    CONSENT_COLUMNS,
    'No consent was requested with this profile.',
    CONSENT_CSV,
  );
}

/** A category that the bank did not grant is told from the others. */
function writeCategory({ name, outcome }: Consent['categories'][number]): string {
  return outcome === false ? `${name} (not granted)` : name;
}

async function run(
  context: Context,
  opened: CustomerBank,
  open: OpenConsent,
  allowPartial: boolean,
): Promise<void> {
  const { bank, profile } = opened;
  context.terminal.say(`Consent ${open.current.flow}`);
  try {
    await runConsent(open, { bank, world: context.world, customer: customerPortsOf(context, profile) });
  } catch (error) {
    printConsent(context, open.current);
    throw withWayOn(error, open.current);
  }
  printConsent(context, open.current);
  const refused = open.current.categories.filter(({ outcome }) => outcome === false);
  if (refused.length > 0 && !allowPartial) {
    throw new Psd2Error(
      'bank_refused',
      `The bank did not grant ${refused.map(({ name }) => name).join(', ')}`,
      {
        hint: 'The other categories are confirmed. With --allow-partial that counts as done.',
        transactionId: open.current.transactionId,
      },
    );
  }
}

async function everyProduct({ bank, customerId }: CustomerBank, transactionId: string): Promise<ProductId[]> {
  const accounts = await fetchAccounts(bank, customerId, transactionId);
  if (accounts.length === 0) throw new Psd2Error('usage', 'The customer has no products to give consent for');
  return accounts.map(({ productId }) => parseProductId(productId));
}

function parseCategory(text: string): ConsentCategory {
  const category = CONSENT_CATEGORIES.find((known) => known === text);
  if (category) return category;
  throw new Psd2Error('usage', `The category ${JSON.stringify(text)} is not known`, {
    hint: `${didYouMean(text.toUpperCase(), CONSENT_CATEGORIES)}Use one of ${CONSENT_CATEGORIES.join(', ')}.`,
  });
}

function toData({ kind, flow, state, resourceId, transactionId, categories, ...consent }: Consent) {
  const { resolution, createdAt, updatedAt } = consent;
  return { flow, kind, state, resourceId, transactionId, categories, resolution, createdAt, updatedAt };
}

function toListed(consent: Consent, now: Date) {
  const end = consentEnd(consent, now);
  return { ...toData(consent), expiresAt: end?.expiresAt ?? null, daysLeft: end?.daysLeft ?? null };
}

/** Prints a consent in the shape of the command contract. */
export function printConsent({ output, world }: Context, consent: Consent): void {
  const end = consentEnd(consent, world.now());
  output.record(toData(consent), [
    { title: 'Consent', value: ({ flow }) => flow },
    { title: 'State', value: ({ state }) => state },
    ...consent.categories.map(({ name, outcome, products }) => ({
      title: name,
      value: () =>
        `${outcome === null ? 'not answered' : outcome ? 'granted' : 'not granted'} for ${products.join(' ')}`,
    })),
    resolutionField,
    { title: 'Good until', value: () => end?.expiresAt, kind: 'time' },
    { title: 'Resource', value: ({ resourceId }) => resourceId },
    { title: 'Transaction', value: ({ transactionId }) => transactionId },
  ]);
}

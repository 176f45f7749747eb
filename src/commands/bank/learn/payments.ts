import type { Heard } from '../../../bank/ports/questions.ts';
import { Psd2Error } from '../../../errors.ts';
import { type Asker, Stopped } from './asker.ts';
import { type Change, UNCLEAR } from './draft.ts';
import { isSignature } from './signature.ts';

const SERVICES = ['payments', 'bulk-payments', 'periodic-payments'] as const;
type ServiceName = (typeof SERVICES)[number];

/** The products of the standard that psd2 may pay with. */
const USUAL: Readonly<Record<ServiceName, readonly string[]>> = {
  payments: [
    'sepa-credit-transfers',
    'instant-sepa-credit-transfers',
    'target-2-payments',
    'cross-border-credit-transfers',
    'pain.001-sepa-credit-transfers',
    'pain.001-instant-sepa-credit-transfers',
  ],
  'bulk-payments': [
    'sepa-credit-transfers',
    'instant-sepa-credit-transfers',
    'pain.001-sepa-credit-transfers',
  ],
  'periodic-payments': ['sepa-credit-transfers', 'pain.001-sepa-credit-transfers'],
};
/** No bank has it: its answer shows what a bank says of a product that it does not have. */
const NOBODYS = 'psd2-no-such-product';

/** What the bank has said of the products of a service. */
interface Service {
  service: ServiceName;
  /** Of a product that no bank has. */
  nobodys: Heard;
  found: Set<string>;
  says: string[];
}

/** Which products in JSON the bank has: it answers an empty object differently if it has not. */
export async function learnProducts(asker: Asker): Promise<Service[]> {
  const services: Service[] = [];
  for (const service of SERVICES) {
    let nobodys = await askProduct(asker, service, NOBODYS);
    const { when } = (await asker.draft.describe(asker.taken.change)).signing;
    if (isSignature(nobodys) && when === 'never') {
      const signing: Change = { signing: { when: 'with-body' } };
      asker.change(signing);
      const unsigned = nobodys;
      nobodys = await askProduct(asker, service, NOBODYS);
      if (!isSignature(nobodys)) asker.draft.learn(signing, unsigned);
    }
    if (!isDenial(nobodys)) {
      asker.draft.lack(`payments.products.${service}`, SAYS_NOTHING, nobodys);
      continue;
    }
    const products = new Set((await ownProducts(asker, service)).filter(isOfFiles));
    const own = { service, nobodys, found: products, says: [`${NOBODYS}: ${nobodys.brief}`] };
    services.push(own);
    for (const product of await knownProducts(asker, service))
      if (!isOfFiles(product)) await learnProduct(asker, own, product);
    await conclude(asker, own);
  }
  return services;
}

/**
 * Which products of files the bank has. A server may begin a payment whatever it gets: that is cancelled at once, and psd2 asks for no
 * other one.
 */
export async function learnFiles(asker: Asker, services: readonly Service[]): Promise<void> {
  try {
    for (const own of services) await learnFilesOf(asker, own);
  } catch (error) {
    if (!(error instanceof Stopped) || error.what !== 'products of files') throw error;
    for (const { service } of services)
      asker.draft.lack(`payments.products.${service}: ${XML}…`, error.message);
  }
}

async function learnFilesOf(asker: Asker, own: Service): Promise<void> {
  const { service, found: products } = own;
  const files = (await knownProducts(asker, service)).filter(isOfFiles);
  if (files.length === 0) return;
  // A bank may look at the format first, which such a name tells.
  const nobodys = await askProduct(asker, service, `${XML}${NOBODYS}`);
  if (!isDenial(nobodys))
    return asker.draft.lack(`payments.products.${service}: ${XML}…`, SAYS_NOTHING, nobodys);
  for (const product of files) products.delete(product);
  for (const product of files) await learnProduct(asker, own, product);
  await conclude(asker, own);
}

const SAYS_NOTHING = 'the answer says nothing of the product: one that no bank has gets it, too';

async function ownProducts(
  { draft, taken: accepted }: Asker,
  service: ServiceName,
): Promise<readonly string[]> {
  return (await draft.describe(accepted.change)).payments.products[service];
}

async function knownProducts(asker: Asker, service: ServiceName): Promise<string[]> {
  return [...new Set([...(await ownProducts(asker, service)), ...USUAL[service]])];
}

async function learnProduct(
  asker: Asker,
  { service, found: products, says }: Service,
  product: string,
): Promise<void> {
  const { draft } = asker;
  const isInFile = (await ownProducts(asker, service)).includes(product);
  const heard = await askProduct(asker, service, product);
  if (isAboutBody(heard) || (isInFile && !isDenial(heard))) products.add(product);
  if (!isAboutBody(heard) && !isDenial(heard))
    draft.lack(`payments.products.${service}: ${product}`, UNCLEAR, heard);
  if (isAboutBody(heard) && heard.about.includes('debtoraccount'))
    draft.learn({ payments: { debtorAccount: 'required' } }, heard);
  says.push(`${product}: ${heard.brief}`);
}

async function conclude(asker: Asker, { service, nobodys, found: products, says }: Service): Promise<void> {
  const { draft } = asker;
  const question = nobodys.asked.replace(NOBODYS, '{payment-product}');
  const listed = (await knownProducts(asker, service)).filter((product) => products.has(product));
  const evidence = { asked: question, says: says.join('; ') };
  // The same for every product may also be the answer of a wrong path.
  if (listed.length === 0 && !/^(PRODUCT_|SERVICE_INVALID)/.test(nobodys.code ?? ''))
    return draft.lack(`payments.products.${service}`, 'the bank says the same of every product', evidence);
  draft.learn({ payments: { products: { [service]: listed } } }, evidence);
}

/** What products of XML are called (NextGenPSD2, "Payment product"). */
const XML = 'pain.001-';
const isOfFiles = (product: string) => product.startsWith(XML);

/** The bank does not have the product, or the service. */
const isDenial = ({ verdict }: Heard) => verdict === 'is not there';

/** The bank has the product: it misses what a payment needs, or wants it in another format. */
function isAboutBody({ verdict, path }: Heard): boolean {
  const isHeader = path !== null && /^(psu|tpp|x-request)-|^(digest|signature|date|accept)$/.test(path);
  return verdict === 'minds the content' && !isHeader;
}

/** @throws Stopped if the bank made a payment of nothing: psd2 cancels it at once, and asks no more, of a product of files no other one */
async function askProduct(asker: Asker, service: ServiceName, product: string): Promise<Heard> {
  const heard = await asker.begin(`${service}/${product}`, (bank, more) =>
    bank.product(service, product, more),
  );
  if (heard.refusal) return heard;
  await asker.cancelPayments();
  const reason = `the bank took an empty object for a payment (${heard.says})`;
  const says = `psd2 asks this bank no further questions: ${reason}`;
  const what = isOfFiles(product) ? 'products of files' : 'anything';
  throw new Stopped(reason, new Psd2Error('bank_answer', says), what);
}

/** Whether the bank has consents for confirmations of funds. */
export async function learnFunds(asker: Asker): Promise<void> {
  const heard = await asker.begin('funds', (bank, more) => bank.fundsConsent(more));
  const { draft } = asker;
  if (!heard.refusal)
    return draft.lack('funds.consent', 'the bank took an empty object for a consent', heard);
  draft.conclude(
    heard,
    [
      [asker.hasBegun && isDenial(heard), { funds: { consent: 'never' } }],
      [isAboutBody(heard), { funds: { consent: 'auto' } }],
    ],
    'funds.consent',
    UNCLEAR,
  );
}

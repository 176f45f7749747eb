import type { Heard } from '../../../bank/ports/questions.ts';
import { Psd2Error } from '../../../errors.ts';
import { type Asker, Stopped } from './asker.ts';
import { brief } from './consents.ts';
import { type Change, UNCLEAR } from './draft.ts';
import { isSignature } from './signature.ts';

const SERVICES = ['payments', 'bulk-payments', 'periodic-payments'] as const;
type Service = (typeof SERVICES)[number];

/** The products of the standard that psd2 may pay with. */
const USUAL: Readonly<Record<Service, readonly string[]>> = {
  payments: [
    ...['sepa-credit-transfers', 'instant-sepa-credit-transfers', 'target-2-payments'],
    ...[
      'cross-border-credit-transfers',
      'pain.001-sepa-credit-transfers',
      'pain.001-instant-sepa-credit-transfers',
    ],
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

/** Which products the bank has: it answers an empty object differently if it has not. */
export async function learnProducts(asker: Asker): Promise<void> {
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
    await learnService(asker, service, nobodys);
  }
}

async function learnService(asker: Asker, service: Service, nobodys: Heard): Promise<void> {
  const { draft, taken } = asker;
  const field = `payments.products.${service}`;
  const why = 'the answer says nothing of the product: one that no bank has gets it, too';
  if (!isDenial(nobodys)) return draft.lack(field, why, nobodys);
  const { products } = (await draft.describe(taken.change)).payments;
  const known = [...new Set([...products[service], ...USUAL[service]])];
  const found = new Set<string>();
  const says = [`${NOBODYS}: ${brief(nobodys)}`];
  // A bank may look at the format first, which such a name tells.
  const xml = known.filter((product) => product.startsWith(XML));
  const nobodysXml = xml.length > 0 ? await askProduct(asker, service, `${XML}${NOBODYS}`) : nobodys;
  const isTold = isDenial(nobodysXml);
  if (!isTold) {
    draft.lack(`${field}: ${XML}…`, why, nobodysXml);
    for (const product of products[service]) if (product.startsWith(XML)) found.add(product);
  }
  for (const product of known.filter((each) => isTold || !each.startsWith(XML))) {
    const heard = await askProduct(asker, service, product);
    const isOwn = products[service].includes(product) && !isDenial(heard);
    if (isAboutBody(heard) || isOwn) found.add(product);
    if (!isAboutBody(heard) && !isDenial(heard)) draft.lack(`${field}: ${product}`, UNCLEAR, heard);
    if (isAboutBody(heard) && heard.about.includes('debtoraccount'))
      draft.learn({ payments: { debtorAccount: 'required' } }, heard);
    says.push(`${product}: ${brief(heard)}`);
  }
  const asked = nobodys.asked.replace(NOBODYS, '{payment-product}');
  const listed = known.filter((product) => found.has(product));
  const evidence = { asked, says: says.join('; ') };
  // The same for every product may also be the answer of a wrong path.
  if (listed.length === 0 && !/^(PRODUCT_|SERVICE_INVALID)/.test(nobodys.code ?? ''))
    return draft.lack(field, 'the bank says the same of every product', evidence);
  draft.learn({ payments: { products: { [service]: listed } } }, evidence);
}

/** What products of XML are called (NextGenPSD2, "Payment product"). */
const XML = 'pain.001-';

/** The bank does not have the product, or the service. */
function isDenial({ status, code }: Heard): boolean {
  if (code === null) return status === 404 || status === 405 || status === 501;
  return /^(PRODUCT_(UNKNOWN|INVALID)|RESOURCE_UNKNOWN|SERVICE_INVALID)$/.test(code);
}

/** The bank has the product: it misses what a payment needs, or wants it in another format. */
function isAboutBody({ status, code, path }: Heard): boolean {
  const isHeader = path !== null && /^(psu|tpp|x-request)-|^(digest|signature|date|accept)$/.test(path);
  if (isHeader) return false;
  return (
    /^(FORMAT_ERROR|PARAMETER_NOT_|PAYMENT_FAILED)/.test(code ?? '') ||
    (code === null && [400, 415, 422].includes(status))
  );
}

/** @throws Stopped if the bank made a payment of nothing: psd2 cancels it at once, and asks no more */
async function askProduct(asker: Asker, service: Service, product: string): Promise<Heard> {
  const heard = await asker.begin(`${service}/${product}`, (bank, more) =>
    bank.product(service, product, more),
  );
  if (heard.refusal) return heard;
  const reason = `the bank took an empty object for a payment (${heard.says})`;
  throw new Stopped(
    reason,
    new Psd2Error('bank_answer', `psd2 asks this bank no further questions: ${reason}`),
  );
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
      [asker.hasBegun && [404, 405, 501].includes(heard.status), { funds: { consent: 'never' } }],
      [isAboutBody(heard), { funds: { consent: 'auto' } }],
    ],
    'funds.consent',
    UNCLEAR,
  );
}

import { fetchAccounts } from '../../bank/endpoints/customers.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { CONSENT_CATEGORIES, type ConsentCategory } from '../../domain/consent.ts';
import { type ProductId, parseProductId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { refuseClientCredentials } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';
import { driveConsent } from './drive.ts';

export interface ConsentOptions {
  category: string[];
  product: string[];
  allProducts: boolean;
  /** Succeed even if the bank grants only some of the categories. */
  allowPartial: boolean;
}

/** `psd2 consent request`: one consent for each category, all for the same products. */
export async function consentRequest(context: Context, options: ConsentOptions): Promise<void> {
  const names = [...new Set(options.category.map(parseCategory))];
  const given = [...new Set(options.product.map(parseProductId))];
  if (names.length === 0) {
    throw new Psd2Error('usage', 'The category is missing', {
      hint: `Add --category with one of ${CONSENT_CATEGORIES.join(', ')}.`,
    });
  }
  if (options.allProducts === given.length > 0) {
    throw new Psd2Error(
      'usage',
      options.allProducts ? '--product and --all-products exclude each other' : 'The product is missing',
      {
        hint: 'Add --product <id> for each product, or --all-products.',
      },
    );
  }
  refuseClientCredentials(context);

  const opened = await context.bank();
  const transactionId = context.world.newId();
  const products = options.allProducts ? await everyProduct(opened, transactionId) : given;
  const begin = {
    transactionId,
    customerId: opened.customerId,
    categories: names.map((name) => ({ name, products })),
  };
  await opened.flows.begin('consent', begin, (open) =>
    driveConsent(context, opened, open, options.allowPartial),
  );
}

async function everyProduct({ bank, customerId }: CustomerBank, transactionId: string): Promise<ProductId[]> {
  const accounts = await fetchAccounts(bank, customerId, transactionId);
  if (accounts.length === 0) throw new Psd2Error('usage', 'The customer has no products to give consent for');
  return accounts.map(({ productId }) => parseProductId(productId));
}

function parseCategory(text: string): ConsentCategory {
  const category = CONSENT_CATEGORIES.find((known) => known === text);
  if (category) return category;
  throw new Psd2Error('usage', `Unknown category ${JSON.stringify(text)}`, {
    hint: `${didYouMean(text.toUpperCase(), CONSENT_CATEGORIES)}Use one of ${CONSENT_CATEGORIES.join(', ')}.`,
  });
}

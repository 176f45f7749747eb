import { prepareTransfer, type TransferTerms } from '../../bank/endpoints/transfers.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import type { Context } from '../context.ts';
import { terms as termsShape } from './shape.ts';

/** `psd2 transfer prepare <productId>`: what the bank allows for a transfer. */
export async function transferPrepare(context: Context, product: string): Promise<void> {
  const productId = parseProductId(product);
  const { bank, customerId } = await context.bank();
  const terms = await prepareTransfer(bank, { customerId, from: productId }, context.world.newId());
  context.output.record(
    toTerms(terms),
    [
      { title: 'Today at the bank', value: ({ today }) => today },
      { title: 'Earliest date', value: ({ earliestDate }) => earliestDate },
      { title: 'Latest date', value: ({ latestDate }) => latestDate },
      { title: 'Bank holidays', value: ({ holidays }) => holidays.join(' ') },
      { title: 'Currencies', value: ({ currencies }) => currencies.map(({ code }) => code).join(' ') },
      { title: 'Countries', value: ({ countries }) => countries.map(({ code }) => code).join(' ') },
      { title: 'Urgent transfers', value: ({ urgent }) => (urgent === null ? null : urgent ? 'yes' : 'no') },
    ],
    termsShape,
  );
}

function toTerms(terms: TransferTerms) {
  return {
    bankCode: terms.abi ?? terms.ABI,
    sepa: terms.sepa ?? terms.SEPA,
    swift: terms.swift ?? terms.SWIFT,
    urgent: terms.flagUrgency,
    today: terms.today,
    earliestDate: terms.executionDateMinimumWireTransferAtBank,
    earliestDateInternal: terms.executionDateMinimumWireTransferInternal,
    latestDate: terms.executionDateLimit,
    holidays: terms.holidays.filter((day) => day !== null).sort(),
    currency: terms.currency?.selected ?? null,
    currencies: (terms.currency?.currencyList ?? []).map(({ value, label, rate }) => ({
      code: value,
      label,
      rate: rate || null,
    })),
    countries: terms.countries.map(({ value, label }) => ({ code: value, label })),
  };
}

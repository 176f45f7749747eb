import { day, flag, list, object, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';

/** What the bank allows for a transfer. */
const shape = object({
  bankCode: orNull(text('ABI code')),
  sepa: orNull(flag('SEPA transfers can be made')),
  swift: orNull(flag('SWIFT transfers can be made')),
  urgent: orNull(flag('urgent transfers can be made')).as('Urgent transfers'),
  today: orNull(day('today at the bank')).as('Today at the bank'),
  earliestDate: orNull(day('earliest day for a transfer to another bank')).as('Earliest date'),
  earliestDateInternal: orNull(day('earliest day for a transfer within the bank')),
  latestDate: orNull(day('latest day of execution')).as('Latest date'),
  holidays: list(day(), "the bank's holidays").as('Bank holidays'),
  currency: orNull(text('suggested currency')),
  currencies: list(
    object({
      code: text('ISO 4217 code'),
      label: orNull(text('its name')),
      rate: orNull(text('its rate to the euro')),
    }),
    'allowed currencies',
  )
    .as('Currencies')
    .written(writeCodes),
  countries: list(
    object({ code: text('code of the country'), label: orNull(text('its name')) }),
    'allowed countries',
  )
    .as('Countries')
    .written(writeCodes),
}).inRecord('today earliestDate latestDate holidays currencies countries urgent');

function writeCodes(all: readonly { code: string }[]): string {
  return all.map(({ code }) => code).join(' ');
}

/** `psd2 transfer prepare <account>` */
export const prepare = verb(
  {
    prints: { what: 'what the bank allows', shape },
    help: examples('psd2 transfer prepare 0010482620'),
    kind: 'inquiry',
  },
  (command) => command.argument('<account>'),
  (context, product) => showTerms(context, product),
);

async function showTerms(context: Context, product: string): Promise<void> {
  const productId = (await context.bankInterface()).readAccountId(product);
  const { bank, customerId } = await context.bank();
  const terms = await bank.payments.terms({ customerId, from: productId }, context.world.newId());
  context.output.record(terms, shape);
}

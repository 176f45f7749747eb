import { day, flag, list, object, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, type Verb } from '../declare.ts';

/** What the bank allows for a transfer. */
const shape = object({
  bankCode: orNull(text('ABI code')),
  sepa: orNull(flag('SEPA transfers can be made')),
  swift: orNull(flag('SWIFT transfers can be made')),
  urgent: orNull(flag('urgent transfers can be made')),
  today: orNull(day('today at the bank')),
  earliestDate: orNull(day('earliest day for a transfer to another bank')),
  earliestDateInternal: orNull(day('earliest day for a transfer within the bank')),
  latestDate: orNull(day('latest day of execution')),
  holidays: list(day(), "the bank's holidays"),
  currency: orNull(text('suggested currency')),
  currencies: list(
    object({
      code: text('ISO 4217 code'),
      label: orNull(text('its name')),
      rate: orNull(text('its rate to the euro')),
    }),
    'allowed currencies',
  ),
  countries: list(
    object({ code: text('code of the country'), label: orNull(text('its name')) }),
    'allowed countries',
  ),
});

/** `psd2 transfer prepare <account>` */
export const prepare: Verb = {
  prints: { what: 'what the bank allows', shape },
  declare: (command, run) =>
    command
      .argument('<account>')
      .addHelpText('after', examples('psd2 transfer prepare 0012345678'))
      .action((product) => run((context) => showTerms(context, product), 'inquiry')),
};

async function showTerms(context: Context, product: string): Promise<void> {
  const productId = (await context.bankInterface()).readAccountId(product);
  const { bank, customerId } = await context.bank();
  const terms = await bank.payments.terms({ customerId, from: productId }, context.world.newId());
  context.output.record(
    terms,
    [
      { title: 'Today at the bank', value: ({ today }) => today },
      { title: 'Earliest date', value: ({ earliestDate }) => earliestDate },
      { title: 'Latest date', value: ({ latestDate }) => latestDate },
      { title: 'Bank holidays', value: ({ holidays }) => holidays.join(' ') },
      { title: 'Currencies', value: ({ currencies }) => currencies.map(({ code }) => code).join(' ') },
      { title: 'Countries', value: ({ countries }) => countries.map(({ code }) => code).join(' ') },
      { title: 'Urgent transfers', value: ({ urgent }) => (urgent === null ? null : urgent ? 'yes' : 'no') },
    ],
    shape,
  );
}

import { object, text } from '../../terminal/output/fields.ts';
import { bareVerb, examples, type Noun } from '../declare.ts';
import { BANK_DATA, showBankData } from '../shared/bank-data.ts';

const customerId = object({ customerId: text("the bank's id of the customer: digits") });

/** `psd2 customer id`: asks the bank whose token it is. */
const id = bareVerb(
  { what: 'the id of a customer', shape: customerId },
  examples('psd2 customer id', 'psd2 --json customer id | jq -r .customerId'),
  async (context) => {
    const { bank } = await context.bank();
    const ownId = await bank.login.whose(context.world.newId());
    if (context.output.format === 'table') context.output.text(ownId);
    else context.output.record({ customerId: ownId }, customerId);
  },
  'inquiry',
);

const show = bareVerb(
  BANK_DATA,
  examples('psd2 customer show --json'),
  async (context) => {
    await showBankData(context, (customerId) => ({ what: 'customer', customerId }));
  },
  'inquiry',
);

/** `psd2 customer`: what the bank says of the customer who is logged in, and what psd2 has stored about one. */
export const customer: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      examples('psd2 customer id', 'psd2 customer export 1048262 --file customer.json'),
    ),
  commands: {
    id: {
      description: "ask the bank for the customer's id",
      needs: 'data of the customer',
      load: async () => id,
    },
    export: {
      description: 'save all that psd2 has stored about a customer',
      load: async () => (await import('./export.ts')).exportCustomer,
    },
    forget: {
      description: 'forget a customer: tokens, data, files; journals stay under a pseudonym',
      load: async () => (await import('./forget.ts')).forget,
    },
    show: {
      description: "show the customer's details, as the bank gives them",
      needs: 'data of the customer',
      load: async () => show,
    },
  },
};

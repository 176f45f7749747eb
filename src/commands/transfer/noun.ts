import { examples, type Noun } from '../declare.ts';
import { flowVerbs } from '../flow/verbs.ts';
import { TRANSFERS } from './transfers.ts';

const { show, cancel, resolve, list } = flowVerbs(TRANSFERS);

/** `psd2 transfer`: its verbs, in the order of a payment. */
export const transfer: Noun = {
  standard: 'create',
  declare: (command) =>
    command.addHelpText(
      'after',
      '\n`psd2 transfer --instant ...` is `psd2 transfer create --instant ...`.\n' +
        examples(
          'psd2 transfer --from 0010482620 --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50',
          'psd2 transfer list',
        ),
    ),
  commands: {
    create: {
      description:
        'make a transfer: verified by the bank, confirmed by you, authorised by the customer, executed',
      load: async () => (await import('./create.ts')).create,
    },
    standing: {
      description: 'make a standing order, which the bank pays again and again',
      needs: 'standing orders',
      load: async () => (await import('./standing.ts')).standing,
    },
    prepare: {
      description: 'show which dates, currencies and countries the bank allows',
      needs: 'terms',
      load: async () => (await import('./prepare.ts')).prepare,
    },
    list: { ...list, load: async () => (await import('./list.ts')).list },
    show,
    status: {
      description: 'ask the bank for the status of a transfer; changes nothing',
      load: async () => (await import('./status.ts')).status,
    },
    resume: {
      description: 'continue an unfinished transfer; asks the bank first and never pays twice',
      load: async () => (await import('./resume.ts')).resume,
    },
    cancel,
    resolve,
    receipt: {
      description: "save the bank's document of an executed transfer",
      needs: 'receipts',
      load: async () => (await import('./receipt.ts')).receipt,
    },
  },
};

import type { Noun } from '../declare.ts';
import { flowVerbs } from '../flow/verbs.ts';
import { OPERATIONS } from './operations.ts';

const { list, show, cancel, resolve } = flowVerbs(OPERATIONS);

/** `psd2 operation`: the whole flow, its record, and the single steps. */
export const operation: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      `
The data of an operation is JSON: what the bank's documentation shows inside "data". psd2 adds the "data" around it.
Each step prints the flow. Give the flow, or the resource id, to the steps after verify with --resource.
For a bank transfer (moneyTransfer), use "psd2 transfer", which checks more.

Examples:
  $ psd2 operation run standingOrder --account 0010482620 --data @order.json --verify-data @more.json
  $ psd2 operation verify standingOrder --account 0010482620 --data @order.json
  $ psd2 operation sca standingOrder --account 0010482620 --resource <id>
  $ psd2 operation execute standingOrder --account 0010482620 --resource <id>`,
    ),
  commands: {
    run: {
      needs: 'operations',
      description: 'run an operation: verify, confirm, authorise and execute',
      load: async () => (await import('./run.ts')).run,
    },
    resume: {
      description: 'continue an unfinished operation; asks the bank first and never executes twice',
      load: async () => (await import('./resume.ts')).resume,
    },
    cancel,
    resolve,
    list,
    show,
    prepare: {
      needs: 'operations',
      description: "show the bank's general information about an operation",
      load: async () => (await import('./prepare.ts')).prepare,
    },
    verify: {
      needs: 'operations',
      description:
        'ask the bank to check the data; with --resource, a further step verify<N> that it asked for',
      load: async () => (await import('./step.ts')).verify,
    },
    sca: {
      needs: 'operations',
      description: 'send the customer to authorise the operation, and wait for the decision',
      load: async () => (await import('./step.ts')).sca,
    },
    execute: {
      needs: 'operations',
      description: 'execute the operation after the customer has authorised it',
      load: async () => (await import('./step.ts')).execute,
    },
    status: {
      needs: 'operations',
      description: 'ask the bank for the status of an operation; changes nothing',
      load: async () => (await import('./status.ts')).status,
    },
  },
};

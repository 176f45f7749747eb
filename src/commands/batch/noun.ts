import { examples, type Noun } from '../declare.ts';

/** `psd2 batch`: many payments from a file. */
export const batch: Noun = {
  declare: (command) =>
    command.addHelpText('after', examples('psd2 batch check salaries.csv', 'psd2 batch run 3f2a9c')),
  commands: {
    check: {
      description: 'check a file of payments, without a call; exit code 2 if something is wrong',
      load: async () => (await import('./check.ts')).check,
    },
    add: {
      description: 'store the payments of a file as a batch that cannot be changed',
      load: async () => (await import('./add.ts')).add,
    },
    approve: {
      description: 'approve a batch as a second person',
      load: async () => (await import('./decide.ts')).approve,
    },
    reject: {
      description: 'reject a batch, so that psd2 pays nothing of it',
      load: async () => (await import('./decide.ts')).reject,
    },
    run: {
      description: 'pay a batch; run again, it goes on and pays nothing twice',
      load: async () => (await import('./run.ts')).run,
    },
    list: {
      description: 'list the batches',
      load: async () => (await import('./list.ts')).list,
    },
    show: {
      description: 'show a batch and its payments',
      load: async () => (await import('./show.ts')).show,
    },
    status: {
      description: 'show the payments of a batch that have not ended',
      load: async () => (await import('./status.ts')).status,
    },
    report: {
      description: 'write what became of each payment: CSV, JSON or pain.002',
      load: async () => (await import('./report.ts')).report,
    },
    retry: {
      description: 'make a new batch of the payments that are known not to be paid',
      load: async () => (await import('./retry.ts')).retry,
    },
    cancel: {
      description: 'cancel the payments of a batch: those not sent, and bulk payments at the bank',
      load: async () => (await import('./cancel.ts')).cancel,
    },
    resolve: {
      description: 'end the payments of a batch with an unknown outcome by hand',
      load: async () => (await import('./resolve.ts')).resolve,
    },
  },
};

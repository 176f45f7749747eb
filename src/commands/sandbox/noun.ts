import { examples, type Noun } from '../declare.ts';

/** `psd2 sandbox`: a bank on this machine. */
export const sandbox: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      examples('psd2 sandbox start --detach', 'psd2 --profile sandbox auth login', 'psd2 sandbox stop'),
    ),
  commands: {
    start: {
      description: 'start the sandbox bank and store the profile "sandbox"',
      load: async () => (await import('./start.ts')).start,
    },
    status: {
      description: 'show whether the bank runs, and its addresses',
      load: async () => (await import('./status.ts')).status,
    },
    stop: { description: 'stop the running bank', load: async () => (await import('./stop.ts')).stop },
    reset: {
      description: 'reset the bank to its start: ledger, logins, consents, operations, faults',
      load: async () => (await import('./reset.ts')).reset,
    },
    env: {
      description: 'print the settings as export lines, so that you need no profile',
      load: async () => (await import('./env.ts')).env,
    },
    console: {
      description: 'open the console in the browser: every call as the bank saw it, and why it refused one',
      load: async () => (await import('./console.ts')).consolePage,
    },
    customer: {
      description: 'play the customer without a browser; add or reset one; read a TAN; revoke consents',
      load: async () => (await import('./customer.ts')).customer,
    },
    clock: {
      description: "show the bank's time, or move it forward",
      load: async () => (await import('./clock.ts')).clock,
    },
    fault: {
      description: 'make calls fail, to test a client',
      load: async () => (await import('./fault.ts')).fault,
    },
  },
};

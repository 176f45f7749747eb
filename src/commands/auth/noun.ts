import { examples, type Noun } from '../declare.ts';

/** `psd2 auth`: from the login of a customer to the logout. */
export const auth: Noun = {
  declare: (command) => command.addHelpText('after', examples('psd2 auth login', 'psd2 auth status')),
  commands: {
    login: {
      description: 'log a customer in through the browser',
      load: async () => (await import('./login.ts')).login,
    },
    status: {
      description: 'show who is logged in and when the tokens end, without asking the bank',
      load: async () => (await import('./status.ts')).status,
    },
    list: {
      description: 'list the customers with stored tokens',
      load: async () => (await import('./list.ts')).list,
    },
    refresh: {
      description: 'get a new access token now',
      load: async () => (await import('./refresh.ts')).refresh,
    },
    token: {
      description: 'print a valid access token; psd2 renews it first if it is about to end',
      load: async () => (await import('./token.ts')).token,
    },
    move: {
      description: "take logins and consents along to the bank's new base URL",
      load: async () => (await import('./move.ts')).move,
    },
    logout: {
      description: 'delete the stored tokens',
      load: async () => (await import('./logout.ts')).logout,
    },
  },
};

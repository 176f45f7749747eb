import { examples, type Noun } from '../declare.ts';

/** `psd2 funds`: whether an account has an amount. */
export const funds: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      examples('psd2 funds check --account IT89F0999001600000010482620 --amount 12.50'),
    ),
  commands: {
    check: {
      description: 'check that an account can cover an amount',
      needs: 'confirmation of funds',
      load: async () => (await import('./check.ts')).check,
    },
  },
};

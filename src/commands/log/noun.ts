import { examples, type Noun } from '../declare.ts';

/** `psd2 log`: what psd2 sent to the bank. */
export const log: Noun = {
  standard: 'list',
  declare: (command) =>
    command.addHelpText(
      'after',
      `
\`psd2 log --failed\` is \`psd2 log list --failed\`.
${examples('psd2 log', 'psd2 log --transaction tr-0mh8k2x7vq3ab', 'psd2 log bundle --since 2h')}`,
    ),
  commands: {
    list: {
      description: 'list the calls, newest first: the last 100, or all that match a filter',
      load: async () => (await import('./list.ts')).list,
    },
    stats: {
      description: "show figures of the calls by day: times, errors, the bank's downtime",
      load: async () => (await import('./stats.ts')).stats,
    },
    bundle: {
      description: "save calls in a file for the bank's support, without customer data",
      load: async () => (await import('./bundle.ts')).bundle,
    },
  },
};

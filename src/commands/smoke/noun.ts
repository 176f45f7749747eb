import { examples, type Noun } from '../declare.ts';

/** `psd2 smoke`: whether a bank works. */
export const smoke: Noun = {
  standard: 'run',
  declare: (command) =>
    command.addHelpText(
      'after',
      `
\`psd2 smoke --steps settings..signature\` is \`psd2 smoke run --steps settings..signature\`.
${examples('psd2 smoke', 'psd2 smoke --report junit=smoke.xml --fail-on slow', 'psd2 smoke show')}`,
    ),
  commands: {
    run: {
      description: 'test the bank: 14 steps, which only read unless you say otherwise',
      load: async () => (await import('./run.ts')).run,
    },
    shapes: {
      description: "show, accept or forget the forms of the bank's answers",
      load: async () => (await import('./shape-verbs.ts')).shapeVerbs,
    },
    show: {
      description: 'show a run again, in any form',
      load: async () => (await import('./show.ts')).show,
    },
  },
};

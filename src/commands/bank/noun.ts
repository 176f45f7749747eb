import { examples, type Noun } from '../declare.ts';

/** `psd2 bank`: banks described as data. */
export const bank: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      `
A bank file describes a bank, or the platform of many banks, in JSON. psd2 schema bank prints the
JSON Schema of such a file.
${examples('psd2 bank list', 'psd2 bank find DE89370400440532013000', 'psd2 bank show sparda > mybank.json', 'psd2 bank check mybank.json')}`,
    ),
  commands: {
    check: {
      description:
        'say what is wrong with a bank file, else which values are in force; exit code 3 if something is wrong',
      load: async () => (await import('./check.ts')).check,
    },
    find: {
      description: 'find the profile, platform or bank file that serves a bank',
      load: async () => (await import('./find.ts')).find,
    },
    learn: {
      description: 'ask the bank of the profile what its bank file must say, and write the file',
      load: async () => (await import('./learn.ts')).learn,
    },
    list: {
      description: 'list the platforms that come with psd2, to start a bank file from',
      load: async () => (await import('./list.ts')).list,
    },
    show: {
      description: 'print a bank file with everything that it inherits',
      load: async () => (await import('./show.ts')).show,
    },
  },
};

import { examples, type Noun } from '../declare.ts';

/** `psd2 profile`: the settings for each bank and application. */
export const profile: Noun = {
  declare: (command) =>
    command.addHelpText('after', examples('psd2 profile list', 'psd2 profile use mybank')),
  commands: {
    add: {
      description: 'store the settings of a bank; psd2 takes missing ones from the environment or asks you',
      load: async () => (await import('./add.ts')).add,
    },
    set: {
      description: 'change some settings of a stored profile',
      load: async () => (await import('./set.ts')).set,
    },
    edit: {
      description:
        'ask you for every setting of a profile, with the current values as defaults; secrets stay',
      load: async () => (await import('./edit.ts')).edit,
    },
    list: {
      description: 'list the stored profiles',
      load: async () => (await import('./list.ts')).list,
    },
    show: {
      description: 'show the settings of a profile and where each comes from, without secrets',
      load: async () => (await import('./show.ts')).show,
    },
    use: {
      description: 'choose the profile that psd2 uses without --profile',
      load: async () => (await import('./use.ts')).use,
    },
    protect: {
      description: 'encrypt the stored tokens, secrets and keys of a profile, now and from now on',
      load: async () => (await import('./protect.ts')).protect,
    },
    unprotect: {
      description: 'store a protected profile without encryption again',
      load: async () => (await import('./unprotect.ts')).unprotect,
    },
    remove: {
      description: 'remove a profile with its certificates and tokens; the journals of its payments stay',
      load: async () => (await import('./remove.ts')).remove,
    },
  },
};

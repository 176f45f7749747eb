import { examples, type Noun } from '../declare.ts';

/** `psd2 cert`: certificates of the TPP. */
export const cert: Noun = {
  declare: (command) =>
    command.addHelpText('after', examples('psd2 cert inspect', 'psd2 cert check --days 45')),
  commands: {
    inspect: {
      description: "show the contents of certificates; without a file, the profile's",
      load: async () => (await import('./inspect.ts')).inspect,
    },
    check: {
      description: "check that the profile's certificates are valid and suit their use; exit code 3 if not",
      load: async () => (await import('./check.ts')).check,
    },
    request: {
      description: 'make a new key, and a certificate request with the fields of the old certificate',
      load: async () => (await import('./request.ts')).request,
    },
    generate: {
      description: 'make a QWAC and a QSealC for tests, and the authority that issues them',
      load: async () => (await import('./generate.ts')).generate,
    },
  },
};

import { examples, type Noun } from '../declare.ts';

/** `psd2 store`: where psd2 keeps tokens and flows. */
export const store: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      `
The store holds tokens, flows, references and synced data. By default it is the configuration folder. With
PSD2_STORE=postgres://user@host:5432/database it is a PostgreSQL database that workers on many machines share.
psd2 profile set <profile> --store sets it for a profile.
${examples('psd2 store init --roles', 'psd2 store status', 'psd2 store copy --from files --to postgres')}`,
    ),
  commands: {
    init: {
      description: 'create the tables of psd2 in the database, or update older ones',
      load: async () => (await import('./init.ts')).init,
    },
    copy: {
      description: 'copy the store from files to PostgreSQL or back, and compare both sides',
      load: async () => (await import('./copy.ts')).copy,
    },
    rekey: {
      description: 'change the passphrase that protects secrets, while workers go on',
      load: async () => (await import('./rekey.ts')).rekey,
    },
    status: {
      description: 'show where the store is, how much it holds, and which workers use it',
      load: async () => (await import('./status.ts')).status,
    },
  },
};

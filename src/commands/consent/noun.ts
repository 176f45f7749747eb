import { examples, type Noun } from '../declare.ts';
import { flowVerbs } from '../flow/verbs.ts';
import { CONSENTS } from './consents.ts';

const { list, show, cancel, resolve } = flowVerbs(CONSENTS);

/** `psd2 consent`: its verbs, in the order of a consent. */
export const consent: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      examples('psd2 consent request --category ACCOUNT_INFO --all-accounts', 'psd2 consent list'),
    ),
  commands: {
    request: {
      description: 'ask the customer for consent, with strong authentication in the browser',
      load: async () => (await import('./request.ts')).request,
    },
    list,
    show,
    resume: {
      description: 'continue an unfinished consent',
      load: async () => (await import('./resume.ts')).resume,
    },
    status: {
      description: 'ask the bank for the status of a consent, and record it',
      needs: 'consent status',
      load: async () => (await import('./status.ts')).status,
    },
    delete: {
      description: 'end a consent at the bank',
      needs: 'consent deletion',
      load: async () => (await import('./delete.ts')).deleteConsent,
    },
    cancel,
    resolve,
  },
};

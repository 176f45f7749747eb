import type { Kind } from '../../store/ports/flows.ts';
import type { FlowNoun } from './describe.ts';

/** The verbs that every kind of flow has. */
export const flowVerbs = <K extends Kind>(noun: FlowNoun<K>) => ({
  list: {
    description: `list the ${noun.kind}s of this profile, newest first`,
    load: async () => (await import('./list.ts')).listOf(noun),
  },
  show: {
    description: `show the local record of ${noun.one}, without asking the bank`,
    load: async () => (await import('./show.ts')).showOf(noun),
  },
  cancel: {
    description: `give up ${noun.one}, unless psd2 has already sent \`${noun.sent}\``,
    load: async () => (await import('./cancel.ts')).cancelOf(noun),
  },
  resolve: {
    description: `end ${noun.one} with an unknown outcome by hand`,
    load: async () => (await import('./resolve.ts')).resolveOf(noun),
  },
});

import type { Kind } from '../../store/ports/flows.ts';
import { examples, type Verb, verb } from '../declare.ts';
import { refuseOtherCustomer } from './customer.ts';
import { type FlowNoun, printFlow, printsOne } from './describe.ts';

/** The verbs that every kind of flow has. */
export const flowVerbs = <K extends Kind>(noun: FlowNoun<K>) => ({
  list: {
    description: `list the ${noun.kind}s of this profile, newest first`,
    load: async () => (await import('./list.ts')).listOf(noun),
  },
  show: {
    description: `show the local record of ${noun.one}, without asking the bank`,
    load: async () => showOf(noun),
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

/** `psd2 <noun> show <flow>`: the local record, without asking the bank. */
const showOf = <K extends Kind>(noun: FlowNoun<K>): Verb =>
  verb(
    { prints: printsOne(noun), help: examples(`psd2 ${noun.kind} show ${noun.example}`) },
    (command) => command.argument('<flow>'),
    async (context, flow) => {
      const { flows } = await context.store();
      const shown = await flows.find(noun.kind, flow);
      refuseOtherCustomer(context, shown);
      printFlow(context, noun, shown);
    },
  );

import type { Kind } from '../../store/ports/flows.ts';
import { examples, type Verb } from '../declare.ts';
import { refuseOtherCustomer } from './customer.ts';
import type { FlowNoun } from './describe.ts';

/** `psd2 <noun> show <flow>`: the local record, without asking the bank. */
export const showOf = <K extends Kind>(noun: FlowNoun<K>): Verb => ({
  prints: noun.prints,
  declare: (command, run) =>
    command
      .argument('<flow>')
      .addHelpText('after', examples(`psd2 ${noun.kind} show ${noun.example}`))
      .action((flow) =>
        run(async (context) => {
          const { flows } = await context.store();
          const found = await flows.find(noun.kind, flow);
          refuseOtherCustomer(context, found);
          noun.print(context, found);
        }),
      ),
});

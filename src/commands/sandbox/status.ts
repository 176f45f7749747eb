import { clockAnswer } from '../../sandbox/control/answers.ts';
import { control } from '../../sandbox/control/control-client.ts';
import { object, text } from '../../terminal/output/fields.ts';
import { bareVerb, examples } from '../declare.ts';
import { addresses, addressesOf, requireRunning } from './running.ts';

const shape = object({
  ...addresses.fields,
  time: text("the bank's time: see sandbox clock").as("Bank's time"),
});

export const status = bareVerb(
  { what: 'addresses and time of the sandbox', shape },
  examples('psd2 sandbox status'),
  async (context) => {
    const running = await requireRunning(context);
    const { time } = await control(running, { method: 'GET', path: '/clock' }, clockAnswer);
    context.output.record({ ...addressesOf(running), time }, shape);
  },
);

import { clockAnswer } from '../../sandbox/control/answers.ts';
import { control } from '../../sandbox/control/control-client.ts';
import type { Column } from '../../terminal/output/fields.ts';
import { object, text, type ValueOf } from '../../terminal/output/fields.ts';
import { bareVerb, examples } from '../declare.ts';
import { ADDRESS_FIELDS, addresses, addressesOf, requireRunning } from './running.ts';

const shape = object({ ...addresses.fields, time: text("the bank's time: see sandbox clock") });

const COLUMNS: Column<ValueOf<typeof shape>>[] = [
  ...ADDRESS_FIELDS,
  { title: "Bank's time", value: ({ time }) => time },
];

export const status = bareVerb(
  { what: 'addresses and time of the sandbox', shape },
  examples('psd2 sandbox status'),
  async (context) => {
    const running = await requireRunning(context);
    const { time } = await control(running, { method: 'GET', path: '/clock' }, clockAnswer);
    context.output.record({ ...addressesOf(running), time }, COLUMNS, shape);
  },
);

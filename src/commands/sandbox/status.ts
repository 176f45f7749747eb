import { bareVerb, examples } from '../declare.ts';
import { ADDRESS_FIELDS, ADDRESSES, addressesOf, requireRunning } from './running.ts';

export const status = bareVerb(ADDRESSES, examples('psd2 sandbox status'), async (context) =>
  context.output.record(addressesOf(await requireRunning(context)), ADDRESS_FIELDS),
);

import { expect, it } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { nextgenpsd2 } from '../../../../src/bank/interfaces/nextgenpsd2/interface.ts';
import { described } from './scripted.ts';

// A smoke test initiates a payment and has the bank cancel it. At these banks it may not: money could move, or a phone could ring.

type Fields = Omit<BankFile, 'interface'>;
const safe = (cancel: 'direct' | 'authorised' | 'none'): Fields => ({
  payments: { executesWithoutSca: 'never', cancel },
});
const decoupled = (start: 'follow-links' | 'explicit'): Fields => ({
  ...safe('direct'),
  sca: { approaches: ['decoupled'], start },
});

it.each<[string, Fields, RegExp | undefined]>([
  ['cancels without SCA, and executes nothing without it', safe('direct'), undefined],
  ['says nothing', {}, /executesWithoutSca/],
  [
    'may execute without SCA',
    { payments: { executesWithoutSca: 'possible', cancel: 'direct' } },
    /executesWithoutSca/,
  ],
  ['cancels only with SCA', safe('authorised'), /payments\.cancel/],
  ['does not cancel', safe('none'), /payments\.cancel/],
  ["asks the customer's phone by itself", decoupled('follow-links'), /sca\.start/],
  ['asks it only when psd2 starts it', decoupled('explicit'), undefined],
])('at a bank that %s, a payment is begun only if it can be given up', (_, file, why) => {
  const { refuseGivingUp } = nextgenpsd2(described(file));
  if (why === undefined) expect(() => refuseGivingUp?.()).not.toThrow();
  else expect(() => refuseGivingUp?.()).toThrow(why);
});

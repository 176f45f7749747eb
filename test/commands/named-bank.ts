import type { KnownInterface } from '../../src/bank/call/call.ts';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type { FindInterface } from '../../src/commands/open/bank.ts';
import { ToyBank } from '../bank/contract/toy.ts';

/** An interface whose banks differ in these parts. */
export const differing = (known: KnownInterface, differs: (bank: Bank) => Partial<Bank>): KnownInterface => ({
  ...known,
  open: (how) => {
    const opened = known.open(how);
    const connect: typeof opened.connect = (...session) => {
      const bank = opened.connect(...session);
      return { ...bank, ...differs(bank) };
    };
    return { ...opened, connect };
  },
});

/** Finds the interface of a bank without a server, which differs in these parts from the toy bank, and answers as `differs` says. */
export function bankWhere(
  changes: Partial<KnownInterface>,
  differs: (bank: Bank) => Partial<Bank> = () => ({}),
): FindInterface {
  const known = differing(new ToyBank().interface, differs);
  return async () => ({ ...known, ...changes });
}

import type { KnownInterface } from '../../src/bank/call/call.ts';
import type { FindInterface } from '../../src/commands/open/bank.ts';
import { ToyBank } from '../bank/contract/toy.ts';

/** Finds the interface of a bank without a server, which differs in these parts from the toy bank. */
export function bankWhere(changes: Partial<KnownInterface>): FindInterface {
  const { interface: toy } = new ToyBank();
  return async () => ({ ...toy, ...changes });
}

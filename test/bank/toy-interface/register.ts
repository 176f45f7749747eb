import { DESCRIPTIONS } from '../../../src/bank/descriptions.ts';
import { INTERFACES } from '../../../src/bank/open.ts';
import { DOORS } from '../../../src/sandbox/doors.ts';
import { toyDescription } from './description.ts';
import type { ToyDoor } from './door.ts';
import { toyInterface } from './interface.ts';

/** Tells psd2 all that it has to be told of a third interface. @returns what takes it back */
export function register(door: ToyDoor): () => void {
  DESCRIPTIONS.toy = () => toyDescription;
  INTERFACES.toy = async () => toyInterface;
  DOORS.set('toy', door);
  return () => {
    delete DESCRIPTIONS.toy;
    delete INTERFACES.toy;
    DOORS.delete('toy');
  };
}

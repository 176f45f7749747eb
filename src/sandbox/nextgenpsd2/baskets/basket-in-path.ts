import type { Bank } from '../../bank.ts';
import { type DoorCall, inPath } from '../door-call.ts';
import { DoorRefusal } from '../refusal.ts';
import type { ScaSubject } from '../sca/authorisations.ts';
import { readQuery } from '../strict/query.ts';
import type { DoorBasket } from './baskets.ts';

/** The basket in the path of a call. @throws DoorRefusal `RESOURCE_UNKNOWN` */
export function basketInPath(bank: Bank, call: DoorCall): DoorBasket {
  readQuery(call.request, []);
  const basket = bank.door.baskets.find(inPath(call, 'basketId'));
  if (basket) return basket;
  throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank does not know this signing basket');
}

/** A basket as what a customer authorises. */
export function subjectOfBasket({ id }: DoorBasket): ScaSubject {
  return { kind: 'basket', id, path: { basketId: id } };
}

import type { Bank } from '../../bank.ts';
import { type DoorCall, inPath } from '../door-call.ts';
import { lacksTokenOf } from '../oauth/access-token.ts';
import { DoorRefusal } from '../refusal.ts';
import type { ScaSubject } from '../sca/authorisations.ts';
import { readQuery } from '../strict/query.ts';
import type { DoorBasket } from './baskets.ts';

/** The basket in the path of a call. @throws DoorRefusal `RESOURCE_UNKNOWN`, `TOKEN_INVALID` */
export function basketInPath(bank: Bank, call: DoorCall): DoorBasket {
  readQuery(call.request, []);
  const basket = bank.door.baskets.find(inPath(call, 'basketId'));
  if (!basket) throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank does not know this signing basket');
  if (lacksTokenOf(bank, call.grant, [basket.id]))
    throw new DoorRefusal('TOKEN_INVALID', 'The call needs the access token of this signing basket');
  return basket;
}

/** A basket as what a customer authorises. */
export function subjectOfBasket({ id }: DoorBasket): ScaSubject {
  return { kind: 'basket', id, path: { basketId: id } };
}

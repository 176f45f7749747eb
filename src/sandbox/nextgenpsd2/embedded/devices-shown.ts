import type * as z from 'zod/mini';
import type { Bank } from '../../bank.ts';
import type { ReadTan } from '../../customers/sca-methods.ts';
import { doorOf } from '../door-state.ts';
import type { deviceAnswer } from './device-answers.ts';
import type { DeviceMessage } from './devices.ts';

/** What the devices of all customers show, oldest first. */
export function devicesShown(bank: Bank): z.infer<typeof deviceAnswer>[] {
  return doorOf(bank)
    .devices.list()
    .map((message) => ({
      user: bank.customers.find(message.customerId)?.user ?? '',
      at: message.at.toISOString(),
      method: message.method,
      text: message.text,
      tan: message.tan,
      image: message.image ?? null,
      isOpen: isOpen(bank, message),
    }));
}

/** A customer reads the newest valid TAN, once. Null: none came since the last one. */
export function readTan(bank: Bank, customerId: string): ReadTan | null {
  const unread = doorOf(bank)
    .devices.list()
    .filter((message) => message.customerId === customerId && !message.read);
  const newest = unread.findLast((message) => isOpen(bank, message));
  for (const message of unread) message.read = true;
  return newest ? { method: newest.method, text: newest.text, tan: newest.tan } : null;
}

function isOpen(bank: Bank, { authorisationId, tan }: DeviceMessage): boolean {
  const { authorisations } = doorOf(bank);
  const authorisation = authorisations.find(authorisationId);
  return authorisation?.embedded.tan === tan && authorisations.isOpen(authorisation);
}

import * as z from 'zod/mini';
import { money, orNull, text } from '../shared/fields.ts';

/** What became of the transfer of a demo. */
export const demoTransfer = () =>
  z.object({
    state: text('settled'),
    cro: orNull(text("the bank's reference of the transfer")),
    totalAmount: money('what the account was debited with, commission included'),
  });

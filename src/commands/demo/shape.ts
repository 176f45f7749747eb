import * as z from 'zod/mini';
import { money, orNull, text } from '../shared/fields.ts';

/** The transfer of the demo. */
export const demoTransfer = () =>
  z.object({
    state: text('state of the transfer: settled'),
    cro: orNull(text("the bank's reference of the transfer")),
    totalAmount: money('debited amount, including the commission'),
  });

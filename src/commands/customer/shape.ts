import * as z from 'zod/mini';
import { text } from '../shared/fields.ts';

export const customerId = () => z.object({ customerId: text("the bank's id of the customer: digits") });

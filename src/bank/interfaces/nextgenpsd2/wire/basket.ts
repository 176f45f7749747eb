import * as z from 'zod/mini';
import { scaPart } from './consent.ts';
import { headerId } from './fields.ts';
import { transactionStatus } from './payment.ts';

/** The answer to a new signing basket. */
export const basketAnswer = z.object({ transactionStatus, basketId: headerId, ...scaPart });

/** The status of a signing basket. */
export const basketStatusAnswer = z.object({ transactionStatus });

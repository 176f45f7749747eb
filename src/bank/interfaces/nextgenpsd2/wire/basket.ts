import * as z from 'zod/mini';
import { scaPart } from './consent.ts';
import { headerId, words } from './fields.ts';

/** The answer to a new signing basket. */
export const basketAnswer = z.object({ transactionStatus: words, basketId: headerId, ...scaPart });

/** The status of a signing basket. */
export const basketStatusAnswer = z.object({ transactionStatus: words });

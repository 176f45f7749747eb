import * as z from 'zod/mini';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { executionFields, flowBegins, flowEnds } from '../flow/shape.ts';
import { list, money, orNull, text } from '../shared/fields.ts';

export const operation = () =>
  z.object({
    ...flowBegins('operation', OPERATION_STATES),
    operation: text('name of the operation, for example standingOrder'),
    product: text('productId of its account'),
    nextStep: orNull(text('the next step that the bank asks for, after verify')),
    totalAmount: orNull(money('debited amount, including the commission')),
    commissions: orNull(money("the bank's commission")),
    ...executionFields(),
    ...flowEnds(),
  });

export const operations = () => list(operation());

/** The bank's status of an operation. */
export const operationStatus = () =>
  z.object({
    operation: text('name of the operation'),
    resourceId: text("the bank's id"),
    authorizationStatus: text("the bank's word: AUTHORIZED, NOT_AUTHORIZED, EXPIRED, or a pending value"),
    executionStatus: orNull(text("the bank's word")),
  });

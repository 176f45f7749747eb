import * as z from 'zod/mini';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { executionFields, flowBegins, flowEnds } from '../flow/shape.ts';
import { list, money, orNull, text } from '../shared/fields.ts';

export const operation = () =>
  z.object({
    ...flowBegins('operation', OPERATION_STATES),
    operation: text('its name, for example standingOrder'),
    product: text('productId of the account that it is made with'),
    nextStep: orNull(text('the step that the bank wants next, once it has verified it')),
    totalAmount: orNull(money('what the account is debited with, commission included')),
    commissions: orNull(money("the bank's commission")),
    ...executionFields(),
    ...flowEnds(),
  });

export const operations = () => list(operation());

/** How far the bank says an operation is. */
export const operationStatus = () =>
  z.object({
    operation: text('its name'),
    resourceId: text("the bank's id of it"),
    authorizationStatus: text('as the bank says it: AUTHORIZED, NOT_AUTHORIZED, EXPIRED, or a pending value'),
    executionStatus: orNull(text('as the bank says it')),
  });

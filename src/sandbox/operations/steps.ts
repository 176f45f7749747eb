import { Refusal } from '../answers/refusal.ts';
import type { OperationResource } from './resource.ts';

/**
 * Marks a further verify step of a flow as done. The next step is then execute.
 *
 * @throws Refusal `STEP_MISSING` if this is not the flow's next step
 */
export function passStep(operation: OperationResource, step: 'verify2'): void {
  if (operation.nextStep !== step) {
    throw new Refusal(
      'STEP_MISSING',
      `${step} is not the next step of this operation`,
      `Expected: ${operation.nextStep}.`,
    );
  }
  operation.nextStep = 'execute';
}

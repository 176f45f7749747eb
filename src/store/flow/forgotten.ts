import { customerIn } from '../../domain/pseudonymised.ts';
import { Psd2Error } from '../../errors.ts';
import type { IsForgotten } from '../ports/personal.ts';

/**
 * Refuses a flow of a forgotten customer, whom only a command knows that was stopped meanwhile.
 *
 * @param event the first one of the flow
 * @throws Psd2Error `overtaken`
 */
export function refuseForgotten(profile: string, event: unknown, isForgotten: IsForgotten | undefined): void {
  const customerId = customerIn(event);
  if (customerId === undefined || !isForgotten?.(profile, customerId)) return;
  throw new Psd2Error('overtaken', `psd2 has forgotten customer ${customerId} since this command began`, {
    hint: 'psd2 has begun nothing and sent nothing.',
  });
}

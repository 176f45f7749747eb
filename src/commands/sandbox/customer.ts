import type { Context } from '../context.ts';
import { playedCustomer } from './shape.ts';

/** `psd2 sandbox customer <url>`: plays the customer, so that a whole flow can run in a pipeline. */
export async function sandboxCustomer(
  { terminal, world, output }: Context,
  url: string,
  { refuse, user }: { refuse: boolean; user: string | undefined },
): Promise<void> {
  const { playCustomer } = await import('../../sandbox/player/play-customer.ts');
  const { pages, finalUrl } = await playCustomer(url, {
    refuse,
    signal: world.signal,
    ...(user !== undefined && { user }),
  });
  if (output.format === 'table') terminal.say([...pages, `Back at ${finalUrl}`].join('\n'));
  else output.record({ pages, finalUrl }, [], playedCustomer);
}

import * as z from 'zod/mini';
import { examples, verb } from '../declare.ts';
import { list, text } from '../shared/fields.ts';

const shape = () =>
  z.object({
    pages: list(z.string(), 'what the customer did on each page'),
    finalUrl: text("where the customer's browser ended"),
  });

/** `psd2 sandbox customer <url>`: plays the customer, so that a whole flow can run in a pipeline. */
export const customer = verb(
  {
    prints: { what: 'what the customer did', shape },
    help: examples(
      'PSD2_BROWSER="psd2 sandbox customer" psd2 --profile sandbox auth login',
      "psd2 sandbox customer --refuse 'http://127.0.0.1:8444/login?request=...'",
    ),
  },
  (command) =>
    command
      .argument('<url>')
      .option('--refuse', 'refuse on the first page that allows it')
      .option('--user <name>', 'user who logs in (default: anna)'),
  async ({ terminal, world, output }, url, { refuse = false, user }) => {
    const { playCustomer } = await import('../../sandbox/player/play-customer.ts');
    const { pages, finalUrl } = await playCustomer(url, {
      refuse,
      signal: world.signal,
      ...(user !== undefined && { user }),
    });
    if (output.format === 'table') terminal.say([...pages, `Back at ${finalUrl}`].join('\n'));
    else output.record({ pages, finalUrl }, [], shape);
  },
);

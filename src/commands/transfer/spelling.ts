import type { OrderOptions } from '../../domain/order/read-order.ts';
import { transliterated } from '../../domain/order/transliterate.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';

/** The texts of an order, with their names in messages. */
const TEXTS = [
  ['name', 'name'],
  ['description', 'description'],
  ['payeeStreet', 'street'],
  ['payeeBuilding', 'house number'],
  ['payeePostcode', 'postcode'],
  ['payeeTown', 'town'],
] as const;

export const TRANSLITERATE = 'replace letters that SEPA does not allow, for example Müller by Mueller';

/** An order with its texts as they are paid: with `--transliterate` in the characters of SEPA, with a warning for each change. */
export function spelled<Options extends OrderOptions & { transliterate?: boolean }>(
  { terminal }: Pick<Context, 'terminal'>,
  options: Options,
): Options {
  if (!options.transliterate) return options;
  const changed: Partial<OrderOptions> = {};
  for (const [field, called] of TEXTS) {
    const text = options[field];
    const paid = text === undefined ? undefined : transliterated(text);
    if (paid === undefined || paid === text) continue;
    changed[field] = paid;
    terminal.warn(cleanText(`The ${called} ${JSON.stringify(text)} is paid as ${JSON.stringify(paid)}`));
  }
  return { ...options, ...changed };
}

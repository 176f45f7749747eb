import type { Bank, Oddities } from '../../bank/ports/bank.ts';
import type { Context } from '../context.ts';

/** Says at the end which links psd2 did not follow; with --verbose, also what else was odd in the bank's answers. */
export function tellOddities({ globals, terminal, atLast }: Context, { oddities }: Bank): void {
  if (!oddities) return;
  atLast(() => {
    const sentences = [...foreignLinks(oddities), ...(globals.verbose ? odditiesOf(oddities) : [])];
    for (const each of sentences) terminal.say(each);
  });
}

/** A sentence for each link that was about something else. */
export function foreignLinks({ foreign }: Pick<Oddities, 'foreign'>): string[] {
  return [...foreign].map(
    ([name, href]) =>
      `The bank's link ${name} is not for what it was sent with, so psd2 used only its own address: ${href}`,
  );
}

/** What was odd in the bank's answers, and did no harm: a sentence for each kind. */
function odditiesOf({ unread, rewritten }: Oddities): string[] {
  const fields = [...unread].map(([field, count]) => `${field} (${count})`);
  return [
    ...(fields.length > 0 ? [`psd2 could not read these fields of transactions: ${fields.join(', ')}`] : []),
    ...(rewritten.size > 0
      ? [
          `The bank's links lead elsewhere: ${[...rewritten].join(', ')}. psd2 called the same at the base URL`,
        ]
      : []),
  ];
}

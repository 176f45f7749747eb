import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';

/**
 * Asks the operator to confirm the command's next step, unless `--yes` confirmed it in advance.
 *
 * @param question `unasked` says why psd2 asks, `declined` what is true after a no
 * @throws Psd2Error `confirmation_needed` without a terminal, `cancelled` after a no
 */
export async function confirmed(
  { globals, terminal }: Pick<Context, 'globals' | 'terminal'>,
  question: { text: string; unasked: string; hint: string; declined: string },
): Promise<void> {
  if (globals.yes) return;
  if (!terminal.canAsk)
    throw new Psd2Error(
      'confirmation_needed',
      `${question.unasked}, and psd2 cannot ask without a terminal`,
      { hint: question.hint },
    );
  if (!(await terminal.confirm(question.text))) throw new Psd2Error('cancelled', question.declined);
}

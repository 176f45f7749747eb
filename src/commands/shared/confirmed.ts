import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';

/**
 * Has the operator confirm what a command is about to do, unless `--yes` did it beforehand.
 *
 * @param question `unasked` says why it has to be confirmed, `declined` what holds when the answer is no
 * @throws Psd2Error `confirmation_needed` when there is nobody to ask, `cancelled` when the answer is no
 */
export async function confirmed(
  { globals, terminal }: Pick<Context, 'globals' | 'terminal'>,
  question: { text: string; unasked: string; hint: string; declined: string },
): Promise<void> {
  if (globals.yes) return;
  if (!terminal.canAsk) {
    throw new Psd2Error('confirmation_needed', `${question.unasked}, and there is no terminal to ask at`, {
      hint: question.hint,
    });
  }
  if (!(await terminal.confirm(question.text))) throw new Psd2Error('cancelled', question.declined);
}

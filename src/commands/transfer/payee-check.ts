import * as z from 'zod/mini';
import { PAYEE_RESULTS, type PayeeCheck } from '../../domain/order/payee-check.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { runOutsideCommand } from '../shared/outside-command.ts';

const answer = z.object({ result: z.enum(PAYEE_RESULTS), name: z.nullish(z.string()) });

/** Longer than any account holder's name. */
const LONGEST_NAME = 140;

/**
 * Asks the operator's payee check whether a name belongs to an IBAN (command contract, "payee check"): it gets
 * `{"iban","name"}` on standard input and prints `{"result","name"?}`. If it fails, the check is `unavailable`.
 */
export async function checkPayee(
  context: Pick<Context, 'globals' | 'world'>,
  command: string,
  { to, name }: Pick<TransferOrder, 'to' | 'name'>,
): Promise<PayeeCheck> {
  try {
    const input = `${JSON.stringify({ iban: to, name })}\n`;
    const verdict = readVerdict(await runOutsideCommand(context, 'payeeCheck', command, input));
    return { result: verdict.result, name: shorten(verdict.name), problem: null };
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return { result: 'unavailable', name: null, problem: error.message };
  }
}

/** The same check, for the lines of a batch. */
export function payeeCheckOf(context: Pick<Context, 'globals' | 'world'>, command: string) {
  return ({ iban: to, name }: { iban: TransferOrder['to']; name: string }) =>
    checkPayee(context, command, { to, name });
}

function readVerdict(printed: string): z.infer<typeof answer> {
  try {
    const parsed = answer.parse(JSON.parse(printed));
    if (!saysTwice(printed)) return parsed;
    throw new TypeError('It has a field twice, and nobody knows which one counts');
  } catch (cause) {
    throw new Psd2Error(
      'config',
      'The payee check command did not print {"result": "match|close|none|unavailable"}',
      { cause },
    );
  }
}

/** Whether a JSON object has a field twice. `JSON.parse` would take the last one. */
function saysTwice(json: string): boolean {
  const fields = new Set<unknown>();
  let depth = 0;
  let text = '';
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token.startsWith('"')) text = token;
    else if (token !== ':') depth += token === '{' || token === '[' ? 1 : -1;
    else if (depth === 1) {
      const field: unknown = JSON.parse(text);
      if (fields.has(field)) return true;
      fields.add(field);
    }
  }
  return false;
}

function shorten(name: string | null | undefined): string | null {
  return name ? cleanText(name).slice(0, LONGEST_NAME) : null;
}

/** A call that the bank refused, as a sentence of psd2 names it, up to the bank's words: `The bank refused POST /v1/payments (HTTP 400): `. */
const CALL = /[^:.]*\b((?:GET|POST|PUT|DELETE) \/\S*)[^:]*\((HTTP \d+)\)(?:: )?/;

/**
 * Why something was refused, for people: the bank's words, without the call that it refused.
 *
 * @param message of an error, or what a journal keeps of one
 */
export function withoutCall(message: string): string {
  const call = CALL.exec(message);
  if (!call) return message;
  const before = message.slice(0, call.index);
  const words = message.slice(call.index + call[0].length);
  const isSaid = words !== '' && !words.startsWith('the answer is ');
  const why = isSaid ? words : `The bank refused it${words && `: ${words}`}`;
  return `${before}${before && ' '}${why}`;
}

/** The refused call that a message names, with its HTTP status: `POST /v1/payments (HTTP 400)`. Null: it names none. */
export function refusedCallIn(message: string): string | null {
  const [, call, status] = CALL.exec(message) ?? [];
  return call === undefined ? null : `${call} (${status})`;
}

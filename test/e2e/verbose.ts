import type { Ended } from './psd2.ts';

/** A call that `--verbose` tells of. */
export interface ShownCall {
  method: string;
  /** Without the query. */
  path: string;
  /** The last part of the path, two for `execution/status`. */
  step: string;
  /** The HTTP status, or why there was no answer. */
  outcome: string;
  request: string;
  transaction: string;
  /** The bank's session id. */
  track: string | undefined;
}

const CALL =
  /^(GET|POST|PUT|DELETE) (\S+) → (.*) in \d+ ms \(request (\S+) transaction ([^\s)]+)(?: track (\d+))?\)$/gm;

/** The calls that a command with `--verbose` made, in their order. */
export function callsOf({ stderr }: Pick<Ended, 'stderr'>): ShownCall[] {
  return [...stderr.matchAll(CALL)].map(
    ([, method = '', path = '', outcome = '', request = '', transaction = '', track]) => ({
      method,
      path,
      step: /(?:execution\/)?[^/]+$/.exec(path)?.[0] ?? '',
      outcome,
      request,
      transaction,
      track,
    }),
  );
}

/** The steps of a flow that a command with `--verbose` made. */
export function stepsOf(ended: Pick<Ended, 'stderr'>): string[] {
  return callsOf(ended).map(({ step }) => step);
}

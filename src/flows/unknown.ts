import type { AnyFlow } from '../domain/flow.ts';
import { type ErrorContext, Psd2Error } from '../errors.ts';

// What psd2 says if nobody knows what became of something that cannot be undone.

/** What these errors need of a flow. */
export type Told = Pick<AnyFlow<string>, 'flow' | 'transactionId'> & { kind: string };

/** The error if it is not known whether the money has moved, or the consent is confirmed. It says how to find out. */
export function outcomeUnknown(
  { kind, flow, transactionId }: Told,
  message: string,
  cause?: unknown,
): Psd2Error {
  const said = cause instanceof Psd2Error ? idsOf(cause) : {};
  return new Psd2Error('outcome_unknown', cause instanceof Error ? `${message}: ${cause.message}` : message, {
    ...said,
    ...findOut(
      kind,
      flow,
      kind === 'consent' ? OF_A_CONSENT : 'First ask the bank again, which never pays twice.',
    ),
    transactionId,
    cause,
  });
}

/** The error for a refusal that nothing confirms: the bank's status does not show what became of the flow. */
export function unconfirmedRefusal({ kind, flow, transactionId }: Told, error: Psd2Error): Psd2Error {
  const what = kind === 'consent' ? OF_A_CONSENT : OF_ONE_DELIVERY;
  return error.with({ ...findOut(kind, flow, what), transactionId });
}

const OF_A_CONSENT = 'First ask the bank again. Also check whether you can read the accounts.';
const OF_ONE_DELIVERY =
  'The bank may have received the request twice, so the reference stays reserved. First ask the bank again, which never pays twice.';

/** What the bank's support asks for. */
function idsOf({ httpStatus, bankCode, requestId, tppRequestId }: Psd2Error): ErrorContext {
  return {
    ...(httpStatus !== undefined && { httpStatus }),
    ...(bankCode !== undefined && { bankCode }),
    ...(requestId !== undefined && { requestId }),
    ...(tppRequestId !== undefined && { tppRequestId }),
  };
}

/** The commands that find out the outcome of a flow, and those with which a person resolves it if the bank does not say. */
export function findOut(
  kind: string,
  flow: string,
  what: string,
): Pick<ErrorContext, 'flow' | 'hint' | 'next'> {
  return {
    flow,
    hint: `${what} If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:`,
    next: [
      [kind, 'resume', flow],
      [kind, 'resolve', flow, '--executed'],
      [kind, 'resolve', flow, '--not-executed'],
    ],
  };
}

import { adviceOf, commandOf, type Repeated } from '../../advice.ts';
import { type ErrorContext, Psd2Error } from '../../errors.ts';
import { exitCodeOf } from '../../exit-codes.ts';

/** What every error in JSON says of its circumstances; null if it is not known. */
const CONTEXT = ['flow', 'httpStatus', 'bankCode', 'requestId', 'tppRequestId', 'transactionId'] as const;

/** An error as psd2 writes it for programs. */
export type ErrorData = {
  code: string;
  message: string;
  exitCode: number;
  hint: string | null;
  next: string[][];
  differs?: string[];
} & { [Key in (typeof CONTEXT)[number]]: ErrorContext[Key] | null };

/** An error for programs (command contract, "What the data looks like"). Any other error than a Psd2Error is a bug in psd2. */
export function errorData(error: unknown, repeated: Repeated = {}): ErrorData {
  const ours = error instanceof Psd2Error ? error : undefined;
  const context = ours?.context ?? {};
  const of = <Key extends (typeof CONTEXT)[number]>(name: Key): ErrorContext[Key] | null =>
    context[name] ?? null;
  return {
    code: ours?.code ?? 'bug',
    message: error instanceof Error ? error.message : String(error),
    exitCode: ours ? exitCodeOf(ours.code) : 1,
    hint: (ours && adviceOf(ours, repeated)) ?? null,
    next: (ours?.next ?? []).map((words) => commandOf(words, repeated)),
    flow: of('flow'),
    httpStatus: of('httpStatus'),
    bankCode: of('bankCode'),
    requestId: of('requestId'),
    tppRequestId: of('tppRequestId'),
    transactionId: of('transactionId'),
    ...(context.differs && { differs: context.differs }),
  };
}

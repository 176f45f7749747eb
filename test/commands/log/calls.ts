import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';

export const NOW = '2026-11-21T12:00:00.000Z';
export const FIRST = '6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44';

/** A call that nothing is special about, by default. */
export const call = (changes: Partial<LoggedCall> = {}): LoggedCall => ({
  ...{ at: NOW, profile: 'env', host: 'bank.example:443', method: 'GET', path: '/private/x', status: 200 },
  ...{ failure: null, milliseconds: 12, tppRequestId: 'r1', transactionId: FIRST, requestId: null },
  ...{ apiTrackId: null, flow: null, route: '/private/x', kind: 'other', ...changes },
});

/** Writes calls to the log, the oldest first. */
export function logCalls(folder: StoreFolder, calls: readonly Partial<LoggedCall>[]): void {
  const file = new CallLog(folder.log);
  for (const each of calls) file.append(call(each));
  file.close();
}

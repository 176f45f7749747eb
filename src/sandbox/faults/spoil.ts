import type { OutgoingAnswer } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Product } from '../customers/seed-customers.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { header } from '../strict/headers.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import { BadFault, type Fault, type FaultKind, parseFault } from './fault.ts';

/** The header with which a request asks for faults: `cut-after-effect`, `delay=200, status=503`. */
const FAULT_HEADER = 'X-Sandbox-Fault';

/** The faults that a request asks for. @throws Refusal `HEADER_MALFORMED` */
export function ownFaults(request: RawRequest): Fault[] {
  const value = header(request, FAULT_HEADER.toLowerCase());
  if (value === undefined) return [];
  try {
    return value.split(',').map(parseFault);
  } catch (error) {
    if (!(error instanceof BadFault)) throw error;
    throw new Refusal('HEADER_MALFORMED', `${FAULT_HEADER}: ${error.message}`, error.hint);
  }
}

/** The bank's clock for a call with these faults. */
export function clockOf(now: Date, faults: readonly Fault[]): Date {
  return new Date(now.getTime() + (find(faults, 'clock')?.value ?? 0) * 60_000);
}

/** The fault of a kind, if it is among the faults. */
export function find(faults: readonly Fault[], kind: FaultKind): Fault | undefined {
  return faults.find((fault) => fault.kind === kind);
}

/** Changes an answer's content before it is sealed. A refusal stays visible, because the bank did nothing. */
export function applyContentFaults(answer: OutgoingAnswer, faults: readonly Fault[]): void {
  const empty = find(faults, 'no-content') ?? find(faults, 'empty');
  if (empty && answer.status >= 200 && answer.status <= 299) {
    answer.status = empty.kind === 'no-content' ? 204 : 200;
    answer.headers.delete('content-type');
    answer.body = Buffer.alloc(0);
  }
  const isDeclared = find(faults, 'latin1') !== undefined;
  if (isDeclared || find(faults, 'latin1-undeclared')) {
    // The sandbox's own texts have ASCII letters only.
    answer.body = Buffer.from(answer.body.toString('utf8').replaceAll('A ', 'À '), 'latin1');
    const type = answer.headers.get('content-type') ?? 'application/json';
    if (isDeclared) answer.headers.set('content-type', `${type}; charset=ISO-8859-1`);
  }
  if (find(faults, 'truncated-json')) answer.body = answer.body.subarray(0, answer.body.length / 2);
}

/** Applies the faults that change an account just before its transactions are read. */
export function moveList(ledger: Ledger, product: Product, faults: readonly Fault[], now: Date): void {
  const booking = find(faults, 'booking');
  if (booking) ledger.bookUnasked(product, booking.value, now);
  const settling = find(faults, 'settling');
  if (settling) ledger.settle(product, settling.value, now);
}

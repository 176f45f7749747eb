import type { Psd2Error } from '../../errors.ts';
import type { CustomerEnd } from '../../store/ports/rounds.ts';
import type { CustomerReport } from './customers.ts';

/** The maximum number of incomplete customers to report, if psd2 does not report all customers. */
const MOST_INCOMPLETE = 1_000;

const NO_TOTALS = { customers: 0, synced: 0, accounts: 0, newTransactions: 0, pending: 0 };

/** The result of a round, over all threads. The counts by status and by code are of all rounds. */
export class SyncTally {
  /** The reports of all customers, or only of the first ones that were not synced completely. */
  readonly reports: CustomerReport[] = [];
  readonly totals = { ...NO_TOTALS };
  /** Of all rounds. */
  readonly byStatus = { synced: 0, partly: 0, waiting: 0, failed: 0 };
  /** The number of errors by error code, of all rounds. */
  readonly byCode = new Map<string, number>();
  /** The number of customers with an error. */
  incomplete = 0;
  /** Customers and accounts that psd2 may not read now. */
  readonly skipped = { customers: 0, accounts: 0 };
  firstFailure: Psd2Error | undefined;
  /** Whether the operator has seen the failures of the round. */
  isTold = false;
  #hasRead = false;
  readonly #keepsAll: boolean;
  #ends: (CustomerEnd & { customerId: string })[] = [];

  /** @param keepsAll whether to keep the reports of all customers, which takes memory */
  constructor(keepsAll: boolean) {
    this.#keepsAll = keepsAll;
  }

  add(report: CustomerReport, failure: Psd2Error | undefined): void {
    const { customerId, status, errors, skipped } = report;
    const [first] = errors;
    this.firstFailure ??= failure;
    this.totals.customers += 1;
    this.totals.synced += status === 'synced' ? 1 : 0;
    this.totals.accounts += report.accounts;
    this.totals.newTransactions += report.newTransactions;
    this.totals.pending += report.pending;
    this.byStatus[status] += 1;
    this.incomplete += first ? 1 : 0;
    this.skipped.customers += status === 'waiting' ? 1 : 0;
    this.skipped.accounts += skipped.length;
    this.#hasRead ||= status !== 'waiting' && (report.accounts === 0 || skipped.length < report.accounts);
    for (const { code } of errors) this.byCode.set(code, (this.byCode.get(code) ?? 0) + 1);
    if (this.#keepsAll || (status !== 'synced' && this.reports.length < MOST_INCOMPLETE))
      this.reports.push(report);
    this.#ends.push({ customerId, status, code: first?.code ?? null, message: first?.message ?? null });
  }

  /** Whether the round had customers, and psd2 could read no account because it may not read them now. */
  get hasReadNothing(): boolean {
    return this.skipped.customers + this.skipped.accounts > 0 && !this.#hasRead;
  }

  /** Forgets the round before. */
  beginRound(): void {
    this.reports.length = 0;
    Object.assign(this.totals, NO_TOTALS);
    Object.assign(this.skipped, { customers: 0, accounts: 0 });
    this.incomplete = 0;
    this.firstFailure = undefined;
    this.isTold = false;
    this.#hasRead = false;
  }

  /** The results of customers since the last call. */
  takeEnds(): (CustomerEnd & { customerId: string })[] {
    const ends = this.#ends;
    this.#ends = [];
    return ends;
  }
}

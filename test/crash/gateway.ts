import { nameOf, refused, saying } from '../scenarios/row.ts';
import { ACCOUNT, type CrashBank, type Place } from './bank.ts';
import { type Answer, type Call, type Relay, sendCustomer, type Treatment } from './relay.ts';
import { type Flow, type Followers, flowsAt, type Tried } from './tried.ts';

/** Whether the bank's status shows if an operation was executed. */
export const STATUSES = ['status is conclusive', 'status is inconclusive'] as const;
export type StatusKind = (typeof STATUSES)[number];

/** What a try needs of the bank, and between it and psd2. */
export interface Means {
  bank: CrashBank;
  relay: Relay;
  followers: Followers;
}

/**
 * Sets how a place's calls are treated.
 *
 * @param customer the customer does what the bank asks for, or nobody does
 * @returns the variables for psd2
 */
export function between(
  relay: Relay,
  place: Place,
  statusKind: StatusKind,
  treatment: Treatment,
  customer: 'the customer comes' | 'no customer' = 'the customer comes',
): Record<string, string> {
  relay.treat(place.name, async (call, toBank) => {
    const answer = await treatment(call, toBank);
    if (!answer) return undefined;
    const isAsked = ['approach', 'authorize'].includes(nameOf(call));
    if (isAsked && customer === 'the customer comes') sendCustomer(answer);
    return statusKind === 'status is conclusive' ? answer : withholding(call, answer);
  });
  // The relay sends the customer to the bank.
  const env = { ...relay.env(place.name), PSD2_BROWSER: '/bin/true' };
  return customer === 'no customer' ? { ...env, PSD2_SCA_TIMEOUT: '1' } : env;
}

/** The answer of a bank whose status shows what the customer decided, but not whether the operation was executed. */
async function withholding(call: Call, answer: Answer): Promise<Answer | undefined> {
  const name = nameOf(call);
  const given = async () => answer;
  if (name === 'status' && answer.status === 200) return saying({ executionStatus: undefined })(call, given);
  if (name !== 'settlement') return answer;
  // Both answers are usual for something that is not executed.
  const unknown = refused(404, 'NOT_FOUND');
  const pending = saying({ executionStatus: 'PENDING', executionStatusDescription: '' });
  return (call.path.length % 2 === 0 || answer.status !== 200 ? unknown : pending)(call, given);
}

const yes = ['--json', '--yes'];

/** The same order each time, with the place's reference and its amount. */
export function transferOrder(place: Place, more: string[] = [], name = 'Ada Lovelace'): string[] {
  return [
    ...['transfer', 'create', ...yes, '--from', ACCOUNT, '--to', 'DE89370400440532013000', '--name', name],
    ...['--amount', place.amount, '--reference', place.name, '--description', place.name, ...more],
  ];
}

/** The same place for an order with a reference and an amount of its own. */
export function forAnotherOrder(bank: CrashBank, place: Place): Place {
  const another = bank.newPlace();
  another.remove();
  return { ...another, config: place.config };
}

export const INSTANTLY = ['--instant', '--payee-verified'];
export const CONSENT_REQUEST = [
  ...['consent', 'request', '--json', '--category', 'PAYMENTS', '--account', ACCOUNT],
];

export function resumeOf(kind: string, { flow }: Flow, more: string[] = []): string[] {
  return [kind, 'resume', flow, ...(kind === 'consent' ? ['--json'] : [...yes, ...more])];
}

/** The flows of a place that were not there before. The backends of some tries have flows of earlier ones. */
export async function newFlows(
  followers: Followers,
  place: Place,
  kind: string,
  env: Record<string, string>,
  before: Flow[] = [],
): Promise<Flow[]> {
  const flows = await flowsAt(followers, place, kind, env);
  return flows.filter(({ flow }) => before.every((earlier) => earlier.flow !== flow));
}

/** Adds what the ledger shows: no order may be paid twice, and one that psd2 calls done must be paid. */
export async function judgeLedger(bank: CrashBank, tries: Tried[]): Promise<void> {
  const booked = await bank.bookings();
  for (const tried of tries.filter(({ amount }) => amount !== '')) {
    const bookings = booked(tried.amount);
    if (bookings > 1) {
      tried.twice = true;
      tried.problems.push(`paid twice: the ledger shows ${bookings} bookings`);
    }
    const done = tried.ends.filter((state) => state === 'executed' || state === 'settled').length;
    if (done > bookings) {
      tried.problems.push(
        `reported done though not: ${tried.ends.join(', ')}, but the ledger shows ${bookings}`,
      );
    }
  }
}

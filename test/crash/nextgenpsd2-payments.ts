import type { Backend, Lodge, Lodging } from './backends.ts';
import type { CrashBank, How, Place, Watched } from './bank.ts';
import { type Point, pointsIn } from './matrix.ts';
import { doorRules } from './nextgenpsd2.ts';
import { restore } from './restored-journal.ts';
import { type Flow, type Followers, flowsAt, judgeEnd, newTry, succeeded, type Tried } from './tried.ts';

// Payments at the second interface. psd2 sends no execute: from the moment the customer has the link, or from the initiation on, the
// bank runs the payment without psd2.

/** A bank at which is paid. */
export interface PayingDoor {
  name: string;
  /** The fields of its bank file. */
  file: object;
  /** What a bank file cannot say of it. */
  variations?: string;
  /** It executes an hour after the customer has authorised. */
  isLate?: true;
  /** The token without which it says nothing of a payment goes at the payment's end: a journal from before learns nothing. */
  needsToken?: true;
  /** The customer chooses the account to debit there, so the order names none. */
  namesAccount?: true;
}

const NEVER = { executesWithoutSca: 'never' };
const DECOUPLED = { sca: { approaches: ['decoupled'], pollSeconds: 1 }, psu: { id: 'required' } };
export const PAYING_DOORS: readonly PayingDoor[] = [
  { name: 'redirect', file: {} },
  { name: 'redirect, never without SCA', file: { payments: NEVER } },
  { name: 'redirect, repeats its answer', file: { payments: { repeat: 'same-answer', repeatMinutes: 60 } } },
  {
    ...{ name: 'OAuth, never without SCA', variations: 'payment-tokens' },
    file: { oauth: { mode: 'integrated' }, payments: NEVER },
    needsToken: true,
  },
  { name: 'decoupled', file: DECOUPLED },
  { name: 'without SCA', file: {}, variations: 'no-sca' },
  {
    ...{ name: 'redirect, the customer chooses the account', namesAccount: true },
    file: { payments: { debtorAccount: 'never' } },
  },
  { name: 'redirect, executes late', file: {}, variations: 'executes-late', isLate: true },
];

/** Options of `sandbox start`. */
export const rulesOf = ({ file, variations }: PayingDoor) =>
  doorRules(file).concat('--page-size', '1000', ...(variations ? ['--variation', variations] : []));

/** What a try needs. */
export interface PayingMeans {
  bank: CrashBank;
  followers: Followers;
  lodge: Lodge;
}

/** A payer in a home of the store. */
interface Payer extends Lodging {
  variables: Record<string, string>;
  order: string[];
  run(args: string[]): Promise<Watched>;
  flows(): Promise<Flow[]>;
}

function payingAt<Result>(
  { followers, lodge }: PayingMeans,
  door: PayingDoor,
  backend: Backend,
  work: (payer: Payer) => Promise<Result>,
): Promise<Result> {
  return lodge(backend, async (lodging) => {
    const { place, env } = lodging;
    const patience = door.isLate ? { PSD2_SCA_TIMEOUT: '3' } : {};
    const variables = { ...env, ...patience, PSD2_PROFILE: 'sandbox-nextgen' };
    const login = ['auth', 'login', '--customer', place.name, '--psu-id', 'anna', '--json'];
    succeeded(login, await followers.psd2(place, login, variables));
    const before = await flowsAt(followers, place, 'transfer', variables);
    const payer: Payer = {
      ...lodging,
      variables,
      order: orderOf(place, door),
      run: (args) => place.watched(args, undefined, variables),
      flows: async () =>
        (await flowsAt(followers, place, 'transfer', variables)).filter(({ flow }) =>
          before.every((earlier) => earlier.flow !== flow),
        ),
    };
    return work(payer);
  });
}

function orderOf({ name, amount }: Place, { namesAccount }: PayingDoor): string[] {
  return [
    ...['transfer', 'create', '--customer', name],
    ...(namesAccount ? [] : ['--from', OWN_IBAN]),
    ...['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', amount],
    ...['--reference', name, '--yes', '--json'],
  ];
}

const OWN_IBAN = 'IT89F0999001600000010482620';
const resumeOf = (flow: string) => ['transfer', 'resume', flow, '--yes', '--json'];

/** The points of a payment that nothing stops. */
export function recordPayment(means: PayingMeans, door: PayingDoor, backend: Backend): Promise<Point[]> {
  return payingAt(means, door, backend, async ({ run, order }) =>
    pointsIn(await run(order), door.isLate ? 9 : 0),
  );
}

/** Stops a payment at a point, or lets it stand still there while another process goes on. Then it is taken up. */
export function tryStopped(
  means: PayingMeans,
  door: PayingDoor,
  backend: Backend,
  how: How,
  { at }: Point,
): Promise<Tried> {
  return payingAt(means, door, backend, async (payer) => {
    const { place, order, variables, run, flows } = payer;
    const tried = newTry('NextGenPSD2 payment', `${door.name}, ${backend}`, how, at, place.amount);
    if (how === 'SIGSTOP') {
      const stalled = await place.stalled(order, { at, how }, variables);
      tried.reached = stalled.reached;
      place.passTime();
      const [known] = await flows();
      judgeEnd('the second', await run(known ? resumeOf(known.flow) : order), tried.problems);
      judgeEnd('the stalled one', await stalled.goOn(), tried.problems);
    } else {
      const stopped = await place.watched(order, { at, how }, variables);
      tried.reached = stopped.stopped;
      if (how !== 'SIGKILL') judgeEnd('it', stopped, tried.problems);
    }
    place.passTime();
    await goOn(means, door, payer, tried);
    return tried;
  });
}

/** Puts the journal of a finished payment back to its first lines. The bank, and the log of calls, are of today. */
export function tryRestored(
  means: PayingMeans,
  door: PayingDoor,
  backend: Backend,
  lines: number,
): Promise<Tried> {
  return payingAt(means, door, backend, async (payer) => {
    const { place, order, run, flows } = payer;
    const at = `before line ${lines + 1}`;
    const tried = newTry(
      'NextGenPSD2 payment',
      `${door.name}, ${backend}`,
      'restored journal',
      at,
      place.amount,
    );
    judgeEnd('it', await run(order), tried.problems);
    const [flow] = await flows();
    if (!flow) throw new Error('there is no flow');
    restore(payer, backend, 'transfer', flow, lines);
    await goOn(means, door, payer, tried, door.needsToken);
    return tried;
  });
}

/**
 * Takes the payment up, orders the same again, and takes up all that is there.
 *
 * @param mayStayOpen the bank says nothing of what it has executed
 */
async function goOn(
  { bank }: PayingMeans,
  { isLate, namesAccount }: PayingDoor,
  { run, order, flows }: Payer,
  tried: Tried,
  mayStayOpen = false,
): Promise<void> {
  const [known] = await flows();
  judgeEnd('resume', await run(known ? resumeOf(known.flow) : order), tried.problems);
  if (isLate) succeeded('the clock', await bank.operator.psd2(['sandbox', 'clock', '+61m']));
  judgeEnd('the same again', await run(order), tried.problems);
  // A journal that is older than the index: psd2 sends nothing for it, and says so. Its reference stays taken.
  const isOpen = new Set<string>();
  for (const { flow } of await flows()) {
    const last = await run(resumeOf(flow));
    judgeEnd('the last resume', last, tried.problems);
    if (/is older than what psd2 knows about/.test(last.stderr)) isOpen.add(flow);
  }
  const ended = await flows();
  if (mayStayOpen)
    for (const { flow, state } of ended) if (['authorizing', 'unknown'].includes(state)) isOpen.add(flow);
  tried.ends = ended.map(({ flow, state }) => (isOpen.has(flow) ? 'unknown' : state));
  if (ended.length === 0) tried.problems.push('there is no flow');
  for (const { flow, state, resourceId, from } of ended) {
    const isEnded = ['executed', 'failed', 'cancelled', 'rejected'].includes(state);
    // The bank tells of a payment whose id is known.
    if (!isEnded && !isOpen.has(flow) && !(state === 'unknown' && resourceId === null))
      tried.problems.push(`it ended ${state}, with the resource ${resourceId}`);
    if (namesAccount && (state === 'executed' ? from !== OWN_IBAN : from !== null))
      tried.problems.push(`it ended ${state}, and says that ${from} is debited`);
  }
}

/** Compares what psd2 says with what the bank has paid. */
export async function judgePayments(bank: CrashBank, tries: Tried[]): Promise<Tried[]> {
  const booked = await bank.bookings();
  for (const tried of tries) {
    const paid = booked(tried.amount);
    const executed = tried.ends.filter((state) => state === 'executed').length;
    const isUnknown = tried.ends.includes('unknown');
    if (paid > 1) {
      tried.twice = true;
      tried.problems.push(`paid twice: the ledger shows ${paid} bookings`);
    }
    if (isUnknown ? paid < executed : paid !== executed)
      tried.problems.push(`psd2 shows ${tried.ends.join(', ')}, but the ledger shows ${paid} bookings`);
  }
  return tries;
}

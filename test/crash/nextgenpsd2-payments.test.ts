import { describe, expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { BACKENDS, type Backend, type Lodge, type Lodging, useBackends } from './backends.ts';
import { type CrashBank, type How, PATIENCE_MS, type Place, useCrashBank, type Watched } from './bank.ts';
import { choose, cutsOf, type Point, pointsIn, problemsAt, SIDE_BY_SIDE, shareOf } from './matrix.ts';
import { doorRules } from './nextgenpsd2.ts';
import { restore } from './restored-journal.ts';
import {
  type Flow,
  type Followers,
  flowsAt,
  judgeEnd,
  newTry,
  succeeded,
  type Tried,
  useFollowers,
} from './tried.ts';

// Payments at the second interface. psd2 sends no execute: from the moment the customer has the link, or from the initiation on, the
// bank runs the payment without psd2.

/** A bank at which is paid. */
interface PayingDoor {
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
const PAYING_DOORS: readonly PayingDoor[] = [
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
const rulesOf = ({ file, variations }: PayingDoor) =>
  doorRules(file).concat('--page-size', '1000', ...(variations ? ['--variation', variations] : []));

/** What the tries at a bank need, with flows in one home. */
interface PayingMeans {
  bank: CrashBank;
  followers: Followers;
  lodge: Lodge;
  door: PayingDoor;
  backend: Backend;
}

/** A payer in a home of the store. */
interface Payer extends Lodging {
  variables: Record<string, string>;
  order: string[];
  run(args: string[]): Promise<Watched>;
  flows(): Promise<Flow[]>;
}

function paying<Result>(
  { followers, lodge, door, backend }: PayingMeans,
  work: (payer: Payer) => Promise<Result>,
): Promise<Result> {
  return lodge(backend, async (lodging) => {
    const { place, env } = lodging;
    const variables = { ...env, PSD2_PROFILE: 'sandbox-nextgen' };
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
function recordPayment(means: PayingMeans): Promise<Point[]> {
  return paying(means, async ({ run, order }) => pointsIn(await run(order)));
}

const newPayment = ({ door, backend }: PayingMeans, how: string, at: string, { amount }: Place) =>
  newTry('NextGenPSD2 payment', `${door.name}, ${backend}`, how, at, amount);

/** Stops a payment at a point, or lets it stand still there while another process goes on. Then it is taken up. */
function tryStopped(means: PayingMeans, how: How, { at }: Point): Promise<Tried> {
  return paying(means, async (payer) => {
    const { place, order, variables, run, flows } = payer;
    const tried = newPayment(means, how, at, place);
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
    await goOn(means, payer, tried);
    return tried;
  });
}

/** Puts the journal of a finished payment back to its first lines. The bank, and the log of calls, are of today. */
function tryRestored(means: PayingMeans, lines: number): Promise<Tried> {
  return paying(means, async (payer) => {
    const { place, order, run, flows } = payer;
    const tried = newPayment(means, 'restored journal', `before line ${lines + 1}`, place);
    judgeEnd('it', await run(order), tried.problems);
    const [flow] = await flows();
    if (!flow) throw new Error('there is no flow');
    restore(payer, means.backend, 'transfer', flow, lines);
    await goOn(means, payer, tried, means.door.needsToken);
    return tried;
  });
}

/**
 * Takes the payment up, orders the same again, and takes up all that is there.
 *
 * @param mayStayOpen the bank says nothing of what it has executed
 */
async function goOn(
  { bank, door: { isLate, namesAccount } }: PayingMeans,
  { run, order, flows }: Payer,
  tried: Tried,
  mayStayOpen = false,
): Promise<void> {
  const [known] = await flows();
  judgeEnd('resume', await run(known ? resumeOf(known.flow) : order), tried.problems);
  const untilExecuted = async () => {
    if (isLate) succeeded('the clock', await bank.operator.psd2(['sandbox', 'clock', '+61m']));
  };
  await untilExecuted();
  judgeEnd('the same again', await run(order), tried.problems);
  // That may have begun the payment.
  await untilExecuted();
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
async function judgePayments(bank: CrashBank, tries: Tried[]): Promise<Tried[]> {
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

const HOW = ['SIGKILL', 'cut', 'SIGINT', 'SIGTERM', 'twice', 'SIGSTOP'] as const;
/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** The lines of the journal of a payment that nothing stops. The last one of some has the account that the bank names. */
const LINES = 7;

/**
 * Where all points are tried, the first case has every point in every way. Of each of the others the ways share at most
 * this many, spread over the payment, and each case has other ones.
 */
const MOST = 120;

const cases = PAYING_DOORS.flatMap((door) => BACKENDS.map((backend) => [door.name, backend, door] as const));

/** A door takes minutes, so a run of all tests takes the first one, and `npm run reliability` all. */
const [FIRST] = PAYING_DOORS;
const everyPoint = (name: string, backend: string) => name === FIRST?.name && backend === BACKENDS[0];
const nameOf = ([name, backend]: (typeof cases)[number]) => `${name} ${backend}`;
const chosen = process.env.CRASH_MATRIX === 'all' ? cases : cases.filter(([, , door]) => door === FIRST);

describe.each(sample(chosen, 1, nameOf))(
  'a payment at the second interface (%s, %s)',
  (name, backend, door) => {
    const bank = useCrashBank(rulesOf(door));
    const followers = useFollowers(bank, SIDE_BY_SIDE);
    const means = { bank, followers, lodge: useBackends(bank, followers), door, backend };
    const what = `door payment ${name} ${backend}`;
    const judge = (tries: Tried[]) => judgePayments(bank, tries);

    it.each(sample(HOW, 1))(
      'stopped at any step (%s), it is paid once, and psd2 says what the bank says',
      async (how) => {
        const all = await recordPayment(means);
        const number = cases.findIndex((each) => each[0] === name && each[1] === backend);
        const share = everyPoint(name, backend)
          ? all
          : shareOf(all, MOST, HOW.indexOf(how), HOW.length, number);
        const points = choose(how === 'cut' ? cutsOf(all) : share, undefined, SOME);
        const one = (point: Point) => tryStopped(means, how, point);
        expect(await problemsAt([what, how], points, one, judge)).toEqual([]);
      },
      PATIENCE_MS,
    );

    it(
      'whose journal is put back to what it was before any but its first line, is paid once',
      async () => {
        const all = Array.from({ length: LINES - (door.namesAccount ? 0 : 1) }, (_, n) => ({
          at: `${n + 1}`,
          phase: '',
        }));
        const points = choose(all, undefined, 3);
        const one = ({ at }: Point) => tryRestored(means, Number(at));
        expect(await problemsAt([what, 'restored journal'], points, one, judge)).toEqual([]);
      },
      PATIENCE_MS,
    );
  },
);

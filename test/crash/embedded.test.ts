import { beforeAll, describe, expect, it } from 'vitest';
import { bankDay } from '../e2e/support/bank-days.ts';
import { allowCredentials } from '../scenarios/program.ts';
import { bySeed, sample } from '../support/sample.ts';
import { BACKENDS, type Backend, type Lodging, useBackends } from './backends.ts';
import { ALL, type How, PATIENCE_MS, useCrashBank, type Watched } from './bank.ts';
import { type BankSide, useBankSide } from './embedded-bank.ts';
import { asTried, choose, cutsOf, type Point, pointsIn, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { doorRules } from './nextgenpsd2.ts';
import { eventsOf, restore } from './restored-journal.ts';
import {
  type Flow,
  flowsAt,
  judgeEnd,
  mattering,
  newTry,
  succeeded,
  type Tried,
  useFollowers,
} from './tried.ts';

// The customer authorises in psd2 (docs/embedded.md). From the PIN on the bank may execute, and no later psd2 may send again by itself
// what this one has sent of the customer's.

/** What a customer authorises, and how. */
interface Case {
  name: string;
  kind: 'transfer' | 'consent';
  user: 'anna' | 'bruno' | 'carla';
  /** The method that the operator names. */
  method?: string;
  /** What is stopped is the cancellation of a payment that was authorised before. */
  cancels?: true;
  /** The state of a run that nothing stops. */
  end: string;
}

const payment = { kind: 'transfer', end: 'executed' } as const;
const CASES: readonly Case[] = [
  { ...payment, name: 'a payment', user: 'bruno' },
  { ...payment, name: 'a payment, with a method to choose', user: 'anna', method: '901' },
  { ...payment, name: 'a payment that runs at the PIN', user: 'carla' },
  { ...payment, name: 'a cancellation', user: 'bruno', cancels: true, end: 'cancelled' },
  { name: 'a consent', kind: 'consent', user: 'bruno', end: 'confirmed' },
];
const ATRUVIA: readonly Case[] = [
  { ...payment, name: 'a payment in the shape of Atruvia', user: 'anna', method: '942' },
];
const FILE = { payments: { futureDays: 30 } };
const ATRUVIAS_FILE = {
  psu: { id: 'required', label: 'VR-NetKey or alias' },
  payments: { futureDays: 30, products: { payments: ['pain.001-sepa-credit-transfers'] } },
};

const IBANS = {
  anna: 'IT89F0999001600000010482620',
  bruno: 'IT53G0999001600000020739150',
  carla: 'IT93B0999001600000030981270',
};
const SOON = bankDay(5);
/** Such a journal may know nothing of what was cancelled or consented to. It then says less than the bank. */
const RESTORED = 'restored journal';
/** Lines of a journal before its end. */
const LINES = 10;
const HOW = ['SIGKILL', 'cut', 'SIGTERM', 'twice', 'SIGSTOP'] as const;
/** Each gift is announced, leaves, is answered, and its answer is recorded. */
const GIVEN = [/ credential-(?:sent|answered) #/, /^(?:before|sent|after) (?:POST|PUT) .*authorisations/];
/** What a run of all tests takes: so many ways to stop a case, and journals put back, with so many points of each. `npm run reliability` takes all. */
const SOME = { stopped: 14, restored: 3, points: 3 };

/** Somebody whose customer authorises in psd2, with files for PIN and TAN. */
interface Payer extends Lodging {
  bankSide: BankSide;
  command: string[];
  run(args: string[], stop?: Parameters<Lodging['place']['watched']>[1]): Promise<Watched>;
  variables: Record<string, string>;
  flows(): Promise<Flow[]>;
  /** What goes on with a flow. */
  again(flow: string): string[];
}

describe.each([
  ['as the standard has it', ['--variation', 'embedded,multiple-consents'], FILE, CASES],
  ['in the shape of Atruvia', ['--variation', 'embedded-atruvia'], ATRUVIAS_FILE, ATRUVIA],
] as const)('at a bank of embedded SCA, %s', (_, variations, file, played) => {
  const bank = useCrashBank([...doorRules(file), ...variations, '--page-size', '1000']);
  const followers = useFollowers(bank, SIDE_BY_SIDE);
  const lodge = useBackends(bank, followers);
  const openBankSide = useBankSide(bank);
  beforeAll(() => allowCredentials(bank.operator));

  function paying<Result>(
    each: Case,
    backend: Backend,
    work: (payer: Payer) => Promise<Result>,
  ): Promise<Result> {
    const { kind, user, method, cancels } = each;
    return lodge(backend, async (lodging) => {
      const { place, env, sql } = lodging;
      if (backend === 'PostgreSQL') sql('delete from psd2.pins');
      const bankSide = openBankSide(place.name, user);
      const variables = {
        ...{ ...env, ...bankSide.env, PSD2_PROFILE: 'sandbox-nextgen', PSD2_BROWSER: 'true' },
        ...{ PSD2_SCA_TIMEOUT: '3', PSD2_CUSTOMER: place.name },
      };
      const login = ['auth', 'login', '--customer', place.name, '--psu-id', user, '--json'];
      succeeded(login, await followers.psd2(place, login, variables));
      const before = await flowsAt(followers, place, kind, variables);
      const gives = [
        ...['--psu-id', user, ...bankSide.options, '--yes', '--json'],
        ...(method === undefined ? [] : ['--sca-method', method]),
      ];
      const order = [
        ...['transfer', 'create', '--from', IBANS[user], '--to', 'DE89370400440532013000'],
        ...['--name', 'Ada Lovelace', '--amount', place.amount, '--reference', place.name, ...gives],
        ...(cancels ? ['--date', SOON] : []),
      ];
      const flows = async () =>
        (await flowsAt(followers, place, kind, variables)).filter(({ flow }) =>
          before.every((earlier) => earlier.flow !== flow),
        );
      const run: Payer['run'] = (args, stop) => place.watched(args, stop, variables);
      const verb = cancels ? 'cancel' : 'resume';
      const again = (flow: string) => [kind, verb, flow, ...gives];
      let command = kind === 'consent' ? ['consent', 'request', '--all-accounts', ...gives] : order;
      if (cancels) {
        succeeded(order, await followers.psd2(place, order, variables));
        const [made] = await flows();
        command = again(made?.flow ?? '');
      }
      return work({ ...lodging, bankSide, command, run, variables, flows, again });
    });
  }

  /** Stops it at a point, or lets it stand still there while another process goes on. Then it is taken up. */
  function tryStopped(each: Case, backend: Backend, how: How, { at }: Point): Promise<Tried> {
    return paying(each, backend, async (payer) => {
      const { place, command, run, flows, again, variables } = payer;
      const tried = newTry('embedded SCA', `${each.name}, ${backend}`, how, at, place.amount);
      if (how === 'SIGSTOP') {
        const stalled = await place.stalled(command, { at, how }, variables);
        tried.reached = stalled.reached;
        place.passTime();
        const [known] = await flows();
        judgeEnd('the second', await run(known ? again(known.flow) : command), tried.problems);
        judgeEnd('the stalled one', await stalled.goOn(), tried.problems);
      } else {
        const stopped = await run(command, { at, how });
        tried.reached = stopped.stopped;
        if (how !== 'SIGKILL') judgeEnd('it', stopped, tried.problems);
      }
      place.passTime();
      await goOn(payer, each, tried);
      return tried;
    });
  }

  /** Puts the journal of a flow that has ended back to its first lines. The bank, and the log of calls, are of today. */
  function tryRestored(each: Case, backend: Backend, { at }: Point): Promise<Tried> {
    return paying(each, backend, async (payer) => {
      const { place, command, run, flows } = payer;
      const tried = newTry('embedded SCA', `${each.name}, ${backend}`, RESTORED, at, place.amount);
      judgeEnd('it', await run(command), tried.problems);
      const [flow] = await flows();
      if (!flow) throw new Error('there is no flow');
      const lines = eventsOf(payer, backend, flow).length;
      restore(payer, backend, each.kind, flow, Math.min(Number(at), lines - 1));
      await goOn(payer, each, tried);
      return tried;
    });
  }

  /** Takes it up, gives the same command again, and takes up all that is there. */
  async function goOn(payer: Payer, each: Case, tried: Tried): Promise<void> {
    const { run, command, flows, again, bankSide } = payer;
    const [known] = await flows();
    judgeEnd('it again', await run(known ? again(known.flow) : command), tried.problems);
    // Another consent is another question to the customer.
    if (each.kind === 'transfer') judgeEnd('the same again', await run(command), tried.problems);
    for (const { flow } of await flows()) judgeEnd('the last one', await run(again(flow)), tried.problems);
    const ended = await flows();
    tried.ends = ended.map(({ state }) => state);
    if (ended.length === 0) tried.problems.push('there is no flow');
    for (const [what, times] of bankSide.arrived())
      if (times > 1) {
        tried.twice = true;
        tried.problems.push(`the bank got the ${what} ${times} times`);
      }
    if (each.kind === 'consent') await judgeConsent(payer, tried);
    else judgePayment(each, ended, bankSide.payments(await bankSide.list(), tried.amount), tried);
  }

  /** Whoever says that the customer has consented reads the accounts, and nobody else does. */
  async function judgeConsent({ place, variables }: Payer, tried: Tried): Promise<void> {
    const { code } = await followers.psd2(place, ['accounts', 'list', '--json'], variables);
    const isGiven = tried.ends.includes('confirmed');
    if (isGiven ? code !== 0 : code === 0 && tried.how !== RESTORED)
      tried.problems.push(`it ended ${tried.ends.join(', ')}, and the list of accounts with ${code}`);
  }

  it.each(
    some(
      played.flatMap((each) =>
        BACKENDS.flatMap((backend) => HOW.map((how) => [each.name, how, backend, each] as const)),
      ),
      { all: SOME.stopped, few: 2 },
      ([name, how, backend]) => `${name} ${how} ${backend}`,
    ),
  )(
    '%s is stopped at any step (%s, flows in %s): it is done once at most, and nothing is given twice',
    async (name, how, backend, each) => {
      const all = await paying(each, backend, async ({ run, command }) => pointsIn(await run(command)));
      const given = mattering(how === 'cut' ? cutsOf(all) : all, GIVEN, 0, 2);
      const points = choose(given, undefined, SOME.points);
      const one = (point: Point) => tryStopped(each, backend, how, point);
      const problems = await problemsAt([`embedded ${name} ${backend}`, how], points, one, asTried);
      expect(problems).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.each(
    some(
      played.flatMap((each) => BACKENDS.map((backend) => [each.name, backend, each] as const)),
      { all: SOME.restored, few: 1 },
      ([name, backend]) => `${name} ${backend}`,
    ),
  )(
    '%s (flows in %s), whose journal is put back to its first lines: nothing is given twice',
    async (name, backend, each) => {
      const all = Array.from({ length: LINES }, (_line, n) => ({ at: `${n + 1}`, phase: '' }));
      const one = (point: Point) => tryRestored(each, backend, point);
      const points = choose(all, undefined, SOME.points);
      expect(await problemsAt([`embedded ${name} ${backend}`, RESTORED], points, one, asTried)).toEqual([]);
    },
    PATIENCE_MS,
  );
});

/** `npm run reliability` takes all cases, a run of all tests many, and `npm test` few. */
function some<Case>(
  cases: readonly Case[],
  { all, few }: { all: number; few: number },
  textOf: (each: Case) => string,
): Case[] {
  return sample(ALL ? cases : bySeed(cases, textOf).slice(0, all), few, textOf);
}

/** Compares what psd2 says with what the bank has done. */
function judgePayment(
  { cancels }: Case,
  ended: readonly Flow[],
  there: { paid: number; isCancelled: boolean }[],
  tried: Tried,
): void {
  const paid = there.reduce((sum, each) => sum + each.paid, 0);
  const executed = ended.filter(({ state }) => state === 'executed').length;
  if (paid > 1) {
    tried.twice = true;
    tried.problems.push(`paid twice: ${paid} times`);
  }
  const says = `psd2 says ${tried.ends.join(', ')}`;
  if (cancels) {
    const isCancelled = there.every((each) => each.isCancelled);
    const isSaid = tried.ends.includes('cancelled');
    if (isSaid ? !isCancelled : isCancelled && tried.how !== RESTORED)
      tried.problems.push(`${says}, and the bank that it is ${isCancelled ? '' : 'not '}cancelled`);
    return;
  }
  // psd2 can ask about all but a payment whose id was lost.
  const isLost = ended.some(({ state, resourceId }) => state === 'unknown' && resourceId === null);
  if (isLost ? paid < executed : paid !== executed) tried.problems.push(`${says}, and ${paid} are paid`);
}

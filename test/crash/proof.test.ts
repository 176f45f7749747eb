import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { playCustomer } from '../../src/sandbox/player/play-customer.ts';
import { changed, doneBut, gets, nameOf, rejected } from '../scenarios/row.ts';
import { bySeed, SEED, sample } from '../support/sample.ts';
import { BACKENDS, type Backend, type Lodging, useBackends } from './backends.ts';
import { PATIENCE_MS, useCrashBank, type Watched } from './bank.ts';
import { choose, type Point, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { doorRules } from './nextgenpsd2.ts';
import { pointsOf } from './outcome.ts';
import { type Answer, sendCustomer, type Treatment, useRelay } from './relay.ts';
import { restore } from './restored-journal.ts';
import { type Flow, flowsAt, judgeEnd, newTry, succeeded, type Tried, useFollowers } from './tried.ts';

// What psd2 makes of an answer that proves nothing (docs/nextgenpsd2.md): the bank executes a payment, and then it, or a gateway before
// it, says something else. The same order again may not pay a second time, and psd2 may not say that nothing was paid.

/** The bank executes the payment without SCA, as some do for small amounts. */
const NO_SCA = { 'x-sandbox-fault': 'no-sca' };
const executedBut =
  (instead: Treatment): Treatment =>
  (call, toBank) =>
    doneBut(instead)(call, () => toBank(NO_SCA));
const PAGE = '<html><title>Soon back</title></html>';
const refusing = (status: number, code: string, text?: string) => executedBut(rejected(status, code, text));
const formatError = (text: string) => refusing(400, 'FORMAT_ERROR', text);

/** One delivery is refused, and the other one executed, and the gateway hands on both answers. */
const handedOn =
  (status: number, code: string, text: string): Treatment =>
  async (call, toBank) => {
    const second = await toBank(NO_SCA);
    const first = await rejected(status, code, text)(call, toBank);
    return first && { ...first, second };
  };

/** It comes twice: the bank executes the first, and what it says of the second is handed on. */
const again =
  (answer: Treatment): Treatment =>
  async (call, toBank) => {
    await toBank(NO_SCA);
    return answer(call, toBank);
  };

const ANSWERS: Record<string, Record<string, Treatment>> = {
  'page of a gateway': {
    '200': executedBut(gets(200, PAGE)),
    '403': executedBut(gets(403, PAGE)),
    '404': executedBut(gets(404, PAGE)),
    '403 in its JSON': executedBut(gets(403, { status: 403, error: 'Forbidden', path: '/v1/payments' })),
  },
  'word of a duplicate': {
    English: formatError('The payment exists already'),
    German: refusing(403, 'PRODUCT_INVALID', 'Auftrag bereits erfasst'),
    'its X-Request-ID': formatError('payment with this X-Request-ID is already created'),
  },
  'refused after it was executed': {
    PAYMENT_FAILED: refusing(400, 'PAYMENT_FAILED', 'Payment initiation failed'),
    FUNDS_NOT_AVAILABLE: refusing(403, 'FUNDS_NOT_AVAILABLE'),
    PSU_CREDENTIALS_INVALID: refusing(401, 'PSU_CREDENTIALS_INVALID'),
    'a problem': executedBut(gets(400, { type: 'about:blank', title: 'Failed', code: 'PAYMENT_FAILED' })),
  },
  'repeated without its body': {
    'a field is null': again(rejected(400, 'FORMAT_ERROR', 'creditorAccount must not be null')),
    'another digest': again(rejected(401, 'SIGNATURE_INVALID', 'The digest does not match')),
    'no content type': again(rejected(415, 'FORMAT_ERROR', 'Media type not supported')),
  },
  'repeated whole': {
    'the same again': again(
      rejected(400, 'FORMAT_ERROR', 'payment with this X-Request-ID is already created'),
    ),
    'nothing left': again(rejected(400, 'PAYMENT_FAILED', 'Insufficient balance')),
  },
  'two answers on one connection': {
    'a field is wrong': handedOn(400, 'FORMAT_ERROR', "'creditorName' is too long"),
    'a product is unknown': handedOn(404, 'PRODUCT_UNKNOWN', 'No such product'),
  },
};

/** What follows the answer: nothing, the end of the process before it is recorded, or the loss of what the journal had of it. */
const AFTERWARDS = ['nothing', 'killed', 'restored to line 1', 'restored to line 2'] as const;
const linksShape = z.object({ _links: z.looseObject({ status: z.object({ href: z.string() }) }) });
const OWN_IBAN = 'IT89F0999001600000010482620';
const resumeOf = (flow: string) => ['transfer', 'resume', flow, '--yes', '--json'];

describe.each(sample(BACKENDS, 1))('what an answer proves (flows in %s)', (backend: Backend) => {
  const bank = useCrashBank(doorRules({}).concat('--page-size', '1000'));
  const followers = useFollowers(bank, SIDE_BY_SIDE);
  const lodge = useBackends(bank, followers);
  const relay = useRelay(bank.sandbox);

  interface Payer extends Lodging {
    order: string[];
    run(args: string[], stop?: Parameters<Lodging['place']['watched']>[1]): Promise<Watched>;
    flows(): Promise<Flow[]>;
  }

  /** Lets somebody pay, whose calls meet what the treatment says. Afterwards the bank answers itself. */
  function paying<Result>(treatment: Treatment, work: (payer: Payer) => Promise<Result>): Promise<Result> {
    return lodge(backend, async (lodging) => {
      const { place, env } = lodging;
      const variables = {
        ...{ ...env, ...relay.env(place.name), PSD2_PROFILE: 'sandbox-nextgen' },
        ...{ PSD2_BROWSER: 'true', PSD2_SCA_TIMEOUT: '3', PSD2_CUSTOMER: place.name },
      };
      relay.treat(place.name, (_, toBank) => toBank());
      const login = ['auth', 'login', '--customer', place.name, '--psu-id', 'anna', '--json'];
      succeeded(login, await followers.psd2(place, login, variables));
      const before = await flowsAt(followers, place, 'transfer', variables);
      relay.treat(place.name, treatment);
      return work({
        ...lodging,
        order: [
          ...['transfer', 'create', '--customer', place.name, '--from', OWN_IBAN],
          ...['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', place.amount],
          ...['--reference', place.name, '--yes', '--json'],
        ],
        run: (args, stop) => place.watched(args, stop, variables),
        flows: async () =>
          (await flowsAt(followers, place, 'transfer', variables)).filter(({ flow }) =>
            before.every((earlier) => earlier.flow !== flow),
          ),
      });
    });
  }

  /** Goes on, orders the same again, and takes up all that is there. The customer authorises whatever comes. */
  async function goOn({ place, run, order, flows }: Payer, tried: Tried): Promise<void> {
    relay.treat(place.name, async (call, toBank) => {
      const answer = await toBank();
      if (nameOf(call) === 'initiate') sendCustomer(answer);
      return answer;
    });
    place.passTime();
    const [known] = await flows();
    if (known) judgeEnd('resume', await run(resumeOf(known.flow)), tried.problems);
    judgeEnd('the same again', await run(order), tried.problems);
    for (const { flow } of await flows())
      judgeEnd('the last resume', await run(resumeOf(flow)), tried.problems);
    tried.ends = (await flows()).map(({ state }) => state);
  }

  /** The points after the answer to the initiation, until its outcome is on disk. */
  function afterAnswer({ trace }: Watched): Point[] {
    const points = pointsOf(trace);
    const answered = points.findLastIndex(({ at }) => /POST .*payments/.test(at));
    return points.slice(answered + 1, answered + 12);
  }

  /** Lets psd2 pay, and get an answer that proves nothing. @param point `<what follows>: <which answer>` */
  function tryAnswer(how: string, { at }: Point): Promise<Tried> {
    const [afterwards = '', name = ''] = at.split(': ');
    const answer = ANSWERS[how]?.[name];
    if (!answer) throw new TypeError(`There is no answer ${at}`);
    const atOnce: Treatment = (call, toBank) =>
      nameOf(call) === 'initiate' ? answer(call, toBank) : toBank();
    const pay = (work: (payer: Payer, tried: Tried) => Promise<void>) =>
      paying(atOnce, async (payer) => {
        const tried = newTry('what an answer proves', backend, how, at, payer.place.amount);
        await work(payer, tried);
        await goOn(payer, tried);
        return tried;
      });
    if (afterwards === 'killed')
      return paying(atOnce, async ({ run, order }) => afterAnswer(await run(order))).then((points) =>
        pay(async ({ run, order }, tried) => {
          const [point] = bySeed(points, (each) => `${name} ${each.at}`);
          if (!point) throw new TypeError('There is no point after the answer');
          tried.reached = (await run(order, { at: point.at, how: 'SIGKILL' })).stopped;
        }),
      );
    return pay(async (payer, tried) => {
      judgeEnd('it', await payer.run(payer.order), tried.problems);
      const [flow] = await payer.flows();
      const lines = /\d/.exec(afterwards)?.[0];
      if (lines && flow) restore(payer, backend, 'transfer', flow, Number(lines));
    });
  }

  /** The bank's answer to a payment has a link of the one before. @param point the name of the link */
  function tryLink({ at }: Point): Promise<Tried> {
    const links: string[] = [];
    const linking = changed((body) => {
      const { _links: own } = linksShape.parse(body);
      links.push(own.status.href);
      const [before = ''] = links;
      const href = before.replace(/status$/, at === 'scaStatus' ? 'authorisations/other' : at);
      return { ...body, _links: links.length > 1 ? { ...own, [at]: { href } } : own };
    });
    const strange = new Set<string>();
    const treatment: Treatment = (call, toBank) => {
      const [before = '', own] = links;
      if (own !== undefined && call.path.includes(before.split('/').at(-2) ?? ''))
        strange.add(`${call.method} ${call.path}`);
      return nameOf(call) === 'initiate' ? linking(call, toBank) : toBank();
    };
    return paying(treatment, async ({ place, run, order, flows }) => {
      const tried = newTry('what an answer proves', backend, 'link of another payment', at, '');
      const reference = order.indexOf('--reference') + 1;
      judgeEnd('the other', await run(order.with(reference, `${place.name}-other`)), tried.problems);
      judgeEnd('it', await run(order), tried.problems);
      tried.ends = (await flows()).map(({ state }) => state);
      if (links.length !== 2) tried.problems.push(`the bank has ${links.length} payments`);
      if (strange.size > 0) tried.problems.push(`psd2 called another payment: ${[...strange].join(', ')}`);
      return tried;
    });
  }

  /** A cancellation meets pages, and the customer who has the link pays. */
  function tryCancellation({ at }: Point): Promise<Tried> {
    let link: Answer | undefined;
    const initiating: Treatment = async (call, toBank) => {
      const answer = await toBank();
      if (nameOf(call) === 'initiate') link = answer;
      return answer;
    };
    return paying(initiating, async (payer) => {
      const { place, run, order, flows } = payer;
      const tried = newTry(
        'what an answer proves',
        backend,
        'page instead of a cancellation',
        at,
        place.amount,
      );
      judgeEnd('it', await run([...order, '--sca-timeout', '1']), tried.problems);
      const [flow] = await flows();
      if (!flow || !link) throw new TypeError('There is no payment');
      const said = CANCELLATIONS[at];
      relay.treat(place.name, async (call, toBank) => said?.(call, toBank) ?? toBank());
      await run(['transfer', 'cancel', flow.flow, '--yes', '--json', '--sca-timeout', '1']);
      await comes(link);
      await goOn(payer, tried);
      return tried;
    });
  }

  /** The customer follows the link, and the bank executes the payment. */
  async function comes(link: Answer): Promise<void> {
    const url = /"scaRedirect":\{"href":"([^"]+)"/.exec(link.body.toString())?.[1] ?? '';
    await playCustomer(url).catch(() => {});
  }

  /** Compares what psd2 says with what the bank has paid. */
  async function judge(tries: Tried[]): Promise<Tried[]> {
    const booked = await bank.bookings();
    for (const tried of tries.filter(({ amount }) => amount !== '')) {
      const paid = booked(tried.amount);
      if (paid > 1) {
        tried.twice = true;
        tried.problems.push(`paid twice: the ledger shows ${paid} bookings`);
      }
      if (paid === 0) tried.problems.push('the bank has executed nothing');
      const isUnpaid = tried.ends.every((state) => ['failed', 'rejected', 'cancelled'].includes(state));
      if (paid > 0 && isUnpaid) tried.problems.push(`it is paid, and psd2 says ${tried.ends.join(', ')}`);
    }
    return tries;
  }

  const run = async (how: string, points: string[], one: (point: Point) => Promise<Tried>) => {
    const all = choose(
      points.map((at) => ({ at, phase: '' })),
      undefined,
      3,
    );
    expect(await problemsAt([`proof ${backend}`, how], all, one, judge), `seed ${SEED}`).toEqual([]);
  };

  it.each(Object.keys(ANSWERS))(
    'the bank executes a payment, and its answer is a %s',
    (how) => {
      const points = AFTERWARDS.flatMap((each) =>
        Object.keys(ANSWERS[how] ?? {}).map((name) => `${each}: ${name}`),
      );
      return run(how, points, (point) => tryAnswer(how, point));
    },
    PATIENCE_MS,
  );

  it(
    'an answer has a link of another payment',
    () => run('link of another payment', LINKS, tryLink),
    PATIENCE_MS,
  );

  it(
    'a cancellation is answered by a page',
    () => run('page instead of a cancellation', Object.keys(CANCELLATIONS), tryCancellation),
    PATIENCE_MS,
  );
});

/** The links that psd2 follows while a customer authorises. */
const LINKS = ['scaStatus', 'status', 'self'];

/** What the calls of a cancellation meet. The bank sees none of them. */
const CANCELLATIONS: Record<string, Treatment> = {
  '200, then 404': (call, toBank) =>
    nameOf(call) === 'cancel' ? gets(200, PAGE)(call, toBank) : gets(404, PAGE)(call, toBank),
  '404 of the bank, then 404': (call, toBank) => rejected(404, 'RESOURCE_UNKNOWN')(call, toBank),
  '403, then unknown to this certificate': (call, toBank) =>
    nameOf(call) === 'cancel'
      ? gets(403, PAGE)(call, toBank)
      : rejected(403, 'RESOURCE_UNKNOWN')(call, toBank),
  'a page with JSON, then unknown': (call, toBank) =>
    nameOf(call) === 'cancel'
      ? gets(200, {}, { 'content-type': 'text/html' })(call, toBank)
      : rejected(404, 'RESOURCE_UNKNOWN')(call, toBank),
  '204 and 400, then unknown': async (call, toBank) => {
    const [first, second] = [await gets(204)(call, toBank), await rejected(400, 'X')(call, toBank)];
    const isCancel = nameOf(call) === 'cancel' && first && second;
    return isCancel ? { ...first, second } : rejected(404, 'RESOURCE_UNKNOWN')(call, toBank);
  },
};

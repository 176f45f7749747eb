import { describe, expect, it } from 'vitest';
import type { BeforeSend } from '../../../src/bank/ports/call.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { isBanksRefusal, isRefusal, isTurningAway } from '../../../src/flows/refusals.ts';
import { announcements } from '../client.ts';
import { useCb } from './cb.ts';
import { useNextGenPsd2 } from './nextgenpsd2.ts';
import type { Making, Subject, UseSubject } from './subject.ts';

// What any interface of a bank must promise, whatever its words on the wire. A further interface is one more line here.

interface Contracted {
  use: UseSubject;
  /** What the interface makes at a bank. */
  makes: readonly Making[];
  /** The words of its statuses. A consent that is authorised may be in force at once. */
  statuses: readonly Status[];
}

const STATUSES = ['open', 'authorised', 'refused', 'executed', 'in no list'] as const;
type Status = (typeof STATUSES)[number];

const IN_FORCE_AT_ONCE = STATUSES.filter((status) => status !== 'authorised');

const SUBJECTS: [string, Contracted][] = [
  ['cb', { use: useCb, makes: ['begin', 'request a consent'], statuses: STATUSES }],
  ['nextgenpsd2', { use: useNextGenPsd2, makes: ['request a consent'], statuses: IN_FORCE_AT_ONCE }],
];

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const silent = async () => undefined;

async function failureOf(work: Promise<unknown>): Promise<Psd2Error> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Psd2Error) return error;
  throw error ?? new TypeError('The call succeeded');
}

/** Makes a resource at the bank. */
function make(what: Making, { bank, customerId, order }: Subject, beforeSend: BeforeSend) {
  return what === 'begin'
    ? bank.payments.transfer({ order, transactionId }).verify(beforeSend)
    : bank.consents.request({ customerId, categories: [], transactionId, beforeSend });
}

describe.each(SUBJECTS)('the interface %s', (_name, { use, makes, statuses }) => {
  const open = use();

  it('an account has its id under both names, and what the bank does not say is null', async () => {
    const { bank, customerId, answer } = open();
    answer('list', { accounts: ['0000012345'] });
    const [account] = await bank.accounts.list(customerId, transactionId);
    const ids = { accountId: '0000012345', productId: '0000012345' };
    expect(account).toMatchObject({ ...ids, iban: null, name: null });
    expect(bank.accounts.isId('0000012345')).toBe(true);
    expect(bank.accounts.isId('')).toBe(false);
  });

  it.each(makes)(
    'psd2 announces "%s" with the id and the digest that arrive, before its first byte',
    async (what) => {
      const subject = open();
      const { answer, received } = subject;
      answer(what, { begun: 'r1' });
      const { announced, beforeSend } = announcements();
      const before: number[] = [];
      const { resourceId } = await make(what, subject, async (intent) => {
        before.push(received().length);
        await beforeSend(intent);
        return undefined;
      });
      expect(resourceId).toBe('r1');
      expect(before).toEqual([0]);
      const [request] = received();
      expect(announced).toEqual([{ requestId: expect.any(String), digest: request?.headers.digest }]);
      expect(Object.values(request?.headers ?? {})).toContain(announced[0]?.requestId);
    },
  );

  it('psd2 gets the address for the customer from the bank, unchanged', async () => {
    const { bank, answer } = open();
    const link = 'https://customers.example/sca?x=1&y=%2F';
    answer('start SCA', { link });
    const redirectUri = 'http://127.0.0.1:8910/callback';
    const start = { resourceId: 'r1', redirectUri, transactionId, beforeSend: silent };
    expect(await bank.sca.start(start)).toBe(link);
  });

  const meanings = [
    ['open', 'PENDING', null],
    ['authorised', 'AUTHORIZED', null],
    ['refused', 'NOT_AUTHORIZED', null],
    ['executed', 'AUTHORIZED', 'executed'],
    ['in no list', 'PENDING', null],
  ] as const;
  it.each(meanings.filter(([status]) => statuses.includes(status)))(
    'a status that says "%s" means %s, and the resource became %s',
    async (status, meaning, became) => {
      const { bank, answer } = open();
      answer('status', { status });
      const read = await bank.sca.status('r1', transactionId);
      expect(read).toMatchObject({ authorization: { type: 'authorization', status: meaning }, became });
      expect(read.authorization.bankStatus).toBe(read.authorizationStatus);
    },
  );

  it('a status of another resource decides nothing', async () => {
    const { bank, answer } = open();
    answer('status', { about: 'r2' });
    const failure = await failureOf(bank.sca.status('r1', transactionId, true));
    expect(failure).toMatchObject({ code: 'bank_answer' });
  });

  it.each(makes)('a refusal of "%s" says whose it is, and what it is about', async (what) => {
    const subject = open();
    const { answer } = subject;
    const begin = () => failureOf(make(what, subject, silent));
    answer(what, { refused: 400, by: 'the bank' });
    const content = await begin();
    expect([isBanksRefusal(content), content.refusal]).toEqual([true, 'content']);
    answer(what, { refused: 409, by: 'the bank' });
    const other = await begin();
    expect([isBanksRefusal(other), other.refusal]).toEqual([true, 'other']);
    answer(what, { refused: 400, by: 'a gateway' });
    const gateways = await begin();
    expect([isRefusal(gateways), isBanksRefusal(gateways)]).toEqual([true, false]);
    answer(what, { refused: 429, by: 'the bank' });
    expect(isTurningAway(await begin())).toBe(true);
    answer(what, { refused: 500, by: 'the bank' });
    expect(isRefusal(await begin())).toBe(false);
  });

  it.each(makes)('a lost answer to "%s" is no refusal, and psd2 does not repeat the call', async (what) => {
    const subject = open();
    const { answer, received } = subject;
    answer(what, 'nothing');
    const error = await failureOf(make(what, subject, silent));
    expect(error.code).toBe('bank_unreachable');
    expect(isRefusal(error) || isTurningAway(error)).toBe(false);
    expect(received()).toHaveLength(1);
  });

  it('no error contains the token', async () => {
    const { bank, customerId, answer, token } = open();
    answer('list', { refused: 400, by: 'the bank' });
    const error = await failureOf(bank.accounts.list(customerId, transactionId));
    expect(JSON.stringify([error, error.message, error.context])).not.toContain(token);
  });

  it('the operator cannot set the headers that carry secrets or signatures', () => {
    const { ownHeaders } = open().interface;
    expect(ownHeaders).toEqual(expect.arrayContaining(['authorization', 'digest', 'signature', 'host']));
  });
});

const PAYING = SUBJECTS.filter(([, { makes }]) => makes.includes('begin'));

describe.each(PAYING)('payments of the interface %s', (_name, { use }) => {
  const open = use();

  it('the calls of a payment fit the point of no return of the interface', () => {
    const { bank, order } = open();
    const { execute } = bank.payments.transfer({ order, transactionId });
    expect(execute === null).toBe(bank.payments.commits === 'by the customer');
  });

  it('if psd2 commits, an answer to execute that belongs to another request decides nothing', async () => {
    const { bank, order, answer } = open();
    const { execute } = bank.payments.transfer({ order, transactionId });
    if (!execute) return;
    answer('execute', { executed: '42' });
    expect(await execute('r1', silent)).toEqual({ cro: '42' });
    answer('execute', { about: 'r2' });
    expect(await failureOf(execute('r1', silent))).toMatchObject({ code: 'bank_answer' });
    answer('execute', { status: 'open' });
    expect(await failureOf(execute('r1', silent))).toMatchObject({ code: 'bank_answer' });
  });
});

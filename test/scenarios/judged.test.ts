import { writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import * as z from 'zod';
import type { BankFile } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import {
  type InitiationVerdict,
  judgeInitiation,
} from '../../src/bank/interfaces/nextgenpsd2/judge/initiation.ts';
import type { WireAnswer, WireRequest } from '../../src/bank/transport/line.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { addDays, bankDay } from '../../src/domain/calendar.ts';
import { Psd2Error } from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit-codes.ts';
import { answerOf, REQUEST_ID, type Row } from '../bank/interfaces/nextgenpsd2/judge/judged.ts';
import { SEEN } from '../bank/interfaces/nextgenpsd2/judge/seen.ts';
import { described } from '../bank/interfaces/nextgenpsd2/scripted.ts';
import { type Command, openCommand } from '../commands/command.ts';
import { TestClock } from '../sandbox/tpp.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { sample } from '../support/sample.ts';
import { BankOfAnswers } from './bank-of-answers.ts';

// Every answer of the judge's table to each kind of payment, through the whole program but the wire: psd2 ends and pays again as the
// judge says, and never twice. Without a connection, a command takes milliseconds.

// Other files of the same process have loaded the connection already, and others want the real one afterwards.
const wire = vi.hoisted((): { bank?: BankOfAnswers } => {
  vi.resetModules();
  return {};
});
afterAll(() => void vi.resetModules());
vi.mock(import('../../src/bank/transport/connection.ts'), async (original) => ({
  ...(await original()),
  connectToBank: () => ({
    send: async (request, _timeout, _signal, watch = {}) => {
      await watch.beforeFirstByte?.();
      watch.sent?.();
      if (!wire.bank) throw new TypeError('There is no bank');
      return wire.bank.answer(request);
    },
    close: async () => {},
  }),
}));

const clock = new TestClock(new Date().toISOString());
const folder = temporaryFolder();
const certificates = join(folder, 'registration', 'certificates');
beforeAll(() => cp(inject('registration'), join(folder, 'registration'), { recursive: true }));

type Says = Exclude<InitiationVerdict['says'], 'ask again'>;

/** A kind of payment. */
interface Kind {
  name: string;
  payments?: BankFile['payments'];
  /** The words of its command, or how a batch of two is run. */
  words: readonly string[] | { as: string };
  /** Which initiation of it gets the answer. Default: the first. */
  at?: RegExp;
  /** How it ends, by what the judge says. */
  end: (says: Says, row: Row) => object;
}

/** As the transfer of the judge's table. */
const ORDER = [
  ...['--yes', '--json', '--from', 'DE40100100103307118608', '--to', 'DE02100100109307118603'],
  ...['--name', 'Another Double Ltd', '--amount', '123.50', '--description', 'Invoice 4711, already due'],
];
const SINGLE: Kind = {
  ...{ name: 'a payment', words: ['transfer', 'create', ...ORDER] },
  end: (says, row) => endOfOne('executed')(says, row),
};
const INSTANT = ['sepa-credit-transfers', 'instant-sepa-credit-transfers'];
const KINDS: readonly Kind[] = [
  SINGLE,
  {
    name: 'an instant payment',
    payments: { products: { payments: INSTANT } },
    words: ['transfer', 'create', ...ORDER, '--instant', '--payee-verified'],
    end: (says, row) => endOfOne('settled')(says, row),
  },
  {
    name: 'a standing order',
    payments: { products: { 'periodic-payments': ['sepa-credit-transfers'] } },
    words: [
      ...['transfer', 'standing', ...ORDER, '--frequency', 'Monthly'],
      ...['--start', addDays(bankDay(clock.now()), 9)],
    ],
    end: (says, row) => endOfOne('executed')(says, row),
  },
  {
    name: 'a bulk payment',
    payments: { products: { 'bulk-payments': ['sepa-credit-transfers'] } },
    words: { as: 'bulk' },
    end: (says, row) => endOfBulk(says, row),
  },
  {
    name: 'a file',
    payments: {
      bulk: { format: 'pain.001.001.03' },
      products: { 'bulk-payments': ['pain.001-sepa-credit-transfers'] },
    },
    words: { as: 'bulk' },
    end: (says, row) => endOfBulk(says, row),
  },
  { name: 'a payment of a basket', words: { as: 'basket' }, end: (says, row) => endOfPart(says, row) },
  {
    ...{ name: 'a basket', words: { as: 'basket' }, at: /signing-baskets$/ },
    end: (says, row) => endOfBasket(says, row),
  },
];

interface Ended {
  /** The exit code, and the states of all payments. */
  ends: string;
  batch: string | undefined;
}
const shownShape = z.object({ state: z.string(), batch: z.string().optional() });

/** An operator with a store, at a bank with these fields. */
function newOperator(file: Omit<BankFile, 'interface'>, number: number) {
  const path = join(folder, `bank-${number}.json`);
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...file }));
  const env = {
    ...{ PSD2_BANK: path, PSD2_BASE_URL: 'https://bank.example', PSD2_CUSTOMER: 'ada' },
    ...{ PSD2_QWAC_CERT: join(certificates, 'qwac.pem'), PSD2_QWAC_KEY: join(certificates, 'qwac-key.pem') },
    PSD2_QSEAL_CERT: join(certificates, 'qseal.pem'),
    PSD2_QSEAL_KEY: join(certificates, 'qseal-key.pem'),
  };
  const store = newConfigFolder(folder);
  return async (words: readonly string[]): Promise<Ended> => {
    let command: Command | undefined;
    const program = await buildProgram('0.0.0', {
      words,
      runInstead: async (work) => {
        command = openCommand(store, clock.now, {
          ...{ env, globals: program.opts() },
          changes: ({ world }) => ({ world: { ...world, sleep: async (ms) => clock.advance(ms) } }),
        });
        await work(command.context);
      },
    });
    const error = await program.parseAsync(words, { from: 'user' }).then(
      () => null,
      (thrown: unknown) => {
        if (thrown instanceof Psd2Error) return thrown;
        throw thrown;
      },
    );
    const text = command?.printed() ?? '';
    const shown = text === '' ? [] : z.array(shownShape).parse([JSON.parse(text)].flat());
    const exit = error ? exitCodeOf(error.code) : 0;
    return { ends: [exit, ...shown.map(({ state }) => state)].join(' '), batch: shown[0]?.batch };
  };
}

type Operator = ReturnType<typeof newOperator>;
const operators = new Map<string, Operator>();

/** The operator of a kind at a bank. Rows at the same bank share it. */
function operatorOf(file: Omit<BankFile, 'interface'>): Operator {
  const name = JSON.stringify(file);
  const operator = operators.get(name) ?? newOperator(file, operators.size);
  operators.set(name, operator);
  return operator;
}

/** The answer of a row to a request. @param id ends the ids of payments in it: a store takes one once */
function answerTo(row: Row, id: string, { headers }: WireRequest): WireAnswer {
  const { more, headers: own, status, body } = answerOf(row);
  const ofRow = Buffer.from(body.toString('latin1').replace('8f2c', `8f2c${id}`), 'latin1');
  const { 'x-request-id': ours = '', ...others } = own;
  const named = ours === REQUEST_ID ? headers['x-request-id'] : ours;
  return {
    status,
    headers: { ...others, ...(named && { 'x-request-id': named }) },
    body: ofRow,
    ...(more && { more }),
  };
}

/** What the judge says of an answer to what psd2 has sent. */
function verdictOn({ answered }: BankOfAnswers, bank: Omit<BankFile, 'interface'>): Says {
  const [first] = answered;
  if (!first) throw new TypeError('psd2 has sent nothing');
  const { target, headers, body } = first.request;
  const sent = {
    ...{ path: target, headers, body: body?.toString('utf8') ?? '' },
    ...{ firstByteAt: clock.now(), certificateEnds: new Date('2999-01-01') },
  };
  const answers = answered.map(({ answer }) => ({ ...answer, more: answer.more ?? false }));
  const { says } = judgeInitiation(sent, answers, described(bank));
  // A bank that has not been asked again has not proved anything.
  return says === 'ask again' ? 'unknown' : says;
}

/** The exit code of a refusal that proves that nothing began, by its first code. */
function exitOf({ status, body }: Row): number {
  if (status === 201) return 8;
  const code = /"code":"([A-Z]+)_/.exec(JSON.stringify(body))?.[1] ?? '';
  return { CERTIFICATE: 3, SIGNATURE: 3, ROLE: 5, CORPORATE: 5, TOKEN: 4 }[code] ?? 7;
}

/** Plays a row at one payment, twice. @returns how each ended, and how often it was paid before and after */
async function playOne(run: Operator, bank: BankOfAnswers, words: readonly string[], reference: string) {
  const order = [...words, '--reference', reference];
  const first = await run(order);
  const executed = bank.executed;
  bank.takeAll();
  const again = await run(order);
  return { ends: first.ends, executed, again: again.ends, inAll: bank.executed };
}

/** Plays a row at a batch of two, goes on, and makes the payments again that failed. */
async function playBatch(run: Operator, bank: BankOfAnswers, as: string, reference: string) {
  const path = join(folder, `${reference}.csv`);
  const lines = ['Another Double Ltd', 'Bea'].map(
    (name, line) => `${name},${reference}-${line},DE02100100109307118603,123.50`,
  );
  writeFileSync(path, `${['name,reference,iban,amount', ...lines].join('\n')}\n`);
  const { batch = '' } = await run(['batch', 'add', path, '--from', 'DE40100100103307118608', '--json']);
  const runOf = (id: string) => run(['batch', 'run', id, '--yes', '--json', '--as', as]);
  const first = await runOf(batch);
  const executed = bank.executed;
  bank.takeAll();
  const again = await runOf(batch);
  const retried = await run(['batch', 'retry', batch, '--json']);
  const last = retried.batch === undefined ? retried : await runOf(retried.batch);
  return { ends: first.ends, executed, again: again.ends, last: last.ends, inAll: bank.executed };
}

/** Nobody has the link of what an answer was lost of, so psd2 begins it again, where only a link starts SCA. */
const isBegunAgain = ({ bank }: Row) =>
  bank?.payments?.executesWithoutSca === 'never' && bank.sca?.approaches?.includes('decoupled') !== true;

/** How one payment ends, how often the bank executes it, and the same order again. The bank executes elsewhere what the test answers. */
const endOfOne =
  (paid: string) =>
  (says: Says, row: Row): object =>
    ({
      began: { again: '2', inAll: 0 },
      unknown: { ends: '9 unknown', executed: 0, again: '2', inAll: 0 },
      'nothing began': { ends: `${exitOf(row)} failed`, executed: 0, again: `0 ${paid}`, inAll: 1 },
    })[says];

/** How a batch ends whose code is one that stops a run. */
const exitOfBatch = (row: Row) => (exitOf(row) === 3 ? 3 : 8);

/** How a bulk payment ends, how it ends when it is run again, and how what has failed ends in a batch of its own. */
function endOfBulk(says: Says, row: Row): object {
  return {
    began: { last: '2', inAll: 0 },
    unknown: {
      ...{ ends: '9 unknown unknown', executed: 0, last: '2' },
      ...(isBegunAgain(row)
        ? { again: '0 executed executed', inAll: 1 }
        : { again: '9 unknown unknown', inAll: 0 }),
    },
    'nothing began': {
      ...{ ends: `${exitOfBatch(row)} failed failed`, executed: 0, again: '8 failed failed' },
      ...{ last: '0 executed executed', inAll: 1 },
    },
  }[says];
}

/** How the first of two payments of a basket ends, while the bank takes the other one. */
function endOfPart(says: Says, row: Row): object {
  const stops = exitOfBatch(row) === 3;
  return {
    began: { last: '2', inAll: 1 },
    unknown: {
      ...{ ends: '9 unknown executed', executed: 1, last: '2', inAll: 1 },
      again: isBegunAgain(row) ? '13 verified executed' : '9 unknown executed',
    },
    'nothing began': {
      ...(stops ? { ends: '3 failed waiting', executed: 0 } : { ends: '8 failed executed', executed: 1 }),
      ...{ again: '8 failed executed', last: '0 executed', inAll: 2 },
    },
  }[says];
}

/**
 * How a basket ends. Its payments are at the bank, each with its own id: what proves that no basket began leaves them as they were, and
 * each is paid once at most.
 */
function endOfBasket(says: Says, { status }: Row): object {
  // A basket that is rejected ends its payments, which this bank does not know.
  if (status === 201) return { executed: 0 };
  return {
    began: { executed: 0 },
    unknown: {
      ends: expect.not.stringContaining('failed'),
      executed: 0,
      last: '2',
      inAll: expect.toBeOneOf([0, 2]),
    },
    'nothing began': {
      ...{ ends: '13 verified verified', executed: 0 },
      // At a bank that seems to have no baskets each is authorised alone, and one may still wait for its customer.
      again: expect.toBeOneOf(['0 executed executed', '13 verified executed']),
      ...{ last: '2', inAll: 2 },
    },
  }[says];
}

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('answered to %s', (name, kind) => {
  // `npm test` takes all at one kind, and some at each other kind.
  const rows = SEEN.map((row, number) => [`${number + 1} ${row.name}`, row, number] as const);
  it.each(kind === SINGLE ? rows : sample(rows, 12, ([row]) => `${name} ${row}`))(
    '%s',
    async (_name, row, number) => {
      const { words } = kind;
      const file = {
        ...row.bank,
        payments: { ...row.bank?.payments, ...kind.payments },
        psu: { ip: '192.0.2.1' },
      };
      const isBasket = 'as' in words && words.as === 'basket';
      let isAnswered = false;
      const bank = new BankOfAnswers((request) => {
        const isIt = kind.at ? kind.at.test(request.target) : !isAnswered || !isBasket;
        isAnswered = true;
        return isIt ? answerTo(row, `-${KINDS.indexOf(kind)}-${number}`, request) : undefined;
      }, isBasket);
      wire.bank = bank;
      const run = operatorOf(file);
      const reference = `${name.replaceAll(' ', '-')}-${number}`;
      const seen = await ('as' in words
        ? playBatch(run, bank, words.as, reference)
        : playOne(run, bank, words, reference));
      const says = verdictOn(bank, file);
      expect(seen).toMatchObject(kind.end(says, row));
      if (kind === SINGLE && !row.sent) expect(says).toBe(row.says);
    },
  );
});

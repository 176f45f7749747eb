import type { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bankDate, bankDay } from '../e2e/support/bank-days.ts';
import { readError } from '../e2e/support/errors.ts';
import { keepRunning, type Running, readDocument } from '../e2e/support/psd2.ts';
import { plausibleAnswer } from '../fuzz/plausible-bank.ts';
import { type Behaviour, PRODUCT, useHostileBank, write } from './hostile-bank.ts';

// Answers that a bank, or a system in front of it, may give, and that are easy to misread.

const bank = useHostileBank();
const operator = keepRunning(bank.operator);
const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>bad</h1>' };
const NAME = 'Ada Lovelace';
const ORDER = [
  ...['transfer', 'create', '--yes', '--from', PRODUCT, '--to', 'DE89370400440532013000', '--name', NAME],
  ...['--amount', '6.00', '--json'],
];
const transfer = z.looseObject({ flow: z.string().startsWith('tr-'), state: z.string() });
const NO_WAIT = { PSD2_REDIRECT_URI: 'https://tpp.example/callback' };

/** A bank that works, except for the calls whose path ends like this. */
function odd(answers: Record<string, (socket: Socket) => void>): Behaviour {
  return (socket, heard) => {
    const path = heard.target.split('?', 1)[0] ?? '';
    const end = Object.keys(answers).find((each) => path.endsWith(each));
    const answer = end === undefined ? undefined : answers[end];
    if (answer) answer(socket);
    else write(socket, { body: JSON.stringify(plausibleAnswer(heard)) });
  };
}

const says = (data: object) => (socket: Socket) =>
  write(socket, { body: JSON.stringify({ result: { outcome: 'SUCCESS' }, data }) });

const empty = (socket: Socket) => write(socket, { status: 204, headers: { 'content-length': '0' } });

beforeAll(() => {
  Object.assign(operator.env, NO_WAIT);
});

describe('psd2 reports missing data, and does not take it for an empty result', () => {
  it.each([
    ['no balance', ['accounts', 'balance', PRODUCT], '/balance/retrieve', empty, /balance.* is empty/],
    ['no rows', ['accounts', 'transactions', PRODUCT], '/transactions/retrieve', empty, /is empty/],
    ['no amount', ['accounts', 'balance', PRODUCT], '/balance/retrieve', says({}), /expected a balance/],
    [
      'neither rows nor a count',
      ['accounts', 'transactions', PRODUCT],
      '/transactions/retrieve',
      says({}),
      /expected transactions/,
    ],
    [
      'a count of rows without the rows',
      ['accounts', 'transactions', PRODUCT, '-o', 'ndjson'],
      '/transactions/retrieve',
      says({ numberTransactionsAccounting: 3, transactionsNotAccounting: [] }),
      /counts rows of data\.transactionsAccounting but has none/,
    ],
    [
      'JSON without an envelope',
      ['accounts', 'list'],
      '/accounts',
      (socket: Socket) => write(socket, { body: '["x"]' }),
      /is no JSON object/,
    ],
    [
      'a page in place of a document',
      ['accounts', 'transactions', PRODUCT, '--export', 'pdf', '--file', 'rows.pdf'],
      '/transactions/retrieve',
      (socket: Socket) => write(socket, page),
      /without a document/,
    ],
  ])('psd2 reports an answer with %s', async (_, args, end, answer, message) => {
    bank.behave(odd({ [end]: answer }));
    const ended = await operator.psd2([...args, '--json']);
    expect(ended.stdout).toBe('');
    expect(readError(ended)).toMatchObject({ exitCode: 11, message: expect.stringMatching(message) });
  });
});

it('psd2 api prints an answer that is not JSON unchanged, and as a JSON text with --json', async () => {
  bank.behave(odd({ '/x': (socket) => write(socket, { ...page, status: 403 }) }));
  const asJson = await operator.psd2(['api', 'GET', '/private/x', '--json']);
  expect(JSON.parse(asJson.stdout)).toBe(page.body);
  expect(readError(asJson).exitCode).toBe(5);
  expect((await operator.psd2(['api', 'GET', '/private/x'])).stdout).toBe(`${page.body}\n`);
});

describe('an execute with an answer of unknown origin', () => {
  it.each([404, 409, 410, 451, 499])(
    'after HTTP %i to execute psd2 asks the bank, and the reference stays reserved',
    async (status) => {
      let executions = 0;
      bank.behave(
        odd({
          '/execute': (socket) => {
            executions += 1;
            write(socket, { ...page, status });
          },
        }),
      );
      const reference = ['--reference', `INV-${status}`];
      const first = await operator.psd2([...ORDER, ...reference]);
      expect(readError(first).exitCode).toBe(9);
      const { flow } = readDocument(transfer, first.stdout);
      for (const again of [
        [...ORDER, ...reference],
        ['transfer', 'resume', flow, '--yes', '--json'],
      ])
        expect([2, 9]).toContain(readError(await operator.psd2(again)).exitCode);
      expect(executions).toBe(1);
    },
  );
});

describe('transfer status', () => {
  const instant = [...ORDER, '--instant', '--payee-verified'];
  const started = async () => {
    const ended = await operator.psd2(instant);
    return readDocument(transfer, ended.stdout).flow;
  };

  it('transfer status asks for the execution status of an instant transfer that is still pending', async () => {
    const ended = await new Promise<Running>((resolve, reject) => {
      const pending = says({ executionStatus: 'PENDING' });
      const psd2 = operator.start(instant);
      const answered = (socket: Socket) => {
        pending(socket);
        psd2.then(resolve, reject);
      };
      bank.behave(odd({ '/execution/status': answered }));
    });
    ended.kill('SIGINT');
    const { flow } = readDocument(transfer, (await ended.ended).stdout);
    bank.behave(
      odd({ '/execution/status': says({ executionStatus: 'KO', executionStatusDescription: 'Closed' }) }),
    );
    expect(await operator.json(transfer, ['transfer', 'status', flow])).toMatchObject({
      state: 'executed',
      executionStatus: 'KO',
      executionStatusDescription: 'Closed',
    });
    const resumed = await operator.psd2(['transfer', 'resume', flow, '--json']);
    expect(readError(resumed).exitCode).toBe(8);
  });

  it('the status of an instant transfer that has settled is its settlement, whatever the operation says', async () => {
    bank.behave(odd({}));
    const flow = await started();
    bank.behave(odd({ '/status': says({ authorizationStatus: 'AUTHORIZED', executionStatus: 'PENDING' }) }));
    expect(await operator.json(transfer, ['transfer', 'status', flow])).toMatchObject({
      state: 'settled',
      executionStatus: 'OK',
    });
  });

  it('transfer status prints the local record if the bank no longer has the resource', async () => {
    bank.behave(odd({}));
    const flow = await started();
    bank.behave(odd({ '/status': (socket) => write(socket, { status: 404, body: '{}' }) }));
    const ended = await operator.psd2(['transfer', 'status', flow, '--json']);
    expect(readDocument(transfer, ended.stdout)).toMatchObject({
      state: 'settled',
      executionStatus: 'OK',
    });
    expect(ended.stderr).toContain('The bank has no further status');
  });
});

/** The bank verifies a transfer, and asks for further data before SCA. */
let asked = 0;
const asksForMore = (socket: Socket) => {
  asked += 1;
  const resourceId = `r-${1_000_000 + asked}`;
  const next = {
    _links: { next: { href: `${resourceId}/verify2`, method: 'PUT' } },
    resources: { resourceId },
  };
  write(socket, { body: JSON.stringify({ result: { outcome: 'SUCCESS' }, data: {}, ...next }) });
};

it('a transfer that is not executed has no receipt, and psd2 asks the bank for none', async () => {
  bank.behave(odd({ '/verify': asksForMore }));
  const { flow } = readDocument(transfer, (await operator.psd2(ORDER)).stdout);
  bank.behave(odd({}));
  const receipt = await operator.psd2(['transfer', 'receipt', flow, '--file', 'receipt.pdf', '--json']);
  expect(readError(receipt)).toMatchObject({
    exitCode: 2,
    message: `Transfer ${flow} is verified, so it has no receipt`,
  });
  expect(bank.heard).toEqual([]);
});

it('the hint names what the operator must give again with resume', async () => {
  bank.behave(odd({ '/verify': asksForMore }));
  const began = await operator.psd2([...ORDER, '--instant', '--payee-verified']);
  const { flow } = readDocument(transfer, began.stdout);
  const command = ['transfer', 'resume', flow, '--verify-data', '-', '--payee-verified', '--yes'];
  expect(readError(began)).toMatchObject({
    code: 'further_data_needed',
    hint: `Give it as JSON: as text, as @file, or as - for standard input. Continue with: psd2 ${command.join(' ')}`,
    next: [['psd2', ...command]],
    flow,
  });
  const resumed = await operator.psd2([...command, '--json'], { input: '{}' });
  expect(readDocument(transfer, resumed.stdout)).toMatchObject({ state: 'settled' });
});

it.each([
  [['accounts', 'transactions', PRODUCT, '--export', 'pdf', '--file', 'x.pdf', '--limit', '3'], /--export/],
  [['api', 'GET', 'https://bank.example/x'], /complete URL/],
])('psd2 refuses %j before it sends anything', async (args, message) => {
  bank.behave(odd({}));
  expect(readError(await operator.psd2([...args, '--json']))).toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(message),
  });
  expect(bank.heard).toEqual([]);
});

it('the bank gets what the options of a transfer say', async () => {
  bank.behave(odd({}));
  const options = ['--urgent', '--type', 'SALARY', '--date', bankDay(3), '--description', 'Invoice 7'];
  const ended = await operator.psd2([...ORDER, ...options]);
  expect(ended.code, ended.stderr).toBe(0);
  const verify = bank.heard.find(({ target }) => target.endsWith('/verify'));
  expect(JSON.parse(verify?.body ?? '')).toEqual({
    data: {
      moneyTransferAmount: { currency: 'EUR', amount: '6.00' },
      flagUrgency: true,
      type: 'SALARY',
      moneyTransferExecutionDate: bankDate(3),
      ibanBeneficiary: 'DE89370400440532013000',
      beneficiaryName: NAME,
      description: 'Invoice 7',
    },
  });
});

it('the bank gets the data of an operation with every digit', async () => {
  bank.behave(odd({}));
  const given = '{ "amount": 1000000000000000.10, "id": 12345678901234567890 }';
  const order = ['standingOrder', '--account', PRODUCT, '--data', given];
  const ended = await operator.psd2(['operation', 'verify', ...order, '--json']);
  expect(ended.code, ended.stderr).toBe(0);
  expect(bank.heard.map(({ body }) => body)).toContainEqual(expect.stringContaining(given));
});

describe('transfer create --prepare', () => {
  const day = bankDay(3);
  const create = (terms: Record<string, string>, reference: string) => {
    bank.behave(odd({ '/prepare': says({ ...terms, holidays: [], currency: { selected: 'EUR' } }) }));
    return operator.psd2([...ORDER, '--prepare', '--date', day, '--reference', reference]);
  };
  const within = (first: number, last: number) => ({
    executionDateMinimumWireTransferAtBank: bankDate(first),
    executionDateLimit: bankDate(last),
  });
  const calls = () => bank.heard.map(({ target }) => target.split('/').at(-1));

  it('psd2 orders the transfer if its day is the first or the last that the bank allows', async () => {
    for (const [first, last] of [
      [3, 9],
      [-9, 3],
    ] as const) {
      const ended = await create(within(first, last), `WITHIN ${first}`);
      expect(ended.code, ended.stderr).toBe(0);
      expect(calls().slice(0, 2)).toEqual(['prepare', 'verify']);
    }
  });

  it('psd2 begins no transfer on a day that the bank does not allow, or if it cannot ask, and the reference stays free', async () => {
    const list = () => operator.json(z.array(transfer), ['transfer', 'list']);
    const before = await list();
    for (const [first, last] of [
      [4, 9],
      [-9, 2],
    ] as const) {
      expect(readError(await create(within(first, last), 'PREPARED'))).toMatchObject({
        code: 'invalid_date',
        exitCode: 2,
        message: `The bank does not execute transfers on ${day}`,
        hint: `It accepts ${bankDay(first)} to ${bankDay(last)}.`,
      });
      expect(calls()).toEqual(['prepare']);
    }
    expect(readError(await create({ executionDateLimit: 'soon' }, 'PREPARED')).exitCode).toBe(11);
    expect(await list()).toEqual(before);
    const ended = await create({}, 'PREPARED');
    expect(ended.code, ended.stderr).toBe(0);
  });
});

it('transfer prepare is an inquiry, and --raw prints its answer unchanged', async () => {
  bank.behave(odd({}));
  const ended = await operator.psd2(['transfer', 'prepare', PRODUCT, '--raw']);
  expect(JSON.parse(ended.stdout)).toMatchObject({ data: { today: '30/06/2024' } });
});

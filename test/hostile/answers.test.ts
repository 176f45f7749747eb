import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readError } from '../e2e/support/errors.ts';
import { keepRunning, words } from '../e2e/support/psd2.ts';
import { sample } from '../support/sample.ts';
import {
  ACCESS_TOKEN,
  type Behaviour,
  CUSTOMER_ID,
  measuringMemory,
  PRODUCT,
  success,
  useHostileBank,
  write,
} from './hostile-bank.ts';

const bank = useHostileBank();
const operator = keepRunning(bank.operator);
const MIB = 1024 * 1024;
/** One call that psd2 does not retry, so that its time limit is the command's. */
const CALL = ['api', 'PUT', '/x', '--data', '{}', '--json'];

const OK = 'HTTP/1.1 200 OK\r\n';

/** Sends a beginning, and then a piece every 100 ms. */
const drips =
  (beginning: string, piece: string) =>
  (socket: Socket): void => {
    socket.write(beginning);
    const timer = setInterval(() => socket.write(piece), 100);
    socket.once('close', () => clearInterval(timer));
  };

/** Sends a beginning, and then a piece again and again, as fast as it is taken. */
const floods =
  (beginning: string, piece: string | Buffer) =>
  (socket: Socket): void => {
    socket.write(beginning);
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    more();
  };

/** A day in the bank's format. */
const bankDayOf = (day: Date) => `${day.toISOString().slice(0, 10).replaceAll('-', '')}T00:00:00`;

describe('a call ends within --timeout', () => {
  it.concurrent.each<[what: string, behaviour: Behaviour]>([
    ['that is never answered', () => {}],
    ['whose headers drip without end', drips(OK, 'X-A: b\r\n')],
    ['whose body drips without end', drips(`${OK}Content-Length: 100000\r\n\r\n`, ' ')],
    ['whose body drips in chunks', drips(`${OK}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n')],
    ['for which the bank asks psd2 to wait for ever', drips('', 'HTTP/1.1 102 Processing\r\n\r\n')],
  ])('a call %s ends within --timeout', async (_, behaviour) => {
    const baseUrl = await bank.listenTls({}, behaviour);
    const ended = await operator.psd2([...CALL, '--no-token', '--timeout', '0.7'], {
      env: { PSD2_BASE_URL: baseUrl },
    });
    expect(readError(ended)).toMatchObject({
      code: 'bank_unreachable',
      exitCode: 11,
      message: 'The bank could not be reached: it did not answer within 0.7 s',
    });
  });

  it.concurrent('a call that waits for a handshake ends within --timeout', async () => {
    const silent = await bank.listenTcp(() => {});
    const env = { PSD2_BASE_URL: `https://${silent}` };
    // psd2 has sent nothing yet, so it tries three more times.
    const ended = await operator.psd2([...CALL, '--no-token', '--timeout', '0.3'], { env });
    expect(readError(ended).message).toBe('The bank could not be reached: it did not answer within 0.3 s');
  });
});

describe('a call takes bounded memory', () => {
  // psd2 itself takes about 60 MiB, and an answer may have 32 MiB.
  const MAX_MIB = 250;

  const LARGE = /is larger than 32 MiB/;
  const zipped = gzipSync(Buffer.alloc(256 * MIB, ' '));
  const SPACES = Buffer.alloc(MIB, ' ');
  const CHUNK = `10000\r\n${'"'.repeat(0x10000)}\r\n`;
  const ANSWERS: [what: string, said: RegExp, behaviour: Behaviour][] = [
    ['an answer that announces 100 MB', LARGE, floods(`${OK}Content-Length: ${100 * MIB}\r\n\r\n`, SPACES)],
    ['an endless answer', LARGE, floods(`${OK}\r\n`, Buffer.alloc(MIB, '['))],
    ['an endless answer in chunks', LARGE, floods(`${OK}Transfer-Encoding: chunked\r\n\r\n`, CHUNK)],
    [
      'endless headers',
      /its answer has more than 16 KiB of headers/,
      floods(OK, `X-A: ${'a'.repeat(1000)}\r\n`),
    ],
    [
      'a small gzip answer that becomes too large',
      LARGE,
      (socket) => write(socket, { headers: { 'content-encoding': 'gzip' }, body: zipped }),
    ],
  ];
  it.concurrent.each(sample(ANSWERS, 2, ([what]) => what))(
    'psd2 refuses %s, in bounded memory',
    async (_, said, behaviour) => {
      const { env, peakMiB } = measuringMemory(operator);
      const baseUrl = await bank.listenTls({}, behaviour);
      const ended = await operator.psd2([...CALL, '--no-token'], { env: { ...env, PSD2_BASE_URL: baseUrl } });
      expect(readError(ended)).toMatchObject({ exitCode: 11, message: expect.stringMatching(said) });
      expect(peakMiB()).toBeLessThan(MAX_MIB);
    },
  );

  it.concurrent('a document of 100 MB leaves no file', async () => {
    const pdf = floods(`${OK}Content-Type: application/pdf\r\n\r\n`, Buffer.alloc(MIB, '%'));
    const baseUrl = await bank.listenTls({}, pdf);
    const ended = await operator.psd2(['api', 'GET', '/x', '--no-token', '--raw'], {
      env: { PSD2_BASE_URL: baseUrl },
    });
    expect(ended).toMatchObject({ code: 11, stdout: '' });
  });
});

it('psd2 shortens a text that is slow to parse in an error', async () => {
  const message = ': psd2 x'.repeat(200_000);
  const refusal = { result: { outcome: 'ERROR', messages: [{ code: 'E', type: 'ERROR', message }] } };
  bank.behave((socket) => write(socket, { status: 400, body: JSON.stringify(refusal) }));
  for (const more of [[], ['--json']]) {
    const ended = await operator.psd2(['accounts', 'list', ...more]);
    expect(ended.code).toBe(7);
    expect(ended.stderr).toContain('(HTTP 400): : psd2 x: psd2 x');
    expect(ended.stderr.length).toBeLessThan(4_000);
  }
});

it('a log bundle names nobody, even if a failure names the call', async () => {
  bank.behave((socket) => write(socket, { ...success(), headers: { digest: 'SHA-256=wrong' } }));
  const failed = readError(await operator.psd2(['accounts', 'balance', PRODUCT, '--json']));
  expect(failed.message).toContain(`/customers/${CUSTOMER_ID}/products/${PRODUCT}/`);
  const bundle = await operator.psd2(['log', 'bundle', '--file', '-', '--limit', '1']);
  expect(bundle.stdout).not.toMatch(new RegExp(`${CUSTOMER_ID}|${PRODUCT}`));
  expect(bundle.stdout).toContain(
    'GET /private/customers/customer-1/products/account-1/balance/retrieve does not match its Digest',
  );
});

it('psd2 lists and syncs a page of any length', async () => {
  const row = (index: number) => ({
    index: `A${index}`,
    shortDescription: 'POS',
    amountTransaction: { amount: '-1.00', currency: 'EUR' },
    dateAccountingCurrency: bankDayOf(new Date()),
  });
  const rows = JSON.stringify(Array.from({ length: 130_000 }, (_, index) => row(index)));
  bank.behave((socket, { target }) =>
    write(
      socket,
      success(
        target.includes('/transactions/')
          ? `{"transactionsAccounting":${rows}}`
          : target.includes('/balance/')
            ? '{"accountBalance":{"amount":"1.00","currency":"EUR"}}'
            : `{"accounts":[{"accountId":"${PRODUCT}","currency":"EUR"}]}`,
      ),
    ),
  );
  const listed = await operator.succeeds(['accounts', 'transactions', PRODUCT, '--json']);
  expect(JSON.parse(listed.stdout)).toHaveLength(130_000);
  const synced = await operator.succeeds(words`sync --unattended-reads 9999 --out
    ${join(operator.folder, 'synced')} --json`);
  expect(JSON.parse(synced.stdout)).toMatchObject({ totals: { newTransactions: 130_000 } });
});

it('an account that is named like a part of JavaScript, or of a path, does not leave the folder', async () => {
  for (const [accountId, exitCode] of [
    ['constructor', 0],
    ['toString', 0],
    ['__proto__', 11],
    ['../../x', 11],
    ['\u0000', 11],
  ] as const) {
    const balance = { accountBalance: { amount: '1.00', currency: 'EUR' }, transactionsAccounting: [] };
    bank.behave((socket, { target }) =>
      write(
        socket,
        success(JSON.stringify(target.endsWith('/accounts') ? { accounts: [{ accountId }] } : balance)),
      ),
    );
    const ended = await operator.psd2(words`sync --unattended-reads 9999 --out
      ${join(operator.folder, 'synced')}`);
    expect([accountId, ended.code, ended.stderr]).toEqual([
      accountId,
      exitCode,
      expect.not.stringContaining('bug'),
    ]);
  }
});

it.each([302, 307])('psd2 does not follow a redirect with HTTP %i', async (status) => {
  const elsewhere: string[] = [];
  const other = await bank.listenTls({}, (_, { target }) => elsewhere.push(target));
  bank.behave((socket) => write(socket, { status, headers: { location: `${other}/stolen` } }));
  for (const args of [['accounts', 'list', '--json'], CALL]) {
    const error = readError(await operator.psd2(args));
    expect(error).toMatchObject({
      code: 'bank_answer',
      exitCode: 11,
      message: expect.stringMatching(/with a redirect\. psd2 does not follow it/),
    });
  }
  expect(bank.heard).toHaveLength(2);
  expect(elsewhere).toEqual([]);
});

const verified = () =>
  success(
    '{"totalAmount":{"amount":"6.50","currency":"EUR"}}',
    `,"resources":{"resourceId":"${randomUUID()}"}`,
  );
const TRANSFER = words`transfer create --yes --from ${PRODUCT} --to DE89370400440532013000 --name
    ${'Ada Lovelace'} --amount 6.00 --verbose --timeout 2 --json`;

/** A bank that works until `execute`, and afterwards does not know the transfer. */
const until =
  (execute: Behaviour): Behaviour =>
  (socket, heard) => {
    const { target } = heard;
    if (target.endsWith('/verify')) write(socket, verified());
    else if (target.endsWith('/approach'))
      write(socket, success('{"chosenScaApproach":"REDIRECT","scaRedirectURL":"https://bank.example/sca"}'));
    else if (/\/operations\/[^/]+\/status$/.test(target))
      write(socket, success('{"authorizationStatus":"AUTHORIZED","executionStatus":"PENDING"}'));
    else if (target.endsWith('/execute')) execute(socket, heard);
    else write(socket, { status: 404 });
  };

it.each<[what: string, execute: Behaviour]>([
  ['less than it announced', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}')],
  [
    'two lengths',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}'),
  ],
  ['damaged gzip', (socket) => write(socket, { headers: { 'content-encoding': 'gzip' }, body: '{}' })],
  ['JSON with 100 000 levels', (socket) => write(socket, { body: '['.repeat(100_000) })],
  ['an endless body', floods(`${OK}\r\n`, Buffer.alloc(MIB, ' '))],
])(
  'after an execute with %s the outcome is unknown, and psd2 does not send execute again',
  async (_, execute) => {
    bank.behave(until(execute));
    const env = { PSD2_REDIRECT_URI: 'https://tpp.example/callback' };
    const ended = await operator.psd2(TRANSFER, { env });
    expect(readError(ended)).toMatchObject({ code: 'outcome_unknown', exitCode: 9 });
    const resumed = await operator.psd2(
      ['transfer', 'resume', JSON.parse(ended.stdout).flow, '--yes', '--json'],
      { env },
    );
    expect(readError(resumed)).toMatchObject({ code: 'outcome_unknown', exitCode: 9 });
    expect(JSON.parse(resumed.stdout)).toMatchObject({ state: 'unknown' });
    expect(bank.heard.filter(({ target }) => target.endsWith('/execute'))).toHaveLength(1);
  },
);

it('psd2 showed and kept no secret in any of these tests', () => {
  const shown = operator.history.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  const flows = join(operator.config, 'flows', 'env');
  const kept = readdirSync(flows)
    .filter((name) => name.endsWith('.ndjson'))
    .map((name) => readFileSync(join(flows, name), 'utf8'));
  for (const secret of [ACCESS_TOKEN, 'the-client-secret'])
    expect(shown + kept.join('\n')).not.toContain(secret);
  expect(shown).toContain('PUT /private');
  expect(shown).not.toMatch(/This is a bug|\n {4}at /);
});

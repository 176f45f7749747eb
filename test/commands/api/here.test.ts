import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FreeAnswer, FreeCall } from '../../../src/bank/ports/bank.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { BankHere } from '../bank-here.ts';
import { ANNA, endOf, payerAt } from '../payer-here.ts';

// Calls of psd2 api at a bank in the memory of the test, which answers what a test says.

const temporary = temporaryFolder();
const REFUSAL = new Psd2Error('bank_refused', 'The bank says no');

const answer = (body: string, more: Partial<FreeAnswer> = {}): FreeAnswer => ({
  ...{ body: Buffer.from(body), json: undefined, refusal: null },
  ...more,
});
const json = (value: object, more: Partial<FreeAnswer> = {}) =>
  answer(JSON.stringify(value), { json: value, ...more });

/** An operator at a bank that gives these answers. */
async function operatorAt(answers: FreeAnswer[], changes: Partial<BankHere['interface']> = {}) {
  const bank = new BankHere();
  const sent: FreeCall[] = [];
  const known: BankHere['interface'] = {
    ...bank.interface,
    ...changes,
    open: (settings) => {
      const opened = bank.interface.open(settings);
      const connect: typeof opened.connect = (...over) => ({
        ...opened.connect(...over),
        send: async (call) => {
          sent.push(call);
          return answers[sent.length - 1] ?? expect.unreachable();
        },
        pages: async function* (call) {
          sent.push(call);
          yield* answers;
        },
      });
      return { ...opened, connect };
    },
  };
  return { sent, ...(await payerAt({ interface: known }, temporary)) };
}

describe('an answer that is no JSON', () => {
  it.each([
    ['GET', 'Maintenance\n', 'Maintenance\n\n', '"Maintenance\\n"\n'],
    ['DELETE', '', '', '""\n'],
  ])('to %s is printed as it is, or as a JSON string: %j', async (method, text, table, asJson) => {
    const { run } = await operatorAt([answer(text), answer(text)]);
    expect((await run(['api', method, '/x'], { format: 'table' })).printed).toBe(table);
    expect((await run(['api', method, '/x'], { format: 'json' })).printed).toBe(asJson);
  });

  it('is a page like any other', async () => {
    const { run } = await operatorAt([json({ a: 1 }), answer('Maintenance', { refusal: REFUSAL })]);
    const { printed, failure } = await run(['api', 'GET', '/x', '--paginate'], { format: 'ndjson' });
    expect(printed).toBe('{"a":1}\n"Maintenance"\n');
    expect(failure?.message).toBe('The bank says no');
  });
});

it('with --raw each page is printed byte for byte, and a refusal of the last one is the error', async () => {
  const bytes: string[] = [];
  const { run } = await operatorAt([json({ a: 1 }), json({ b: 2 }, { refusal: REFUSAL })]);
  const { printed, failure } = await run(['api', 'GET', '/x', '--paginate'], {
    globals: { raw: true },
    changes: () => ({ printBytes: (some) => void bytes.push(Buffer.from(some).toString('utf8')) }),
  });
  expect([bytes, printed, failure?.message]).toEqual([['{"a":1}', '{"b":2}'], '', 'The bank says no']);
});

it('the call has the path, the headers and the body of the operator, and an id of its own', async () => {
  const { run, sent } = await operatorAt([json({}), json({})]);
  await run(['api', 'put', 'x/{customerId}?a=b', '--header', 'X-One:  a b ', '--data', '-'], {
    stdin: '{"a":1}',
  });
  await run(['api', 'GET', '/y', '--transaction', '01234567-89AB-cdef-0123-456789abcdef']);
  const [first, second] = sent;
  expect(first).toMatchObject({
    ...{ method: 'PUT', path: `/x/${ANNA}?a=b`, headers: { 'x-one': 'a b ' }, body: '{"a":1}' },
    transactionId: expect.stringMatching(/^[0-9a-f]{8}-/),
  });
  expect(first?.returnAddress()).toBe('https://tpp.example/callback');
  expect(second).toMatchObject({
    ...{ method: 'GET', path: '/y', headers: {}, transactionId: '01234567-89AB-cdef-0123-456789abcdef' },
  });
  expect(second && 'body' in second).toBe(false);
});

it('what psd2 does not send is refused before and after the customer is in the path, unless it is only shown', async () => {
  const asked: string[] = [];
  const refusalOf: BankHere['interface']['refusalOf'] = (method, path) => {
    asked.push(`${method} ${path}`);
    return path.includes(ANNA) || path.includes('pay')
      ? new Psd2Error('usage', 'psd2 sends no payment')
      : null;
  };
  const { run, sent } = await operatorAt([], { refusalOf });
  for (const path of ['/pay', '/x/{customerId}'])
    expect(endOf(await run(['api', 'POST', path]))).toEqual(['exit 2, usage: psd2 sends no payment']);
  expect(asked).toEqual(['POST /pay', 'POST /x/{customerId}', `POST /x/${ANNA}`]);
  expect(sent).toEqual([]);
  asked.length = 0;
  await run(['api', 'POST', '/pay', '--dry-run']).catch(() => {});
  expect(asked).toEqual([]);
});

describe('--consent', () => {
  async function withConsent(confirmed: boolean, changes: Partial<BankHere['interface']> = {}) {
    const operator = await operatorAt([json({})], changes);
    const { context } = operator.open();
    const { flows, customers } = await context.store();
    await storeLogin(context, '2000001');
    const begin = {
      ...{ transactionId: 't1', customerId: '1000009' },
      categories: [{ name: 'ACCOUNT_INFO' as const, products: [parseProductId('0000012345')] }],
    };
    await storeLogin(context, '1000009');
    await storeLogin(context, ANNA);
    const outcomes = [{ name: 'ACCOUNT_INFO', outcome: true }];
    const flow = await flows.begin('consent', begin, async (open) => {
      if (confirmed) await open.record({ type: 'requested', resourceId: 'consent-1', outcomes });
      return open.current.flow;
    });
    return { ...operator, flow, customers };
  }

  it('adds the id of the consent, and the call is for its customer', async () => {
    const { run, sent, flow } = await withConsent(true);
    const words = ['api', 'GET', '/x/{customerId}', '--consent', flow, '--header', 'x-one: 1'];
    const { failure } = await run(words);
    expect(failure).toBeNull();
    expect(sent).toMatchObject([
      { path: '/x/1000009', headers: { 'x-one': '1', 'consent-id': 'consent-1' } },
    ]);
  });

  it('of one that the bank has given no id is refused', async () => {
    const { run, sent, flow } = await withConsent(false);
    expect(endOf(await run(['api', 'GET', '/x', '--consent', flow]))).toEqual([
      'exit 2, usage of co-1: The bank has given the consent co-1 no id',
    ]);
    expect(sent).toEqual([]);
  });

  it('of another customer than the operator names is refused', async () => {
    const { run, sent, flow } = await withConsent(true);
    const how = { globals: { customer: ANNA }, given: ['customer'] };
    expect((await run(['api', 'GET', '/x', '--consent', flow], how)).failure?.code).toBe('usage');
    expect(sent).toEqual([]);
  });

  it('is refused where consents are in no header', async () => {
    const has = new Set([...new BankHere().interface.has].filter((each) => each !== 'Consent-ID'));
    const { run, flow } = await withConsent(true, { has });
    expect(endOf(await run(['api', 'GET', '/x', '--consent', flow]))).toEqual([
      'exit 2, usage: The interface of this bank (here) has no Consent-ID',
    ]);
  });
});

it('a curl command needs the certificates in files', async () => {
  const { open } = await operatorAt([]);
  const { env } = open().context;
  const pem = (name: string) => ({ pem: readFileSync(env[name] ?? '', 'utf8') });
  const request = { method: 'GET' as const, target: '/x', headers: {}, body: null, signingString: '' };
  const free = Object.fromEntries(['PSD2_QWAC_CERT', 'PSD2_QWAC_KEY'].map((name) => [name, '']));
  const known = new BankHere().interface;
  const composing: BankHere['interface'] = {
    ...known,
    open: (settings) => ({ ...known.open(settings), compose: async () => request }),
  };
  const payer = await payerAt({ interface: composing }, temporary);
  await payer.open().context.profiles.write('bank', {
    ...{
      baseUrl: 'https://bank.example',
      qwacCertificate: pem('PSD2_QWAC_CERT'),
      qwacKey: pem('PSD2_QWAC_KEY'),
    },
  });
  expect(
    endOf(await payer.run(['api', 'GET', '/x', '--curl'], { env: free, globals: { profile: 'bank' } })),
  ).toEqual([
    'exit 3, config: The profile contains its certificates, but curl needs files',
    'Add the profile with --reference, or set PSD2_QWAC_CERT and PSD2_QWAC_KEY.',
  ]);
  expect((await payer.run(['api', 'GET', '/x', '--curl'])).printed).toBe(
    `curl --globoff --path-as-is --request GET https://bank.example/x \\\n  --cert ${env.PSD2_QWAC_CERT} --key ${env.PSD2_QWAC_KEY}\n`,
  );
});

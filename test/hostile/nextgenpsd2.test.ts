import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { readError } from '../e2e/support/errors.ts';
import { keepRunning } from '../e2e/support/psd2.ts';
import { type Behaviour, type Heard, type PlainAnswer, useHostileBank, write } from './hostile-bank.ts';
import { ACTED_UPON } from './resident.ts';

// Answers of a NextGenPSD2 bank, or of a system in front of it, that psd2 must not follow, believe or show.

const bank = useHostileBank();
const operator = keepRunning(bank.operator);
const CONSENT = 'consent-of-the-test';
const ACCOUNT = 'a1';
const BALANCE = ['accounts', 'balance', ACCOUNT, '--json'];
const REQUEST = ['consent', 'request', '--json', '--yes'];

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): PlainAnswer => ({
  status,
  headers,
  body: JSON.stringify(body),
});
const refusal = (status: number, code: string, headers: Record<string, string> = {}): PlainAnswer =>
  json({ tppMessages: [{ category: 'ERROR', code, text: 'The test says no' }] }, status, headers);
const html: PlainAnswer = { headers: { 'content-type': 'text/html' }, body: '<h1>Maintenance</h1>' };

const money = (amount: unknown) => ({ amount, currency: 'EUR' });
const balance = (amount: unknown) => ({ balanceType: 'closingBooked', balanceAmount: money(amount) });
const row = (id: string, more: object = {}) => ({
  transactionId: id,
  bookingDate: '2026-11-02',
  transactionAmount: money('-1.00'),
  ...more,
});
const report = (booked: object[], next?: string) => ({
  account: { iban: 'DE89370400440532013000' },
  transactions: {
    booked,
    pending: [],
    _links: { account: { href: '/v1/accounts/a1' }, ...(next !== undefined && { next: { href: next } }) },
  },
});
const given = { consentId: CONSENT, consentStatus: 'valid', _links: {} };

/** What a bank without oddities answers. */
function plain({ method, target }: Heard): PlainAnswer {
  const [path = ''] = target.split('?', 1);
  if (method === 'POST' && path === '/v1/consents') return json(given, 201);
  if (path.endsWith('/status')) return json({ consentStatus: 'valid' });
  if (path.endsWith('/authorisations')) return json({ scaStatus: 'received', _links: {} }, 201);
  if (path.startsWith('/v1/consents/')) return json({ consentStatus: 'valid', access: {} });
  if (path.endsWith('/balances')) return json({ balances: [balance('1.00')] });
  if (path.endsWith('/transactions')) return json(report([row('t1')]));
  if (path === '/v1/accounts') return json({ accounts: [{ resourceId: ACCOUNT, currency: 'EUR' }] });
  return refusal(404, 'RESOURCE_UNKNOWN');
}

/** A bank that works, except for the calls whose path ends like this. */
function odd(end: string, answer: PlainAnswer | ((heard: Heard) => PlainAnswer)): Behaviour {
  return (socket: Socket, heard) => {
    const isOdd = (heard.target.split('?', 1)[0] ?? '').endsWith(end);
    const said = isOdd ? (typeof answer === 'function' ? answer(heard) : answer) : plain(heard);
    write(socket, said);
  };
}

function useBank(file: object = {}): void {
  const path = join(operator.folder, 'bank.json');
  writeFileSync(
    path,
    JSON.stringify({
      interface: 'nextgenpsd2',
      psu: { ip: '203.0.113.1' },
      sca: { pollSeconds: 1 },
      ...file,
    }),
  );
  operator.env.PSD2_BANK = path;
}

beforeAll(async () => {
  useBank();
  bank.behave(odd('nothing', html));
  await operator.succeeds([...REQUEST]);
});
beforeEach(() => useBank());

it('an answer that is not what was asked for: duplicate keys do not make another amount than what a reader of JSON sees last', async () => {
  bank.behave(
    odd('/balances', {
      body: '{"balances":[{"balanceType":"closingBooked","balanceAmount":{"amount":"1.00","amount":"2.00","currency":"EUR"}}]}',
    }),
  );
  const ended = await operator.psd2(BALANCE);
  // Either is honest: to refuse, or to read as every reader of JSON does. A mixture is not.
  if (ended.code === 0) expect(ended.stdout).toContain('"accountBalance":{"amount":"2.00","currency":"EUR"}');
  else expect(readError(ended).exitCode).toBe(11);
});

it('what the standard writes in one way and banks in several: what a terminal acts on is not shown', async () => {
  const text = 'Hello \u001b]0;owned\u0007 \u001b[2J \u202e gnp.exe';
  bank.behave(odd('/transactions', json(report([row('t1', { remittanceInformationUnstructured: text })]))));
  const ended = await operator.succeeds(['accounts', 'transactions', ACCOUNT]);
  expect(ended.stdout).not.toMatch(ACTED_UPON);
});

const link = (href: string) => ({ href });

it('a consent whose message for the customer would act on a terminal', async () => {
  const evil = 'Open \u001b[2J\u001b]8;;https://evil.example\u0007your app\u202e';
  let asked = 0;
  bank.behave((socket, heard) => {
    const { method, target } = heard;
    if (method === 'POST')
      return write(
        socket,
        json(
          {
            consentId: 'c-decoupled',
            consentStatus: 'received',
            psuMessage: evil,
            _links: { scaStatus: link('/v1/consents/c-decoupled/authorisations/1') },
          },
          201,
          { 'ASPSP-SCA-Approach': 'DECOUPLED' },
        ),
      );
    asked += 1;
    if (target.endsWith('/authorisations/1'))
      return write(socket, json({ scaStatus: 'finalised', psuMessage: evil }));
    return write(socket, json({ consentStatus: asked > 1 ? 'valid' : 'received' }));
  });
  useBank({ sca: { approaches: ['decoupled'], pollSeconds: 1 } });
  const ended = await operator.succeeds(['consent', 'request', '--yes']);
  expect(ended.stderr).toContain('your app');
  expect(`${ended.stdout}${ended.stderr}`).not.toMatch(ACTED_UPON);
});

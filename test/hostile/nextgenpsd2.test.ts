import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { readError } from '../e2e/support/errors.ts';
import { keepRunning } from '../e2e/support/psd2.ts';
import { type Behaviour, type PlainAnswer, useHostileBank, write } from './hostile-bank.ts';
import { ACTED_UPON } from './resident.ts';

// Answers of a NextGenPSD2 bank, or of a system in front of it, that psd2 must not follow, believe or show.

const bank = useHostileBank();
const operator = keepRunning(bank.operator);
const ACCOUNT = 'a1';

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): PlainAnswer => ({
  ...{ status, headers, body: JSON.stringify(body) },
});
const row = (more: object) => ({
  ...{ transactionId: 't1', bookingDate: '2026-11-02' },
  transactionAmount: { amount: '-1.00', currency: 'EUR' },
  ...more,
});

/** A bank with a valid consent, and one odd answer. */
const odd =
  (end: string, answer: PlainAnswer): Behaviour =>
  (socket, { method, target }) => {
    const [path = ''] = target.split('?', 1);
    const given = { consentId: 'consent-of-the-test', consentStatus: 'valid', access: {}, _links: {} };
    write(socket, path.endsWith(end) ? answer : json(given, method === 'POST' ? 201 : 200));
  };

function useBank(file: object = {}): void {
  const path = join(operator.folder, 'bank.json');
  const common = { interface: 'nextgenpsd2', psu: { ip: '203.0.113.1' }, sca: { pollSeconds: 1 } };
  writeFileSync(path, JSON.stringify({ ...common, ...file }));
  operator.env.PSD2_BANK = path;
}

beforeAll(async () => {
  useBank();
  bank.behave(odd('nothing', json({})));
  await operator.succeeds(['consent', 'request', '--json', '--yes']);
});
beforeEach(() => useBank());

it('duplicate keys do not make another amount than what a reader of JSON sees last', async () => {
  const amount = '{"amount":"1.00","amount":"2.00","currency":"EUR"}';
  const body = `{"balances":[{"balanceType":"closingBooked","balanceAmount":${amount}}]}`;
  bank.behave(odd('/balances', { body }));
  const ended = await operator.psd2(['accounts', 'balance', ACCOUNT, '--json']);
  // Either is honest: to refuse, or to read as every reader of JSON does. A mixture is not.
  if (ended.code === 0) expect(ended.stdout).toContain('"accountBalance":{"amount":"2.00","currency":"EUR"}');
  else expect(readError(ended).exitCode).toBe(11);
});

it('a text of a transaction that would act on a terminal', async () => {
  const text = 'Hello \u001b]0;owned\u0007 \u001b[2J \u202e gnp.exe';
  const booked = [row({ remittanceInformationUnstructured: text })];
  bank.behave(odd('/transactions', json({ transactions: { booked } })));
  const ended = await operator.succeeds(['accounts', 'transactions', ACCOUNT]);
  expect(ended.stdout).toContain('gnp.exe');
  expect(ended.stdout).not.toMatch(ACTED_UPON);
});

it('a message for the customer that would act on a terminal', async () => {
  const evil = 'Open \u001b[2J\u001b]8;;https://evil.example\u0007your app\u202e';
  const _links = { scaStatus: { href: '/v1/consents/c-decoupled/authorisations/1' } };
  const asked = { consentId: 'c-decoupled', consentStatus: 'received', psuMessage: evil, _links };
  let calls = 0;
  bank.behave((socket, { method, target }) => {
    calls += 1;
    if (method === 'POST') write(socket, json(asked, 201, { 'ASPSP-SCA-Approach': 'DECOUPLED' }));
    else if (target.endsWith('/authorisations/1'))
      write(socket, json({ scaStatus: 'finalised', psuMessage: evil }));
    else write(socket, json({ consentStatus: calls > 2 ? 'valid' : 'received' }));
  });
  useBank({ sca: { approaches: ['decoupled'], pollSeconds: 1 } });
  const ended = await operator.succeeds(['consent', 'request', '--yes']);
  expect(ended.stderr).toContain('your app');
  expect(`${ended.stdout}${ended.stderr}`).not.toMatch(ACTED_UPON);
});

import { expect, inject, test } from 'vitest';
import { openBank } from '../../../src/sandbox/bank.ts';
import type { Fault } from '../../../src/sandbox/faults/fault.ts';
import { magicFault, productFault } from '../../../src/sandbox/faults/magic.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { magicFaultKinds } from '../../../src/sandbox/operations/plan.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { accountOf, seeded } from '../seeded.ts';
import { rawRequest } from '../strict/raw.ts';

const registration = await loadOrCreateRegistration(inject('registration'));
const newBank = () => openBank(registration, defaultRules, undefined, new Map());
const anna = seeded('anna');

const FAULTS: Record<(typeof magicFaultKinds)[number], Fault> = {
  '204': { kind: 'no-content', value: 0 },
  '401': { kind: 'status', value: 401 },
  '403': { kind: 'firewall', value: 0 },
  '420': { kind: 'status', value: 420 },
  '500': { kind: 'status', value: 500 },
  EMPTY: { kind: 'empty', value: 0 },
  LOST: { kind: 'cut-after-effect', value: 0 },
};
const fiveHundred = FAULTS[500];

const P = '/private/customers/3098127/products';
const idOf = (kind: string) => `${'0030981000'.slice(0, -kind.length)}${kind}`;

test('an account breaks its balance and its transactions, at both doors, and nothing else', async () => {
  const bank = await newBank();
  for (const kind of magicFaultKinds) {
    const id = idOf(kind);
    const of = (target: string) => magicFault(bank, rawRequest({ target }));
    for (const path of ['balance/retrieve', 'transactions/retrieve', 'balance/retrieve?a=/b'])
      expect([path, of(`${P}/${id}/${path}`)]).toEqual([path, FAULTS[kind]]);
    for (const path of ['', '/balance', '/balance/retrieve/x', '/other/retrieve', '?a=/balance/retrieve'])
      expect([path, of(`${P}/${id}${path}`)]).toEqual([path, undefined]);
    const parameters = new Map([['account-id', id]]);
    for (const call of ['getBalances', 'getTransactionList'])
      expect([call, productFault(bank, { id: call, parameters })]).toEqual([call, FAULTS[kind]]);
    for (const call of ['readAccountDetails', 'getAccountList'])
      expect([call, productFault(bank, { id: call, parameters })]).toEqual([call, undefined]);
  }
  expect(magicFault(bank, rawRequest({ target: `${P}/0030981270/balance/retrieve` }))).toBeUndefined();
  for (const id of ['0030981270', '9999999999'])
    expect(
      productFault(bank, { id: 'getBalances', parameters: new Map([['account-id', id]]) }),
    ).toBeUndefined();
  expect(productFault(bank, { id: 'getBalances', parameters: new Map() })).toBeUndefined();
});

const order = (beneficiaryName: string) => ({
  ...{ beneficiaryName, beneficiaryIban: '', description: '', amount: 1, commissions: 1 },
  ...{ instant: true, executionDay: '2026-11-20' },
});

/** The calls of a flow: `{id}` is its resource. */
const CALLS: [call: string, method: string, path: string][] = [
  ['APPROACH', 'GET', '/private/auth/security/sca/{id}/approach'],
  ['STATUS', 'GET', '/private/operations/{id}/status'],
  ['EXECUTE', 'PUT', `${P}/x/moneyTransfer/{id}/execute`],
  ['EXECUTION STATUS', 'GET', `${P}/x/moneyTransfer/{id}/execution/status`],
];

test.each(CALLS)('the name %s 500 breaks that call of its flow alone', async (call) => {
  const bank = await newBank();
  const { id } = bank.resources.addTransfer(anna, accountOf(anna), order(`${call} 500`));
  const { id: plain } = bank.resources.addTransfer(anna, accountOf(anna), order('Ada'));
  for (const [other, method, path] of CALLS) {
    const fault = (of: string, by = method, query = '') =>
      magicFault(bank, rawRequest({ method: by, target: path.replace('{id}', of) + query }));
    const expected = other === call ? fiveHundred : undefined;
    expect([other, fault(id), fault(id, method, '?a=/b')]).toEqual([other, expected, expected]);
    expect([other, fault(plain), fault('unknown'), fault(id, 'DELETE')]).toEqual([
      ...[other, undefined, undefined, undefined],
    ]);
  }
});

test('with ONCE the first call of each flow breaks, without it each', async () => {
  const bank = await newBank();
  const flow = (name: string) => bank.resources.addTransfer(anna, accountOf(anna), order(name)).id;
  const status = (id: string) =>
    magicFault(bank, rawRequest({ target: `/private/operations/${id}/status` })) !== undefined;
  const [one, other, always] = [flow('STATUS 500 ONCE'), flow('STATUS 500 ONCE'), flow('STATUS 500')];
  expect([status(one), status(one), status(other), status(other)]).toEqual([true, false, true, false]);
  expect([status(always), status(always)]).toEqual([true, true]);
});

test.each<[body: string, isBroken: boolean]>([
  ['{"data":{"beneficiaryName":"VERIFY 500"}}', true],
  ['{"data":{"beneficiaryName":"verify  500","more":1}}', true],
  ['{"data":{"beneficiaryName":"EXECUTE 500"}}', false],
  ['{"data":{"beneficiaryName":500}}', false],
  ['{"data":{}}', false],
  ['{}', false],
  ['{"data":', false],
  ['', false],
])('verify with the body %s is broken: %s', async (body, isBroken) => {
  const bank = await newBank();
  const fault = (method: string, target: string) => magicFault(bank, rawRequest({ method, target, body }));
  const expected = isBroken ? fiveHundred : undefined;
  expect(fault('POST', `${P}/x/moneyTransfer/verify`)).toEqual(expected);
  expect(fault('POST', `${P}/x/moneyTransfer/verify?a=b`)).toEqual(expected);
  expect(fault('PUT', `${P}/x/moneyTransfer/verify`)).toBeUndefined();
  expect(fault('POST', `${P}/x/moneyTransfer/verify/x`)).toBeUndefined();
});

test('with ONCE, verify breaks at the first call of each name', async () => {
  const bank = await newBank();
  const verify = (name: string) => {
    const body = JSON.stringify({ data: { beneficiaryName: name } });
    return magicFault(bank, rawRequest({ method: 'POST', target: '/a/verify', body })) !== undefined;
  };
  expect(['VERIFY 500 ONCE', 'VERIFY 500 ONCE', 'VERIFY EMPTY ONCE', 'VERIFY 500'].map(verify)).toEqual([
    ...[true, false, true, true],
  ]);
});

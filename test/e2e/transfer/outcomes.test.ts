import { describe, expect, it } from 'vitest';
import { bankDate, bankDay } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, REFUSING_CUSTOMER, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf, stepsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());

const INSTANT = ['--instant', '--payee-verified'];

/** The arguments of a transfer whose payee is a magic value of the sandbox. */
const order = (name: string, amount: string, more: string[] = []) => [
  ...['transfer', 'create', '--yes', '--json', '--verbose', '--from', ACCOUNT],
  ...['--to', 'DE89370400440532013000', '--name', name, '--amount', amount, ...more],
];

const resume = (flow: string) => operator.psd2(['transfer', 'resume', flow, '--yes', '--json', '--verbose']);

/** How many times an amount has left the account. */
async function timesPaid(amount: string): Promise<number> {
  const rows = await operator.json(shapes.transactions, [
    ...['accounts', 'transactions', ACCOUNT, '--from', bankDay(-2)],
  ]);
  return rows.filter((row) => row.amount === `-${amount}0`).length;
}

// This transfer takes 15 seconds, so it runs beside the other tests.
describe('a transfer that fails', () => {
  it.each([
    ['SCA REFUSED', [], 6, 'not_authorised', 'rejected', 'status'],
    ['SCA EXPIRED', [], 6, 'authorisation_expired', 'expired', 'status'],
    ['SCA PENDING', ['--sca-timeout', '2'], 6, 'authorisation_timeout', 'authorizing', 'status'],
    ['STATUS EMPTY', ['--sca-timeout', '2'], 11, 'bank_answer', 'authorizing', 'status'],
    ['EXECUTE REFUSED', [], 7, 'bank_refused', 'failed', 'status'],
    // A firewall's page is not the bank's answer, so its status does not decide.
    ['EXECUTE 403', [], 9, 'outcome_unknown', 'unknown', 'status'],
    ['EXECUTE 420', [], 10, 'too_many_calls', 'authorized', 'status'],
    ['VERIFY 403', [], 5, 'forbidden', 'created', 'verify'],
    ['VERIFY 420', [], 10, 'too_many_calls', 'created', 'verify'],
    ['VERIFY 500', [], 11, 'bank_failing', 'created', 'verify'],
    ['VERIFY LOST', [], 11, 'bank_unreachable', 'created', 'verify'],
  ])('%s %j ends with exit code %i, and moves no money', async (name, more, exitCode, code, state, last) => {
    const amount = `2.${10 + name.length * 3 + exitCode}`;
    const ended = await operator.psd2(order(name, amount, more));
    expect(readError(ended)).toMatchObject({ exitCode, code });
    expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({ state });
    expect(stepsOf(ended).at(-1)).toBe(last);
    expect(await timesPaid(amount)).toBe(0);
  });

  it('INSTANT KO ends with exit code 8 and says why', async () => {
    const ended = await operator.psd2(order('INSTANT KO', '2.01', INSTANT));
    expect(readError(ended)).toMatchObject({ exitCode: 8, code: 'payment_failed' });
    const { state, executionStatus, executionStatusDescription } = readDocument(
      shapes.transfer,
      ended.stdout,
    );
    expect([state, executionStatus]).toEqual(['failed', 'KO']);
    expect(executionStatusDescription).toMatch(/refused the instant transfer/);
    expect(readError(ended).message).toContain(executionStatusDescription);
    expect(await timesPaid('2.01')).toBe(0);
  });

  it('psd2 names the kind of page that a firewall answered with', async () => {
    const ended = await operator.psd2(order('VERIFY 403', '2.02'));
    expect(readError(ended).message).toContain('text/html');
  });
});

describe('an execute without a clear answer', () => {
  it.each(['EXECUTE LOST', 'EXECUTE EMPTY', 'EXECUTE 204'])(
    '%s was done: psd2 asks the bank, and does not pay twice',
    async (name) => {
      const amount = `3.${10 + name.length}`;
      const ended = await operator.psd2(order(name, amount));
      expect(ended.code, ended.stderr).toBe(0);
      expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({ state: 'executed' });
      expect(stepsOf(ended).filter((step) => step === 'execute')).toHaveLength(1);
      expect(await timesPaid(amount)).toBe(1);
    },
  );

  it('EXECUTE 500 leaves the outcome unknown: resume asks the bank, and does not pay again', async () => {
    const ended = await operator.psd2(order('EXECUTE 500 ONCE', '3.01'));
    expect(readError(ended)).toMatchObject({ code: 'outcome_unknown', exitCode: 9 });
    const { flow, state } = readDocument(shapes.transfer, ended.stdout);
    expect(state).toBe('unknown');

    const resumed = await resume(flow);
    expect(readError(resumed).exitCode).toBe(9);
    expect(stepsOf(resumed)).toEqual(['status']);
    expect(await timesPaid('3.01')).toBe(0);
  });

  it('psd2 transfer resume --all asks about each unfinished transfer, and does not pay again', async () => {
    const create = async (name: string, amount: string) =>
      readDocument(shapes.transfer, (await operator.psd2(order(name, amount))).stdout).flow;
    const unknown = await create('EXECUTE 500 ONCE', '3.51');
    const limited = await create('EXECUTE 420', '3.52');
    const ended = await operator.psd2([
      'transfer',
      'resume',
      '--all',
      '--yes',
      '--json',
      '--sca-timeout',
      '1',
    ]);
    const all = readDocument(shapes.transfers, ended.stdout);
    const stateOf = (flow: string) => all.find((each) => each.flow === flow)?.state;
    expect([stateOf(unknown), stateOf(limited)]).toEqual(['unknown', 'authorized']);
    expect(all.map(({ createdAt }) => createdAt)).toEqual(all.map(({ createdAt }) => createdAt).toSorted());
    expect(readError(ended).message).toMatch(/ transfers could not be continued\. First failure: /);
    expect(readError(ended).next).toEqual([['psd2', 'transfer', 'list', '--attention']]);
    expect(ended.stderr).toContain(`Transfer ${unknown}: `);
    expect([await timesPaid('3.51'), await timesPaid('3.52')]).toEqual([0, 0]);
    const named = await operator.psd2(['transfer', 'resume', unknown, '--all', '--json']);
    expect(readError(named)).toMatchObject({ exitCode: 2 });
  });

  it('psd2 repeats a rate-limited GET when the bank says', async () => {
    const ended = await operator.psd2(order('STATUS 420 ONCE', '3.02'));
    expect(ended.code, ended.stderr).toBe(0);
    const asked = callsOf(ended).filter(({ step }) => step === 'status');
    expect(asked.map(({ outcome }) => outcome)).toEqual(['420', '200']);
  });
});

it("psd2 shows the bank's warning on stderr, and continues", async () => {
  const ended = await operator.psd2(order('VERIFY WARNING', '3.03'));
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stderr).toContain('The bank says: This is the first transfer to this payee [BENEFICIARY_NEW]');
  expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({ state: 'executed' });
});

describe('a consent that the bank grants in part', () => {
  const request = (...args: string[]) =>
    operator.psd2([
      ...['consent', 'request', '--category', 'FUNDS_AVAILABILITY', '--category', 'ACCOUNT_INFO'],
      ...['--all-accounts', '--json', ...args],
    ]);

  it('a partial consent is shown and recorded as it is, and ends with exit code 7', async () => {
    const ended = await request();
    expect(readError(ended)).toMatchObject({
      exitCode: 7,
      message: expect.stringContaining('FUNDS_AVAILABILITY'),
    });
    const consent = readDocument(shapes.consent, ended.stdout);
    expect(consent.state).toBe('confirmed');
    expect(consent.categories.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['FUNDS_AVAILABILITY', false],
      ['ACCOUNT_INFO', true],
    ]);
    expect(await operator.json(shapes.consent, ['consent', 'show', consent.flow])).toEqual(consent);
  });

  it('a partial consent is enough with --allow-partial', async () => {
    const ended = await request('--allow-partial');
    expect(ended.code, ended.stderr).toBe(0);
  });
});

describe('PSD2_SCA_REQUIRED', () => {
  const older = ['accounts', 'transactions', ACCOUNT, '--from', bankDay(-200), '--limit', '1', '--json'];

  it('without a terminal, PSD2_SCA_REQUIRED gives exit code 6 and the next command', async () => {
    const ended = await operator.psd2([...older, '--verbose']);
    expect(readError(ended)).toMatchObject({
      exitCode: 6,
      code: 'sca_required',
      bankCode: 'PSD2_SCA_REQUIRED',
      hint: expect.stringContaining('--yes'),
    });
    expect(stepsOf(ended)).toEqual(['retrieve']);
    expect(ended.stdout).toBe('');
  });

  it('after PSD2_SCA_REQUIRED psd2 api says which call starts SCA', async () => {
    const from = encodeURIComponent(bankDate(-200));
    const path = `/private/customers/1048262/products/${ACCOUNT}/transactions/retrieve`;
    const ended = await operator.psd2([...['api', 'GET', `${path}?dateFrom=${from}`, '--json']]);
    const { resourceId } = JSON.parse(ended.stdout).resources;
    expect(readError(ended)).toMatchObject({
      exitCode: 6,
      hint: expect.stringContaining(`/private/auth/security/sca/${resourceId}/approach`),
    });
  });

  it('psd2 sends a customer who refuses SCA only once', async () => {
    const ended = await operator.psd2([...older, '--yes', '--verbose'], {
      env: { PSD2_BROWSER: REFUSING_CUSTOMER },
    });
    expect(readError(ended)).toMatchObject({ exitCode: 6, code: 'sca_required' });
    expect(stepsOf(ended)).toEqual(['retrieve', 'approach', 'retrieve']);
  });

  it('with --yes psd2 sends the customer once, and the same call returns the rows', async () => {
    const ended = await operator.psd2([...older, '--yes', '--verbose']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(readDocument(shapes.transactions, ended.stdout)).toHaveLength(1);
    expect(stepsOf(ended)).toEqual(['retrieve', 'approach', 'retrieve']);
    const lifted = await operator.psd2([...older, '--verbose']);
    expect(stepsOf(lifted)).toEqual(['retrieve']);
    expect(lifted.code).toBe(0);
  });
});

describe('an instant transfer that is PENDING past 15 seconds', () => {
  it('an instant transfer that stays PENDING ends with exit code 9; resume asks again and executes nothing', async () => {
    const ended = await operator.psd2(order('INSTANT PENDING', '1.09', INSTANT));
    expect(readError(ended)).toMatchObject({ exitCode: 9, code: 'outcome_unknown' });
    const { flow, state, executionStatus } = readDocument(shapes.transfer, ended.stdout);
    expect([state, executionStatus]).toEqual(['executed', 'PENDING']);
    expect(stepsOf(ended).filter((step) => step === 'execution/status')).toHaveLength(5);
    expect(readError(ended).hint).toContain(`psd2 transfer resume ${flow}`);

    const resumed = await resume(flow);
    expect(resumed.code).toBeOneOf([0, 9]);
    expect(new Set(stepsOf(resumed))).toEqual(new Set(['execution/status']));
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { bankDate, untilWorkday } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const STANDING_ORDER = ['standingOrder', '--account', ACCOUNT];
const TERM = ['--verify-data', '{"numberOfExecutions":12}', '--yes'];
const operator = keepRunning(useLoggedIn());

// From now on the tokens that psd2 uses by default are another customer's.
beforeAll(async () => {
  const env = { PSD2_BROWSER: `${operator.env.PSD2_BROWSER} --user bruno` };
  const login = await operator.json(shapes.login, ['auth', 'login'], { env });
  expect(login.customerId).toBe('2073915');
});

/** A transfer and a consent that wait for the customer, and an operation that waits for its data; all of the first customer. */
async function begun(): Promise<{ transfer: string; consent: string; operation: string }> {
  const own = ['--customer', '1048262', '--json'];
  const left = async (args: string[]): Promise<string> => {
    const env = { PSD2_BROWSER: 'none' };
    const ended = await operator.psd2([...args, ...own, '--sca-timeout', '0.2'], { env });
    expect(ended.code, ended.stderr).toBe(6);
    return JSON.parse(ended.stdout).flow;
  };
  const data = JSON.stringify({
    ...{ ibanBeneficiary: 'DE89370400440532013000', beneficiaryName: 'Ada Lovelace', description: 'Rent' },
    amount: { currency: 'EUR', amount: '2.00' },
    frequency: 'WEEKLY',
    firstExecutionDate: bankDate(untilWorkday()),
  });
  const verify = ['operation', 'verify', ...STANDING_ORDER, '--data', data, ...own];
  return {
    transfer: await left(words`transfer create --yes --from ${ACCOUNT} --to DE89370400440532013000 --name
      ${'Ada Lovelace'} --amount 5.00`),
    consent: await left(['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts']),
    operation: (await operator.json(shapes.operation, verify)).flow,
  };
}

it('psd2 asks about a flow, and continues it, as the customer who began it, whoever has logged in since', async () => {
  const flows = await begun();
  const asked = await operator.json(shapes.transfer, ['transfer', 'status', flows.transfer]);
  expect(asked).toMatchObject({ state: 'authorizing', authorizationStatus: 'PENDING' });
  const status = ['operation', 'status', ...STANDING_ORDER, '--resource', flows.operation, '--json'];
  const answered = await operator.succeeds(status);
  expect(JSON.parse(answered.stdout)).toMatchObject({ authorizationStatus: 'PENDING' });

  const transfer = await operator.json(shapes.transfer, ['transfer', 'resume', flows.transfer]);
  expect(transfer.state).toBe('executed');
  const file = join(operator.folder, 'receipt.pdf');
  await operator.succeeds(['transfer', 'receipt', flows.transfer, '--file', file]);
  expect(readFileSync(file, 'latin1')).toMatch(/^%PDF-/);
  const consent = await operator.json(shapes.consent, ['consent', 'resume', flows.consent]);
  expect(consent.state).toBe('confirmed');
  const resume = ['operation', 'resume', flows.operation, ...TERM];
  expect((await operator.json(shapes.operation, resume)).state).toBe('executed');
});

const OWN = '1048262';
const LAST = '2073915';

it('psd2 refuses a --customer that is not the customer of the flow, and changes nothing', async () => {
  const flows = await begun();
  const commands = [
    ...['show', 'status', 'resume', 'cancel'].map((verb) => ['transfer', verb, flows.transfer]),
    ['transfer', 'resolve', flows.transfer, '--not-executed', '--yes'],
    ['transfer', 'receipt', flows.transfer, '--file', 'receipt.pdf'],
    ...['show', 'resume', 'cancel'].map((verb) => ['consent', verb, flows.consent]),
    ['consent', 'resolve', flows.consent, '--not-executed', '--yes'],
    ...['show', 'resume', 'cancel'].map((verb) => ['operation', verb, flows.operation]),
    ['operation', 'resolve', flows.operation, '--not-executed', '--yes'],
    ...['status', 'sca', 'execute'].map(
      (verb) => words`operation ${verb} ${STANDING_ORDER} --resource
      ${flows.operation}`,
    ),
  ];
  for (const args of commands) {
    const ended = await operator.psd2([...args, '--customer', LAST, '--yes', '--json']);
    const message = expect.stringContaining(`belongs to customer ${OWN}, not to "${LAST}"`);
    expect(readError(ended), args.join(' ')).toMatchObject({ exitCode: 2, code: 'usage', message });
    expect(ended.stdout).toBe('');
  }
  const { state } = await operator.json(shapes.transfer, ['transfer', 'show', flows.transfer]);
  expect(state).toBe('authorizing');
  // The variable is a default, and the operator named the flow.
  const shown = ['transfer', 'show', flows.transfer, '--customer', OWN];
  await operator.json(shapes.transfer, shown, { env: { PSD2_CUSTOMER: LAST } });
});

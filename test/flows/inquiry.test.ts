import { describe, expect, it } from 'vitest';
import { withSca } from '../../src/flows/sca.ts';
import { operationStatus, refusal, scaRequired, success } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { lacking } from '../support/lacking.ts';
import { customerElsewhere, errorOf, type FakeCustomer, fakeCustomer, fakeWorld } from './doubles.ts';
import { scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const ACCOUNTS = '/private/customers/1234567/accounts';
const none = success('{"accounts":[]}');

function openBank(customer: FakeCustomer, maySendCustomer = true) {
  const world = fakeWorld();
  const said: string[] = [];
  const { bank } = openClient({ now: world.now });
  const ports = { bank, customer, world, maySendCustomer, say: (text: string) => said.push(text) };
  return {
    said,
    fetchAccounts: () => withSca(() => bank.accounts.list('1234567', transactionId), transactionId, ports),
  };
}

describe.each([200, 401, 403, 412])('PSD2_SCA_REQUIRED with HTTP %i', (status) => {
  it('psd2 sends the customer to SCA with the resource of the answer, and repeats the call with the same token', async () => {
    recorded.expect('GET', ACCOUNTS, scaRequired(status, 'r1'));
    script.approach();
    recorded.expect('GET', ACCOUNTS, none);
    const customer = fakeCustomer();
    const { fetchAccounts, said } = openBank(customer);
    expect(await fetchAccounts()).toEqual([]);
    expect(customer.visited).toHaveLength(1);
    expect(said).toEqual(['The bank requires the customer to authenticate again first.']);
    expect(new Set(recorded.received.map(({ headers }) => headers.authorization)).size).toBe(1);
  });
});

it('if the customer returns to another machine, psd2 waits until the status shows the decision', async () => {
  recorded.expect('GET', ACCOUNTS, scaRequired(412, 'r1'));
  script.approach();
  script.status(operationStatus('PENDING'));
  script.status(operationStatus('AUTHORIZED'));
  recorded.expect('GET', ACCOUNTS, none);
  expect(await openBank(customerElsewhere()).fetchAccounts()).toEqual([]);
});

it('if the bank requires SCA a second time, psd2 gives up', async () => {
  recorded.expect('GET', ACCOUNTS, scaRequired(412, 'r1'));
  script.approach();
  recorded.expect('GET', ACCOUNTS, scaRequired(412, 'r1'));
  await expect(openBank(fakeCustomer()).fetchAccounts()).rejects.toMatchObject({
    code: 'sca_required',
    hint: 'The customer came back from SCA, but the bank still requires it. Log in again:',
    next: [['auth', 'login']],
  });
});

it('if the bank refuses the repeated call for another reason, psd2 says what the bank said', async () => {
  recorded.expect('GET', ACCOUNTS, scaRequired(412, 'r1'));
  script.approach();
  recorded.expect('GET', ACCOUNTS, refusal(403));
  const { fetchAccounts } = openBank(fakeCustomer());
  const error = await errorOf(fetchAccounts());
  expect(error).toMatchObject({ code: 'forbidden' });
  expect(error.hint ?? '').not.toContain('SCA');
});

it('psd2 waits for the customer no longer than they may take', async () => {
  recorded.expect('GET', ACCOUNTS, scaRequired(412, 'r1'));
  script.approach();
  const { fetchAccounts } = openBank(fakeCustomer({ scaTimeoutMs: 20 }, null));
  expect(await errorOf(fetchAccounts())).toMatchObject({
    code: 'authorisation_timeout',
    message: 'The customer did not authenticate and come back within 0.02 s',
    hint: 'Run the command again. --sca-timeout gives the customer more time.',
    transactionId,
  });
});

describe('when psd2 does not send the customer to SCA', () => {
  const MAY_NOT = {
    hint: 'On a terminal, or with --yes, psd2 sends the customer to authenticate and repeats the call.',
    context: lacking('next'),
  };
  const UNNAMED = {
    hint: 'The bank named no resource to authorise. The customer must log in again:',
    next: [['auth', 'login']],
  };
  it.each([
    ['if psd2 may not send the customer', scaRequired(412, 'r1'), false, MAY_NOT],
    ['if the answer names no resource', refusal(412, 'PSD2_SCA_REQUIRED'), true, UNNAMED],
  ])('%s, psd2 reports that SCA is required and opens no browser', async (_, answer, maySend, advice) => {
    recorded.expect('GET', ACCOUNTS, answer);
    const customer = fakeCustomer();
    const { fetchAccounts } = openBank(customer, maySend);
    await expect(fetchAccounts()).rejects.toMatchObject({ code: 'sca_required', ...advice });
    expect(customer.visited).toEqual([]);
  });

  it('psd2 does not send the customer to SCA after any other refusal', async () => {
    for (let call = 0; call < 2; call += 1) recorded.expect('GET', ACCOUNTS, refusal(412, 'PSD2_OTHER'));
    const { fetchAccounts, said } = openBank(fakeCustomer());
    const plain = await errorOf(openClient().bank.accounts.list('1234567', transactionId));
    expect(await errorOf(fetchAccounts())).toEqual(plain);
    expect(plain).toMatchObject({ code: 'bank_refused' });
    expect(said).toEqual([]);
  });
});

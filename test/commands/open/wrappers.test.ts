import { describe, expect, it } from 'vitest';
import { bankOver } from '../../../src/bank/interfaces/cb/interface.ts';
import { scaForInquiries } from '../../../src/commands/open/bank.ts';
import { scaRequired, success } from '../../bank/answers.ts';
import { useClients } from '../../bank/client.ts';
import { useRecordedBank } from '../../bank/recorded-bank.ts';
import { fakeCustomer, fakeWorld } from '../../flows/doubles.ts';
import { scriptOf } from '../../flows/transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);

const customerId = '1234567';
const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

function openBank() {
  const [customer, world] = [fakeCustomer(), fakeWorld()];
  const { bank, caller } = openClient({ now: world.now });
  const ports = { bank, customer, world, maySendCustomer: true, say: () => {} };
  return { customer, bank: bankOver(scaForInquiries(ports)(caller)) };
}

describe('a call that requires SCA', () => {
  it('psd2 sends the customer to SCA for a GET, and repeats it', async () => {
    const path = `/private/customers/${customerId}/accounts`;
    recorded.expect('GET', path, scaRequired(412, 'r1'));
    script.approach();
    recorded.expect('GET', path, success('{"accounts":[]}'));
    const { bank, customer } = openBank();
    expect(await bank.accounts.list(customerId, transactionId)).toEqual([]);
    expect(customer.visited).toHaveLength(1);
  });

  it('psd2 does not repeat a PUT, and does not send the customer to SCA for it', async () => {
    const path = `/private/customers/${customerId}/consent/request/r1/confirm`;
    recorded.expect('PUT', path, scaRequired(412, 'r1'));
    const { bank, customer } = openBank();
    const consent = { customerId, resourceId: 'r1', transactionId, beforeSend: async () => undefined };
    await expect(bank.consents.confirm(consent)).rejects.toMatchObject({ code: 'sca_required' });
    expect(customer.visited).toEqual([]);
  });
});

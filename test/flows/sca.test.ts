import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import type { FlowPorts } from '../../src/flows/ports.ts';
import { askUntil, awaitAuthorization, sendCustomerToSca } from '../../src/flows/sca.ts';
import { operationStatus, refusal, success } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { customerElsewhere, type FakeCustomer, fakeCustomer, fakeWorld } from './doubles.ts';
import { SCA_STARTED, scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);

const subject = {
  resourceId: 'r1',
  transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
  doing: 'authorise the test',
  whenLate: { hint: 'Go on with the test' },
};

function portsWith(customer: FakeCustomer) {
  const world = fakeWorld();
  const ports: FlowPorts = { bank: openClient({ now: world.now }).bank, customer, world };
  const steps: string[] = [];
  const record = {
    beforeSend: async () => void steps.push('approach-sent'),
    started: async () => void steps.push('started'),
    returned: async () => void steps.push('returned'),
  };
  return { world, ports, steps, record };
}

describe('sending the customer to SCA', () => {
  const HERE = /^http:\/\/127\.0\.0\.1:8910\/callback\?state=/;
  const ELSEWHERE = /^https:\/\/tpp\.example\/back\?to=psd2&state=[0-9a-f-]{36}$/;
  it.each([
    ['is at another device', fakeCustomer({ atAnotherDevice: true }), HERE],
    ['comes back to another machine', customerElsewhere(), ELSEWHERE],
  ])('psd2 does not wait at the redirect URI if the customer %s', async (_, customer, returnsThere) => {
    script.approach();
    const { ports, steps, record } = portsWith(customer);
    expect(await sendCustomerToSca(ports, subject, record)).toBe(false);
    expect(steps).toEqual(['approach-sent', 'started']);
    expect(customer.visited).toHaveLength(1);
    expect(recorded.last.headers['tpp-redirect-uri']).toMatch(returnsThere);
    if (customer.atAnotherDevice) expect(customer.listeners).toEqual([]);
  });

  it('the customer goes to the bank, and comes back to the redirect URI with the state of this SCA', async () => {
    script.approach();
    const customer = fakeCustomer();
    const { ports, steps, record } = portsWith(customer);
    expect(await sendCustomerToSca(ports, subject, record)).toBe(true);
    expect(steps).toEqual(['approach-sent', 'started', 'returned']);
    expect(customer.visited).toEqual(['https://customers.example/sca-authorize/?resourceId=r1']);
    const [listener] = customer.listeners;
    expect(listener).toMatchObject({ purpose: 'authorisation', closed: true });
    expect(recorded.last.headers['tpp-redirect-uri']).toBe(
      `http://127.0.0.1:8910/callback?state=${listener?.state}`,
    );
  });

  it('psd2 closes the listener if the customer does not come back in time', async () => {
    script.approach();
    const customer = fakeCustomer({ scaTimeoutMs: 20 }, null);
    const { ports, steps, record } = portsWith(customer);
    await expect(sendCustomerToSca(ports, subject, record)).rejects.toMatchObject({
      code: 'authorisation_timeout',
      message: 'The customer did not authorise the test and come back within 0.02 s',
      hint: 'Go on with the test',
      transactionId: subject.transactionId,
    });
    expect(steps).toEqual(['approach-sent', 'started']);
    expect(customer.listeners).toMatchObject([{ closed: true }]);
  });

  it('psd2 closes the listener if the operator interrupts', async () => {
    script.approach();
    const interrupted = new Psd2Error('interrupted', 'Interrupted');
    const customer = fakeCustomer({}, null);
    const { ports, world } = portsWith(customer);
    const sent = sendCustomerToSca(
      { ...ports, customer: { ...customer, sendBrowser: async () => world.interrupt.abort(interrupted) } },
      subject,
    );
    await expect(sent).rejects.toBe(interrupted);
    expect(customer.listeners).toMatchObject([{ closed: true }]);
  });

  it('an error while psd2 waits at the redirect URI is not a timeout', async () => {
    script.approach();
    const broken = new Psd2Error('bank_answer', 'The callback has no state');
    const customer = fakeCustomer({
      listen: async () => ({ received: () => Promise.reject(broken), close: async () => {} }),
    });
    const { ports, steps, record } = portsWith(customer);
    await expect(sendCustomerToSca(ports, subject, record)).rejects.toBe(broken);
    expect(steps).toEqual(['approach-sent', 'started']);
  });

  it.each([
    [refusal(412), 'bank_refused'],
    [success('{"chosenScaApproach":"DECOUPLED"}'), 'bank_answer'],
  ])('psd2 sends the customer nowhere if the bank does not start SCA', async (answer, code) => {
    script.approach(answer);
    const customer = fakeCustomer();
    const { ports, steps, record } = portsWith(customer);
    await expect(sendCustomerToSca(ports, subject, record)).rejects.toMatchObject({ code });
    expect(steps).toEqual(['approach-sent']);
    expect(customer).toMatchObject({ visited: [], listeners: [{ closed: true }] });
  });

  it('psd2 does not send the customer to an address that must not be opened', async () => {
    script.approach(SCA_STARTED);
    const odd = new Psd2Error('bank_answer', 'The address is not https');
    const customer = fakeCustomer({ sendBrowser: () => Promise.reject(odd) });
    const { ports } = portsWith(customer);
    await expect(sendCustomerToSca(ports, subject)).rejects.toBe(odd);
    expect(customer.listeners).toMatchObject([{ closed: true }]);
  });
});

describe('the decision of the customer', () => {
  it.each(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED'])('psd2 reports %s at once', async (status) => {
    script.status(operationStatus(status));
    const { ports, world } = portsWith(fakeCustomer());
    const found = await awaitAuthorization(ports, subject);
    expect(found).toEqual({ type: 'authorization', status, bankStatus: status });
    expect(world.sleeps).toEqual([]);
  });

  it('psd2 asks for the decision soon at first, then every 3 s, as long as the customer may take', async () => {
    for (let asked = 0; asked < 6; asked += 1) script.status(operationStatus('PENDING'));
    const { ports, world } = portsWith(fakeCustomer({ scaTimeoutMs: 10_000 }));
    await expect(awaitAuthorization(ports, subject)).rejects.toMatchObject({ code: 'authorisation_timeout' });
    expect(world.sleeps).toEqual([500, 1000, 2000, 3000, 3000]);
  });

  it('psd2 asks for the last time exactly when the time of the customer is over', async () => {
    for (let asked = 0; asked < 4; asked += 1) script.status(operationStatus('PENDING'));
    const { ports, world } = portsWith(fakeCustomer({ scaTimeoutMs: 3500 }));
    await expect(awaitAuthorization(ports, subject)).rejects.toMatchObject({
      code: 'authorisation_timeout',
      message: 'The customer did not authorise the test within 3.5 s',
    });
    expect(world.sleeps).toEqual([500, 1000, 2000]);
  });

  it('psd2 asks no later than the customer may take if the bank answers slowly', async () => {
    for (let asked = 0; asked < 3; asked += 1) script.status(operationStatus('PENDING'));
    const world = fakeWorld();
    // The answers come after 3 s, 6.5 s and 10.5 s.
    const { bank } = openClient({ now: world.now, observe: async () => world.pass(3000) });
    const ports = { bank, world, customer: fakeCustomer({ scaTimeoutMs: 11_000 }) };
    await expect(awaitAuthorization(ports, subject)).rejects.toMatchObject({ code: 'authorisation_timeout' });
    expect(world.sleeps).toEqual([500, 1000]);
  });

  it('psd2 does not wait longer if the clock is set back in the meantime', async () => {
    for (let asked = 0; asked < 6; asked += 1) script.status(operationStatus('PENDING'));
    const { ports, world } = portsWith(fakeCustomer({ scaTimeoutMs: 10_000 }));
    const { sleep } = ports.world;
    const putBack = async (milliseconds: number) => {
      await sleep(milliseconds);
      world.pass(-20_000);
    };
    const waiting = awaitAuthorization({ ...ports, world: { ...ports.world, sleep: putBack } }, subject);
    await expect(waiting).rejects.toMatchObject({ code: 'authorisation_timeout' });
    expect(world.sleeps).toEqual([500, 1000, 2000, 3000, 3000]);
  });
});

describe('a bank that cannot be asked now and then', () => {
  type Word = 'away' | 'not yet' | 'yes';
  const AWAY = new Psd2Error('bank_failing', 'The bank is away');
  it.each<[Word[], end: string]>([
    [['yes'], 'yes after 0 s'],
    [['away', 'yes'], 'yes after 4 s'],
    [['not yet', 'away', 'yes'], 'yes after 8 s'],
    [['not yet', 'not yet', 'not yet', 'not yet'], 'nothing after 12 s'],
    [['away', 'away', 'away', 'not yet'], 'nothing after 12 s'],
    [['away', 'away', 'away', 'away'], 'away since 0 s'],
    [['not yet', 'away', 'away', 'away'], 'away since 4 s'],
    [['away', 'not yet', 'away', 'away'], 'away since 8 s'],
    [['away', 'away', 'not yet', 'away'], 'away since 12 s'],
  ])('is asked until the time is over: %j', async (words, end) => {
    const world = fakeWorld();
    const begun = world.now().getTime();
    const ask = async () => {
      const word = words.shift() ?? expect.unreachable();
      if (word === 'away') throw AWAY;
      return word === 'yes' ? word : null;
    };
    const found = await askUntil(world, 12_000, ask, 4_000).then(
      (answer) => `${answer ?? 'nothing'} after ${world.elapsed() / 1000} s`,
      ({ unaskedSince }) => `away since ${(Date.parse(unaskedSince) - begun) / 1000} s`,
    );
    expect([found, words]).toEqual([end, []]);
  });
});

import { expect, test } from 'vitest';
import {
  askConsent,
  authorisationOf,
  CALLBACK,
  type DoorReply,
  linkOf,
  START,
  useDoor,
} from './door-client.ts';
import { approve, initiate, pay } from './payment-client.ts';

// The operations and headers of the standard that psd2 itself does not use.

const door = await useDoor({ payments: { futureDays: 30 } }, ['confirmation-codes']);
const authorisationsAt = async (path: string): Promise<unknown> =>
  Object(await door.client.get(path).then(({ json }) => json)).authorisationIds;

/** Starts the authorisation that an answer has a link for. */
function start(reply: DoorReply): Promise<DoorReply> {
  const path = linkOf(reply, 'startAuthorisation');
  return door.client.send({ method: 'POST', path, body: {}, headers: { 'tpp-redirect-uri': CALLBACK } });
}

/** Sends the code that the browser brought back. */
function confirm(reply: DoorReply, confirmationCode: string | null | undefined): Promise<DoorReply> {
  return door.client.send({ method: 'PUT', path: linkOf(reply, 'confirmation'), body: { confirmationCode } });
}

test('a cancellation takes the code that the browser brings back', async () => {
  const reply = await initiate(door, { requestedExecutionDate: '2026-11-27' });
  const code = approve(door, reply)?.searchParams.get('confirmationCode');
  await confirm(reply, code);
  const asked = await door.client.send({ method: 'DELETE', path: linkOf(reply, 'self') });
  expect(asked.status).toBe(202);
  const started = await start(asked);
  const other = approve(door, started)?.searchParams.get('confirmationCode');
  expect((await confirm(started, other)).json.scaStatus).toBe('finalised');
  expect((await door.client.get(linkOf(reply, 'status'))).json.transactionStatus).toBe('CANC');
});

test('a basket has payments, a status and authorisations', async () => {
  const headers = { ...START, 'tpp-explicit-authorisation-preferred': 'true' };
  const one = await initiate(door, { endToEndIdentification: 'B-1' }, { headers });
  const body = { paymentIds: [one.json.paymentId] };
  const basket = await door.client.send({ method: 'POST', path: '/v1/signing-baskets', body, headers });
  const self = linkOf(basket, 'self');
  expect((await door.client.get(self)).json).toMatchObject({ transactionStatus: 'RCVD' });
  expect((await door.client.get(`${self}/status`)).json).toEqual({ transactionStatus: 'RCVD' });
  const started = await start(basket);
  expect(await authorisationsAt(`${self}/authorisations`)).toEqual([authorisationOf(started)]);
  expect((await door.client.get(linkOf(started, 'scaStatus'))).json.scaStatus).toBe('received');
  const code = approve(door, started)?.searchParams.get('confirmationCode');
  expect((await confirm(started, code)).json.scaStatus).toBe('finalised');
  expect((await door.client.get(`${self}/status`)).json.transactionStatus).toBe('ACTC');
});

test('headers about the customer and their browser are taken', async () => {
  const reply = await askConsent(
    door,
    {},
    {
      ...{
        'psu-accept-language': 'de',
        'psu-ip-port': '1234',
        'psu-user-agent': 'x',
        'psu-corporate-id-type': 'C',
      },
      ...{ 'tpp-brand-logging-information': 'b', 'tpp-notification-uri': 'https://tpp.example/n' },
    },
  );
  expect(reply.status).toBe(201);
  expect(await pay(door)).toBeDefined();
});

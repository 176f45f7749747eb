import { expect, test } from 'vitest';
import * as z from 'zod';
import { tanAnswer } from '../../../../src/sandbox/control/answers.ts';
import { deviceAnswer } from '../../../../src/sandbox/nextgenpsd2/embedded/device-answers.ts';
import { Devices } from '../../../../src/sandbox/nextgenpsd2/embedded/devices.ts';
import { devicesShown, readTan } from '../../../../src/sandbox/nextgenpsd2/embedded/devices-shown.ts';
import { seeded } from '../../seeded.ts';
import { bankHere } from '../bank-here.ts';
import { ANNA } from '../door-client.ts';
import { method, pin, tan } from '../embedded-client.ts';
import { paymentBody, SCT } from '../payment-client.ts';

const BRUNO = '2073915';
const ANNAS = { 'psu-id': 'anna' };

async function embedded() {
  const here = await bankHere({ sca: { approaches: ['embedded'] } });
  const send = (call: string, body: object) => here.serve(call, { body, headers: ANNAS });
  /** Begins a payment, up to its TAN by this method. @returns the path of its authorisation */
  const begin = (methodId: string): string => {
    const { json } = send(`POST ${SCT}`, paymentBody());
    const path = `${SCT}/${json.paymentId}/authorisations/${String(json._links?.scaStatus?.href).split('/').at(-1)}`;
    send(`PUT ${path}`, pin());
    send(`PUT ${path}`, method(methodId));
    return path;
  };
  return { ...here, send, begin };
}

test('what a device shows has the fields that the description of the control site names', async () => {
  const { bank, begin } = await embedded();
  begin('901');
  const [shown, ...more] = devicesShown(bank);
  expect(more).toEqual([]);
  expect(shown).toEqual({
    ...{ user: 'anna', at: '2026-11-20T11:00:00.000Z', method: expect.stringMatching(/./), image: null },
    ...{
      text: expect.stringContaining(String(shown?.tan)),
      tan: expect.stringMatching(/^\w{6,}$/),
      isOpen: true,
    },
  });
  const { required, properties } = z.toJSONSchema(deviceAnswer);
  expect([required?.toSorted(), Object.keys(properties ?? {}).toSorted()]).toEqual([
    ...[Object.keys(shown ?? {}).toSorted(), Object.keys(shown ?? {}).toSorted()],
  ]);
  expect(deviceAnswer.parse(shown)).toEqual(shown);
});

test('the devices keep the newest 200 messages, oldest first, and forget a customer', () => {
  const devices = new Devices();
  const at = new Date('2026-11-20T11:00:00Z');
  const message = { at, authorisationId: 'a', method: 'SMS', tan: '1', image: undefined };
  const texts = () => devices.list().map(({ text }) => text);
  const all = Array.from({ length: 201 }, (_, index) => `message ${index}`);
  for (const text of all.slice(0, 200)) devices.show({ ...message, text, customerId: ANNA });
  expect(texts()).toEqual(all.slice(0, 200));
  devices.show({ ...message, text: all[200] ?? '', customerId: BRUNO });
  expect(texts()).toEqual(all.slice(1));
  expect(new Set(devices.list().map(({ id }) => id)).size).toBe(200);
  devices.forgetCustomer(seeded('anna'));
  expect(texts()).toEqual(['message 200']);
});

test('a TAN is open until it was used, another one came, or its time is over', async () => {
  const { bank, begin, send, clock } = await embedded();
  const open = () => devicesShown(bank).map(({ isOpen }) => isOpen);
  const path = begin('901');
  begin('901');
  expect(open()).toEqual([true, true]);
  send(`PUT ${path}`, method('901'));
  expect(open()).toEqual([false, true, true]);
  send(`PUT ${path}`, tan(devicesShown(bank)[2]?.tan ?? ''));
  expect(open()).toEqual([false, true, false]);
  clock.advance(24 * 60 * 60_000);
  expect(open()).toEqual([false, false, false]);
});

test('a customer reads the newest TAN that is open, once, and nobody else reads it', async () => {
  const { bank, begin, send } = await embedded();
  expect(readTan(bank, ANNA)).toBeNull();
  begin('901');
  const second = begin('901');
  const newest = devicesShown(bank)[1];
  expect(readTan(bank, BRUNO)).toBeNull();
  const { method: name, text, tan: value } = newest ?? expect.unreachable();
  const read = readTan(bank, ANNA);
  expect(read).toEqual({ method: name, text, tan: value });
  expect(tanAnswer.parse(read)).toEqual(read);
  // The older one was read with it.
  expect(readTan(bank, ANNA)).toBeNull();
  begin('901');
  send(`PUT ${second}`, method('901'));
  const [, , third, fourth] = devicesShown(bank);
  send(`PUT ${second}`, tan(fourth?.tan ?? ''));
  // The newest is used, so it is the one before.
  expect(readTan(bank, ANNA)?.tan).toBe(third?.tan);
  expect(readTan(bank, ANNA)).toBeNull();
});

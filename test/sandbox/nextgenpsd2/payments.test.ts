import { describe, expect, test } from 'vitest';
import { authorisationOf, useDoor, withDoor } from './door-client.ts';
import {
  approve,
  debitsOf,
  INSTANT,
  initiate,
  linkOf,
  pay,
  paymentBody,
  SCT,
  statusOf,
} from './payment-client.ts';

const door = await useDoor();
const MINUTE = 60_000;

describe('a payment', () => {
  test('is received, and has fee, links and authorisation', async () => {
    const reply = await initiate(door);
    const { status, headers, json } = reply;
    const base = `/nextgenpsd2${SCT}/${json.paymentId}`;
    expect([status, headers['aspsp-sca-approach'], headers.location]).toEqual([201, 'REDIRECT', base]);
    expect(json).toEqual({
      transactionStatus: 'RCVD',
      paymentId: json.paymentId,
      transactionFees: { currency: 'EUR', amount: '0.50' },
      transactionFeeIndicator: true,
      scaStatus: 'received',
      _links: {
        scaRedirect: { href: expect.stringContaining('/authorise?request=') },
        scaStatus: { href: `${base}/authorisations/${authorisationOf(reply)}` },
        self: { href: base },
        status: { href: `${base}/status` },
      },
    });
    expect(await statusOf(door, reply)).toBe('RCVD');
    const whole = await door.client.get(base);
    expect(whole.json).toEqual({ ...paymentBody(), transactionStatus: 'RCVD' });
    const list = await door.client.get(`${base}/authorisations`);
    expect(list.json).toEqual({ authorisationIds: [authorisationOf(reply)] });
  });

  test('runs without the TPP once the customer has authorised it, and once alone', async () => {
    const reply = await pay(door, { endToEndIdentification: 'RUNS-1' });
    expect(await statusOf(door, reply)).toBe('ACSP');
    expect(await debitsOf(door, 'RUNS-1')).toBe(1);
    expect(() => approve(door, reply)).toThrow('There is no open request');
    expect((await door.client.get(linkOf(reply, 'scaStatus'))).json).toEqual({ scaStatus: 'finalised' });
    expect(await debitsOf(door, 'RUNS-1')).toBe(1);
  });

  test('is settled on the next business day', async () => {
    await withDoor({}, async (at) => {
      const reply = await pay(at);
      at.clock.advance(3 * 24 * 60 * MINUTE);
      expect(await statusOf(at, reply)).toBe('ACSC');
    });
  });

  test('that is instant settles at once, with the first final status of the bank', async () => {
    await withDoor({ payments: { final: ['ACCC'] } }, async (at) => {
      const reply = await pay(at, {}, { path: INSTANT });
      expect(await statusOf(at, reply)).toBe('ACSP');
      at.clock.advance(600);
      expect(await statusOf(at, reply)).toBe('ACCC');
      const failed = await pay(
        at,
        { creditorName: 'INSTANT KO', endToEndIdentification: 'KO-1' },
        { path: INSTANT },
      );
      at.clock.advance(600);
      expect([await statusOf(at, failed), await debitsOf(at, 'KO-1')]).toEqual(['RJCT', 0]);
    });
  });
});

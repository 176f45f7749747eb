import { describe, expect, test } from 'vitest';
import type { CustomerMethod, Device } from '../../../../src/sandbox/customers/sca-methods.ts';
import type { DoorConsent } from '../../../../src/sandbox/nextgenpsd2/consents/consent.ts';
import { makeChallenge } from '../../../../src/sandbox/nextgenpsd2/embedded/challenge.ts';
import { matrixImage } from '../../../../src/sandbox/nextgenpsd2/embedded/matrix-image.ts';
import { newPayment, type PaymentOrder } from '../../../../src/sandbox/nextgenpsd2/payments/payment.ts';
import type { StandingRule } from '../../../../src/sandbox/nextgenpsd2/payments/standing-rule.ts';
import type { Asked } from '../../../../src/sandbox/nextgenpsd2/sca/asked.ts';

const NOW = new Date('2026-11-20T11:00:00Z');

const order = (amount = 1250, beneficiaryName = 'Beta'): PaymentOrder => ({
  ...{ instant: false, amount, commissions: 50, endToEndId: undefined, description: '' },
  ...{ beneficiaryIban: 'DE02120300000000202051', beneficiaryName },
});

const STANDING: StandingRule = {
  ...{ startDate: '2026-12-01', endDate: undefined, frequency: 'Monthly' },
  ...{ dayOfExecution: undefined, executionRule: undefined },
};

function payment(orders: PaymentOrder[], standing?: StandingRule) {
  const initiation = {
    ...({ service: 'payments', product: 'sepa-credit-transfers', debtor: undefined, body: {} } as const),
    ...{ orders, executionDay: undefined, standing },
  };
  return newPayment(initiation, { createdAt: NOW, requestId: 'r', lateMs: 0 });
}

const CONSENT: DoorConsent = {
  ...{ id: 'c', createdAt: NOW, type: 'all-accounts', recurring: true, frequencyPerDay: 4 },
  ...{ validUntil: '2027-01-31', access: {}, status: 'received', customerId: undefined },
  ...{ grants: new Map(), lastAction: '2026-11-20' },
};

const method = (device: Device): CustomerMethod => ({ id: '1', type: 'T', name: 'the method', device });

const TO_BETA = 'to Beta, DE02 1203 0000 0000 2020 51';
const one: Asked = { kind: 'payment', payment: payment([order()]) };
const basket = (...payments: ReturnType<typeof payment>[]): Asked => ({
  kind: 'basket',
  basket: { id: 'b', createdAt: NOW, payments, deleted: false, authorised: false },
});
const two = [order(1250), order(1, 'Gamma')];

describe('what a TAN is for', () => {
  test.each<[what: string, matter: Asked, says: string, fields: string[]]>([
    [
      'a payment',
      one,
      `12.50 EUR ${TO_BETA}`,
      ['the last ten characters of the IBAN 0000202051', 'amount 12,50'],
    ],
    [
      'a standing order',
      { kind: 'payment', payment: payment([order()], STANDING) },
      `a standing order of 12.50 EUR ${TO_BETA}`,
      ['the last ten characters of the IBAN 0000202051', 'amount 12,50'],
    ],
    [
      'the cancellation of a payment',
      { kind: 'cancellation', payment: payment([order()]) },
      `the cancellation of 12.50 EUR ${TO_BETA}`,
      ['the last ten characters of the IBAN 0000202051', 'amount 12,50'],
    ],
    [
      'the cancellation of a standing order',
      { kind: 'cancellation', payment: payment([order()], STANDING) },
      `the cancellation of a standing order of 12.50 EUR ${TO_BETA}`,
      ['the last ten characters of the IBAN 0000202051', 'amount 12,50'],
    ],
    [
      'a bulk',
      { kind: 'payment', payment: payment(two) },
      '2 payments, 12.51 EUR in all',
      ['number of payments 2', 'amount 12,51'],
    ],
    [
      'the cancellation of a bulk',
      { kind: 'cancellation', payment: payment(two) },
      'the cancellation of 2 payments, 12.51 EUR in all',
      ['number of payments 2', 'amount 12,51'],
    ],
    [
      'a basket of one',
      basket(payment([order()])),
      `12.50 EUR ${TO_BETA}`,
      ['the last ten characters of the IBAN 0000202051', 'amount 12,50'],
    ],
    [
      'a basket of several',
      basket(payment([order(100_000_00)]), payment(two)),
      '3 payments, 100,012.51 EUR in all',
      ['number of payments 3', 'amount 100012,51'],
    ],
    ['a consent', { kind: 'consent', consent: CONSENT }, 'access to your accounts until 31 January 2027', []],
  ])('%s', (_, matter, says, fields) => {
    const typed = makeChallenge(matter, method('sms'), false);
    expect(typed.text).toBe(`Sandbox Bank: the TAN for ${says} is ${typed.tan}. Tell it to nobody.`);
    const photo = makeChallenge(matter, method('photo'), false);
    expect(photo.text).toBe(`the method: ${says}. TAN ${photo.tan}`);
    expect(photo.image).toBe(matrixImage(says).toString('base64'));
    const chip = makeChallenge(matter, method('chip'), false);
    const [, startCode] = /start code (\d{8})/.exec(chip.text) ?? [];
    expect(chip.text).toBe(`the method: start code ${startCode}, ${fields.join(', ')}. TAN ${chip.tan}`);
    expect(chip.challengeData.additionalInformation).toBe(
      `Start code ${startCode}.<br>Check on the display: ${fields.join(', ')}. Press OK each time.`,
    );
  });
});

describe('a method', () => {
  test.each<[device: Device, tan: RegExp, data: Record<string, unknown>]>([
    [
      'sms',
      /^[a-hjkmnp-z2-9]{10}$/,
      {
        ...{ otpMaxLength: 10, otpFormat: 'characters' },
        additionalInformation: 'The TAN was sent to your telephone.<br>Compare the amount.',
      },
    ],
    [
      'typed-push',
      /^[a-hjkmnp-z2-9]{10}$/,
      {
        ...{ otpMaxLength: 10, otpFormat: 'characters' },
        additionalInformation: 'The TAN stands in your app.<br>Compare the amount.',
      },
    ],
    [
      'photo',
      /^\d{7}$/,
      {
        ...{ image: expect.stringMatching(/^iVBOR/), otpMaxLength: 7, otpFormat: 'integer' },
        additionalInformation: 'Scan the picture with the photoTAN app.<br>Compare payee and amount there.',
      },
    ],
    [
      'chip',
      /^\d{6}$/,
      {
        // The length of all, and of each of its parts.
        ...{ data: [expect.stringMatching(/^2908\d{8}1000002020510512,50$/)], otpMaxLength: '6' },
        ...{ otpFormat: 'Integer', additionalInformation: expect.stringMatching(/^Start code \d{8}\./) },
      },
    ],
    [
      'optical',
      /^\d{6}$/,
      {
        ...{ data: [expect.stringMatching(/^2908\d{8}1000002020510512,50$/)], otpMaxLength: '6' },
        otpFormat: 'Integer',
        additionalInformation:
          'Hold the TAN generator to the flickering picture.<br>Check on the display: the last ten characters of the IBAN 0000202051, amount 12,50.',
      },
    ],
  ])('%s has its challenge, or the words of it alone', (device, tan, data) => {
    const made = makeChallenge(one, method(device), false);
    expect(made.tan).toMatch(tan);
    expect(made.challengeData).toEqual(data);
    expect(made.image === undefined).toBe(device !== 'photo');
    const words = makeChallenge(one, method(device), true);
    expect(words.challengeData).toEqual({ additionalInformation: data.additionalInformation });
    expect(words.tan).toMatch(tan);
  });

  test('makes another TAN and start code each time', () => {
    for (const device of ['sms', 'photo', 'chip'] as const) {
      const texts = Array.from({ length: 20 }, () => makeChallenge(one, method(device), false).text);
      expect(new Set(texts).size).toBeGreaterThan(15);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { scaOfConsents } from '../../../../../src/bank/interfaces/nextgenpsd2/access/sca.ts';
import { consentsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/consents/consents.ts';
import type { ScaGift, ScaLinks } from '../../../../../src/bank/ports/customer.ts';
import type { EmbeddedStep } from '../../../../../src/domain/embedded.ts';
import { Secret } from '../../../../../src/secret.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import { refused, type Scripted, said, scriptedCalls } from '../scripted.ts';

// What an answer to a PIN, a choice or a TAN leaves of the answers before it (embedded SCA), and what it takes away.

const OWN = '/v1/consents/c1/authorisations/a1';
const SMS = { id: '901', type: 'SMS_OTP' };
const CHIP = { id: '902', type: 'CHIP_OTP' };
const wire = ({ id, type }: typeof SMS) => ({ authenticationMethodId: id, authenticationType: type });
const [METHODS, WIRE_METHODS] = [
  [SMS, CHIP],
  [wire(SMS), wire(CHIP)],
];
const [OLD, NEW] = [{ information: 'old' }, { information: 'new' }];
const NEW_DATA = { challengeData: { additionalInformation: 'new' } };

const GIFTS: Record<EmbeddedStep['next'], ScaGift> = {
  password: { what: 'password', value: new Secret('pin') },
  method: { what: 'method', value: '902' },
  code: { what: 'code', value: new Secret('123') },
};

/** The links after an answer to what the step before wanted. */
async function stepTaken(before: Omit<ScaLinks, 'approach'> & { step: EmbeddedStep }, answer: Scripted) {
  const { calls, oauth } = scriptedCalls([answer], { sca: { approaches: ['embedded'] } });
  const { status } = consentsOf(calls);
  return scaOfConsents(calls, oauth, status).give?.({
    ...{ resourceId: 'c1', links: { approach: 'embedded', ...before }, gift: GIFTS[before.step.next] },
    ...{ redirectUri: 'http://127.0.0.1/', transactionId: TRANSACTION_ID, beforeSend: silent },
    psu: { id: 'PSU-1', idType: undefined, corporateId: undefined },
  });
}

const password: EmbeddedStep = { next: 'password', link: OWN };
const select: EmbeddedStep = { next: 'method', link: OWN, methods: METHODS };
/** The TAN of a method, with all that was said for it. */
const code = (chosen: typeof SMS | undefined, challenge = OLD): EmbeddedStep => ({
  ...{ next: 'code', link: OWN, methods: METHODS, challenge },
  ...(chosen && { chosen }),
});
const wants = (link: string, more: object = {}) => said({ _links: { [link]: OWN }, ...more });
const wantsCode = (more: object = {}) => wants('authoriseTransaction', more);
const wantsMethod = (more: object = {}) => wants('selectAuthenticationMethod', more);

describe('after an answer, the step', () => {
  it.each<[what: string, before: EmbeddedStep, answer: Scripted, step: EmbeddedStep]>([
    ['has the methods of the answer', password, wantsMethod({ scaMethods: WIRE_METHODS }), select],
    ['keeps the methods', select, wantsMethod(), select],
    [
      'has other methods, if the answer has them',
      select,
      wantsMethod({ scaMethods: [wire(CHIP)] }),
      { ...select, methods: [CHIP] },
    ],
    [
      'has methods, the chosen one and its challenge',
      select,
      wantsCode({ chosenScaMethod: wire(CHIP), ...NEW_DATA }),
      code(CHIP, NEW),
    ],
    ['is wanted again: all stays', code(SMS), wantsCode(), code(SMS)],
    ['is wanted again of an unnamed method: all stays', code(undefined), wantsCode(), code(undefined)],
    ['is wanted again with another challenge', code(SMS), wantsCode(NEW_DATA), code(SMS, NEW)],
    [
      'is wanted again of the same method: its challenge stays',
      code(SMS),
      wantsCode({ chosenScaMethod: wire(SMS) }),
      code(SMS),
    ],
    [
      'is wanted of another method, which has no challenge',
      code(SMS),
      wantsCode({ chosenScaMethod: wire(CHIP) }),
      { next: 'code', link: OWN, methods: METHODS, chosen: CHIP },
    ],
    [
      'is wanted of another method, with its challenge',
      code(SMS),
      wantsCode({ chosenScaMethod: wire(CHIP), ...NEW_DATA }),
      code(CHIP, NEW),
    ],
    [
      'is another one, for which the challenge was not',
      code(SMS),
      wantsMethod({ scaMethods: WIRE_METHODS }),
      { ...select, chosen: SMS },
    ],
    [
      'is the PIN again: no challenge is for it',
      code(SMS),
      wants('updatePsuAuthentication'),
      { ...password, methods: METHODS, chosen: SMS },
    ],
  ])('%s', async (_, before, answer, step) => {
    const { links } = (await stepTaken({ id: 'a1', step: before }, answer)) ?? {};
    expect(links?.step).toEqual(step);
    expect(links?.id).toBe('a1');
  });

  it('of a failed authorisation has nothing of it', async () => {
    const given = await stepTaken({ id: 'a1', begins: '/b', step: code(SMS) }, said({ scaStatus: 'failed' }));
    expect(given).toMatchObject({ scaStatus: 'failed' });
    expect(given?.links).toMatchObject({
      approach: 'embedded',
      id: 'a1',
      begins: '/b',
      step: { next: 'code' },
    });
    expect(given?.links.step).toEqual({ next: 'code' });
  });

  it('of a refusal without a link is that of before', async () => {
    const before = { id: 'a1', message: 'Type it', step: code(SMS) };
    const given = await stepTaken(before, refused('PSU_CREDENTIALS_INVALID', 401));
    expect(given?.links).toEqual({ approach: 'embedded', ...before });
    expect(given?.refusal?.isBanks).toBe(true);
  });
});

describe('after an answer, the links', () => {
  it.each<[what: string, message: string | null, answer: Scripted, kept: string | undefined]>([
    ['of the same step', 'Type it', wantsCode(), 'Type it'],
    ['of another step', 'Type it', wantsMethod({ scaMethods: WIRE_METHODS }), undefined],
    ['of an answer with its own', 'Type it', wantsCode({ psuMessage: 'Once more' }), 'Once more'],
    ['of the first that has one', null, wantsCode({ psuMessage: 'Once more' }), 'Once more'],
  ])('have the message %s', async (_, message, answer, kept) => {
    const before = { id: 'a1', step: code(SMS), ...(message !== null && { message }) };
    expect((await stepTaken(before, answer))?.links.message).toBe(kept);
  });

  it('keep what an answer does not repeat, and take what it says anew', async () => {
    const before = { id: 'a1', begins: '/b', status: OWN, step: code(SMS) };
    const { links } = (await stepTaken(before, wantsCode())) ?? {};
    expect(links).toMatchObject({ approach: 'embedded', id: 'a1', begins: '/b', status: OWN });
    const other = '/v1/consents/c1/authorisations/a2';
    const anew = await stepTaken(
      before,
      wantsCode({ _links: { authoriseTransaction: other, scaStatus: other } }),
    );
    expect(anew?.links).toMatchObject({ begins: '/b', status: other });
  });

  it.each<[answer: object, approach: ScaLinks['approach'], isDone: true | undefined]>([
    [{ scaStatus: 'started' }, 'decoupled', undefined],
    [{ scaStatus: 'finalised' }, null, true],
    [{ scaStatus: 'exempted' }, null, true],
  ])(
    'lead the customer elsewhere where nothing more is wanted, unless it is over: %j',
    async (answer, approach, isDone) => {
      const { links } = (await stepTaken({ id: 'a1', step: code(SMS) }, said(answer))) ?? {};
      expect([links?.approach, links?.isDone, links?.step]).toEqual([approach, isDone, undefined]);
    },
  );
});

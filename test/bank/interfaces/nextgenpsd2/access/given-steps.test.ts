import { describe, expect, it } from 'vitest';
import { scaOfConsents } from '../../../../../src/bank/interfaces/nextgenpsd2/access/sca.ts';
import { consentsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/consents/consents.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { ScaGift, ScaLinks } from '../../../../../src/bank/ports/customer.ts';
import { Secret } from '../../../../../src/secret.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import { failureOf, PLAIN_FACTS, type Scripted, said, scriptedCalls } from '../scripted.ts';

// What a customer gives psd2 for embedded SCA: where it goes, and what a flow keeps of the answer.

const BACK = 'http://127.0.0.1:8910/callback';
const START = '/v1/consents/c1/authorisations';
const OWN = `${START}/a1`;
const psu = { id: 'anna', idType: undefined, corporateId: undefined };
const EMBEDDED: Omit<BankFile, 'interface'> = { sca: { approaches: ['embedded'] } };

function opened(answers: readonly Scripted[], file = EMBEDDED) {
  const { calls, oauth, sent } = scriptedCalls(answers, file);
  const { status } = consentsOf(calls);
  return { sca: scaOfConsents(calls, oauth, status), sent };
}

const password: ScaGift = { what: 'password', value: new Secret('geheim') };
const code: ScaGift = { what: 'code', value: new Secret('123456') };
const method: ScaGift = { what: 'method', value: '942' };

function give(links: ScaLinks, gift: ScaGift, answer: Scripted = said({ scaStatus: 'received' })) {
  const { sca, sent } = opened([answer]);
  const given = sca.give?.({
    ...{ resourceId: 'c1', links, gift, redirectUri: BACK, psu },
    ...{ transactionId: TRANSACTION_ID, beforeSend: silent },
  });
  return { given: Promise.resolve(given), sent };
}

const at = (next: 'password' | 'method' | 'code', link?: string): ScaLinks => ({
  approach: 'embedded',
  step: { next, ...(link !== undefined && { link }) },
});

describe('a step is taken', () => {
  it.each<[string, ScaLinks, ScaGift, method: string, path: string]>([
    ['where its link says', at('password', OWN), password, 'PUT', OWN],
    [
      'where its link says, on an inner host',
      at('code', `http://xs2a:8080${OWN}?x=1`),
      code,
      'PUT',
      `${OWN}?x=1`,
    ],
    ['of the authorisation in hand', { ...at('method'), id: 'a1' }, method, 'PUT', OWN],
    ['of that one, whatever the link says', { ...at('code', '/v1/z'), id: 'a1' }, code, 'PUT', OWN],
    ['where a new one begins', at('password', START), password, 'POST', START],
    ['where a new one begins by its link', at('code', `${START}?x=1`), code, 'POST', `${START}?x=1`],
    ['where a new one begins without a link', at('password'), password, 'POST', START],
  ])('%s', async (_, links, gift, verb, path) => {
    const { given, sent } = give(links, gift);
    await given;
    expect(sent).toMatchObject([
      {
        ...{ method: verb, path, facts: { ...PLAIN_FACTS, ofConsent: 'c1' }, transactionId: TRANSACTION_ID },
        ...{ redirectUri: BACK, psu, once: true, interruptible: 'until sent', gives: { what: gift.what } },
      },
    ]);
  });

  it.each([at('code'), at('method'), at('code', '/v1/consents/c2/authorisations/a2'), { approach: null }])(
    'nowhere, if nothing says of which authorisation: %j',
    async (links) => {
      const { given, sent } = give(links, code);
      expect(await failureOf(given)).toMatchObject({
        code: 'bank_answer',
        message: 'The bank does not say of which authorisation this is, so the customer cannot authorise',
      });
      expect(sent).toEqual([]);
    },
  );

  it('with the credential apart from the rest of the call, so that it is shown nowhere', async () => {
    const bodies = [];
    for (const gift of [password, method, code]) {
      const { given, sent } = give({ ...at('code'), id: 'a1' }, gift);
      await given;
      const [{ body, credential } = { body: undefined, credential: undefined }] = sent;
      expect(JSON.stringify(sent)).not.toMatch(/geheim|123456/);
      bodies.push(body ?? credential?.body('x'));
    }
    expect(bodies).toEqual([
      { psuData: { password: 'x' } },
      { authenticationMethodId: '942' },
      { scaAuthenticationData: 'x' },
    ]);
  });
});

const SMS = { authenticationMethodId: '1', authenticationType: 'SMS_OTP' };
const CHOSEN = { id: '1', type: 'SMS_OTP' };
const BEFORE: ScaLinks = {
  ...{ approach: 'embedded', id: 'a1', begins: START, status: OWN, message: 'Use the phone' },
  step: { next: 'code', link: OWN, methods: [CHOSEN] },
};
const { step: STEP, message: _, ...KEPT } = BEFORE;
const TAN = { _links: { authoriseTransaction: { href: OWN } } };
const PASSWORD = { _links: { updatePsuAuthentication: { href: OWN } } };
const refusal = (more: object = {}, error = 'PSU_CREDENTIALS_INVALID') =>
  said({ ...more, tppMessages: [{ category: 'ERROR', code: error, text: 'Wrong' }] }, 401);

describe('after a step', () => {
  it.each<[string, Scripted, links: object, scaStatus: string | null]>([
    [
      'the same is asked for again',
      said({ scaStatus: 'started', ...TAN }),
      { ...BEFORE, status: OWN },
      'started',
    ],
    [
      'something else is asked for',
      said({ scaStatus: 'psuIdentified', ...PASSWORD }),
      { ...KEPT, step: { next: 'password', link: OWN, methods: [CHOSEN] } },
      'psuIdentified',
    ],
    [
      'a method is told',
      said({ scaStatus: 'scaMethodSelected', chosenScaMethod: SMS, ...TAN }),
      { ...BEFORE, step: { ...STEP, chosen: CHOSEN } },
      'scaMethodSelected',
    ],
    ['it is done', said({ scaStatus: 'finalised' }), { ...KEPT, approach: null, isDone: true }, 'finalised'],
    [
      'it is exempted',
      said({ scaStatus: 'exempted' }),
      { ...KEPT, approach: null, isDone: true },
      'exempted',
    ],
    [
      'the customer goes on elsewhere',
      said({ scaStatus: 'started' }),
      { ...KEPT, approach: 'decoupled' },
      'started',
    ],
    [
      'the customer goes on elsewhere, with words',
      said({ scaStatus: 'started', psuMessage: 'Look at it' }),
      { ...KEPT, approach: 'decoupled', message: 'Look at it' },
      'started',
    ],
    ['it has failed', said({ scaStatus: 'failed' }), { ...KEPT, step: { next: 'code' } }, 'failed'],
    ['it says nothing', { status: 200 }, { ...KEPT, approach: 'decoupled' }, null],
    ['it is no object', said('x'), BEFORE, null],
    [
      'it is about another authorisation',
      said({ scaStatus: 'finalised', authorisationId: 'a2' }),
      BEFORE,
      null,
    ],
    ['it names its authorisation', said({ authorisationId: 'a1', ...TAN }), BEFORE, null],
  ])('%s', async (__, answer, links, scaStatus) => {
    const after = await give(BEFORE, code, answer).given;
    expect(after?.refusal).toBeUndefined();
    expect(after).toMatchObject({ scaStatus });
    expect(after?.links).toEqual(links);
  });

  it.each<[string, Scripted, links: object, message: string]>([
    ['without a link', refusal(), BEFORE, 'The bank answered with HTTP 401: Wrong'],
    ['with a status', refusal({ scaStatus: 'failed' }), BEFORE, 'The bank answered with HTTP 401: Wrong'],
    [
      'with a link',
      refusal({ scaStatus: 'received', ...TAN }),
      BEFORE,
      'The bank answered with HTTP 401: Wrong',
    ],
    [
      'with a link for something else',
      refusal(PASSWORD),
      { ...KEPT, step: { next: 'password', link: OWN, methods: [CHOSEN] } },
      'The bank answered with HTTP 401: Wrong',
    ],
    [
      'with a code alone',
      said({ tppMessages: [{ category: 'ERROR', code: 'X' }] }, 400),
      BEFORE,
      'The bank answered with HTTP 400: X',
    ],
    ['that is a page', { status: 503, body: '<html>' }, BEFORE, 'The bank answered with HTTP 503'],
  ])('a refusal %s leaves what was known', async (__, answer, links, message) => {
    const after = await give(BEFORE, code, answer).given;
    expect(after?.links).toEqual(links);
    expect(after).toMatchObject({ scaStatus: null, refusal: { message } });
  });

  it.each([
    ['SCA_METHOD_UNKNOWN', true],
    ['SCA_METHOD_UNKNOWN_X', undefined],
    ['PSU_CREDENTIALS_INVALID', undefined],
  ])('%s says that the bank lacks the method: %s', async (error, lacksMethod) => {
    const after = await give(BEFORE, method, refusal({}, error)).given;
    expect(after?.refusal?.lacksMethod).toBe(lacksMethod);
  });

  it('what it costs is told if the bank says it', async () => {
    const estimatedTotalAmount = { amount: '1.00', currency: 'EUR' };
    const answer = said({ scaStatus: 'started', estimatedTotalAmount });
    expect((await give(BEFORE, method, answer).given)?.cost?.totalAmount).toEqual(estimatedTotalAmount);
    expect((await give(BEFORE, method, said({ scaStatus: 'started' })).given)?.cost).toBeUndefined();
  });
});

describe('a bank of embedded SCA', () => {
  it.each<[NonNullable<BankFile['sca']>['approaches'], embedded: boolean, alone: boolean]>([
    [['redirect'], false, false],
    [['redirect', 'embedded'], true, false],
    [['embedded'], true, true],
  ])('with the approaches %j has it, and alone: %j %j', (approaches, hasEmbedded, isEmbeddedAlone) => {
    const { sca } = opened([], { sca: { approaches } });
    expect([sca.hasEmbedded ?? false, sca.isEmbeddedAlone ?? false]).toEqual([hasEmbedded, isEmbeddedAlone]);
  });

  it.each<[ScaLinks, boolean]>([
    [at('password', START), true],
    [at('password'), true],
    [at('password', OWN), false],
    [{ ...at('password'), id: 'a1' }, false],
    [at('code'), false],
    [{ approach: null }, false],
  ])('with %j another authorisation begins: %j', (links, begins) => {
    expect(opened([]).sca.begins?.('c1', links)).toBe(begins);
  });

  it.each<[ScaLinks | null, object]>([
    [null, at('password')],
    [
      { approach: null, id: 'a0', start: START },
      { ...at('password', START), id: 'a0', begins: START },
    ],
    [
      { approach: null, start: '/v1/z' },
      { ...at('password', START), begins: '/v1/z' },
    ],
  ])('that begins nothing without the password asks for it: %j', async (links, expected) => {
    const { sca, sent } = opened([], { sca: { approaches: ['embedded'], first: 'password' } });
    const turn = await sca.proceed?.({
      ...{
        resourceId: 'c1',
        links,
        redirectUri: BACK,
        transactionId: TRANSACTION_ID,
        beforeSend: silent,
        psu,
      },
      login: { clientId: 'c', redirectUri: BACK, state: 's', codeVerifier: 'v'.repeat(43) },
    });
    expect(turn).toMatchObject({ next: 'give', links: expected });
    expect(sent).toEqual([]);
  });
});

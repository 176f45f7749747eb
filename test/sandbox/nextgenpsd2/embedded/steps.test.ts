import { describe, expect, test } from 'vitest';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import { devicesShown } from '../../../../src/sandbox/nextgenpsd2/embedded/devices-shown.ts';
import { type BankHere, bankHere } from '../bank-here.ts';
import { consentBody } from '../door-client.ts';
import { method, pin, tan } from '../embedded-client.ts';
import { BRUNOS, ibansOf, paymentBody, SCT } from '../payment-client.ts';

// What the TPP reads when a step of the customer does not go on.

const SCA = {
  sca: { approaches: ['embedded' as const] },
  payments: { debtorAccount: 'optional' as const, futureDays: 30 },
};

/** An authorisation, and the steps that its customer takes. */
async function begun({
  user,
  body = paymentBody(),
  path = SCT,
}: {
  user?: string;
  body?: object;
  path?: string;
} = {}) {
  const here = await bankHere(SCA);
  return { ...here, ...start(here, { ...(user !== undefined && { user }), body, path }) };
}

function start(
  here: BankHere,
  { user, body = paymentBody(), path = SCT }: { user?: string; body?: object; path?: string } = {},
) {
  const named = (psuId: string | undefined): Record<string, string> =>
    psuId === undefined ? {} : { 'psu-id': psuId };
  const { json } = here.serve(`POST ${path}`, { body, headers: named(user) });
  const id = json.paymentId ?? json.consentId;
  const at = `${path}/${id}/authorisations/${String(json._links?.scaStatus?.href).split('/').at(-1)}`;
  const step = (sent: object, psuId = user) =>
    here.answer(`PUT ${at}`, { body: sent, headers: named(psuId) });
  const status = () => String(here.serve(`GET ${at}`).json.scaStatus);
  return { step, status };
}

/** The TAN that a device showed: the newest is 0. */
const shown = ({ bank }: BankHere, before = 0) => devicesShown(bank).at(-1 - before)?.tan ?? '';

const CREDENTIALS = '401 PSU_CREDENTIALS_INVALID';
const early = (status: string) =>
  `409 STATUS_INVALID: The authorisation is ${status}, another step comes first.`;

test('PIN, method and TAN authorise, each in its turn alone', async () => {
  const at = await begun({ user: 'anna' });
  expect([at.status(), at.step(method('901')), at.step(tan('x'))]).toEqual([
    ...['psuIdentified', early('psuIdentified'), early('psuIdentified')],
  ]);
  expect(at.step(pin())).toBe('taken');
  expect([at.status(), at.step(pin()), at.step(tan('x'))]).toEqual([
    ...['psuAuthenticated', early('psuAuthenticated'), early('psuAuthenticated')],
  ]);
  expect(at.step(method('901'))).toBe('taken');
  expect([at.status(), at.step(pin())]).toEqual(['scaMethodSelected', early('scaMethodSelected')]);
  // Another method may be chosen until the TAN is right.
  expect([at.step(method('905')), at.step(tan(shown(at)))]).toEqual(['taken', 'taken']);
  const over = '409 STATUS_INVALID: The authorisation is finalised, and waits for nothing.';
  expect([at.status(), at.step(pin()), at.step(method('901')), at.step(tan('x'))]).toEqual([
    ...['finalised', over, over, over],
  ]);
});

describe('who the customer is', () => {
  test('must be said, and stays', async () => {
    const at = await begun();
    expect(at.step(pin())).toBe('400 FORMAT_ERROR PSU-ID: The bank needs to know whose PIN it is.');
    expect([at.status(), at.step({}, 'anna'), at.status()]).toEqual(['received', 'taken', 'psuIdentified']);
    expect(at.step(pin('pin-bruno'), 'bruno')).toBe(
      `${CREDENTIALS} PSU-ID: The authorisation is of another customer.`,
    );
    expect([at.step({}), at.step(pin()), at.status()]).toEqual(['taken', 'taken', 'psuAuthenticated']);
  });

  test.each<[what: string, user: string, body: object]>([
    [
      'a payment from an account of another customer',
      'anna',
      paymentBody({ debtorAccount: { iban: BRUNOS } }),
    ],
  ])('is wrong for %s', async (_, user, body) => {
    const at = await begun({ body });
    at.step({}, user);
    expect(at.step(pin(`pin-${user}`))).toBe("400 FORMAT_ERROR PSU-ID: The accounts are not the customer's.");
  });
});

test('three wrong PINs end the authorisation, and block the PIN', async () => {
  const at = await begun({ user: 'anna' });
  const wrong = `${CREDENTIALS}: The PIN is wrong.`;
  const blocked = `${CREDENTIALS}: The PIN is blocked.`;
  expect([1, 2, 3].map(() => at.step(pin('x')))).toEqual([wrong, wrong, blocked]);
  expect([at.status(), at.step(pin())]).toEqual([
    ...['failed', '409 STATUS_INVALID: The authorisation is failed, and waits for nothing.'],
  ]);
  expect(start(at, { user: 'anna' }).step(pin())).toBe(blocked);
  // That of another customer is not.
  const body = paymentBody({ debtorAccount: { iban: BRUNOS } });
  expect(start(at, { user: 'bruno', body }).step(pin('pin-bruno'))).toBe('taken');
});

test('a right PIN begins to count wrong ones anew', async () => {
  const at = await begun({ user: 'anna' });
  expect([at.step(pin('x')), at.step(pin('x')), at.step(pin())].at(-1)).toBe('taken');
  const next = start(at, { user: 'anna' });
  expect([next.step(pin('x')), next.step(pin('x')), next.step(pin())]).toEqual([
    ...[`${CREDENTIALS}: The PIN is wrong.`, `${CREDENTIALS}: The PIN is wrong.`, 'taken'],
  ]);
});

describe('a method', () => {
  test('is one of the customer', async () => {
    const at = await begun({ user: 'anna' });
    at.step(pin());
    const none = '400 SCA_METHOD_UNKNOWN authenticationMethodId: The customer has no such method.';
    expect([at.step(method('900')), at.step(method('')), at.step(method('962'))]).toEqual([none, none, none]);
    expect(['901', '902', '903', '904', '905', '906'].map((id) => at.step(method(id)))).toEqual(
      Array(6).fill('taken'),
    );
    // In the app the customer approves the request itself, and the TPP has nothing more to send.
    expect([at.status(), at.step(tan('x'))]).toEqual([
      ...['scaMethodSelected', expect.stringContaining('400 FORMAT_ERROR confirmationCode: ')],
    ]);
  });

  test('is chosen for who has one alone', async () => {
    const at = await begun({ user: 'bruno', body: paymentBody({ debtorAccount: { iban: BRUNOS } }) });
    expect([at.step(pin('pin-bruno')), at.status()]).toEqual(['taken', 'scaMethodSelected']);
    expect([at.step(tan(shown(at))), at.status()]).toEqual(['taken', 'finalised']);
  });

  test.each<[what: string, ask: (here: BankHere) => string, answer: string, scaStatus: string, then: string]>(
    [
      ['a payment', (here) => askedFor(here, SCT, CARLAS), 'taken', 'exempted', 'ACTC'],
      [
        'a cancellation',
        (here) => {
          const payment = askedFor(here, SCT, CARLAS);
          here.serve(`POST ${payment}/authorisations`, { body: pin('pin-carla'), headers: AS_CARLA });
          return payment;
        },
        ...(['taken', 'exempted', 'CANC'] as const),
      ],
      [
        'a signing basket',
        (here) => {
          const paymentIds = [1, 2].map(() => askedFor(here, SCT, CARLAS).split('/').at(-1));
          return askedFor(here, '/v1/signing-baskets', { paymentIds });
        },
        ...(['taken', 'exempted', 'ACTC'] as const),
      ],
      [
        'a consent',
        (here) => askedFor(here, '/v1/consents', consentBody()),
        ...([
          '400 SCA_METHOD_UNKNOWN: The customer has no method to authorise this.',
          'failed',
          'rejected',
        ] as const),
      ],
    ],
  )('is none for carla: %s', async (what, ask, answer, scaStatus, then) => {
    const here = await bankHere(SCA);
    const path = ask(here);
    const begins = `${path}/${what === 'a cancellation' ? 'cancellation-' : ''}authorisations`;
    const { json } = here.serve(`POST ${begins}`, { headers: AS_CARLA });
    const at = String(json._links?.scaStatus?.href).replace('/nextgenpsd2', '');
    expect(here.answer(`PUT ${at}`, { body: pin('pin-carla'), headers: AS_CARLA })).toBe(answer);
    expect(here.serve(`GET ${at}`).json.scaStatus).toBe(scaStatus);
    const status = here.serve(`GET ${path}/status`).json;
    expect(status.transactionStatus ?? status.consentStatus).toBe(then);
  });
});

describe.each(['pin', 'method'])('no-sca at the %s', (when) => {
  const headers = { 'psu-id': 'anna', 'tpp-explicit-authorisation-preferred': 'true' };
  const late = paymentBody({ requestedExecutionDate: '2026-11-27' });
  const asked = (here: BankHere, path: string, body: object) => {
    const { json } = here.serve(`POST ${path}`, { body, headers });
    return `${path}/${json.paymentId ?? json.basketId ?? json.consentId}`;
  };
  test.each<[what: string, isExempted: boolean, then: string, begins: (here: BankHere) => string]>([
    ['a payment', true, 'ACTC', (here) => `${asked(here, SCT, late)}/authorisations`],
    ['a cancellation', true, 'CANC', (here) => `${asked(here, SCT, late)}/cancellation-authorisations`],
    [
      ...(['a signing basket', true, 'ACTC'] as const),
      (here) => {
        const paymentIds = [asked(here, SCT, late).split('/').at(-1)];
        return `${asked(here, '/v1/signing-baskets', { paymentIds })}/authorisations`;
      },
    ],
    // Access is never given without SCA.
    [
      ...(['a consent', false, 'received'] as const),
      (here) => `${asked(here, '/v1/consents', consentBody())}/authorisations`,
    ],
  ])('%s is exempted: %s', async (_, isExempted, then, begins) => {
    const here = await bankHere(SCA);
    const path = begins(here);
    const { json } = here.serve(`POST ${path}`, { headers });
    const at = String(json._links?.scaStatus?.href).replace('/nextgenpsd2', '');
    const send = (body: object, faults: string[]) =>
      here.serve(`PUT ${at}`, { body, headers, faults }).json.scaStatus;
    const waits = when === 'pin' ? 'psuAuthenticated' : 'scaMethodSelected';
    if (when === 'method') send(pin(), []);
    expect(send(when === 'pin' ? pin() : method('901'), ['no-sca'])).toBe(isExempted ? 'exempted' : waits);
    const status = here.serve(`GET ${path.slice(0, path.lastIndexOf('/'))}/status`).json;
    expect(status.transactionStatus ?? status.consentStatus).toBe(then);
  });
});

/** A payment for a later day from an account of carla, who has no method. */
const CARLAS = paymentBody({
  debtorAccount: { iban: ibansOf('carla')[0] },
  requestedExecutionDate: '2026-11-27',
});
const AS_CARLA = { 'psu-id': 'carla' };

/** Asks for something that carla authorises by a call of its own. @returns its path */
function askedFor(here: BankHere, path: string, body: object): string {
  const headers = { ...AS_CARLA, 'tpp-explicit-authorisation-preferred': 'true' };
  const { json } = here.serve(`POST ${path}`, { body, headers });
  return `${path}/${json.paymentId ?? json.basketId ?? json.consentId}`;
}

describe('a TAN', () => {
  /** An authorisation of anna whose TAN was sent. */
  function sent(here: BankHere) {
    const at = start(here, { user: 'anna' });
    at.step(pin());
    at.step(method('901'));
    return at;
  }

  test('that is wrong three times ends the authorisation', async () => {
    const here = await bankHere(SCA);
    const at = sent(here);
    const wrong = `${CREDENTIALS}: The TAN is wrong.`;
    expect([at.step(tan('x')), at.status(), at.step(tan('x')), at.status()]).toEqual([
      ...[wrong, 'scaMethodSelected', wrong, 'scaMethodSelected'],
    ]);
    const right = shown(here);
    expect([at.step(tan('x')), at.status()]).toEqual([wrong, 'failed']);
    expect(at.step(tan(right))).toBe(
      '409 STATUS_INVALID: The authorisation is failed, and waits for nothing.',
    );
  });

  test('that is right ends nothing where the payee plans that, and there is no other', async () => {
    const at = await begun({ user: 'anna', body: paymentBody({ creditorName: 'SCA PENDING' }) });
    at.step(pin());
    at.step(method('901'));
    const right = shown(at);
    expect([at.step(tan(right)), at.status(), at.step(tan(right))]).toEqual([
      ...['taken', 'scaMethodSelected', '409 STATUS_INVALID: The authorisation waits for no TAN.'],
    ]);
    const refused = start(at, { user: 'anna', body: paymentBody({ creditorName: 'SCA REFUSED' }) });
    refused.step(pin());
    refused.step(method('901'));
    expect([refused.step(tan(shown(at))), refused.status()]).toEqual(['taken', 'failed']);
  });

  test('of a second authorisation is for nothing, once the first one has paid', async () => {
    const here = await bankHere(SCA);
    const headers = { 'psu-id': 'anna' };
    const { json } = here.serve(`POST ${SCT}`, { body: paymentBody(), headers });
    const payment = `${SCT}/${json.paymentId}`;
    const [first, second] = [0, 1].map((place) => {
      if (place > 0) here.serve(`POST ${payment}/authorisations`, { headers });
      const { authorisationIds } = here.serve(`GET ${payment}/authorisations`).json;
      const at = `${payment}/authorisations/${Array.isArray(authorisationIds) ? authorisationIds[place] : ''}`;
      const step = (body: object) => here.answer(`PUT ${at}`, { body, headers });
      return { step, answers: [step(pin()), step(method('901'))], right: tan(shown(here)) };
    });
    if (!first || !second) expect.unreachable();
    expect([first, second].flatMap(({ answers }) => answers)).toEqual(Array(4).fill('taken'));
    expect(first.step(first.right)).toBe('taken');
    const over = '409 STATUS_INVALID: The authorisation is scaMethodSelected, and waits for nothing.';
    expect([second.step(second.right), second.step(method('905'))]).toEqual([over, over]);
    expect(doorOf(here.bank).payments.find(String(json.paymentId))?.executions).toHaveLength(1);
  });

  test('is for its own authorisation, and only the newest is valid', async () => {
    const here = await bankHere(SCA);
    const [one, other] = [sent(here), sent(here)];
    expect(one.step(tan(shown(here)))).toBe(`${CREDENTIALS}: The TAN belongs to another authorisation.`);
    other.step(method('901'));
    expect(other.step(tan(shown(here, 1)))).toBe(`${CREDENTIALS}: The TAN is not valid any more.`);
    expect([other.step(tan(shown(here))), other.status(), one.status()]).toEqual([
      ...['taken', 'finalised', 'scaMethodSelected'],
    ]);
  });
});

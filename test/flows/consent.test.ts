import { describe, expect, it } from 'vitest';
import type { Consent, ConsentEvent } from '../../src/domain/consent.ts';
import { Psd2Error } from '../../src/errors.ts';
import { endOf, runConsent } from '../../src/flows/consent/loop.ts';
import type { Open } from '../../src/store/ports/flows.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { opened } from '../store/flows.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { CREATED, inMemory } from './consent-in-memory.ts';
import { consentScriptOf, newConsent, requested as requestedOf } from './consents.ts';
import { customerElsewhere, disturbed, errorOf, fakeCustomer, fakeWorld, waitsOf } from './doubles.ts';
import { flowsIn, leaveBehind, readLines, typesOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = consentScriptOf(recorded);
const temporary = temporaryFolder();
const intent = { requestId: 'request-1', digest: null };

/** The bank's answer to the request, with one category granted and one refused. */
const REQUESTED = requested(true);
const STARTED: ConsentEvent[] = [REQUESTED, { type: 'sca-started' }];
const CONFIRMING: ConsentEvent[] = [
  ...STARTED,
  { type: 'sca-returned' },
  { type: 'confirm-sent', ...intent },
];

function requested(payments: boolean): ConsentEvent {
  return {
    type: 'requested',
    resourceId: 'r1',
    outcomes: [
      { name: 'ACCOUNT_INFO', outcome: false },
      { name: 'PAYMENTS', outcome: payments },
    ],
  };
}

const outcomes = (...all: boolean[]): Consent['categories'] =>
  all.map((outcome) => ({ name: 'PAYMENTS', products: [], outcome }));

/** A consent whose journal has these events. */
async function consentAfter(events: ConsentEvent[], customer = fakeCustomer()) {
  const consent = await newConsent(newConfigFolder(temporary), customer);
  const { bank } = openClient({ now: consent.world.now, signal: consent.world.signal });
  for (const event of events) await consent.open.record(event);
  const { flow } = consent.open.current;
  const before = consent.events().length;
  return {
    consent,
    flow,
    run: () => consent.run(bank),
    written: () => consent.events().slice(before),
    stateOf: async () => (await consent.stored()).state,
  };
}

describe('a consent that has ended', () => {
  it('a consent whose journal lacks the line with the resource is not continued', async () => {
    const { flow, run, written } = await consentAfter([{ type: 'sca-started' }]);
    expect(await errorOf(run())).toMatchObject({
      code: 'config',
      message: `The journal of ${flow} does not have the line with its resource at the bank`,
      hint: 'The journal is the record of a flow. Restore it from a backup.',
    });
    expect(written()).toEqual([]);
  });
});

describe('the answer to the request', () => {
  it.each([
    [true, true, 'confirmed'],
    [true, false, 'confirmed'],
    [false, true, 'confirmed'],
    [false, false, 'failed'],
  ])('grants one category: %s, and the other one: %s', async (one, other, state) => {
    const { consent, run, stateOf } = await consentAfter([]);
    script.request(requestedOf(one, other));
    if (state === 'confirmed') {
      script.approach();
      script.confirm();
      await run();
    } else {
      expect(await errorOf(run())).toMatchObject({
        code: 'bank_refused',
        message: 'The bank grants none of the categories for these products',
        hint: 'See which products the customer has with:',
        next: [['accounts', 'list']],
      });
    }
    expect(await stateOf()).toBe(state);
    expect(consent.events().includes('all-refused')).toBe(state === 'failed');
  });
});

it.each<[Partial<Consent>, string, string, string | undefined]>([
  [{ state: 'rejected' }, 'not_authorised', 'The customer did not authorise the consent', undefined],
  [
    { state: 'expired' },
    'authorisation_expired',
    'The customer did not authorise the consent in time',
    'Request it again.',
  ],
  [
    { state: 'expired', grantedAt: '2026-11-21T10:00:00Z' },
    'not_authorised',
    'The consent has expired',
    'Request it again.',
  ],
  [
    { state: 'revoked' },
    'not_authorised',
    'The customer has revoked the consent at the bank',
    'Request it again.',
  ],
  [
    { state: 'cancelled' },
    'cancelled',
    'The consent co-1 was cancelled before it was confirmed',
    'Request it again.',
  ],
  [
    { state: 'cancelled', grantedAt: '2026-11-21T10:00:00Z' },
    'cancelled',
    'The consent co-1 was ended by psd2',
    'Request it again.',
  ],
  [
    { state: 'failed', resourceId: 'c1', categories: outcomes(false, false) },
    'bank_refused',
    'The bank grants none of the categories for these products',
    'See which products the customer has with:',
  ],
  [
    { state: 'failed', resourceId: 'c1', categories: outcomes(false, true) },
    'bank_refused',
    'The bank refused to confirm the consent co-1',
    'Request it again. See what the bank said with:',
  ],
  [
    { state: 'failed', resourceId: 'c1' },
    'bank_refused',
    'The bank refused to confirm the consent co-1',
    'Request it again. See what the bank said with:',
  ],
  [
    { state: 'failed' },
    'bank_refused',
    'The bank refused the request of the consent co-1',
    'Request it again. See what the bank said with:',
  ],
  [
    {
      state: 'failed',
      resolution: { outcome: 'not-executed', by: 'ada', note: null, at: '2026-11-21T10:00:00Z' },
    },
    'bank_refused',
    'The consent co-1 has ended: ada said that it was not confirmed',
    'Request it again.',
  ],
  [
    {
      state: 'failed',
      resolution: { outcome: 'not-executed', by: 'ada', note: 'Case 7', at: '2026-11-21T10:00:00Z' },
    },
    'bank_refused',
    'The consent co-1 has ended: ada said that it was not confirmed: Case 7',
    'Request it again.',
  ],
])('what the operator reads of a consent that is %j', async (changes, code, message, hint) => {
  const { open } = await inMemory([CREATED]);
  const consent = { ...open.current, ...changes };
  const error = await errorOf((async () => endOf(consent))());
  expect(error).toMatchObject({ code, message, transactionId: 't1' });
  expect(error.hint).toBe(hint);
});

describe('SCA for a consent', () => {
  it('if the bank refuses to start SCA because the consent of an older journal is confirmed, the consent is confirmed', async () => {
    const { run, stateOf } = await consentAfter([REQUESTED]);
    script.approach(refusal(400, 'SCA_FINISHED'));
    script.status(operationStatus('AUTHORIZED', 'OK'));
    await run();
    expect(await stateOf()).toBe('confirmed');
  });

  it.each<[string, ScriptedAnswer, confirms: boolean, events: string[], end: string]>([
    ['waits for the customer', operationStatus('PENDING'), false, [], 'bank_refused'],
    [
      'knows that the customer has authorised it',
      operationStatus('AUTHORIZED'),
      true,
      ['authorization', 'sca-returned', 'confirm-sent', 'confirmed'],
      'confirmed',
    ],
    ['has confirmed it', operationStatus('AUTHORIZED', 'OK'), false, ['confirmed'], 'confirmed'],
    [
      'knows that the customer has refused it',
      operationStatus('NOT_AUTHORIZED'),
      false,
      ['authorization'],
      'not_authorised',
    ],
    [
      'says that it is too late',
      operationStatus('EXPIRED'),
      false,
      ['authorization'],
      'authorisation_expired',
    ],
    ['has no status of consents', refusal(404), false, [], 'bank_refused'],
    ['says nothing that can be read', { status: 200, body: 'no JSON' }, false, [], 'bank_refused'],
  ])('the bank refuses to start SCA once more, and %s', async (_, status, confirms, events, end) => {
    for (const before of [[REQUESTED], STARTED]) {
      const { run, written } = await consentAfter(before);
      // Before the customer goes there again, psd2 asks whether they have decided.
      if (before === STARTED) script.status(operationStatus('PENDING'));
      script.approach(refusal(400, 'SCA_FINISHED'));
      script.status(status);
      if (confirms) script.confirm();
      const ended = await run().then(
        ({ state }) => state,
        ({ code }) => code,
      );
      expect([ended, written()]).toEqual([end, ['approach-sent', ...events]]);
    }
  });

  it.each([
    ['comes back to this machine', fakeCustomer, 'Waiting for the customer to authorise the consent'],
    ['comes back to another machine', customerElsewhere, "Waiting for the customer's decision"],
  ])('psd2 says what it waits for if the customer %s', async (_, customer, first) => {
    const { waits, whileWaiting } = waitsOf();
    const { run } = await consentAfter([REQUESTED], customer({ whileWaiting }));
    script.approach();
    if (customer === customerElsewhere) script.status(operationStatus('AUTHORIZED'));
    script.confirm();
    await run();
    expect(waits).toEqual([first, 'Confirming the consent']);
  });
});

describe('a confirmation that the bank refuses because it does not know the decision yet', () => {
  const PENDING = operationStatus('PENDING');
  const AUTHORIZED = operationStatus('AUTHORIZED');

  it.each<[string, () => void, string[], state: string]>([
    [
      'is sent again once the customer has decided',
      () => script.confirm(),
      ['confirm-sent', 'confirm-turned-away', 'authorization', 'confirm-sent', 'confirmed'],
      'confirmed',
    ],
    [
      'is not sent a third time',
      () => {
        script.confirm(refusal(412));
        script.status(PENDING);
      },
      ['confirm-sent', 'confirm-turned-away', 'authorization', 'confirm-sent', 'confirm-unanswered'],
      'unknown',
    ],
  ])('%s', async (_, second, events, state) => {
    const { consent, run, written, stateOf } = await consentAfter(CONFIRMING.slice(0, -1));
    script.status(refusal(404));
    script.confirm(refusal(412));
    for (const status of [PENDING, PENDING, AUTHORIZED]) script.status(status);
    second();
    const end = await run().then(
      () => 'confirmed',
      ({ code }) => code,
    );
    expect([end, written(), await stateOf()]).toEqual([
      state === 'unknown' ? 'outcome_unknown' : end,
      events,
      state,
    ]);
    expect(consent.world.sleeps).toEqual([500]);
  });
});

describe('an interruption', () => {
  const interrupted = new Psd2Error('interrupted', 'Interrupted');

  it.each([
    ['the confirmation', () => script.confirm('no answer'), 2],
    [
      'the question why the bank refused the confirmation',
      () => {
        script.confirm(refusal(412));
        script.status('no answer');
      },
      3,
    ],
  ])(
    'if the operator interrupts %s, psd2 draws no conclusion and asks the bank on resume',
    async (_, answers, requests) => {
      const { consent, run, written } = await consentAfter(CONFIRMING.slice(0, -1));
      script.status(refusal(404));
      answers();
      const ended = expect(run()).rejects.toBe(interrupted);
      for (let request = 0; request < requests; request += 1) await recorded.nextRequest();
      consent.world.interrupt.abort(interrupted);
      await ended;
      expect(written()).toEqual(['confirm-sent']);

      script.status(operationStatus('AUTHORIZED', 'OK'));
      const { bank } = openClient({ now: consent.world.now });
      expect(await consent.run(bank)).toMatchObject({ state: 'confirmed' });
    },
  );
});

const CALLS = {
  request: () => script.request(),
  decided: () => script.status(operationStatus('AUTHORIZED')),
  approach: () => script.approach(),
  confirm: () => script.confirm(),
  confirmed: () => script.status(operationStatus('AUTHORIZED', 'OK')),
};

/** The calls that a consent still needs if its journal ends with an event of this type. */
const CALLS_LEFT: Record<string, (keyof typeof CALLS)[]> = {
  created: ['request', 'approach', 'confirm'],
  'request-sent': ['request', 'approach', 'confirm'],
  requested: ['approach', 'confirm'],
  'approach-sent': ['approach', 'confirm'],
  // The customer may have decided already.
  'sca-started': ['decided', 'confirm'],
  'sca-returned': ['decided', 'confirm'],
  // From here on the bank may have the confirmation: psd2 asks about it, and never sends it again.
  'confirm-sent': ['confirmed'],
  confirmed: [],
};

async function resume(lines: string[]): Promise<string[]> {
  const folder = newConfigFolder(temporary);
  const flow = leaveBehind(folder, lines);
  const world = fakeWorld();
  const { bank } = openClient({ now: world.now });
  const ports = { bank, world, customer: fakeCustomer() };
  // The error does not matter: the journal shows how each run ended.
  await flowsIn(folder, world)
    .resume('consent', flow, (open) => runConsent(open, ports))
    .catch(() => {});
  return readLines(folder, flow);
}

async function wholeJournal(): Promise<string[]> {
  const folder = newConfigFolder(temporary);
  const consent = await newConsent(folder);
  for (const call of ['request', 'approach', 'confirm'] as const) CALLS[call]();
  await consent.run(openClient({ now: consent.world.now }).bank);
  return readLines(folder, consent.open.current.flow);
}

it('a consent that is killed after any event is resumed to its end, and confirmed once', async () => {
  const whole = await wholeJournal();
  expect(whole).toHaveLength(8);
  for (let killedAfter = 1; killedAfter <= whole.length; killedAfter += 1) {
    const lines = whole.slice(0, killedAfter);
    const types = typesOf(lines);
    const before = recorded.received.length;
    for (const call of CALLS_LEFT[types.at(-1) ?? ''] ?? []) CALLS[call]();
    const resumed = await resume(lines);
    expect(resumed.slice(0, killedAfter)).toEqual(lines);
    expect(typesOf(resumed).at(-1)).toBe('confirmed');
    const confirmations = recorded.received.slice(before).filter(({ target }) => target.endsWith('/confirm'));
    expect(confirmations).toHaveLength(types.includes('confirm-sent') ? 0 : 1);
  }
});

const CONFIRMED = { type: 'confirmed' } as const;
const UNANSWERED = { type: 'confirm-unanswered' } as const;
const SAID = { type: 'resolved', by: 'ada@pisp-1', note: null } as const;
const SENT = { type: 'confirm-sent', requestId: 'theirs', digest: null } as const;

/** A consent that the customer has authorised, run by a process whose journal behaves like `handle`. */
async function returned(
  handle: (open: Open<'consent'>, other: () => Promise<void>) => Open<'consent'>,
  theirs: ConsentEvent[] = [],
) {
  const consent = await newConsent(newConfigFolder(temporary));
  const { flow } = consent.open.current;
  await consent.open.record({
    type: 'requested',
    resourceId: 'r1',
    outcomes: [{ name: 'PAYMENTS', outcome: true }],
  });
  await consent.open.record({ type: 'sca-started' });
  await consent.open.record({ type: 'sca-returned' });
  const before = consent.events().length;
  const other = async () => {
    const open = await opened(consent.flows, 'consent', flow);
    for (const event of theirs.splice(0)) await open.record(event);
  };
  const { world, customer } = consent;
  const { bank } = openClient({ now: world.now });
  // The bank has no status for consents, so psd2 confirms.
  script.status(refusal(404));
  return {
    run: async () =>
      runConsent(handle(await opened(consent.flows, 'consent', flow), other), { bank, world, customer }),
    written: () => consent.events().slice(before),
  };
}

/** A process that stalls right before `what`, while another process records `theirs`. */
function standsStill(what: ConsentEvent['type'] | 'the first byte', ...theirs: ConsentEvent[]) {
  return returned(
    (open, other) => disturbed(open, (before) => (before === what ? other() : undefined)),
    theirs,
  );
}

function confirmations(): number {
  return recorded.received.filter(({ target }) => target.endsWith('/confirm')).length;
}

it.each<['confirm-sent' | 'the first byte', ConsentEvent[], string[]]>([
  ['confirm-sent', [SENT], ['confirm-sent']],
  ['confirm-sent', [{ type: 'cancelled' }], ['cancelled']],
  ['the first byte', [UNANSWERED], ['confirm-sent', 'confirm-unanswered']],
])(
  'a process that stalled before %s confirms nothing, and leaves the other’s work alone',
  async (what, theirs, events) => {
    const { run, written } = await standsStill(what, ...theirs);
    expect(await errorOf(run())).toMatchObject({ code: 'overtaken' });
    expect(confirmations()).toBe(0);
    expect(written()).toEqual(events);
  },
);

it.each<[string, ConsentEvent[], string[]]>([
  ['could not learn the outcome', [UNANSWERED], ['confirm-unanswered', 'confirmed']],
  ['only saw the customer come back', [{ type: 'sca-returned' }], ['sca-returned', 'confirmed']],
  ['already knows that', [CONFIRMED], ['confirmed']],
  [
    'had a person record that it was not confirmed',
    [UNANSWERED, { ...SAID, outcome: 'not-executed' }],
    ['confirm-unanswered', 'resolved', 'confirmed'],
  ],
  [
    'had a person record that it was confirmed',
    [UNANSWERED, { ...SAID, outcome: 'executed' }],
    ['confirm-unanswered', 'resolved'],
  ],
])(
  'a process that stalled until the bank had confirmed records that if the other %s',
  async (_, theirs, events) => {
    const { run, written } = await standsStill('confirmed', ...theirs);
    script.confirm();
    expect(await run()).toMatchObject({ state: 'confirmed' });
    expect(written()).toEqual(['confirm-sent', ...events]);
  },
);

it('a process that stalled until the bank had refused to confirm records the refusal', async () => {
  const { run, written } = await standsStill('confirm-refused', UNANSWERED);
  script.confirm(refusal(417, 'PSD2_E1'));
  script.status(operationStatus('AUTHORIZED'));
  await expect(run()).rejects.toMatchObject({ code: 'bank_refused', bankCode: 'PSD2_E1' });
  expect(written()).toEqual(['confirm-sent', 'confirm-unanswered', 'confirm-refused']);
});

it.each(['NOT_AUTHORIZED', 'EXPIRED'])(
  'a process that stalled until the bank refused to confirm because the consent is %s records that',
  async (status) => {
    const { run, written } = await standsStill('authorization', UNANSWERED);
    script.confirm(refusal(412));
    script.status(operationStatus(status));
    expect(await errorOf(run())).toMatchObject({
      code: expect.stringMatching(/^(not_authorised|authorisation_expired)$/),
    });
    expect(written()).toEqual(['confirm-sent', 'confirm-unanswered', 'authorization']);
  },
);

it('a process that stalled after a refusal that came before the decision confirms nothing again', async () => {
  const { run, written } = await standsStill('confirm-turned-away', UNANSWERED);
  script.confirm(refusal(412));
  script.status(operationStatus('PENDING'));
  expect(await errorOf(run())).toMatchObject({ code: 'overtaken' });
  expect(written()).toEqual(['confirm-sent', 'confirm-unanswered']);
  expect(confirmations()).toBe(1);
});

it.each<[string, ConsentEvent, string]>([
  ['learned nothing either', UNANSWERED, 'outcome_unknown'],
  ['knows that the bank confirmed', CONFIRMED, 'confirmed'],
  ['knows that the bank refused', { type: 'confirm-refused' }, 'bank_refused'],
  ['had a person record that it was not confirmed', { ...SAID, outcome: 'not-executed' }, 'bank_refused'],
])('a process whose confirmation had no answer changes nothing if the other %s', async (_, theirs, end) => {
  const { run, written } = await standsStill('confirm-unanswered', theirs);
  script.confirm('cut before the answer');
  if (theirs === UNANSWERED) script.status(operationStatus('AUTHORIZED'));
  const ended = run().then(
    ({ state }) => state,
    ({ code }) => code,
  );
  expect(await ended).toBe(end);
  expect(written()).toEqual(['confirm-sent', theirs.type]);
});

it('if psd2 cannot write the confirmation into the journal, it says so, and resume asks the bank', async () => {
  let isFull = true;
  const { run, written } = await returned((open) =>
    disturbed(open, (what) => {
      if (isFull && what !== 'the first byte' && open.current.state === 'confirming')
        throw new Psd2Error('config', 'The disk is full');
    }),
  );
  script.confirm();
  expect(await errorOf(run())).toMatchObject({ code: 'config', message: 'The disk is full' });
  expect(written()).toEqual(['confirm-sent']);

  isFull = false;
  script.status(operationStatus('AUTHORIZED', 'OK'));
  expect(await run()).toMatchObject({ state: 'confirmed' });
  expect(confirmations()).toBe(1);
});

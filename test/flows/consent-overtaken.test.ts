import { expect, it } from 'vitest';
import type { ConsentEvent } from '../../src/domain/consent.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runConsent } from '../../src/flows/consent/loop.ts';
import type { Open } from '../../src/store/ports/flows.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { opened } from '../store/flows.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { consentScriptOf, newConsent } from './consents.ts';
import { errorOf } from './doubles.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = consentScriptOf(recorded);
const temporary = temporaryFolder();

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
    (open, other) => ({
      get current() {
        return open.current;
      },
      async record(event) {
        if (event.type === what) await other();
        return open.record(event);
      },
      async assertOurs() {
        if (what === 'the first byte' && open.current.state === 'confirming') await other();
        await open.assertOurs();
      },
      reread: () => open.reread(),
    }),
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
  const { run, written } = await returned((open) => ({
    get current() {
      return open.current;
    },
    async record(event) {
      if (isFull && open.current.state === 'confirming') throw new Psd2Error('config', 'The disk is full');
      return open.record(event);
    },
    assertOurs: () => open.assertOurs(),
    reread: () => open.reread(),
  }));
  script.confirm();
  expect(await errorOf(run())).toMatchObject({ code: 'config', message: 'The disk is full' });
  expect(written()).toEqual(['confirm-sent']);

  isFull = false;
  script.status(operationStatus('AUTHORIZED', 'OK'));
  expect(await run()).toMatchObject({ state: 'confirmed' });
  expect(confirmations()).toBe(1);
});

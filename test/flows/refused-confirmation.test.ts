import { describe, expect, it } from 'vitest';
import type { TokenSource } from '../../src/bank/ports/call.ts';
import type { ConsentEvent } from '../../src/domain/consent.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runConsent } from '../../src/flows/consent/loop.ts';
import type { FlowPorts } from '../../src/flows/ports.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { type ClientOptions, useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { opened } from '../store/flows.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { consentScriptOf, newConsent } from './consents.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = consentScriptOf(recorded);
const temporary = temporaryFolder();

const AUTHORIZED = operationStatus('AUTHORIZED');
const CONFIRMED = operationStatus('AUTHORIZED', 'OK');
const PENDING = operationStatus('PENDING');
const RETURNED: ConsentEvent[] = [
  {
    type: 'requested',
    resourceId: 'r1',
    outcomes: [
      { name: 'ACCOUNT_INFO', outcome: true },
      { name: 'PAYMENTS', outcome: true },
    ],
  },
  { type: 'sca-started' },
  { type: 'sca-returned' },
];
const SENT: ConsentEvent = { type: 'confirm-sent', requestId: 'request-1', digest: null };
const RENEWABLE: TokenSource = { current: async () => 'old', renewed: async () => 'new' };

/** A consent whose journal has these events, and whose run may have other ports. */
async function consentAfter(events: ConsentEvent[], options: ClientOptions = {}) {
  const consent = await newConsent(newConfigFolder(temporary));
  for (const event of events) await consent.open.record(event);
  const { world, customer, flows } = consent;
  const { flow, transactionId } = consent.open.current;
  const { bank } = openClient({ now: world.now, ...options });
  const before = consent.events().length;
  return {
    consent,
    bank,
    flow,
    transactionId,
    run: (ports: Partial<FlowPorts> = {}) =>
      flows.resume('consent', flow, (taken) => runConsent(taken, { bank, world, customer, ...ports })),
    open: () => opened(flows, 'consent', flow),
    written: () => consent.events().slice(before),
  };
}

describe('a refused confirmation', () => {
  it.each<[number, string, RegExp]>([
    [417, 'bank_refused', /Not like this/],
    [
      409,
      'outcome_unknown',
      /^The bank refused confirm, but its status does not show whether it had confirmed the consent before: .*Not like this/,
    ],
  ])('after HTTP %i the error says how to find out what became of it', async (status, code, message) => {
    const { flow, transactionId, run } = await consentAfter(RETURNED);
    script.status(AUTHORIZED);
    script.confirm(refusal(status, 'PSD2_X', 'Not like this'));
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: expect.stringContaining(
        'First ask the bank again. Also check whether you can read the accounts.',
      ),
      next: expect.arrayContaining([['consent', 'resume', flow]]),
      flow,
      transactionId,
    });
  });

  it.each<[string, ScriptedAnswer, string, string[]]>([
    ['pending', PENDING, 'failed', []],
    ['authorised', AUTHORIZED, 'failed', []],
    ['not authorised', operationStatus('NOT_AUTHORIZED'), 'rejected', ['authorization']],
    ['too late', operationStatus('EXPIRED'), 'expired', ['authorization']],
    ['confirmed', CONFIRMED, 'confirmed', ['confirmed']],
  ])(
    'a consent that only a refusal has ended, and that is %s at the bank',
    async (_, answer, state, events) => {
      const { consent, run, written } = await consentAfter([...RETURNED, SENT, { type: 'confirm-refused' }]);
      script.status(answer);
      await run().catch(() => undefined);
      expect(await consent.stored()).toMatchObject({ state });
      expect(written()).toEqual(events);
      expect(recorded.received).toHaveLength(1);
    },
  );

  it.each<[string, ScriptedAnswer, string[]]>([
    ['the bank had confirmed it', CONFIRMED, ['confirm-turned-away', 'confirmed']],
    ['the customer declined', operationStatus('NOT_AUTHORIZED'), ['confirm-turned-away', 'authorization']],
    ['nothing is decided', PENDING, ['confirm-turned-away']],
    ['the bank does not say', refusal(404), ['confirm-turned-away']],
  ])('if the bank allows no more calls and %s, psd2 does not confirm again', async (_, answer, events) => {
    const { run, written } = await consentAfter(RETURNED);
    script.status(AUTHORIZED);
    script.confirm(refusal(429));
    script.status(answer);
    const ended = run();
    if (events.at(-1) === 'confirmed') expect(await ended).toMatchObject({ state: 'confirmed' });
    else
      await expect(ended).rejects.toMatchObject({
        code: events.length > 1 ? 'not_authorised' : 'too_many_calls',
      });
    expect(written()).toEqual(['authorization', 'confirm-sent', ...events]);
  });

  it('a second refusal of the token ends the run, unless the status shows the outcome', async () => {
    const { run } = await consentAfter(RETURNED, { tokens: RENEWABLE });
    script.status(AUTHORIZED);
    script.confirm(refusal(401));
    script.status(AUTHORIZED);
    script.confirm(refusal(401));
    script.status(CONFIRMED);
    expect(await run()).toMatchObject({ state: 'confirmed' });
  });

  it('if the bank refuses the token and then the status, psd2 does not confirm again', async () => {
    const { consent, run, written } = await consentAfter(RETURNED, { tokens: RENEWABLE });
    script.status(AUTHORIZED);
    script.confirm(refusal(401));
    script.status(refusal(412));
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(written().slice(-3)).toEqual(['confirm-sent', 'confirm-turned-away', 'confirm-unanswered']);
    expect(await consent.stored()).toMatchObject({ state: 'unknown' });
  });

  it('if the bank allowed no more calls and now refuses the status, resume does not confirm again', async () => {
    const { consent, run } = await consentAfter([...RETURNED, SENT, { type: 'confirm-turned-away' }]);
    script.status(refusal(404));
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await consent.stored()).toMatchObject({ state: 'unknown' });
  });

  it('confirm and each question that decides about it have a connection that nothing else uses', async () => {
    const { run } = await consentAfter([]);
    script.request();
    script.approach();
    script.confirm(refusal(420));
    script.status(AUTHORIZED);
    await expect(run()).rejects.toMatchObject({ code: 'too_many_calls' });
    script.status(AUTHORIZED);
    script.confirm();
    await run();
    const [request, approach, ...others] = recorded.received.map(({ clientPort }) => clientPort);
    expect(approach).toBe(request);
    expect(new Set([request, ...others]).size).toBe(5);
  });
});

describe('a confirmation that never left', () => {
  it('if the log of calls says so, psd2 asks for the status and sends it', async () => {
    const { run, written } = await consentAfter([...RETURNED, SENT]);
    script.confirm();
    expect(await run({ neverLeft: async (id) => id === 'request-1' })).toMatchObject({ state: 'confirmed' });
    expect(written()).toEqual(['confirm-not-begun', 'confirm-sent', 'confirmed']);
  });

  it('if the log of calls does not say so, it counts as sent', async () => {
    const { run, written } = await consentAfter([...RETURNED, SENT]);
    script.status(AUTHORIZED);
    await expect(run({ neverLeft: async () => false })).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(written()).toEqual(['confirm-unanswered']);
  });

  it('the log of calls is asked only about a confirmation that the journal has', async () => {
    const { run } = await consentAfter([...RETURNED, { type: 'confirm-unanswered' }]);
    script.status(AUTHORIZED);
    await expect(run({ neverLeft: async () => true })).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('if the journal cannot be written either, psd2 says that it has sent nothing', async () => {
    const { consent, bank, open } = await consentAfter(RETURNED);
    const taken = await open();
    const gone = new Psd2Error('config', 'The journal cannot be written');
    const isSending = () => taken.current.state === 'confirming';
    const failing = {
      get current() {
        return taken.current;
      },
      record: (event: ConsentEvent) => (isSending() ? Promise.reject(gone) : taken.record(event)),
      assertOurs: () => (isSending() ? Promise.reject(gone) : taken.assertOurs()),
      reread: () => taken.reread(),
    };
    const { world, customer } = consent;
    script.status(AUTHORIZED);
    await expect(runConsent(failing, { bank, world, customer })).rejects.toMatchObject({
      code: 'config',
      message: 'psd2 has sent nothing, but could not write that down: The journal cannot be written',
    });
    expect(recorded.received).toHaveLength(1);
  });
});

describe('a bank that refuses to start SCA again', () => {
  it.each<[string, Error, 'theirs' | 'the refusal']>([
    ['the operator interrupts psd2', new Psd2Error('interrupted', 'Interrupted'), 'theirs'],
    ['another psd2 has taken over the consent', new Psd2Error('overtaken', 'Another one'), 'theirs'],
    ['the journal cannot be written', new Psd2Error('config', 'The disk is full'), 'the refusal'],
  ])('if then %s, psd2 says what matters more', async (_, why, said) => {
    const { consent, bank, open } = await consentAfter(RETURNED.slice(0, 1));
    const taken = await open();
    const record = taken.record.bind(taken);
    taken.record = (event) => (event.type === 'authorization' ? Promise.reject(why) : record(event));
    script.approach(refusal(412, 'SCA_FINISHED'));
    script.status(AUTHORIZED);
    const { world, customer } = consent;
    const run = runConsent(taken, { bank, world, customer });
    if (said === 'theirs') await expect(run).rejects.toBe(why);
    else await expect(run).rejects.toMatchObject({ code: 'bank_refused', bankCode: 'SCA_FINISHED' });
  });
});

import { describe, expect, it } from 'vitest';
import type { TokenSource } from '../../src/bank/ports/call.ts';
import type { ConsentEvent } from '../../src/domain/consent.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runConsent } from '../../src/flows/consent/loop.ts';
import type { FlowPorts } from '../../src/flows/ports.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { type ClientOptions, useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { opened } from '../store/flows.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { consentScriptOf, newConsent } from './consents.ts';
import { disturbed } from './doubles.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = consentScriptOf(recorded);
const temporary = temporaryFolder();

const AUTHORIZED = operationStatus('AUTHORIZED');
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

  it('a confirmation that psd2 never announced, because it got no token, is not unknown', async () => {
    const failing = new Psd2Error('bank_failing', 'The bank failed');
    const tokens: TokenSource = {
      async current() {
        if (recorded.received.length === 2) throw failing;
        return 'token';
      },
      renewed: async () => 'never',
    };
    script.request();
    script.approach();
    const { consent, run } = await consentAfter([], { tokens });
    await expect(run()).rejects.toBe(failing);
    expect(await consent.stored()).toMatchObject({ state: 'authorizing' });
    expect(recorded.received).toHaveLength(2);
  });

  it('if the journal cannot be written either, psd2 says that it has sent nothing', async () => {
    const { consent, bank, open } = await consentAfter(RETURNED);
    const taken = await open();
    const gone = new Psd2Error('config', 'The journal cannot be written');
    const failing = disturbed(taken, () => {
      if (taken.current.state === 'confirming') throw gone;
    });
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
    const failing = disturbed(taken, (what) => {
      if (what === 'authorization') throw why;
    });
    script.approach(refusal(412, 'SCA_FINISHED'));
    script.status(AUTHORIZED);
    const { world, customer } = consent;
    const run = runConsent(failing, { bank, world, customer });
    if (said === 'theirs') await expect(run).rejects.toBe(why);
    else await expect(run).rejects.toMatchObject({ code: 'bank_refused', bankCode: 'SCA_FINISHED' });
  });
});

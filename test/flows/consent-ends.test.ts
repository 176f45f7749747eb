import { describe, expect, it } from 'vitest';
import type { ConsentEvent } from '../../src/domain/consent.ts';
import { Psd2Error } from '../../src/errors.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { consentScriptOf, newConsent } from './consents.ts';
import { customerElsewhere, errorOf, fakeCustomer, waitsOf } from './doubles.ts';

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

describe('SCA for a consent', () => {
  it('if the bank refuses to start SCA because the consent of an older journal is confirmed, the consent is confirmed', async () => {
    const { run, stateOf } = await consentAfter([REQUESTED]);
    script.approach(refusal(400, 'SCA_FINISHED'));
    script.status(operationStatus('AUTHORIZED', 'OK'));
    await run();
    expect(await stateOf()).toBe('confirmed');
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

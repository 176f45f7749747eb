import { describe, expect, it } from 'vitest';
import type { TokenSource } from '../../src/bank/ports/call.ts';
import { Psd2Error } from '../../src/errors.ts';
import { operationStatus, refusal, success } from '../bank/answers.ts';
import { type ClientOptions, useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { consentScriptOf, newConsent, requested } from './consents.ts';
import { customerElsewhere, fakeCustomer } from './doubles.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = consentScriptOf(recorded);
const temporary = temporaryFolder();

async function openConsent(customer = fakeCustomer(), options: ClientOptions = {}) {
  const consent = await newConsent(newConfigFolder(temporary), customer);
  const { bank } = openClient({ now: consent.world.now, ...options });
  return { consent, run: () => consent.run(bank), stateOf: async () => (await consent.stored()).state };
}

function confirmations(): number {
  return recorded.received.filter(({ target }) => target.endsWith('/confirm')).length;
}

describe('a consent from request to confirmation', () => {
  it('a consent goes through request, SCA and confirm, each in the journal before and after the call', async () => {
    script.request();
    script.approach();
    script.confirm();
    const { consent, run } = await openConsent();
    expect(await run()).toMatchObject({
      state: 'confirmed',
      resourceId: 'r1',
      categories: [
        { name: 'ACCOUNT_INFO', outcome: true },
        { name: 'PAYMENTS', outcome: true },
      ],
    });
    expect(consent.events()).toEqual([
      'created',
      'request-sent',
      'requested',
      'approach-sent',
      'sca-started',
      'sca-returned',
      'confirm-sent',
      'confirmed',
    ]);
    const ids = recorded.received.map(({ headers }) => headers['tpp-transaction-id']);
    expect(new Set(ids)).toEqual(new Set([consent.open.current.transactionId]));
  });

  it('if the customer returns to another machine, psd2 asks for the status before it confirms', async () => {
    script.request();
    script.approach();
    script.status(operationStatus('PENDING'));
    script.status(operationStatus('AUTHORIZED'));
    script.confirm();
    const { run } = await openConsent(customerElsewhere());
    expect(await run()).toMatchObject({ state: 'confirmed' });
  });

  it.each([
    ['NOT_AUTHORIZED', 'not_authorised', 'rejected'],
    ['EXPIRED', 'authorisation_expired', 'expired'],
  ])(
    'if the customer returns to another machine and the bank says %s, the consent ends',
    async (status, code, state) => {
      script.request();
      script.approach();
      script.status(operationStatus(status));
      const { run, stateOf } = await openConsent(customerElsewhere());
      await expect(run()).rejects.toMatchObject({ code });
      expect(await stateOf()).toBe(state);
      expect(confirmations()).toBe(0);
    },
  );
});

describe('the consent request', () => {
  it('a consent that the bank grants in part continues', async () => {
    script.request(requested(true, false));
    script.approach();
    script.confirm();
    const { run } = await openConsent();
    expect((await run()).categories.map(({ outcome }) => outcome)).toEqual([true, false]);
  });

  it('a consent that the bank grants for no category ends before SCA', async () => {
    script.request(requested(false, false));
    const { consent, run, stateOf } = await openConsent();
    await expect(run()).rejects.toMatchObject({
      code: 'bank_refused',
      message: 'The bank grants none of the categories for these products',
    });
    expect(await stateOf()).toBe('failed');
    expect(consent.customer.visited).toEqual([]);
  });

  it('a consent request that the bank refuses has failed; one without an answer can be repeated', async () => {
    const { run, stateOf } = await openConsent();
    script.request('cut before the answer');
    await expect(run()).rejects.toMatchObject({ code: 'bank_unreachable' });
    expect(await stateOf()).toBe('created');
    script.request(refusal(422));
    await expect(run()).rejects.toMatchObject({ code: 'bank_refused', httpStatus: 422 });
    expect(await stateOf()).toBe('failed');
  });
});

describe('the confirmation of a consent', () => {
  it('if the bank refuses the confirmation because the customer declined, psd2 says that the customer did not authorise', async () => {
    script.request();
    script.approach();
    script.confirm(refusal(412));
    script.status(operationStatus('NOT_AUTHORIZED'));
    const { run, stateOf } = await openConsent();
    await expect(run()).rejects.toMatchObject({ code: 'not_authorised' });
    expect(await stateOf()).toBe('rejected');
  });

  it('if the bank refuses the confirmation before the customer decided, psd2 repeats it after the decision', async () => {
    script.request();
    script.approach();
    script.confirm(refusal(412));
    script.status(operationStatus('PENDING'));
    script.status(operationStatus('PENDING'));
    script.status(operationStatus('AUTHORIZED'));
    script.confirm();
    const { run } = await openConsent();
    expect(await run()).toMatchObject({ state: 'confirmed' });
  });

  it('if the bank refuses the content of the repeated confirmation as well, the consent has failed', async () => {
    script.request();
    script.approach();
    for (let time = 0; time < 2; time += 1) {
      script.confirm(refusal(417, 'PSD2_E1'));
      script.status(operationStatus('PENDING'));
      if (time === 0) script.status(operationStatus('AUTHORIZED'));
    }
    const { run, stateOf } = await openConsent();
    await expect(run()).rejects.toMatchObject({ bankCode: 'PSD2_E1' });
    expect(await stateOf()).toBe('failed');
    script.status(refusal(412));
    await expect(run()).rejects.toMatchObject({
      message: expect.stringContaining('refused to confirm'),
      hint: expect.stringContaining('First ask the bank again.'),
    });
  });

  it.each([400, 417, 422])(
    'if the bank refuses the content of the confirmation with %i, the consent has failed until its status says more',
    async (status) => {
      script.request();
      script.approach();
      script.confirm(refusal(status, 'PSD2_E1'));
      script.status(operationStatus('AUTHORIZED'));
      const { run, stateOf } = await openConsent();
      await expect(run()).rejects.toMatchObject({ code: 'bank_refused', bankCode: 'PSD2_E1' });
      expect(await stateOf()).toBe('failed');
      script.status(operationStatus('AUTHORIZED', 'OK'));
      expect(await run()).toMatchObject({ state: 'confirmed', refusedUnconfirmed: false });
      expect(confirmations()).toBe(1);
    },
  );

  it.each([403, 404, 409, 412])(
    'HTTP %i in answer to the confirmation may mean that it was done before, so the outcome is unknown',
    async (status) => {
      script.request();
      script.approach();
      script.confirm(refusal(status));
      script.status(operationStatus('AUTHORIZED'));
      const { run, stateOf } = await openConsent();
      await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
      expect(await stateOf()).toBe('unknown');
    },
  );

  it.each([400, 401, 403, 409, 412, 417, 420, 422, 429])(
    'a consent whose confirmation was refused with HTTP %i is confirmed if its status says so',
    async (status) => {
      script.request();
      script.approach();
      script.confirm(refusal(status));
      script.status(operationStatus('AUTHORIZED', 'OK'));
      const tokens: TokenSource = { current: async () => 'old', renewed: async () => 'new' };
      const { run } = await openConsent(fakeCustomer(), { tokens });
      expect(await run()).toMatchObject({ state: 'confirmed', refusedUnconfirmed: false });
      expect(confirmations()).toBe(1);
    },
  );

  it('after 401 psd2 asks for the status, and confirms once more with a new token', async () => {
    script.request();
    script.approach();
    script.confirm(refusal(401));
    script.status(operationStatus('AUTHORIZED'));
    script.confirm(refusal(401));
    script.status(operationStatus('AUTHORIZED'));
    const tokens: TokenSource = { current: async () => 'old', renewed: async () => 'new' };
    const { run, stateOf } = await openConsent(fakeCustomer(), { tokens });
    await expect(run()).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(await stateOf()).toBe('authorizing');
    expect(confirmations()).toBe(2);
  });

  it.each<[string, ScriptedAnswer]>([
    ['names another resource', success('{}', { resourceId: 'r2' })],
    ['is that of the status', operationStatus('AUTHORIZED')],
    ['is that of the consent request', requested(true, true)],
  ])('a success that %s does not confirm the consent', async (_, answer) => {
    script.request();
    script.approach();
    script.confirm(answer);
    script.status(operationStatus('AUTHORIZED'));
    const { run, stateOf } = await openConsent();
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await stateOf()).toBe('unknown');
  });

  it.each<[string, ScriptedAnswer]>([
    ['HTTP 500', refusal(500)],
    ['a cut connection', 'cut before the answer'],
    ['no envelope', { status: 200, body: '{}' }],
  ])(
    'after %s in answer to the confirmation, psd2 does not send it again but asks the bank',
    async (_, answer) => {
      script.request();
      script.approach();
      script.confirm(answer);
      script.status(operationStatus('AUTHORIZED'));
      const { run, stateOf } = await openConsent();
      await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
      expect(await stateOf()).toBe('unknown');
      script.status(refusal(412));
      await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
      script.status(operationStatus('AUTHORIZED', 'OK'));
      expect(await run()).toMatchObject({ state: 'confirmed' });
      expect(confirmations()).toBe(1);
    },
  );

  it('a confirmation that the bank rate-limited can be sent when the consent is resumed', async () => {
    script.request();
    script.approach();
    script.confirm(refusal(420));
    script.status(operationStatus('AUTHORIZED'));
    const { run, stateOf } = await openConsent();
    await expect(run()).rejects.toMatchObject({ code: 'too_many_calls' });
    expect(await stateOf()).toBe('authorizing');
    script.status(operationStatus('AUTHORIZED'));
    script.confirm();
    expect(await run()).toMatchObject({ state: 'confirmed' });
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
    const { run, stateOf } = await openConsent(fakeCustomer(), { tokens });
    await expect(run()).rejects.toBe(failing);
    expect(await stateOf()).toBe('authorizing');
    expect(confirmations()).toBe(0);
  });
});

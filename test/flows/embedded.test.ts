import { describe, expect, it } from 'vitest';
import type { ScaChallenge, ScaMethod } from '../../src/domain/embedded.ts';
import { isPlainlyFailed } from '../../src/domain/flow-states.ts';
import { Psd2Error } from '../../src/errors.ts';
import type { CredentialPorts, CredentialQuestion } from '../../src/flows/ports.ts';
import { Secret } from '../../src/secret.ts';
import { json, judgeByStandard, useNextGen } from '../bank/interfaces/nextgenpsd2/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf } from './doubles.ts';
import { linkedScriptOf, newLinkedConsent } from './linked-consents.ts';
import { newPayment, paymentScriptOf } from './linked-payments.ts';

// Embedded SCA of a payment (docs/embedded.md): what is sent, once, and what psd2 does with each answer, or without one.

const recorded = useRecordedBank(judgeByStandard);
const open = useNextGen(recorded);
const bank = paymentScriptOf(recorded);
const temporary = temporaryFolder();

const SELF = '/v1/payments/sepa-credit-transfers/p1';
const LIST = `${SELF}/authorisations`;
const A1 = `${LIST}/a1`;
const [PIN, TAN] = ['marked-PIN-7', 'marked-TAN-9'];
const METHODS = [
  { authenticationType: 'CHIP_OTP', authenticationMethodId: '962', name: 'chipTAN' },
  { authenticationType: 'SMS_OTP', authenticationMethodId: '942', name: 'mobile TAN' },
];

/** Somebody who has these answers, one after the other; null is Enter. */
function person(answers: {
  pins?: (string | null)[];
  codes?: (string | null)[];
  method?: string | null;
  again?: boolean;
}) {
  const { pins = [PIN], codes = [TAN], method = '942', again = false } = answers;
  const asked: string[] = [];
  const noted: string[] = [];
  const challenges: ScaChallenge[] = [];
  const messages: (string | undefined)[] = [];
  const why: { refusal: Psd2Error | null; stopsAt?: string } = { refusal: null };
  const next = (values: (string | null)[], what: string, { wasSent }: CredentialQuestion) => {
    asked.push(`${what}${wasSent ? ' again' : ''}`);
    if (why.stopsAt === what) throw new Psd2Error('interrupted', 'Interrupted');
    const value = values.shift() ?? null;
    return value === null ? null : new Secret(value);
  };
  const credentials: CredentialPorts = {
    refusal: () => why.refusal,
    password: async (question) => next(pins, 'PIN', question),
    async method(methods: readonly ScaMethod[]) {
      asked.push(`one of ${methods.map(({ id }) => id).join(' ')}`);
      return method;
    },
    async code(challenge, question) {
      challenges.push(challenge);
      messages.push(question.message);
      return next(codes, 'TAN', question);
    },
    async beginsAgain() {
      asked.push('anew');
      return again;
    },
    async note(what, _question, result) {
      noted.push(`${what} ${result}`);
    },
    async close() {
      asked.push('end');
    },
  };
  return { credentials, asked, noted, challenges, messages, why };
}

type Person = ReturnType<typeof person>;

async function payment(who: Person | null, file: object = {}, more: Parameters<typeof newPayment>[2] = {}) {
  const paying = await newPayment(
    temporary,
    open({ file: { payments: { executesWithoutSca: 'never' }, ...file } }).bank,
    more,
  );
  if (who) paying.returns.credentials = who.credentials;
  return paying;
}

const link = (name: string, href: string) => ({ _links: { [name]: { href } } });
const tpp = (code: string, status: number, more: object = {}) =>
  json({ tppMessages: [{ category: 'ERROR', code, text: 'not accepted' }], ...more }, status);

const says = {
  begins: () => bank.initiate(link('startAuthorisationWithPsuAuthentication', LIST)),
  pin: (
    answer: ScriptedAnswer = json(
      { scaStatus: 'psuAuthenticated', scaMethods: METHODS, ...link('selectAuthenticationMethod', A1) },
      201,
    ),
  ) => recorded.expect('POST', LIST, answer),
  put: (answer: ScriptedAnswer) => recorded.expect('PUT', A1, answer),
  challenge: (more: object = {}) =>
    recorded.expect(
      'PUT',
      A1,
      json({
        scaStatus: 'started',
        challengeData: { additionalInformation: 'Sent.<br>Compare.' },
        ...link('authoriseTransaction', A1),
        ...more,
      }),
    ),
  /** The bank knows no authorisation that is over. */
  gone: () => recorded.expect('GET', A1, tpp('RESOURCE_UNKNOWN', 403)),
};
const done = () => json({ scaStatus: 'finalised' });
const bodies = () =>
  recorded.received
    .filter(({ method }) => method === 'PUT' || method === 'POST')
    .map(({ body }) => body.toString())
    .slice(1);
const bodiesWith = (value: string) => recorded.received.filter(({ body }) => body.includes(value)).length;
const KEPT = ['13', 'still_open'];

/** A payment whose TAN is next. */
const untilTan = () => {
  says.begins();
  says.pin();
  says.challenge();
};

describe('embedded SCA of a payment', () => {
  it('goes through PIN, method and TAN, and the status of the payment decides', async () => {
    const who = person({});
    const paying = await payment(who);
    untilTan();
    says.put(done());
    says.gone();
    bank.is('ACSC');
    expect(await paying.run()).toMatchObject({ state: 'executed', isFinal: true, scaStatus: 'finalised' });
    expect(bodies().map((body) => JSON.parse(body))).toEqual([
      { psuData: { password: PIN } },
      { authenticationMethodId: '942' },
      { scaAuthenticationData: TAN },
    ]);
    expect(who.asked).toEqual(['PIN', 'one of 962 942', 'TAN', 'end']);
    expect(who.noted).toEqual(['password sent', 'password accepted', 'code sent', 'code accepted']);
    expect(who.challenges).toEqual([
      { information: 'Sent.<br>Compare.', method: { id: '942', type: 'SMS_OTP', name: 'mobile TAN' } },
    ]);
    expect(paying.events().slice(4)).toEqual([
      ...['credential-sent', 'credential-answered', 'credential-sent', 'credential-answered'],
      ...['credential-sent', 'credential-answered', 'executed'],
    ]);
    expect(new Set(recorded.received.slice(1, 4).map(({ clientPort }) => clientPort)).size).toBe(3);
  });

  it('keeps nothing of PIN and TAN, and no text of the bank that has them', async () => {
    const who = person({ codes: [TAN, null] });
    const { bank: itsBank, observations } = open({ file: { payments: {} } });
    const paying = await newPayment(temporary, itsBank);
    paying.returns.credentials = who.credentials;
    says.begins();
    says.pin(
      json(
        {
          scaStatus: 'psuAuthenticated',
          psuMessage: `You sent ${PIN}`,
          scaMethods: METHODS,
          ...link('selectAuthenticationMethod', A1),
        },
        201,
      ),
    );
    says.challenge();
    const quoting = [
      TAN,
      encodeURIComponent(TAN),
      Buffer.from(`x${TAN}`).toString('base64'),
      `&#109;${TAN.slice(1)}`,
    ];
    says.put(
      json(
        {
          tppMessages: quoting.map((text) => ({
            category: 'ERROR',
            code: 'SCA_INVALID',
            text: `no: ${text}`,
          })),
        },
        401,
      ),
    );
    bank.sca('started');
    bank.is('RCVD');
    const thrown = await paying.run().catch((error: unknown) => error);
    if (!(thrown instanceof Psd2Error)) throw thrown;
    expect(thrown.code).toBe('still_open');
    const everything = JSON.stringify([
      ...[paying.lines(), observations, paying.said, who.noted],
      ...[thrown.message, thrown.context, thrown.stack],
    ]);
    for (const value of [PIN, TAN]) {
      expect(everything).not.toContain(value);
      expect(everything).not.toContain(Buffer.from(value).toString('base64').slice(0, 10));
    }
    const sent = recorded.received.filter(({ body }) => body.includes('marked'));
    expect(sent).toHaveLength(2);
    for (const { headers } of sent)
      for (const name of ['digest', 'signature'])
        if (headers[name]) expect(everything).not.toContain(headers[name]);
    const intents = paying
      .lines()
      .flatMap((line) => line.match(/"digest":[^,}]*/g) ?? [])
      .slice(1);
    expect(intents).toEqual(Array(3).fill('"digest":null'));
  });

  it('takes the only method unasked, and keeps the query of a link', async () => {
    const who = person({});
    const paying = await payment(who);
    says.begins();
    says.pin(
      json(
        {
          scaStatus: 'psuAuthenticated',
          scaMethods: METHODS.slice(1),
          ...link('selectAuthenticationMethod', `${A1}?s=1`),
        },
        201,
      ),
    );
    recorded.expect(
      'PUT',
      `${A1}?s=1`,
      json({ scaStatus: 'scaMethodSelected', ...link('authoriseTransaction', A1) }),
    );
    says.put(done());
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(who.asked).toEqual(['PIN', 'TAN', 'end']);
  });

  it('is over at the PIN where the bank wants nothing more', async () => {
    const paying = await payment(person({}));
    says.begins();
    says.pin(json({ scaStatus: 'exempted' }, 201));
    bank.is('ACSC');
    expect((await paying.run()).state).toBe('executed');
  });

  it('waits for the app if the answer to the method says that the approach is decoupled', async () => {
    const who = person({});
    const paying = await payment(who);
    says.begins();
    says.pin();
    says.put({
      ...{ status: 200, headers: { 'aspsp-sca-approach': 'DECOUPLED', 'content-type': 'application/json' } },
      body: JSON.stringify({ scaStatus: 'started', psuMessage: 'Confirm in the app.' }),
    });
    bank.says('started', 'RCVD');
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(who.asked).toEqual(['PIN', 'one of 962 942', 'end']);
    expect(who.noted).toEqual(['password sent', 'password accepted']);
  });

  it('begins with the PIN at a bank whose file says so', async () => {
    const paying = await payment(person({}), { sca: { first: 'password' } });
    bank.initiate(link('startAuthorisation', LIST));
    says.pin(json({ scaStatus: 'finalised' }, 201));
    bank.is('ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(bodies()).toEqual([JSON.stringify({ psuData: { password: PIN } })]);
  });

  it('identifies the customer first, and goes on with the authorisation that has begun', async () => {
    const paying = await payment(person({}));
    bank.initiate(link('startAuthorisation', LIST));
    recorded.expect(
      'POST',
      LIST,
      json({ scaStatus: 'psuIdentified', ...link('updatePsuAuthentication', A1) }, 201),
    );
    says.put(json({ scaStatus: 'exempted' }));
    bank.says('exempted', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(bodies()).toEqual(['{}', JSON.stringify({ psuData: { password: PIN } })]);
  });

  it('an error to a right TAN proves nothing: the bank is asked, and has executed it', async () => {
    const who = person({});
    const paying = await payment(who);
    untilTan();
    says.put(tpp('PSU_CREDENTIALS_INVALID', 401));
    for (const _ of ['after the error', 'to end']) {
      says.gone();
      bank.is('ACSC');
    }
    expect((await paying.run()).state).toBe('executed');
    expect(who.noted.at(-1)).toBe('code accepted');
    expect(who.asked).toEqual(['PIN', 'one of 962 942', 'TAN', 'end']);
  });

  it.each<[string, ScriptedAnswer]>([
    ['refuses it', tpp('PSU_CREDENTIALS_INVALID', 401)],
    ['fails', { status: 500 }],
    ['answers nothing', 'cut before the answer'],
  ])(
    'the bank %s, and says nothing of the authorisation: the TAN is not asked for again, now or later',
    async (_, answer) => {
      const who = person({});
      const paying = await payment(who);
      untilTan();
      says.put(answer);
      says.gone();
      bank.is('RCVD');
      expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
      expect(isPlainlyFailed(await paying.stored())).toBe(false);
      for (const _ of ['whether it was executed', 'what became of the TAN']) {
        says.gone();
        bank.is('RCVD');
      }
      expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
      expect(who.asked).toEqual(['PIN', 'one of 962 942', 'TAN', 'end', 'end']);
      says.gone();
      bank.is('ACSC');
      expect((await paying.run()).state).toBe('executed');
    },
  );

  it('asks the person again if the authorisation is unfinished by the bank’s word, and says that one was sent', async () => {
    const who = person({ codes: ['first', TAN] });
    const paying = await payment(who);
    untilTan();
    says.put(tpp('SCA_INVALID', 401));
    bank.says('started', 'RCVD');
    says.put(done());
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(who.asked).toEqual(['PIN', 'one of 962 942', 'TAN', 'TAN again', 'end']);
    expect(who.noted.slice(2)).toEqual(['code sent', 'code refused', 'code sent', 'code accepted']);
    expect(paying.said.join()).toContain('HTTP 401: not accepted');
  });

  it('a refused TAN is asked for again with its challenge and method, whatever the links of the error are', async () => {
    const who = person({ codes: ['first', TAN] });
    const paying = await payment(who);
    says.begins();
    says.pin();
    says.challenge({
      psuMessage: 'Sent to your phone.',
      challengeData: { additionalInformation: 'Compare.', otpMaxLength: 6, otpFormat: 'integer' },
    });
    says.put(tpp('SCA_INVALID', 401, link('authoriseTransaction', `${A1}?again=1`)));
    bank.says('started', 'RCVD');
    recorded.expect('PUT', `${A1}?again=1`, done());
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    const challenge = {
      ...{ information: 'Compare.', otpMaxLength: '6', otpFormat: 'integer' },
      method: { id: '942', type: 'SMS_OTP', name: 'mobile TAN' },
    };
    expect(who.challenges).toEqual([challenge, challenge]);
    expect(who.messages).toEqual(['Sent to your phone.', 'Sent to your phone.']);
  });

  it.each([
    ['has taken it, slowly', 'finalised', ['PIN', 'one of 962 942', 'TAN', 'end']],
    ['still waits for one', 'started', ['PIN', 'one of 962 942', 'TAN', 'TAN again', 'end']],
  ])(
    'the answer to a TAN is lost: psd2 asks a few times before it asks a person, and the bank %s',
    async (_, ends, asked) => {
      const who = person({ codes: [TAN, null] });
      const paying = await payment(who);
      untilTan();
      says.put('cut before the answer');
      for (const _ of [1, 2, 3]) bank.says('started', 'RCVD');
      for (const _ of ends === 'started' ? [1] : [1, 2])
        bank.says(ends, ends === 'started' ? 'RCVD' : 'ACSC');
      if (ends === 'started') expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
      else expect((await paying.run()).state).toBe('executed');
      expect(who.asked).toEqual(asked);
      expect(paying.world.sleeps).toEqual([3000, 3000, 3000]);
    },
  );

  it('of two runs at once, one alone sends the TAN', async () => {
    const first = person({ codes: [null] });
    const paying = await payment(first);
    untilTan();
    await errorOf(paying.run());
    const who = person({ codes: [TAN, TAN] });
    paying.returns.credentials = who.credentials;
    recorded.received.length = 0;
    for (const _ of [1, 2]) bank.says('started', 'RCVD');
    says.put(done());
    bank.says('finalised', 'ACSC');
    const ends = await Promise.allSettled([paying.run(), paying.run()]);
    // The other one waits for the lock, and finds it paid.
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(bodiesWith(TAN)).toBe(1);
  });

  it.each([
    ['nothing', {}],
    ['fees', { transactionFees: { amount: '0.35', currency: 'EUR' } }],
  ])(
    'failed with RCVD leaves it open, and one new authorisation begins after a yes, which costs %s',
    async (what, cost) => {
      const no = person({});
      const paying = await payment(no);
      untilTan();
      says.put(json({ scaStatus: 'failed' }));
      bank.says('failed', 'RCVD');
      expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
      expect(no.asked.slice(-2)).toEqual(['anew', 'end']);
      expect(isPlainlyFailed(await paying.stored())).toBe(false);
      const yes = person({ again: true });
      paying.returns.credentials = yes.credentials;
      for (const _ of ['whether it is paid', 'how far it is']) bank.says('failed', 'RCVD');
      bank.authorisations('a1');
      bank.sca('failed');
      const links = link('authoriseTransaction', `${LIST}/a2`);
      says.pin(json({ scaStatus: 'scaMethodSelected', ...links, ...cost }, 201));
      recorded.expect('PUT', `${LIST}/a2`, done());
      recorded.expect('GET', `${LIST}/a2`, json({ scaStatus: 'finalised' }));
      bank.is('ACSC');
      expect((await paying.run()).state).toBe('executed');
      expect(yes.asked).toEqual(['anew', 'PIN again', 'TAN again', 'end']);
      expect(paying.events().filter((type) => type === 'cost-told')).toHaveLength(what === 'fees' ? 1 : 0);
    },
  );

  it.each([
    ['nothing', {}, []],
    ['fees', { transactionFees: { amount: '0.35', currency: 'EUR' } }, ['cost-told']],
  ])('a new authorisation that begins before the PIN, and then costs %s', async (_what, cost, told) => {
    const paying = await payment(person({}));
    const begins = (authorisation: string, more: object = {}) => {
      const links = link('updatePsuAuthentication', `${LIST}/${authorisation}`);
      recorded.expect('POST', LIST, json({ scaStatus: 'psuIdentified', ...links, ...more }, 201));
    };
    bank.initiate(link('startAuthorisation', LIST));
    begins('a1');
    says.put(json({ scaStatus: 'scaMethodSelected', ...link('authoriseTransaction', A1) }));
    says.put(json({ scaStatus: 'failed' }));
    bank.says('failed', 'RCVD');
    expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
    paying.returns.credentials = person({ again: true }).credentials;
    for (const _ of ['whether it is paid', 'how far it is']) bank.says('failed', 'RCVD');
    bank.authorisations('a1');
    bank.sca('failed');
    begins('a2', cost);
    const links = link('authoriseTransaction', `${LIST}/a2`);
    recorded.expect('PUT', `${LIST}/a2`, json({ scaStatus: 'scaMethodSelected', ...links }));
    recorded.expect('PUT', `${LIST}/a2`, done());
    recorded.expect('GET', `${LIST}/a2`, json({ scaStatus: 'finalised' }));
    bank.is('ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(paying.events().filter((type) => type === 'cost-told')).toEqual(told);
  });

  it.each([
    ['PIN', { pins: [null] }, 0],
    ['method', { method: null }, 1],
    ['TAN', { codes: [null, TAN] }, 2],
  ])('Enter at the %s sends nothing, and a resume goes on there', async (what, answers, steps) => {
    const who = person(answers);
    const paying = await payment(who);
    says.begins();
    if (steps > 0) says.pin();
    if (steps > 1) says.challenge();
    const error = await errorOf(paying.run());
    expect(error).toMatchObject({
      code: KEPT[1],
      next: [
        ['transfer', 'resume', paying.flow],
        ['transfer', 'cancel', paying.flow],
      ],
    });
    if (what === 'method') expect(error.message).toContain('chipTAN, mobile TAN');
    const again = person({});
    paying.returns.credentials = again.credentials;
    // Whether it is over is asked once what the customer gave has left.
    for (const _ of steps > 0 ? ['the payment', 'the authorisation'] : [])
      bank.says(steps > 1 ? 'started' : 'psuAuthenticated', 'RCVD');
    if (steps === 0) says.pin();
    if (steps < 2) says.challenge();
    says.put(done());
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(again.asked).toEqual(['PIN', 'one of 962 942', 'TAN', 'end'].slice(steps));
  });

  it.each([
    ['PIN', () => says.begins()],
    ['TAN', untilTan],
  ])('Ctrl-C at the %s leaves it open, and names what goes on and what ends it', async (what, script) => {
    const who = person({});
    who.why.stopsAt = what;
    const paying = await payment(who);
    script();
    expect(await errorOf(paying.run())).toMatchObject({
      code: 'interrupted',
      message: 'Interrupted. The payment is not over: the customer can still authorise it',
      next: [
        ['transfer', 'resume', paying.flow],
        ['transfer', 'cancel', paying.flow],
      ],
    });
    expect(who.asked.at(-1)).toBe('end');
    expect(isPlainlyFailed(await paying.stored())).toBe(false);
  });

  it.each<[string, Psd2Error, noted: string[], status: string]>([
    ['a wrong setting', new Psd2Error('config', 'Wrong'), ['authorization'], 'PATC'],
    ['Ctrl-C', new Psd2Error('interrupted', 'Interrupted'), [], 'RCVD'],
  ])(
    'what the bank said last is written down if psd2 stops at a second TAN, but not by %s',
    async (why, error, noted, status) => {
      const who = person({ codes: ['first'] });
      const ask = who.credentials.code;
      who.credentials.code = async (challenge, question) => {
        if (question.wasSent) throw error;
        return ask(challenge, question);
      };
      const paying = await payment(who);
      bank.initiate({
        ...link('startAuthorisationWithPsuAuthentication', LIST),
        transactionStatus: 'RCVD',
      });
      says.pin();
      says.challenge();
      says.put(tpp('SCA_INVALID', 401));
      bank.says('started', 'PATC');
      await errorOf(paying.run());
      expect(paying.events().slice(-1 - noted.length)).toEqual(['credential-answered', ...noted]);
      expect([why, (await paying.stored()).transactionStatus]).toEqual([why, status]);
    },
  );

  it('fees that the bank tells before the TAN are above the limit: it is cancelled, and no TAN is asked for', async () => {
    const who = person({});
    const paying = await payment(who);
    paying.ports.refusesCost = ({ verification }) =>
      verification?.commissions ? new Psd2Error('invalid_amount', 'Too much') : null;
    says.begins();
    says.pin();
    says.challenge({ transactionFees: { amount: '99.00', currency: 'EUR' } });
    bank.cancel();
    for (const _ of ['once', 'for the end']) bank.says('failed', 'CANC');
    expect(await errorOf(paying.run())).toMatchObject({
      ...{ code: 'invalid_amount', message: 'Too much', hint: 'The bank has cancelled the transfer.' },
      next: undefined,
    });
    expect((await paying.stored()).state).toBe('cancelled');
    expect(who.asked).not.toContain('TAN');
  });

  it('a PIN that never left is noted as unknown, and is none that was sent', async () => {
    const untilPin = await payment(person({}));
    says.begins();
    untilPin.returns.credentials = person({ pins: [null] }).credentials;
    await errorOf(untilPin.run());
    const who = person({});
    const { bank: down } = open({
      file: { payments: { executesWithoutSca: 'never' } },
      baseUrl: 'https://127.0.0.1:1',
    });
    const cut = await newPayment(temporary, down, { journal: untilPin.lines() });
    cut.returns.credentials = who.credentials;
    await errorOf(cut.run());
    expect(who.noted).toEqual(['password sent', 'password unknown']);
    expect(cut.events().slice(-2)).toEqual(['credential-sent', 'credential-not-begun']);
    expect((await cut.stored()).credentials).toEqual([]);
    const later = person({ pins: [null] });
    const again = await payment(later, {}, { journal: cut.lines() });
    bank.is('RCVD');
    await errorOf(again.run());
    expect(later.asked).toEqual(['PIN', 'end']);
  });

  it('psd2 may take none: the payment is cancelled with the reason, and nobody has a link', async () => {
    const who = person({});
    who.why.refusal = new Psd2Error('config', 'The profile does not allow it');
    const paying = await payment(who);
    says.begins();
    bank.cancel();
    bank.is('CANC');
    expect(await errorOf(paying.run())).toMatchObject({
      code: 'config',
      message: 'The profile does not allow it',
    });
    expect([(await paying.stored()).state, who.asked]).toEqual(['cancelled', []]);
  });

  it('a bank that has no other way is not asked at all then', async () => {
    const paying = await payment(null, { sca: { approaches: ['embedded'] } });
    expect(await errorOf(paying.run())).toMatchObject({ code: 'config' });
    expect(recorded.received).toEqual([]);
  });

  it('psd2 may take none any more after a PIN: the payment stays open', async () => {
    const who = person({ method: null });
    const paying = await payment(who);
    says.begins();
    says.pin();
    await errorOf(paying.run());
    who.why.refusal = new Psd2Error('usage', 'Nobody can answer');
    bank.says('psuAuthenticated', 'RCVD');
    expect(await errorOf(paying.run())).toMatchObject({
      code: 'still_open',
      message: expect.stringContaining('Nobody can answer'),
    });
  });

  it('the bank wants a second password after the PIN: one sentence, cancelled', async () => {
    const paying = await payment(person({}));
    says.begins();
    says.pin(json({ scaStatus: 'psuAuthenticated', ...link('updateAdditionalPsuAuthentication', A1) }, 201));
    bank.cancel();
    bank.is('CANC');
    expect(await errorOf(paying.run())).toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining('a second password'),
    });
  });

  it('the bank wants the password encrypted: one sentence, cancelled', async () => {
    const paying = await payment(person({}));
    bank.initiate(link('startAuthorisationWithEncryptedPsuAuthentication', LIST));
    bank.cancel();
    bank.is('CANC');
    expect(await errorOf(paying.run())).toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining('encrypted'),
    });
  });
});

describe('embedded SCA of a consent', () => {
  const script = linkedScriptOf(recorded);
  const CONSENTS = '/v1/consents/c1/authorisations';
  const begins = { startAuthorisationWithPsuAuthentication: { href: CONSENTS } };
  const consent = async (who: Person) => {
    const asking = await newLinkedConsent(temporary);
    asking.grant.credentials = who.credentials;
    return { ...asking, bank: open({}).bank };
  };

  it('goes through PIN and TAN, and the status of the consent decides', async () => {
    const who = person({});
    const asking = await consent(who);
    script.request(begins);
    const next = link('authoriseTransaction', `${CONSENTS}/a1`);
    recorded.expect('POST', CONSENTS, json({ scaStatus: 'scaMethodSelected', ...next }, 201));
    recorded.expect('PUT', `${CONSENTS}/a1`, done());
    script.is('valid');
    script.sca('finalised');
    expect(await asking.run(asking.bank)).toMatchObject({ state: 'confirmed' });
    expect(who.asked).toEqual(['PIN', 'TAN', 'end']);
    expect(asking.lines().join()).not.toMatch(/marked/);
  });

  it('refused for want of a method, it has ended', async () => {
    const asking = await consent(person({}));
    script.request(begins);
    recorded.expect('POST', CONSENTS, tpp('SCA_METHOD_UNKNOWN', 400));
    script.is('received');
    expect(await errorOf(asking.run(asking.bank))).toMatchObject({ code: 'not_authorised' });
    expect((await asking.stored()).state).toBe('rejected');
  });

  it('Ctrl-C at a question leaves it open, and names what goes on and what ends it', async () => {
    const who = person({});
    who.why.stopsAt = 'PIN';
    const asking = await consent(who);
    script.request(begins);
    const { flow } = await asking.stored();
    expect(await errorOf(asking.run(asking.bank))).toMatchObject({
      code: 'interrupted',
      next: [
        ['consent', 'resume', flow],
        ['consent', 'delete', flow],
      ],
    });
  });

  it('failed, it stays open, and another authorisation begins after a yes alone', async () => {
    const who = person({});
    const asking = await consent(who);
    script.request(begins);
    const next = link('authoriseTransaction', `${CONSENTS}/a1`);
    recorded.expect('POST', CONSENTS, json({ scaStatus: 'scaMethodSelected', ...next }, 201));
    recorded.expect('PUT', `${CONSENTS}/a1`, json({ scaStatus: 'failed' }));
    script.is('received');
    script.sca('failed');
    expect(await errorOf(asking.run(asking.bank))).toMatchObject({ code: 'still_open' });
    expect(who.asked).toEqual(['PIN', 'TAN', 'anew', 'end']);
    for (const _ of ['whether it is granted', 'how far it is']) {
      script.is('received');
      script.sca('failed');
    }
    expect(await errorOf(asking.run(asking.bank))).toMatchObject({ code: 'still_open' });
    expect((await asking.stored()).state).toBe('authorizing');
  });
});

describe('embedded SCA of a cancellation', () => {
  const CANCELLATIONS = `${SELF}/cancellation-authorisations`;
  const executed = async (who: Person) => {
    const paying = await payment(who);
    says.begins();
    says.pin(json({ scaStatus: 'exempted' }, 201));
    bank.is('ACSP');
    await paying.run();
    who.asked.length = 0;
    return paying;
  };
  const wantsPin = () =>
    bank.cancel(json(link('startAuthorisationWithPsuAuthentication', CANCELLATIONS), 202));

  it('goes through PIN and TAN, and the status of the payment decides', async () => {
    const who = person({ pins: [PIN, PIN] });
    const paying = await executed(who);
    wantsPin();
    const next = link('authoriseTransaction', `${CANCELLATIONS}/c1`);
    recorded.expect('POST', CANCELLATIONS, json({ scaStatus: 'scaMethodSelected', ...next }, 201));
    recorded.expect('PUT', `${CANCELLATIONS}/c1`, done());
    for (const _ of ['once', 'for the end']) bank.is('CANC');
    expect(await paying.cancel()).toMatchObject({ state: 'cancelled' });
    expect(who.asked).toEqual(['PIN', 'TAN', 'end']);
    expect(paying.lines().join()).not.toMatch(/marked/);
  });

  it.each([
    ['and the bank says nothing of it: nothing is sent', 'gone', ['TAN', 'end', 'end']],
    [
      'and the bank still waits for one: it goes on with the challenge',
      'started',
      ['TAN', 'TAN again', 'end', 'TAN again', 'end'],
    ],
  ])(
    'a cancellation that stopped after a TAN without an answer asks about it first, %s',
    async (_, said, asked) => {
      const who = person({ pins: [PIN, PIN], codes: [TAN, null, 'another'] });
      const paying = await executed(who);
      wantsPin();
      const c1 = `${CANCELLATIONS}/c1`;
      const challenge = { additionalInformation: 'Compare.' };
      const next = { ...link('authoriseTransaction', c1), challengeData: challenge };
      recorded.expect('POST', CANCELLATIONS, json({ scaStatus: 'scaMethodSelected', ...next }, 201));
      recorded.expect('PUT', c1, 'cut before the answer');
      const looks = (many: number) => {
        for (let look = 0; look < many; look += 1) {
          bank.is('ACSP');
          recorded.expect(
            'GET',
            c1,
            said === 'gone' ? tpp('RESOURCE_UNKNOWN', 403) : json({ scaStatus: said }),
          );
        }
      };
      looks(said === 'gone' ? 1 : 4);
      expect(await errorOf(paying.cancel())).toMatchObject({ code: 'still_open' });
      recorded.received.length = 0;
      looks(1);
      if (said === 'gone') {
        expect(await errorOf(paying.cancel())).toMatchObject({ code: 'still_open' });
        expect(recorded.received.filter(({ method }) => method !== 'GET')).toEqual([]);
      } else {
        recorded.expect('PUT', c1, done());
        for (const _ of ['once', 'for the end']) bank.is('CANC');
        expect(await paying.cancel()).toMatchObject({ state: 'cancelled' });
        expect(recorded.received.map(({ method }) => method)).not.toContain('DELETE');
        expect(who.challenges.map(({ information }) => information)).toEqual(Array(3).fill('Compare.'));
      }
      expect(who.asked.slice(1)).toEqual(asked);
    },
  );

  it('of a store that was restored, it knows from the log of calls that a TAN was sent', async () => {
    const who = person({ pins: [PIN, PIN] });
    const paying = await payment(who, { sca: { approaches: ['redirect', 'embedded'] } });
    says.begins();
    says.pin(json({ scaStatus: 'exempted' }, 201));
    bank.is('ACSP');
    await paying.run();
    paying.ports.given = async () => [{ what: 'code', requestId: 'q', ofCancellation: true }];
    recorded.received.length = 0;
    bank.is('ACSP');
    expect(await errorOf(paying.cancel())).toMatchObject({ code: 'still_open' });
    expect(recorded.received.map(({ method }) => method)).toEqual(['GET']);
  });

  it('Ctrl-C at a question leaves the cancellation open, and names what asks and what goes on', async () => {
    const who = person({});
    const paying = await executed(who);
    who.why.stopsAt = 'PIN';
    wantsPin();
    expect(await errorOf(paying.cancel())).toMatchObject({
      code: 'interrupted',
      message: expect.stringContaining('The cancellation is not over'),
      next: [
        ['transfer', 'status', paying.flow],
        ['transfer', 'cancel', paying.flow],
      ],
    });
  });

  it('Enter sends nothing: the cancellation stays open', async () => {
    const who = person({ pins: [PIN, null] });
    const paying = await executed(who);
    wantsPin();
    expect(await errorOf(paying.cancel())).toMatchObject({
      code: 'still_open',
      message: expect.stringContaining('The cancellation is not over'),
      next: [
        ['transfer', 'status', paying.flow],
        ['transfer', 'cancel', paying.flow],
      ],
    });
  });
});

describe('embedded SCA of several persons', () => {
  it('another person has an authorisation of their own, which begins with their PIN', async () => {
    const ada = person({});
    const paying = await payment(ada);
    paying.returns.psuId = 'ada';
    says.begins();
    says.pin(json({ scaStatus: 'finalised', authorisationId: 'a1' }, 201));
    for (const _ of ['once', 'again']) bank.says('finalised', 'PATC');
    expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
    const ben = person({});
    Object.assign(paying.returns, {
      ...{ credentials: ben.credentials, psuId: 'ben' },
      person: { id: 'ben', idType: undefined, corporateId: undefined },
    });
    bank.says('finalised', 'PATC');
    says.pin(json({ scaStatus: 'scaMethodSelected', ...link('authoriseTransaction', `${LIST}/a2`) }, 201));
    recorded.expect('PUT', `${LIST}/a2`, done());
    recorded.expect('GET', `${LIST}/a2`, json({ scaStatus: 'finalised' }));
    bank.is('ACSC');
    expect(await paying.run()).toMatchObject({
      state: 'executed',
      authorisations: [
        { id: 'a1', psuId: 'ada', scaStatus: 'finalised' },
        { id: 'a2', psuId: 'ben', scaStatus: 'finalised' },
      ],
    });
    expect(ben.asked).toEqual(['PIN', 'TAN', 'end']);
    expect(
      recorded.received.filter(({ body }) => body.includes(PIN)).map(({ headers }) => headers['psu-id']),
    ).toEqual([undefined, 'ben']);
  });
});

describe('a payment that costs too much, of which psd2 learns that with a step', () => {
  const FEES = { transactionFees: { amount: '99.00', currency: 'EUR' } };
  const A2 = `${LIST}/a2`;
  const ofBen = { psuId: 'ben', person: { id: 'ben', idType: undefined, corporateId: undefined } };

  /** Ada has had the PIN taken, with this word, and psd2 was killed. Then Ben's PIN was taken, and he has given no TAN. */
  async function ofTwo(scaStatus: string, status: string) {
    const ada = await payment(person({}));
    ada.returns.psuId = 'ada';
    says.begins();
    says.pin(json({ scaStatus, authorisationId: 'a1', ...link('scaStatus', A1) }, 201));
    for (const _ of ['once', 'again']) bank.says(scaStatus, 'PATC');
    await errorOf(ada.run());
    const journal = ada.lines().slice(0, 6);
    const ben = await payment(person({ codes: [null] }), {}, { journal });
    Object.assign(ben.returns, ofBen);
    bank.says(scaStatus, status);
    says.pin(json({ scaStatus: 'started', ...link('authoriseTransaction', A2) }, 201));
    await errorOf(ben.run());
    return ben;
  }

  it('is not cancelled if another person has authorised it', async () => {
    const paying = await ofTwo('finalised', 'PATC');
    paying.ports.refusesCost = ({ verification }) =>
      verification?.commissions ? new Psd2Error('invalid_amount', 'Too much') : null;
    const who = person({ codes: [TAN, TAN] });
    Object.assign(paying.returns, { credentials: who.credentials, psuId: undefined, person: undefined });
    recorded.received.length = 0;
    recorded.expect('GET', A2, json({ scaStatus: 'started' }));
    bank.is('RCVD');
    recorded.expect('PUT', A2, json({ scaStatus: 'started', ...FEES, ...link('authoriseTransaction', A2) }));
    const { flow } = paying;
    expect(await errorOf(paying.run())).toMatchObject({
      ...{ code: 'still_open', message: expect.stringContaining('Too much. The payment is not over') },
      next: [
        ['transfer', 'status', flow],
        ['transfer', 'cancel', flow],
      ],
    });
    expect(recorded.received.map(({ method }) => method)).not.toContain('DELETE');
    expect((await paying.stored()).state).toBe('authorizing');
    // Nor if psd2 learns it from the journal.
    recorded.received.length = 0;
    recorded.expect('GET', A2, json({ scaStatus: 'started' }));
    bank.is('RCVD');
    expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
    expect(recorded.received.map(({ method }) => method)).not.toContain('DELETE');
  });
});

describe('psd2 is killed', () => {
  // What a killed psd2 leaves is a beginning of its journal. Another one goes on, and every step stands once at the bank.
  const whole = async () => {
    const paying = await payment(person({}));
    untilTan();
    says.put(done());
    says.gone();
    bank.is('ACSC');
    await paying.run();
    return paying.lines();
  };

  it.each([
    ['before the PIN left', 'credential-sent', 1, 'PIN'],
    ['before the choice of a method left', 'credential-sent', 2, 'method'],
    ['before the TAN left', 'credential-sent', 3, 'TAN'],
  ])('%s, or after it: psd2 asks, and sends it to nobody again by itself', async (_, type, nth, what) => {
    const lines = await whole();
    const at =
      lines.map((line, index) => (line.includes(`"${type}"`) ? index : -1)).filter((index) => index >= 0)[
        nth - 1
      ] ?? 0;
    const who = person({ pins: [], codes: [], method: null });
    const killed = await payment(who, {}, { journal: lines.slice(0, at + 1) });
    recorded.received.length = 0;
    if (what === 'PIN') for (const _ of [1, 2]) bank.is('RCVD');
    else
      for (const _ of [1, 2]) {
        says.gone();
        bank.is('RCVD');
      }
    expect(await errorOf(killed.run())).toMatchObject({ code: 'still_open' });
    expect(recorded.received.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(who.asked).toEqual(what === 'PIN' ? ['anew', 'end'] : ['end']);
    // The line before it left was written by the killed one.
    expect(who.noted).toEqual(what === 'PIN' ? ['password unknown'] : what === 'TAN' ? ['code unknown'] : []);
  });

  it.each([
    ['before the PIN', 1, null],
    ['before the TAN', 3, 'gone'],
    ['before the TAN, and the bank still waits for one', 3, 'started'],
  ])('its store is restored from %s: the log of calls knows what was sent', async (_, nth, scaStatus) => {
    const lines = await whole();
    const sent = lines.filter((line) => line.includes('"credential-sent"'));
    const gifts = ['password', 'method', 'code'] as const;
    const requestIds = sent.map((line) => /"requestId":"([^"]+)"/.exec(line)?.[1] ?? '');
    const who = person({ pins: [], codes: [], method: null });
    const file = { sca: { approaches: ['redirect', 'embedded'] } };
    const journal = lines.slice(0, lines.indexOf(sent[nth - 1] ?? ''));
    const restored = await payment(who, file, { journal });
    restored.ports.given = async () =>
      gifts.flatMap((what, index) => ({ what, requestId: requestIds[index] ?? '' }));
    recorded.received.length = 0;
    if (scaStatus === 'started') for (const _ of [1, 2, 3, 4, 5]) bank.says('started', 'RCVD');
    else
      for (const _ of [1, 2]) {
        if (scaStatus === 'gone') says.gone();
        bank.is('RCVD');
      }
    expect(await errorOf(restored.run())).toMatchObject({ code: 'still_open' });
    expect(recorded.received.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(who.asked).toEqual(scaStatus === 'started' ? ['TAN again', 'end'] : ['end']);
    const found = restored.lines().filter((line) => line.includes('"isFound":true'));
    expect(found).toHaveLength(4 - nth);
    expect(await restored.stored()).toMatchObject({ mayExecuteWithoutUs: true });
  });
});

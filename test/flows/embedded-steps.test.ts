import { describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type { Sca, ScaLinks, ScaStepAnswer, ScaTurn } from '../../src/bank/ports/customer.ts';
import type { AskedAfter, Given, SentCredential } from '../../src/domain/embedded.ts';
import type { ScaProgress } from '../../src/domain/payment-answers.ts';
import { Psd2Error } from '../../src/errors.ts';
import { giveCredentials } from '../../src/flows/embedded-sca.ts';
import type { GiftRecord } from '../../src/flows/gifts.ts';
import type { CredentialPorts, CredentialQuestion, CustomerPorts } from '../../src/flows/ports.ts';
import { Secret } from '../../src/secret.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { amountOf } from '../domain/bookings.ts';
import { fakeCustomer, fakeWorld, NO_GIFTS, returnsTo } from './doubles.ts';

// The order of the steps of embedded SCA, in memory: what the customer is asked for, what leaves, how often the bank is asked, and what is
// written down. test/flows/embedded.test.ts has the same with a journal and a bank.

/** What happens before `give` gives an answer, or throws. `unsent`: it fails before anything leaves. */
type Answer = Partial<ScaStepAnswer> | { throws: Psd2Error } | { unsent: Psd2Error };

interface Scene {
  links?: ScaLinks;
  /** What was sent before. */
  sent?: Partial<SentCredential>[];
  psuId?: string;
  answers?: Answer[];
  /** What the bank says when it is asked. The last one stays. */
  looks?: (Partial<AskedAfter> | Psd2Error)[];
  pins?: (string | Psd2Error | null)[];
  codes?: (string | null)[];
  method?: string | null;
  again?: boolean;
  /** What a list of authorisations says. Absent: the bank has none. */
  listed?: ScaProgress['means'] | null | Psd2Error;
  turn?: ScaTurn;
  /** A refusal for want of a method ends it. */
  endsWithoutMethod?: true;
  /** What it is for has no costs, and the bank neither begins an authorisation with a step nor says how another one begins. */
  isBare?: true;
  pollSeconds?: number;
  whileWaiting?: CustomerPorts['whileWaiting'];
}

const PIN: ScaLinks = { approach: 'embedded', id: 'a1', step: { next: 'password' } };
const TAN: ScaLinks = { approach: 'embedded', id: 'a1', step: { next: 'code' } };
const METHOD: ScaLinks = {
  ...{ approach: 'embedded', id: 'a1' },
  step: {
    next: 'method',
    methods: [
      { id: 'm1', type: 'CHIP_OTP' },
      { id: 'm2', type: '', name: 'Phone' },
      { id: 'm3', type: '' },
    ],
  },
};
/** What is left of the links if the bank wants nothing more. */
const NONE: ScaLinks = { approach: 'embedded', id: 'a1' };

/** Somebody who answers as the scene says. */
function customerOf(
  { pins = ['pin'], codes = ['tan'], method = null, again = false }: Scene,
  done: string[],
) {
  const question = (what: string, { wasSent, message }: CredentialQuestion, how = '') =>
    done.push(`${what}?${how}${wasSent ? ' again' : ''}${message === undefined ? '' : ` (${message})`}`);
  const given = (value: string | Psd2Error | null | undefined) => {
    if (value instanceof Psd2Error) throw value;
    return value === null || value === undefined ? null : new Secret(value);
  };
  const credentials: CredentialPorts = {
    refusal: () => null,
    async password(asked) {
      question('PIN', asked);
      return given(pins.shift());
    },
    async method(methods) {
      done.push(`one of ${methods.map(({ id }) => id).join(' ')}?`);
      return method;
    },
    async code(challenge, asked) {
      question('TAN', asked, challenge.method && ` by ${challenge.method.id}`);
      return given(codes.shift());
    },
    async beginsAgain(asked) {
      question('anew', asked);
      return again;
    },
    note: async (what, _question, became) => void done.push(`note ${what} ${became}`),
    close: async () => void done.push('close'),
  };
  return credentials;
}

/** The journal's side. */
function giftsOf({ psuId, looks = [{}], endsWithoutMethod, ...scene }: Scene, done: string[]) {
  const sentOf = (more: Partial<SentCredential>): SentCredential => ({
    ...{ what: 'password', psuId: null, isAnswered: false, requestId: 'q' },
    ...more,
  });
  let sent = (scene.sent ?? []).map(sentOf);
  const gifts: GiftRecord = {
    ...NO_GIFTS,
    sent: () => sent,
    announce: (what, begins) => async () => {
      done.push(`announce ${what}${begins ? ' begins' : ''}`);
      sent = [...sent, sentOf({ what, psuId: psuId ?? null })];
      return undefined;
    },
    async answered({ links, scaStatus }) {
      done.push(`answered ${scaStatus} ${links.step?.next ?? 'nothing'}`);
      sent = sent.map((each) => ({ ...each, isAnswered: true }));
    },
    kept: async (links) => void done.push(`kept ${links.step?.next ?? 'nothing'}`),
    ...(endsWithoutMethod && { lacksMethod: async () => void done.push('ends') }),
    stop: (why) =>
      new Psd2Error('still_open', `${typeof why === 'string' ? why : why.message}. It is open`, {
        hint: 'Ways on',
      }),
    async look() {
      done.push('look');
      const said = looks.length > 1 ? looks.shift() : looks[0];
      if (said instanceof Psd2Error) throw said;
      return { scaStatus: null, decided: null, ...said };
    },
  };
  return gifts;
}

/** The bank's side. */
function bankOf({ answers = [], listed, pollSeconds, isBare }: Scene, done: string[]): Bank {
  const bank = answeringBank(() => ({ data: {} }));
  const sca: Sca = {
    ...bank.sca,
    async give({ gift, links, beforeSend }) {
      const answer = answers.shift() ?? expect.unreachable();
      if ('unsent' in answer) throw answer.unsent;
      await beforeSend({ requestId: 'q', digest: null });
      done.push(`give ${gift.what}${gift.what === 'method' ? ` ${gift.value}` : ''}`);
      if ('throws' in answer) throw answer.throws;
      return { links, scaStatus: null, ...answer };
    },
    ...(listed !== undefined && {
      async progressWithoutLink() {
        done.push('list');
        if (listed instanceof Psd2Error) throw listed;
        return listed && { scaStatus: listed, means: listed, message: null };
      },
    }),
    ...(!isBare && {
      begins: (_id, { begins }) => begins !== undefined,
      anew: (links) => (links?.begins === undefined ? null : { approach: 'embedded', begins: links.begins }),
    }),
    ...(pollSeconds !== undefined && { timing: { pollSeconds, authorisationMinutes: 5 } }),
  };
  return { ...bank, sca };
}

/** What the bank does if another authorisation is to begin. */
const NEW_TURN = {
  ...{ next: 'give', step: { next: 'password' } },
  links: { approach: 'embedded', id: 'a2', step: { next: 'password' } },
} satisfies ScaTurn;

/** @returns what happened, in order, and how it ended */
async function goes(scene: Scene) {
  const done: string[] = [];
  const world = fakeWorld();
  world.sleep = async (milliseconds) => void done.push(`pause ${milliseconds}`);
  const credentials = customerOf(scene, done);
  const { whileWaiting } = scene;
  const error = await giveCredentials(
    { resourceId: 'p1', redirectUri: 'http://127.0.0.1:8910/callback', transactionId: 't' },
    scene.links ?? PIN,
    {
      ports: { bank: bankOf(scene, done), customer: fakeCustomer(whileWaiting && { whileWaiting }), world },
      returns: returnsTo({
        ...{ credentials, psuId: scene.psuId },
        quote: (words) => void done.push(`quote ${words}`),
      }),
      async begin(links) {
        done.push(`begin ${links === null ? 'with nothing' : (links.begins ?? 'with links')}`);
        return scene.turn ?? NEW_TURN;
      },
    },
    {
      gifts: giftsOf(scene, done),
      ...(!scene.isBare && { cost: async () => void done.push('cost') }),
      started: async ({ id }) => void done.push(`started ${id}`),
    },
  ).then(
    () => null,
    (reason: unknown) => reason,
  );
  const does = done
    .join(', ')
    .replace(/note (\w+) sent, announce \1( begins)?, give \1/g, 'send $1$2')
    .replace(/announce method( begins)?, give method/g, 'send method$1');
  const says = error instanceof Psd2Error ? `${error.code}: ${error.message}` : String(error);
  return { does, whole: done, ends: error === null ? 'over' : says, error };
}

const banks = () => new Psd2Error('not_logged_in', 'HTTP 401: no', { isBanks: true });
const gateways = new Psd2Error('bank_refused', 'HTTP 403: no');
const lacksMethod = new Psd2Error('bank_refused', 'HTTP 400: no method', {
  isBanks: true,
  lacksMethod: true,
});
const FEES = { totalAmount: null, commissions: { amount: amountOf('0.35'), currency: 'EUR' } };
const FOUR_LOOKS = 'look, pause 3000, look, pause 3000, look, pause 3000, look';
const UNSAID = 'still_open: The bank does not say what became of the TAN. It is open';

describe('what follows from the answer to a TAN', () => {
  it.each<[string, Answer, Partial<Scene>, does: string, ends: string]>([
    [
      'it is done',
      { links: NONE, scaStatus: 'finalised' },
      {},
      'answered finalised nothing, note code accepted',
      'over',
    ],
    [
      'it is done, and costs',
      { links: NONE, scaStatus: 'exempted', cost: FEES },
      {},
      'answered exempted nothing, note code accepted',
      'over',
    ],
    [
      'another one is wanted',
      { scaStatus: 'started' },
      { codes: ['tan', null] },
      'answered started code, note code refused, TAN? again',
      'still_open: psd2 was given no other TAN. It is open',
    ],
    [
      'another one is wanted, and costs',
      { scaStatus: 'started', cost: FEES },
      { codes: ['tan', null] },
      'answered started code, note code refused, cost, TAN? again',
      'still_open: psd2 was given no other TAN. It is open',
    ],
    [
      'it goes on elsewhere',
      { links: { ...NONE, approach: 'decoupled' }, scaStatus: 'started', cost: FEES },
      {},
      'answered started nothing, note code accepted',
      'over',
    ],
    [
      'it goes on elsewhere, whatever step is offered',
      { links: { ...TAN, approach: 'decoupled' }, scaStatus: 'started' },
      {},
      'answered started code, note code accepted',
      'over',
    ],
    [
      'another one is wanted, of what has no costs',
      { scaStatus: 'started', cost: FEES },
      { codes: ['tan', null], isBare: true },
      'answered started code, note code refused, TAN? again',
      'still_open: psd2 was given no other TAN. It is open',
    ],
    [
      'nothing more is wanted',
      { links: NONE, scaStatus: 'started' },
      {},
      'answered started nothing, note code unknown',
      'over',
    ],
    [
      'a page has the code',
      { links: NONE, scaStatus: 'unconfirmed' },
      {},
      'answered unconfirmed nothing, note code accepted',
      'still_open: The bank waits for a code that only a page of its own brings back. It is open',
    ],
    [
      'its links cannot be used',
      { links: { approach: null, unusable: 'Bad links' }, scaStatus: 'started' },
      {},
      'answered started nothing, note code unknown',
      'bank_answer: Bad links',
    ],
    [
      'nothing is said, and it is done',
      { links: NONE },
      { looks: [{ scaStatus: 'finalised' }] },
      'kept nothing, look, note code accepted, answered finalised nothing',
      'over',
    ],
    [
      'nothing is said, and no step is left',
      { links: NONE },
      { looks: [{ scaStatus: 'started' }] },
      `kept nothing, ${FOUR_LOOKS}, note code unknown`,
      UNSAID,
    ],
    [
      'its word counts if nobody has another',
      { links: NONE, scaStatus: 'failed' },
      { looks: [{}] },
      'kept nothing, look, note code refused, answered failed nothing, anew?',
      UNSAID,
    ],
    [
      'the word of the status counts more',
      { links: NONE, scaStatus: 'failed' },
      { looks: [{ scaStatus: 'finalised' }] },
      'kept nothing, look, note code accepted, answered finalised nothing',
      'over',
    ],
    [
      'the bank refuses it, and it is over',
      { refusal: banks() },
      { looks: [{ decided: 'ended' }] },
      'quote HTTP 401: no, look, note code refused, answered null code',
      'over',
    ],
    [
      'the bank refuses it, and has taken it',
      { refusal: banks() },
      { looks: [{ decided: 'accepted' }] },
      'quote HTTP 401: no, look, note code accepted, answered null code',
      'over',
    ],
    [
      'the bank refuses it, and says no more',
      { refusal: banks() },
      {},
      'quote HTTP 401: no, look, note code unknown',
      'still_open: HTTP 401: no. It is open',
    ],
    [
      'the bank refuses it, and the authorisation is open',
      { refusal: banks() },
      { codes: ['tan', null], looks: [{ scaStatus: 'started' }] },
      'quote HTTP 401: no, look, note code refused, answered started code, TAN? again',
      'still_open: psd2 was given no other TAN. It is open',
    ],
    [
      'a gateway refuses it, and the authorisation is open',
      { refusal: gateways },
      { codes: ['tan', null], looks: [{ scaStatus: 'started' }] },
      `quote HTTP 403: no, ${FOUR_LOOKS}, note code unknown, answered started code, TAN? again`,
      'still_open: psd2 was given no other TAN. It is open',
    ],
    [
      'the customer has no method, which ends it',
      { refusal: lacksMethod },
      { endsWithoutMethod: true },
      'quote HTTP 400: no method, note code unknown, ends',
      'over',
    ],
    [
      'the customer has no method, which ends nothing',
      { refusal: lacksMethod },
      {},
      'quote HTTP 400: no method, look, note code unknown',
      'still_open: HTTP 400: no method. It is open',
    ],
    [
      'the bank refuses it, which ends only what lacks a method',
      { refusal: banks() },
      { endsWithoutMethod: true },
      'quote HTTP 401: no, look, note code unknown',
      'still_open: HTTP 401: no. It is open',
    ],
    [
      'it is lost, and the bank cannot be asked',
      { throws: new Psd2Error('bank_failing', 'Away') },
      { looks: [new Psd2Error('bank_unreachable', 'Nobody')] },
      'look, note code unknown',
      'bank_unreachable: Nobody',
    ],
    [
      'Ctrl-C ends the wait',
      { throws: new Psd2Error('interrupted', 'Interrupted') },
      {},
      'note code unknown',
      'interrupted: Interrupted. It is open',
    ],
    [
      'another psd2 goes on',
      { throws: new Psd2Error('overtaken', 'Overtaken') },
      {},
      'note code unknown',
      'overtaken: Overtaken',
    ],
  ])('%s', async (_, answer, scene, does, ends) => {
    const found = await goes({ links: TAN, answers: [answer], ...scene });
    expect([found.does, found.ends]).toEqual([`TAN?, send code, ${does}, close`, ends]);
  });
});

describe('how often the bank is asked what became of a TAN without an answer', () => {
  const open = { scaStatus: 'started' };
  const done = { scaStatus: 'finalised' };
  it.each<[string, Partial<Scene>, does: string]>([
    ['it is done at once', { looks: [done] }, 'look'],
    ['it is done when it is asked again', { looks: [open, done] }, 'look, pause 3000, look'],
    ['it is done at last', { looks: [open, open, open, done] }, FOUR_LOOKS],
    ['it is done too late', { looks: [open, open, open, open, done] }, FOUR_LOOKS],
    ['it fails meanwhile', { looks: [open, { scaStatus: 'failed' }, done] }, 'look, pause 3000, look'],
    ['it ends meanwhile', { looks: [open, { decided: 'ended' }, done] }, 'look, pause 3000, look'],
    ['the bank says nothing', { looks: [{}, done] }, 'look'],
    ['the bank may be asked more often', { looks: [open, done], pollSeconds: 1 }, 'look, pause 1000, look'],
  ])('%s', async (_, scene, does) => {
    const throws = new Psd2Error('bank_failing', 'Away');
    const { does: all } = await goes({ links: TAN, answers: [{ throws }], codes: ['tan', null], ...scene });
    expect(
      all
        .split(', ')
        .filter((each) => /^(look|pause)/.test(each))
        .join(', '),
    ).toBe(does);
  });
});

it('while the bank is asked, the operator sees that, and for how long', async () => {
  const waits: unknown[] = [];
  const whileWaiting: CustomerPorts['whileWaiting'] = (text, work, milliseconds) => {
    waits.push([text, milliseconds]);
    return work;
  };
  await goes({ links: TAN, answers: [{ refusal: banks() }], whileWaiting });
  expect(waits).toEqual([['Asking the bank what became of it', 9_000]]);
});

describe('another authorisation', () => {
  const BEGUN: ScaLinks = { ...TAN, begins: '/a' };
  const failed = { scaStatus: 'failed' };
  const over: Answer = { links: NONE, scaStatus: 'finalised' };
  const OVER = 'PIN? again, send password, answered finalised nothing, note password accepted';
  const sent = [
    { what: 'password', isAnswered: true },
    { what: 'code', isAnswered: true },
  ] as const;

  it.each<[string, Partial<Scene>, does: string, ends: string]>([
    ['is not wanted', {}, 'anew? again', UNSAID],
    ['begins', { again: true }, `anew? again, begin with nothing, started a2, ${OVER}`, 'over'],
    [
      'begins with the link of the first one',
      { again: true, links: BEGUN },
      `anew? again, begin /a, started a2, ${OVER}`,
      'over',
    ],
    [
      'costs something',
      { again: true, turn: { ...NEW_TURN, cost: FEES } },
      `anew? again, begin with nothing, cost, started a2, ${OVER}`,
      'over',
    ],
    [
      'goes another way',
      { again: true, turn: { next: 'wait', links: NEW_TURN.links } },
      'anew? again, begin with nothing, started a2',
      'still_open: The bank wants another way for the new authorisation. It is open',
    ],
    ['is needless: somebody has authorised it', { again: true, listed: 'done' }, 'anew? again, list', 'over'],
    [
      'begins although one goes on',
      { again: true, listed: 'going on' },
      `anew? again, list, begin with nothing, started a2, ${OVER}`,
      'over',
    ],
    [
      'begins if the bank lists none',
      { again: true, listed: null },
      `anew? again, list, begin with nothing, started a2, ${OVER}`,
      'over',
    ],
    [
      'begins if the bank refuses the list',
      { again: true, listed: new Psd2Error('bank_refused', 'No', { refusal: 'other' }) },
      `anew? again, list, begin with nothing, started a2, ${OVER}`,
      'over',
    ],
    [
      'begins if nobody can read the list',
      { again: true, listed: new Psd2Error('bank_answer', 'No') },
      `anew? again, list, begin with nothing, started a2, ${OVER}`,
      'over',
    ],
    [
      'does not begin if the bank cannot be asked for the list',
      { again: true, listed: new Psd2Error('bank_unreachable', 'Nobody') },
      'anew? again, list',
      'bank_unreachable: Nobody',
    ],
    [
      'begins at a bank that says little',
      { again: true, isBare: true, links: BEGUN, turn: { ...NEW_TURN, cost: FEES } },
      `anew? again, begin with nothing, started a2, ${OVER}`,
      'over',
    ],
  ])('after a failed one %s', async (_, scene, does, ends) => {
    const found = await goes({
      links: TAN,
      sent: [...sent],
      looks: [failed],
      pins: ['pin'],
      answers: [over],
      ...scene,
    });
    expect([found.does, found.ends]).toEqual([`look, ${does}, close`, ends]);
  });

  it('begins once in a run', async () => {
    const found = await goes({
      ...{ links: TAN, sent: [...sent], looks: [failed], again: true },
      answers: [{ links: NONE, scaStatus: 'failed' }],
    });
    expect(found.does).toBe(
      'look, anew? again, begin with nothing, started a2, PIN? again, send password, kept nothing, look, note password refused, answered failed nothing, close',
    );
    expect(found.ends).toBe('still_open: The bank does not say what became of the PIN. It is open');
  });

  it('gives the words of the bank that refused the first one', async () => {
    const found = await goes({ links: TAN, looks: [failed], answers: [{ refusal: banks() }] });
    expect(found.ends).toBe('still_open: HTTP 401: no. It is open');
  });
});

describe('what an earlier run has sent', () => {
  const waiting = { scaStatus: 'started' };
  const code = (more: Partial<SentCredential> = {}) => ({ what: 'code' as const, ...more });
  const answered = code({ isAnswered: true });
  const NO_TAN = 'still_open: psd2 was given no TAN, and has sent none. It is open';
  const NO_OTHER = 'still_open: psd2 was given no other TAN. It is open';
  const ASKS_LONG = `${FOUR_LOOKS}, note code unknown, answered started code, TAN? again`;

  it.each<[string, Partial<Scene>, does: string, ends: string]>([
    ['nothing', {}, 'TAN?', NO_TAN],
    [
      'a TAN, which is lost and done',
      { sent: [code()], looks: [{ scaStatus: 'finalised' }] },
      'look, note code accepted, answered finalised code',
      'over',
    ],
    ['a TAN, which is lost and still wanted', { sent: [code()], looks: [waiting] }, ASKS_LONG, NO_OTHER],
    ['a TAN, which is lost', { sent: [code()], looks: [{}] }, 'look, note code unknown', UNSAID],
    [
      'a TAN, which is lost and failed',
      { sent: [code()], looks: [{ scaStatus: 'failed' }] },
      'look, note code unknown, answered failed code, anew?',
      UNSAID,
    ],
    [
      'a TAN, which is lost and still wanted, and nothing says where',
      { links: NONE, sent: [code()], looks: [waiting] },
      `${FOUR_LOOKS}, note code unknown`,
      UNSAID,
    ],
    [
      'a TAN of anyone, which is still wanted',
      { sent: [code({ isAnyones: true, psuId: 'ben' })], looks: [waiting] },
      `${FOUR_LOOKS}, answered started code, TAN? again`,
      NO_OTHER,
    ],
    [
      'a method, whose challenge is lost',
      { sent: [code({ what: 'method' })], looks: [waiting] },
      'look, answered started code, anew?',
      'still_open: The bank does not say what became of the choice of a method. It is open',
    ],
    ['a TAN, which is answered', { sent: [answered], looks: [waiting] }, 'look, TAN? again', NO_OTHER],
    [
      'a TAN, which is answered, and the bank says no more',
      { sent: [answered], looks: [{}] },
      'look, TAN? again',
      NO_OTHER,
    ],
    [
      'a TAN, which is answered and done',
      { sent: [answered], looks: [{ scaStatus: 'finalised' }] },
      'look, answered finalised code',
      'over',
    ],
    [
      'a TAN, which is answered, and it has ended',
      { sent: [answered], looks: [{ decided: 'ended' }] },
      'look, answered null code',
      'over',
    ],
    [
      'a TAN, which is answered and failed',
      { sent: [answered], looks: [{ scaStatus: 'failed' }] },
      'look, anew?',
      UNSAID,
    ],
    [
      'a TAN, which is answered and too late',
      { sent: [answered], looks: [{ scaStatus: 'expired' }] },
      'look, anew?',
      UNSAID,
    ],
    ['a TAN of another person', { sent: [code({ psuId: 'ben' })] }, 'TAN?', NO_TAN],
    [
      'a lost TAN, then an answered one of another person',
      { sent: [code(), { ...answered, psuId: 'ben' }], looks: [waiting] },
      ASKS_LONG,
      NO_OTHER,
    ],
    [
      'a lost TAN of another person, then an answered one',
      { sent: [code({ psuId: 'ben' }), answered], looks: [waiting] },
      'look, TAN? again',
      NO_OTHER,
    ],
    [
      'a lost TAN, then an answered one of the same person',
      { psuId: 'ben', sent: [code(), { ...answered, psuId: 'ben' }], looks: [waiting] },
      'look, TAN? again',
      NO_OTHER,
    ],
    ['a TAN of nobody who was named', { psuId: 'ben', sent: [code()] }, 'TAN?', NO_TAN],
    [
      'a lost TAN, then an answered one',
      { sent: [code(), answered], looks: [waiting] },
      'look, TAN? again',
      NO_OTHER,
    ],
    ['an answered TAN, then a lost one', { sent: [answered, code()], looks: [waiting] }, ASKS_LONG, NO_OTHER],
    [
      'a PIN, and no TAN',
      { sent: [{ what: 'password', isAnswered: true }], looks: [waiting] },
      'look, TAN?',
      NO_TAN,
    ],
  ])('%s', async (_, scene, does, ends) => {
    const found = await goes({ links: TAN, codes: [null], ...scene });
    expect([found.does, found.ends]).toEqual([`${does}, close`, ends]);
  });

  it.each<[string, ScaLinks, string | null, does: string]>([
    [
      'of an authorisation that nobody knows',
      { approach: 'embedded', step: { next: 'password' } },
      null,
      'note password unknown, answered null password, anew? again',
    ],
    ['of an authorisation of which the bank says nothing', PIN, null, 'note password unknown'],
    [
      'whose methods are lost',
      PIN,
      'psuAuthenticated',
      'note password accepted, answered psuAuthenticated password, anew? again',
    ],
  ])('a PIN %s', async (_, links, scaStatus, does) => {
    const found = await goes({ links, looks: [{ scaStatus }], sent: [{ what: 'password' }] });
    expect(found.does).toBe(`look, ${does}, close`);
  });
});

describe('what the customer is asked for', () => {
  const done: Answer = { links: NONE, scaStatus: 'finalised' };
  const ofOne = (id: string): ScaLinks => ({
    ...METHOD,
    step: { next: 'method', methods: [{ id, type: '' }] },
  });
  const DONE = 'answered finalised nothing';

  it.each<[string, Scene, does: string, ends: string]>([
    ['a PIN', { links: PIN }, `PIN?, send password, ${DONE}, note password accepted`, 'over'],
    [
      'a PIN that begins the authorisation',
      { links: { ...PIN, begins: '/a' } },
      `PIN?, send password begins, ${DONE}, note password accepted`,
      'over',
    ],
    [
      'a PIN, with the words of the bank',
      { links: { ...PIN, message: 'Hello' } },
      `PIN? (Hello), send password, ${DONE}, note password accepted`,
      'over',
    ],
    [
      'a PIN that is not given',
      { links: PIN, pins: [null] },
      'PIN?',
      'still_open: psd2 was given no PIN, and has sent none. It is open',
    ],
    [
      'one of some methods',
      { links: METHOD, method: 'm2' },
      `one of m1 m2 m3?, send method m2, ${DONE}`,
      'over',
    ],
    [
      'one of some methods, which is not given',
      { links: METHOD },
      'one of m1 m2 m3?',
      'still_open: No method was chosen. The bank has: CHIP_OTP, Phone, m3. It is open',
    ],
    ['the only method', { links: ofOne('m7') }, `send method m7, ${DONE}`, 'over'],
    [
      'a method, and the bank names none',
      { links: { ...NONE, step: { next: 'method' } } },
      'one of ?',
      'still_open: No method was chosen. The bank has: . It is open',
    ],
    ['a TAN', { links: TAN }, `TAN?, send code, ${DONE}, note code accepted`, 'over'],
    [
      'a TAN by a method',
      { links: { ...TAN, step: { next: 'code', chosen: { id: 'm1', type: '' } } } },
      `TAN? by m1, send code, ${DONE}, note code accepted`,
      'over',
    ],
    ['nothing', { links: NONE }, '', 'over'],
  ])('%s', async (_, scene, does, ends) => {
    const found = await goes({ answers: [done], ...scene });
    expect([found.does, found.ends]).toEqual([[does, 'close'].filter(Boolean).join(', '), ends]);
  });

  it.each<[string, Partial<ScaLinks['step']>, by: string]>([
    ['the method that the customer chose', {}, ' by m2'],
    ['another one, if the bank says so', { chosen: { id: 'm1', type: '' } }, ' by m1'],
  ])('a TAN by %s', async (_, more, by) => {
    const wantsTan: Answer = { links: { ...TAN, step: { next: 'code', ...more } }, scaStatus: 'started' };
    const { does } = await goes({ links: METHOD, method: 'm2', answers: [wantsTan, done] });
    expect(does).toContain(`answered started code, TAN?${by}, send code`);
  });

  it('of what never left, psd2 asks nobody what became of it', async () => {
    const { does, ends } = await goes({
      links: TAN,
      answers: [{ unsent: new Psd2Error('bank_unreachable', 'Nobody') }],
    });
    expect([does, ends]).toEqual(['TAN?, note code unknown, close', 'bank_unreachable: Nobody']);
  });

  it('Ctrl-C at a question names the ways on, and another error is as it was', async () => {
    const [ctrlC, wrong] = [new Psd2Error('interrupted', 'Stopped'), new Psd2Error('config', 'Wrong')];
    const stopped = await goes({ links: PIN, pins: [ctrlC] });
    expect([stopped.does, stopped.ends]).toEqual(['PIN?, close', 'interrupted: Interrupted. It is open']);
    expect(stopped.error).toMatchObject({ hint: 'Ways on', cause: ctrlC });
    expect((await goes({ links: PIN, pins: [wrong] })).error).toBe(wrong);
  });

  it('announces what leaves after its note, and sends it then', async () => {
    const order: string[] = [];
    const gifts: Given[] = ['password', 'code'];
    for (const what of gifts) {
      const { whole } = await goes({ links: what === 'code' ? TAN : PIN, answers: [done] });
      order.push(...whole.filter((each) => each.endsWith(what) || each.endsWith('sent')));
    }
    expect(order).toEqual([
      ...['note password sent', 'announce password', 'give password'],
      ...['note code sent', 'announce code', 'give code'],
    ]);
  });
});

import { describe, expect, it, vi } from 'vitest';
import type { BankCall } from '../../../src/bank/call/call.ts';
import type { PsuIdentification, TokenSource } from '../../../src/bank/ports/call.ts';
import type { ClientCredentials } from '../../../src/bank/ports/customer.ts';
import type { Context } from '../../../src/commands/context.ts';
import { openAccessNotes } from '../../../src/commands/open/call-records.ts';
import { endPaymentTokens, resourceTokensOf } from '../../../src/commands/open/payment-tokens.ts';
import { returnPortsOf } from '../../../src/commands/open/returns.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { StoredTokens, Tokens } from '../../../src/store/ports/tokens.ts';
import type { Questions } from '../../../src/terminal/prompts.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const PAYMENT = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const STATE = 'state-of-this-login';
const PORT = 'http://127.0.0.1:8910/callback';
const GRANTED: StoredTokens = {
  ...{ accessToken: 'new', refreshToken: null, accessTokenExpiresAt: null },
  ...{ refreshTokenExpiresAt: null, scope: null },
};
const client = (): ClientCredentials => ({ clientId: 'tpp', clientSecret: 'secret' });

const openNew = (how?: Parameters<typeof openCommand>[2]) =>
  openCommand(newConfigFolder(temporary), NOW, how);

async function open(payment?: string, paste = false, operator?: Partial<Questions>) {
  const env = { PSD2_REDIRECT_URI: PORT };
  const command = openNew({ env, ...(operator && { operator }) });
  const { context } = command;
  const store = await context.store();
  const { tokens } = store;
  const opened = { client, customerId: 'ada', profile: context.profile(), tokens };
  return { ...command, store, tokens, ports: await returnPortsOf(context, opened, paste, payment) };
}

/** What psd2 keeps of the customer's tokens and of the payment's. */
const kept = async ({ tokens }: { tokens: Tokens }) =>
  Promise.all(
    ['ada', paymentHolder(PAYMENT)].map(async (holder) => (await tokens.read(holder))?.accessToken),
  );

describe('the tokens of a login that comes with the SCA', () => {
  it.each([
    ["are the customer's, and what the bank refused before is forgotten", undefined, ['new', undefined]],
    ['are for the payment alone that the customer authorises', PAYMENT, ['a1', 'new']],
  ])('%s', async (_, payment, tokens) => {
    const { context, store, ports } = await open(payment);
    await storeLogin(context, 'ada');
    const notes = await openAccessNotes(context);
    await notes.callRefused('ada', { at: NOW, message: 'The bank did not allow it' });
    await ports.keepTokens(async () => GRANTED);
    expect(await kept(store)).toEqual(tokens);
    expect(await notes.hasRefusedCall('ada')).toBe(payment !== undefined);
  });

  it('are asked for only when there is room for them, and the room is given back before they are written', async () => {
    const { tokens, ports } = await open();
    const steps: string[] = [];
    const ready = vi.spyOn(tokens, 'ready').mockImplementation(async () => {
      steps.push('room');
      return async () => void steps.push('given back');
    });
    const write = tokens.change.bind(tokens);
    vi.spyOn(tokens, 'change').mockImplementation((...how) => {
      steps.push('written');
      return write(...how);
    });
    await ports.keepTokens(async () => {
      steps.push('granted');
      return GRANTED;
    });
    expect(steps).toEqual(['room', 'granted', 'given back', 'written']);
    await ports.readyToKeep();
    expect(steps.slice(4)).toEqual(['room', 'given back']);
    ready.mockRejectedValue(new Error('The disk is full'));
    await expect(ports.readyToKeep()).rejects.toThrow('The disk is full');
    const granting = ports.keepTokens(() => Promise.reject(new Error('The code was used up')));
    await expect(granting).rejects.toThrow('The disk is full');
  });
});

it('with --paste the operator is asked for the address, hidden, until it is the one of this login', async () => {
  const refused: string[] = [];
  const askSecret: Questions['askSecret'] = async (question, check) => {
    expect(question).toBe('The address that the browser ended at');
    for (const wrong of ['x', `${PORT}?state=another`])
      try {
        await check?.(wrong);
      } catch (error) {
        refused.push(String(error));
      }
    return ` ${PORT}?state=${STATE}&code=c1 `;
  };
  const { ports } = await open(undefined, true, { askSecret });
  expect(Object.fromEntries((await ports.askForReturn?.(STATE)) ?? [])).toEqual({ state: STATE, code: 'c1' });
  expect(refused).toEqual([
    expect.stringContaining('The pasted address is not a URL'),
    expect.stringContaining('The pasted address does not have the state of this login'),
  ]);
  expect((await open()).ports.askForReturn).toBeUndefined();
});

it('what the bank wants the customer to do is said, without what could change the terminal', async () => {
  const { ports, said } = await open();
  ports.say('Confirm in your \u001b[31mapp');
  expect(said()).toBe('Confirm in your \ufffd[31mapp\n');
  expect(ports.client()).toEqual(client());
});

const person = (id?: string): PsuIdentification => ({ id, idType: 'card', corporateId: undefined });
it.each<[string, PsuIdentification | undefined, string | null | undefined, string | undefined]>([
  ['nobody whom psd2 knows', undefined, undefined, undefined],
  ['a customer of whom no id is kept', undefined, null, undefined],
  ['the customer', undefined, 'ada-1', 'ada-1'],
  ['a person in place of the customer', person('bea-2'), 'ada-1', 'bea-2'],
  ['a person, and no id of the customer is kept', person('bea-2'), undefined, 'bea-2'],
  ['a person who has no id, and is not the customer', person(), 'ada-1', undefined],
])('who authorises it is %s', async (_, named, id, psuId) => {
  const { context } = openNew();
  const { tokens, customers } = await context.store();
  if (id !== undefined)
    await customers.change('ada', (before) => ({ ...before, psu: { ...before.psu, id } }));
  const opened = { client, customerId: 'ada', profile: context.profile(), tokens };
  const ports = await returnPortsOf(context, opened, false, undefined, named);
  expect([ports.psuId, ports.person]).toEqual([psuId, named]);
});

/** Keeps the tokens of a payment. */
async function keep(context: Context, payment: string): Promise<void> {
  const { tokens } = await context.store();
  await tokens.change(paymentHolder(payment), (slot) => slot.write(GRANTED));
}
const call = (ofPayment?: string): BankCall => ({
  ...{ method: 'GET', path: '/x', transactionId: 't1' },
  facts: { reads: null, needsConsent: false, login: false, ...(ofPayment !== undefined && { ofPayment }) },
});

/** Finds the tokens of a payment that psd2 keeps, of which each holder's are current as long as nothing fails. */
async function finder(fails?: Error) {
  const opened: string[] = [];
  const { context } = openNew();
  await keep(context, PAYMENT);
  const { tokens } = await context.store();
  const openTokens = (holder: string): TokenSource => {
    opened.push(holder);
    const current = async () => {
      if (fails) throw fails;
      return `token of ${holder}`;
    };
    return { current, renewed: current };
  };
  const ofConsent = async (consentId: string) =>
    consentId === 'c1' ? openTokens(`consent ${consentId}`) : undefined;
  return { opened, find: resourceTokensOf(tokens, openTokens, ofConsent) };
}

it('a call about a payment carries its tokens, which are opened once; other calls carry others', async () => {
  const { opened, find } = await finder();
  expect(await find(call())).toBeUndefined();
  expect(await find(call('of-another'))).toBeUndefined();
  expect(opened).toEqual([]);
  const found = await find(call(PAYMENT));
  expect(await found?.current()).toBe(`token of payment:${PAYMENT}`);
  expect(await find(call(PAYMENT))).toBe(found);
  expect(opened).toEqual([`payment:${PAYMENT}`]);
});

it('a call about a consent carries the tokens of the login that granted it, and of no other', async () => {
  const { find } = await finder();
  const about = (ofConsent: string) => find({ ...call(), facts: { ...call().facts, ofConsent } });
  expect(await (await about('c1'))?.current()).toBe('token of consent c1');
  expect(await about('c2')).toBeUndefined();
});

it('tokens that have ended are left out, because the bank may not need them; other errors count', async () => {
  const ended = await finder(new Psd2Error('not_logged_in', 'They have ended'));
  expect(await ended.find(call(PAYMENT))).toBeUndefined();
  for (const error of [new Psd2Error('bank_failing', 'Down'), new TypeError('A fault')]) {
    const failing = await finder(error);
    await expect(failing.find(call(PAYMENT))).rejects.toBe(error);
  }
});

type Flow = Parameters<typeof endPaymentTokens>[1];
const flow = (state: Flow['state'], more: Partial<Flow> = {}): Flow => ({
  ...{ state, refusedUnconfirmed: false, mayExecuteWithoutUs: false, transactionId: PAYMENT },
  ...{ commits: 'by the customer', authorises: 'by links', isFinal: true, resolution: null, ...more },
});

it.each<[string, Flow, boolean, boolean]>([
  ['is settled', flow('settled'), true, false],
  ['is cancelled', flow('cancelled'), true, false],
  ['was refused', flow('rejected'), false, false],
  ['is executed, and nothing can follow', flow('executed'), false, false],
  ['is executed, and can still change', flow('executed'), true, true],
  ['is accepted, and may be rejected', flow('executed', { isFinal: false }), false, true],
  ['waits for the customer', flow('authorizing'), false, true],
  ['is unknown', flow('unknown'), false, true],
  ['was refused, but may run', flow('rejected', { refusedUnconfirmed: true }), false, true],
  ['was begun at a bank without such tokens', flow('settled', { authorises: 'by call' }), false, true],
])(
  'if a payment %s, its tokens stay or go, and those of another one stay',
  async (_, ended, follows, stay) => {
    const { context, said } = openNew();
    for (const holder of [PAYMENT, 'of-another']) await keep(context, holder);
    await endPaymentTokens(context, ended, follows);
    const { tokens } = await context.store();
    expect((await tokens.login(paymentHolder(PAYMENT))) !== undefined).toBe(stay);
    expect(await tokens.login(paymentHolder('of-another'))).toBeDefined();
    expect(said()).toBe('');
  },
);

it('tokens that cannot be removed are a warning, because the payment is over all the same', async () => {
  const { context, said } = openNew();
  const { terminal } = context;
  const store = async () => Promise.reject(new Psd2Error('config', 'The folder is locked'));
  await endPaymentTokens({ store, terminal }, flow('settled'), false);
  expect(said()).toBe('The tokens of the payment could not be removed: The folder is locked\n');
  const fault = new TypeError('A fault');
  const broken = { store: async () => Promise.reject(fault), terminal };
  await expect(endPaymentTokens(broken, flow('settled'), false)).rejects.toBe(fault);
});

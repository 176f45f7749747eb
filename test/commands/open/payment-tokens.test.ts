import { expect, it } from 'vitest';
import type { BankCall } from '../../../src/bank/call/call.ts';
import type { TokenSource } from '../../../src/bank/ports/call.ts';
import type { Context } from '../../../src/commands/context.ts';
import { endPaymentTokens, resourceTokensOf } from '../../../src/commands/open/payment-tokens.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const PAYMENT = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

function open() {
  const { context, said } = openCommand(newConfigFolder(temporary), NOW);
  return { context, said, store: () => context.store() };
}
/** Keeps the tokens of a payment. */
async function keep(context: Context, payment: string): Promise<void> {
  const { tokens } = await context.store();
  await tokens.change(paymentHolder(payment), (slot) =>
    slot.write({
      ...{ accessToken: 'a', refreshToken: null, accessTokenExpiresAt: null },
      ...{ refreshTokenExpiresAt: null, scope: null },
    }),
  );
}
const call = (ofPayment?: string): BankCall => ({
  ...{ method: 'GET', path: '/x', transactionId: 't1' },
  facts: { reads: null, needsConsent: false, login: false, ...(ofPayment !== undefined && { ofPayment }) },
});

/** Finds the tokens of payments, of which each holder's are opened once and current as long as nothing fails. */
async function finder(context: Context, fails?: Error) {
  const opened: string[] = [];
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
  const { context } = open();
  await keep(context, PAYMENT);
  const { opened, find } = await finder(context);
  expect(await find(call())).toBeUndefined();
  expect(await find(call('of-another'))).toBeUndefined();
  expect(opened).toEqual([]);
  const found = await find(call(PAYMENT));
  expect(await found?.current()).toBe(`token of payment:${PAYMENT}`);
  expect(await find(call(PAYMENT))).toBe(found);
  expect(opened).toEqual([`payment:${PAYMENT}`]);
});

it('a call about a consent carries the tokens of the login that granted it, and of no other', async () => {
  const { context } = open();
  const { find } = await finder(context);
  const about = (ofConsent: string) => find({ ...call(), facts: { ...call().facts, ofConsent } });
  expect(await (await about('c1'))?.current()).toBe('token of consent c1');
  expect(await about('c2')).toBeUndefined();
});

it('tokens that have ended are left out, because the bank may not need them; other errors count', async () => {
  const { context } = open();
  await keep(context, PAYMENT);
  const ended = await finder(context, new Psd2Error('not_logged_in', 'They have ended'));
  expect(await ended.find(call(PAYMENT))).toBeUndefined();
  for (const error of [new Psd2Error('bank_failing', 'Down'), new TypeError('A fault')]) {
    const failing = await finder(context, error);
    await expect(failing.find(call(PAYMENT))).rejects.toBe(error);
  }
});

type Flow = Parameters<typeof endPaymentTokens>[1];
const flow = (state: Flow['state'], more: Partial<Flow> = {}): Flow => ({
  ...{ state, refusedUnconfirmed: false, mayExecuteWithoutUs: false, transactionId: PAYMENT },
  ...{
    commits: 'by the customer' as const,
    authorises: 'by links' as const,
    isFinal: true,
    resolution: null,
    ...more,
  },
});

it.each<[string, Flow, boolean, boolean]>([
  ['is settled', flow('settled'), true, false],
  ['is cancelled', flow('cancelled'), true, false],
  ['was refused', flow('rejected'), false, false],
  ['is executed, and nothing can follow', flow('executed'), false, false],
  ['is executed, and can still change', flow('executed'), true, true],
  ['waits for the customer', flow('authorizing'), false, true],
  ['is unknown', flow('unknown'), false, true],
  ['was refused, but may run', flow('rejected', { refusedUnconfirmed: true }), false, true],
  ['was begun at a bank without such tokens', flow('settled', { authorises: 'by call' }), false, true],
])(
  'if a payment %s, its tokens stay or go, and those of another one stay',
  async (_, ended, follows, stay) => {
    const { context, store, said } = open();
    for (const holder of [PAYMENT, 'of-another']) await keep(context, holder);
    await endPaymentTokens(context, ended, follows);
    const { tokens } = await store();
    expect((await tokens.login(paymentHolder(PAYMENT))) !== undefined).toBe(stay);
    expect(await tokens.login(paymentHolder('of-another'))).toBeDefined();
    expect(said()).toBe('');
  },
);

it('tokens that cannot be removed are a warning, because the payment is over all the same', async () => {
  const { context, said } = open();
  const { terminal } = context;
  const store = async () => Promise.reject(new Psd2Error('config', 'The folder is locked'));
  await endPaymentTokens({ store, terminal }, flow('settled'), false);
  expect(said()).toBe('The tokens of the payment could not be removed: The folder is locked\n');
  const fault = new TypeError('A fault');
  const broken = { store: async () => Promise.reject(fault), terminal };
  await expect(endPaymentTokens(broken, flow('settled'), false)).rejects.toBe(fault);
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { BankCall } from '../../../src/bank/call/call.ts';
import type { ConsentDetails } from '../../../src/bank/ports/customer.ts';
import { noticingEnds } from '../../../src/commands/open/ended-consent.ts';
import { readKept } from '../../../src/commands/open/kept-customer.ts';
import { withdrawnConsents, withdrawnFunds } from '../../../src/commands/open/withdrawn.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import { type ErrorContext, Psd2Error } from '../../../src/errors.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { KeptConsent } from '../../../src/store/ports/customers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow } from '../access.ts';
import { openCommand } from '../command.ts';
import { callsTo, type Outcome, reading, statusOf } from './calls.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});
const open = () => openCommand(folder, NOW).context;

const GRANTED: ConsentEvent = {
  ...{ type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: 4, recurring: true },
};

/** Stores a consent of a customer, which readings use. Its id is that of the flow's resource. @returns its flow */
async function grant(consentId: string, more: Partial<KeptConsent> = {}): Promise<string> {
  const flow = await storeConsentFlow(
    open(),
    { customerId: 'ada' },
    { type: 'requested', resourceId: consentId, outcomes: [] },
    GRANTED,
  );
  const { customers } = await open().store();
  await customers.change('ada', (before) => ({
    ...before,
    consents: [
      ...before.consents,
      {
        ...{ flow, consentId, accounts: null, reads: ['accounts', 'balances'], validUntil: null },
        ...{ recurring: true, frequencyPerDay: 4, grantedAt: NOW, ...more },
      },
    ],
  }));
  return flow;
}
const kept = async () => {
  const { customers } = await open().store();
  return (await customers.read('ada'))?.consents.map(({ consentId }) => consentId);
};
const stateOf = async (flow: string) => {
  const { flows } = await open().store();
  return (await flows.find('consent', flow)).state;
};

const refusal = (more: ErrorContext = {}) => new Psd2Error('not_logged_in', 'The consent has ended', more);
const ENDED = { endsConsent: true } as const;
const USED_UP = { lasts: true } as const;
const balances = (consentId?: string, account = 'a1') =>
  reading(
    { account, of: 'balances' },
    consentId === undefined ? {} : { headers: { 'consent-id': consentId, 'x-own': 'own' } },
  );

/** Calls of ada with these outcomes, and what the bank says when psd2 asks how a consent is. */
async function calls(outcomes: Outcome[], means: ConsentDetails['means'] | Error = 'revoked') {
  const context = open();
  const { flows, customers } = await context.store();
  const { made, caller } = callsTo(outcomes);
  const asked: string[] = [];
  const details = async (consentId: string): Promise<ConsentDetails> => {
    asked.push(consentId);
    if (means instanceof Error) throw means;
    const unsaid = { validUntil: null, frequencyPerDay: null, recurring: null, access: null };
    return { consentStatus: 'a word', means, ...unsaid };
  };
  const lacking = () => Promise.reject(new TypeError('The consent is there'));
  const tokens = { erase: async () => {} };
  const bank = () => ({ consents: { request: lacking, confirm: lacking, details } });
  const { consents } = await readKept(context, customers, 'ada');
  const noticing = noticingEnds(caller, { flows, customers, tokens, customerId: 'ada', consents, bank });
  const usedIds = () => made.map(({ headers }) => headers?.['consent-id']);
  return { made, asked, usedIds, ask: (call: BankCall) => noticing.ask(call, statusOf), noticing };
}

/** Stores a consent for one reading, and one for many. */
async function grantOnceAndLasting(lasting: Partial<KeptConsent> = {}): Promise<void> {
  await grant('once', { recurring: false, grantedAt: '2026-11-21T13:00:00.000Z' });
  await grant('lasting', lasting);
}

describe('a reading that the bank refuses because its consent has ended', () => {
  it.each([
    ['revoked', 'revoked'],
    ['expired', 'expired'],
    ['rejected', 'rejected'],
    ['ended by us', 'cancelled'],
  ] as const)('records that it is %s, and the consent is not used again', async (means, state) => {
    const flow = await grant('c1');
    const other = await grant('c2', { accounts: ['a2'], reads: ['accounts'] });
    const error = refusal(ENDED);
    const { asked, usedIds, ask } = await calls([error], means);
    await expect(ask(balances('c1'))).rejects.toBe(error);
    // What ends a consent is asked once more.
    expect([asked, usedIds()]).toEqual([['c1', 'c1'], ['c1']]);
    expect([await kept(), await stateOf(flow), await stateOf(other)]).toEqual([['c2'], state, 'confirmed']);
  });

  it.each<[string, ConsentDetails['means'] | Error]>([
    ['is valid', 'valid'],
    ['is none that it tells', new Psd2Error('bank_failing', 'The bank is failing')],
  ])('has its own error, and leaves the consent as it is, if the bank says that it %s', async (_, means) => {
    const flow = await grant('c1');
    const error = refusal(ENDED);
    const { ask } = await calls([error], means);
    await expect(ask(balances('c1'))).rejects.toBe(error);
    expect([await kept(), await stateOf(flow)]).toEqual([['c1'], 'confirmed']);
  });

  it.each([new Psd2Error('interrupted', 'Interrupted'), new TypeError('A fault')])(
    'ends with %s, which comes first',
    async (error) => {
      await grant('c1');
      const { ask } = await calls([refusal(ENDED)], error);
      await expect(ask(balances('c1'))).rejects.toBe(error);
    },
  );

  it('asks nothing about a consent that psd2 does not keep, or of a customer without a record', async () => {
    const error = refusal(ENDED);
    const unknown = await calls([error]);
    await expect(unknown.ask(balances('c1'))).rejects.toBe(error);
    await grant('c2');
    const other = await calls([error]);
    await expect(other.ask(balances('c1'))).rejects.toBe(error);
    expect([unknown.asked, other.asked, await kept()]).toEqual([[], [], ['c2']]);
  });
});

describe('a reading with a consent for one reading that is used up', () => {
  it.each([
    ['the bank says that the readings are used up', USED_UP, []],
    ['the bank says that the consent has ended', ENDED, ['once']],
  ])('is made again with another one, if %s', async (_, context, asked) => {
    await grantOnceAndLasting();
    const found = await calls([refusal(context)], 'valid');
    expect(await found.ask(balances('once'))).toEqual({ notices: [], status: 200 });
    expect(found.made.map(({ headers }) => headers)).toEqual([
      { 'consent-id': 'once', 'x-own': 'own' },
      { 'consent-id': 'lasting', 'x-own': 'own' },
    ]);
    expect(found.made[1]).toEqual({ ...balances('lasting') });
    expect(found.asked).toEqual(asked);
  });

  it.each([
    ['a third time', ['accounts', 'balances'], ['once', 'lasting']],
    ['again without another consent that reads the same', ['accounts'], ['once']],
  ] as const)('is not made %s', async (_, reads, used) => {
    await grantOnceAndLasting({ reads });
    const errors = used.map(() => refusal(USED_UP));
    const { ask, usedIds } = await calls([...errors]);
    await expect(ask(balances('once'))).rejects.toBe(errors.at(-1));
    expect(usedIds()).toEqual(used);
  });
});

describe('any other call', () => {
  it.each<[string, Error, BankCall]>([
    ['a refusal for another reason', refusal(), balances('once')],
    ['a fault', new TypeError('A fault'), balances('once')],
    ['a call without a consent', refusal({ ...ENDED, ...USED_UP }), balances()],
    ['a call that reads no account', refusal(USED_UP), reading(null, { headers: { 'consent-id': 'once' } })],
  ])('is made once, and has its own error: %s', async (_, error, call) => {
    await grantOnceAndLasting();
    const { ask, asked, made } = await calls([error]);
    await expect(ask(call)).rejects.toBe(error);
    expect([made.length, asked]).toEqual([1, []]);
  });

  it('has its answer', async () => {
    await grant('once');
    const { ask, noticing, made } = await calls([]);
    expect(await ask(balances('once'))).toEqual({ notices: [], status: 200 });
    expect((await noticing.send(balances('once'))).status).toBe(200);
    expect(made).toHaveLength(2);
  });

  it('is the same call if nothing is to be noticed', () => {
    const { caller } = callsTo();
    expect(noticingEnds(caller, null)).toBe(caller);
  });
});

describe('the consents that were withdrawn', () => {
  const at = (day: number) => openCommand(folder, `2026-03-0${day}T00:00:00.000Z`).context;

  type End = 'open' | 'granted' | 'revoked' | 'expired' | 'cancelled' | 'revoked before it was granted';

  /** Stores a consent of a customer, from a day of March on. @returns its flow */
  function consent(customerId: string, day: number, end: End, account?: string): Promise<string> {
    const terms = account === undefined ? {} : { terms: { access: { type: 'funds' as const, account } } };
    const events: ConsentEvent[] = [{ type: 'requested', resourceId: 'FLOW', outcomes: [] }];
    if (end !== 'open' && end !== 'revoked before it was granted') events.push(GRANTED);
    const state = end === 'revoked before it was granted' ? 'revoked' : end;
    if (state !== 'open' && state !== 'granted') events.push({ type: 'ended', state, bankStatus: null });
    return storeConsentFlow(at(day), { customerId, ...terms }, ...events);
  }
  /** A customer with a record, from which the consents have been removed. */
  async function note(...names: string[]): Promise<void> {
    const { customers } = await at(9).store();
    for (const name of names) await customers.change(name, (before) => before);
  }
  const found = async () =>
    (await withdrawnConsents(at(9))).map(({ customerId, flow, state }) => [customerId, flow, state]);

  it.each<[ends: End[], isThere: boolean]>([
    [['granted'], false],
    [['cancelled'], false],
    [['open'], false],
    [['revoked', 'revoked'], true],
    [['revoked', 'expired'], true],
    [['revoked', 'granted'], false],
    [['revoked', 'open'], false],
    [['revoked', 'cancelled'], false],
    [['revoked', 'revoked before it was granted'], false],
  ])('of a customer whose consents were %j, the newest is there: %s', async (ends, isThere) => {
    // Somebody without a record is not there.
    await note('ada', 'bob');
    await consent('nobody', 1, 'revoked');
    const others = await consent('bob', 1, 'expired');
    const flows: string[] = [];
    for (const [index, end] of ends.entries()) flows.push(await consent('ada', 2 + index, end));
    const newest = ['ada', flows.at(-1), ends.at(-1)];
    expect(await found()).toEqual([...(isThere ? [newest] : []), ['bob', others, 'expired']]);
  });

  it('a consent for confirmations of funds is apart from those for readings', async () => {
    await note('ada');
    const reading = await consent('ada', 1, 'revoked');
    await consent('ada', 2, 'revoked', 'one');
    const newest = await consent('ada', 3, 'expired', 'one');
    await consent('ada', 4, 'revoked', 'two');
    await consent('ada', 5, 'revoked before it was granted', 'three');
    await consent('ada', 6, 'granted', 'four');
    const { customers } = await at(9).store();
    const two = { flow: 'co-2', transactionId: 't', consentId: 'f', account: 'two', validUntil: null };
    await customers.change('ada', (before) => ({
      ...before,
      funds: [{ ...two, grantedAt: '2026-03-08T00:00:00.000Z' }],
    }));
    expect(await found()).toEqual([['ada', reading, 'revoked']]);
    expect((await withdrawnFunds(at(9))).map(({ flow, state }) => [flow, state])).toEqual([
      [newest, 'expired'],
    ]);
  });
});

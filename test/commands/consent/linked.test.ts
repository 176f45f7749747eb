import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScaLinks } from '../../../src/bank/ports/customer.ts';
import { endConsent } from '../../../src/commands/consent/delete.ts';
import { addDays, parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { KeptConsent } from '../../../src/store/ports/customers.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { differing } from '../named-bank.ts';
import { endOf, NOW, payerAt, TODAY } from '../payer-here.ts';
import { GrantingBank, refused } from './granting-bank.ts';

// Consents at a bank where the customer's SCA alone grants them, and what psd2 keeps of them for readings.

const temporary = temporaryFolder();
const ADA = { globals: { customer: 'ada' } };
const IBAN = 'DE89370400440532013000';
const ALL = ['accounts', 'balances', 'transactions'];
const REQUEST = ['consent', 'request'];
const LATER = new Date(Date.parse(NOW) + 3_600_000).toISOString();
/** The customer does not decide while psd2 waits. */
const UNDECIDED = { globals: { customer: 'ada', scaTimeout: '1' } };

async function operatorAt(bank = new GrantingBank()) {
  const payer = await payerAt(bank, temporary);
  const store = () => payer.open(ADA).context.store();
  const kept = async () => (await (await store()).customers.read('ada'))?.consents ?? [];
  return {
    ...payer,
    bank,
    run: (words: readonly string[], how: Parameters<typeof payer.run>[1] = ADA) => payer.run(words, how),
    /** What readings of ada use. */
    kept,
    ids: async () => (await kept()).map(({ consentId }) => consentId).toSorted(),
    change: async (change: (consents: readonly KeptConsent[]) => KeptConsent[]) =>
      (await store()).customers.change('ada', (before) => ({ ...before, consents: change(before.consents) })),
    states: async () => {
      const { data } = await payer.run(['consent', 'list'], ADA);
      return Object.values(data)
        .map(({ resourceId, state }) => `${resourceId} ${state}`)
        .toSorted();
    },
    /** Who acts if the operator names nobody. */
    current: async () => (await store()).tokens.last(),
  };
}

describe('psd2 consent request', () => {
  it('asks for a consent, sends the customer to the bank, and keeps what is granted', async () => {
    const { run, bank, kept, journal } = await operatorAt();
    const { data, said, failure } = await run(REQUEST);
    expect(failure).toBeNull();
    expect(data).toEqual({
      ...{ flow: 'co-1', kind: 'consent', state: 'confirmed', resourceId: 'c1', transactionId: 'an-id' },
      customerId: 'ada',
      categories: [{ name: 'ACCOUNT_INFO', products: [], outcome: true }],
      ...{ consentStatus: 'valid', validUntil: null, frequencyPerDay: null, recurring: null, access: null },
      authorisations: [{ id: null, psuId: null, scaStatus: null, at: 'NOW' }],
      ...{ authorisedBy: [], refusedBy: [], waitsFor: null, lacks: [], messages: [] },
      ...{ resolution: null, createdAt: 'NOW', updatedAt: 'NOW' },
    });
    expect(said).toBe(
      "Consent co-1\nOpen this address in the customer's browser:\n  https://customers.bank.example/c1\n",
    );
    expect(bank.asked).toEqual(['check {}', 'request ada: ACCOUNT_INFO', 'sca c1', 'details c1']);
    // What neither the operator nor the bank has said: it lasts, and allows one reading a day.
    expect(await kept()).toEqual([
      {
        ...{ flow: expect.stringMatching(/^co-/), consentId: 'c1', accounts: null, reads: ALL },
        ...{ validUntil: null, recurring: true, frequencyPerDay: 1, grantedAt: NOW },
      },
    ]);
    expect(journal('co-1').map(({ type }) => type)).toEqual([
      ...['created', 'request-sent', 'requested', 'approach-sent', 'sca-started', 'granted'],
    ]);
  });

  it('keeps the terms that the operator chose, or what the bank says instead of them', async () => {
    const { run, kept, bank } = await operatorAt();
    const terms = ['--valid-until', addDays(TODAY, 90), '--frequency', '3'];
    expect((await run([...REQUEST, '--account', IBAN, '--balances', ...terms])).failure).toBeNull();
    expect(await kept()).toMatchObject([
      {
        ...{ accounts: [IBAN], reads: ['accounts', 'balances'], cards: 'none' },
        ...{ validUntil: addDays(TODAY, 90), recurring: true, frequencyPerDay: 3 },
      },
    ]);
    const said = { recurring: false, frequencyPerDay: 2, validUntil: addDays(TODAY, 30) };
    bank.becomes = { consentStatus: 'valid', means: 'valid', ...said };
    await run([...REQUEST, ...terms]);
    expect((await kept())[0]).toMatchObject(said);
  });

  it('makes the customer the current one', async () => {
    const { run, current } = await operatorAt();
    await run(REQUEST, { globals: { customer: 'bob' } });
    await run(REQUEST);
    expect(await current()).toBe('ada');
    // A consent that is asked about again was granted before.
    await run(['consent', 'status', 'co-1'], {});
    expect(await current()).toBe('ada');
  });

  const CHOOSE =
    'Choose with --account <iban>, --all-accounts or --list-only, or let the customer choose at the bank.';
  const TWO_CONSENTS = 'ACCOUNT_INFO and FUNDS_AVAILABILITY are two consents';
  it.each<[string, ...string[]]>([
    ['PAYMENTS', 'The interface of this bank, here, has no category PAYMENTS', CHOOSE],
    ['ACCOUNT_INFO PAYMENTS', 'The interface of this bank, here, has no category PAYMENTS', CHOOSE],
    ['ACCOUNT_INFO FUNDS_AVAILABILITY', TWO_CONSENTS, 'Ask for one after the other.'],
    ['FUNDS_AVAILABILITY', 'The interface of this bank, here, has no consents for confirmations of funds'],
  ])('for %s asks for nothing', async (categories, message, ...hint) => {
    const { run, bank } = await operatorAt();
    const end = endOf(await run([...REQUEST, '--category', ...categories.split(' '), '--account', IBAN]));
    expect([end, bank.asked]).toEqual([[`exit 2, usage: ${message}`, ...hint], []]);
  });

  it('that is cancelled here says how it ends at the bank, too', async () => {
    const { run, bank } = await operatorAt();
    bank.customersDecide = false;
    await run(REQUEST, UNDECIDED);
    expect((await run(['consent', 'cancel', 'co-1'])).said).toContain(
      'The customer can still grant it at the bank. psd2 does not use it. End it there with:\n  psd2 consent delete co-1',
    );
  });

  it('with client credentials asks for nothing', async () => {
    const { run, bank } = await operatorAt();
    const [end] = endOf(await run(REQUEST, { globals: { customer: 'ada', grant: 'client_credentials' } }));
    expect(end).toBe('exit 2, usage: This needs the customer, so it needs the grant authorization_code');
    expect(bank.asked).toEqual([]);
  });

  it('of terms that the bank does not offer begins nothing', async () => {
    const { run, bank, states } = await operatorAt();
    bank.fails.set('check', new Psd2Error('usage', 'The bank has no such consent'));
    expect(endOf(await run(REQUEST))).toEqual(['exit 2, usage: The bank has no such consent']);
    expect([bank.asked, await states()]).toEqual([['check {}'], []]);
  });
});

describe('a new consent', () => {
  it.each(['terminatedByBank', undefined])('that lasts ends the one before (word: %s)', async (word) => {
    const bank = new GrantingBank();
    bank.replaced = word;
    const { run, ids, states, journal } = await operatorAt(bank);
    await run(REQUEST);
    expect((await run(REQUEST)).failure).toBeNull();
    expect(await ids()).toEqual(['c2']);
    expect(await states()).toEqual(['c1 expired', 'c2 confirmed']);
    const end = { type: 'ended', state: 'expired', bankStatus: word ?? null };
    expect(journal('co-1').at(-1)).toMatchObject(end);
  });

  it('is kept beside the one before if the bank says so', async () => {
    const { run, bank, kept, states } = await operatorAt();
    await run(REQUEST);
    bank.answers = { besideOthers: true };
    await run(REQUEST, { ...ADA, now: LATER });
    const granted = (await kept()).map(({ consentId, grantedAt }) => `${consentId} at ${grantedAt}`);
    expect(granted).toEqual([`c2 at ${LATER}`, `c1 at ${NOW}`]);
    // Nor does the older one end the newer one, if psd2 asks about it.
    await run(['consent', 'status', 'co-1']);
    expect(await states()).toEqual(['c1 confirmed', 'c2 confirmed']);
  });

  it('for one reading ends none, and a later one that lasts does not end it', async () => {
    const { run, ids, states } = await operatorAt();
    await run(REQUEST);
    await run([...REQUEST, '--once']);
    expect(await ids()).toEqual(['c1', 'c2']);
    await run(REQUEST);
    expect(await ids()).toEqual(['c2', 'c3']);
    expect(await states()).toEqual(['c1 expired', 'c2 confirmed', 'c3 confirmed']);
  });

  it('is kept also if the journal of the one before is gone, or says already how it ended', async () => {
    const { run, ids, change, states, kept } = await operatorAt();
    await run(REQUEST);
    const [before] = await kept();
    await run(['consent', 'delete', 'co-1']);
    await change(() => (before ? [before] : []));
    await run(REQUEST);
    expect(await states()).toEqual(['c1 cancelled', 'c2 confirmed']);
    await change((consents) => consents.map((each) => ({ ...each, flow: 'co-0mwuiwxs0iiiii' })));
    expect((await run(REQUEST)).failure).toBeNull();
    expect(await ids()).toEqual(['c3']);
  });

  it('takes consents out of the record that are over, and leaves those that are good today', async () => {
    const { run, ids, change } = await operatorAt();
    await run([...REQUEST, '--once']);
    const day = (days: number) => parseDate('--date', addDays(TODAY, days));
    await change((consents) =>
      consents.flatMap((one) => [
        { ...one, consentId: 'over', validUntil: day(-1) },
        { ...one, consentId: 'today', validUntil: day(0) },
        { ...one, consentId: 'without end', validUntil: null },
      ]),
    );
    await run(REQUEST);
    expect(await ids()).toEqual(['c2', 'today', 'without end']);
  });

  it('needs a yes if one is in force that lasts', async () => {
    const { run, bank, ids, change } = await operatorAt();
    const has = new Set([...bank.interface.has, 'consents for confirmations of funds' as const]);
    Object.assign(bank.interface, { has });
    await run(REQUEST);
    bank.asked.length = 0;
    const no = await run(REQUEST, { ...ADA, answers: [false] });
    expect(no.asked).toEqual([
      'The customer ada has the consent co-1. A new one ends it. Ask for a new one?',
    ]);
    expect([endOf(no), bank.asked]).toEqual([['exit 2, cancelled: Nothing was sent'], []]);
    const without = { ...ADA, yes: false };
    const cannotAsk = [
      'exit 2, confirmation_needed: A new consent ends the present one of customer ada (co-1), and psd2 cannot ask without a terminal',
      'Add --yes to replace it.',
    ];
    expect(endOf(await run(REQUEST, without))).toEqual(cannotAsk);
    await change((consents) => consents.map((each) => ({ ...each, validUntil: TODAY })));
    expect(endOf(await run(REQUEST, without))).toEqual(cannotAsk);
    // These end none: one for confirmations of funds, and one for one reading.
    const funds = ['--category', 'FUNDS_AVAILABILITY', '--account', IBAN];
    for (const words of [funds, ['--once']])
      expect((await run([...REQUEST, ...words], without)).failure).toBeNull();
    expect((await run(REQUEST, { ...ADA, answers: [true] })).failure).toBeNull();
    expect(await ids()).toEqual(['c3', 'c4']);
    // One that is over, or for one reading, is not ended.
    await change((consents) =>
      consents.map((each) => (each.recurring ? { ...each, validUntil: addDays(TODAY, -1) } : each)),
    );
    expect((await run(REQUEST, without)).failure).toBeNull();
  });
});

describe('psd2 consent status', () => {
  const STATUS = ['consent', 'status', 'co-1'];

  it('asks the bank, and keeps when the consent was granted and which accounts it has listed', async () => {
    const { run, bank, kept, change } = await operatorAt();
    await run(REQUEST);
    const listed = [{ accountId: 'a-1', iban: IBAN }];
    await change((consents) => consents.map((each) => ({ ...each, listed })));
    bank.says('c1', { validUntil: addDays(TODAY, 5), frequencyPerDay: 4, recurring: true });
    bank.asked.length = 0;
    const { data, failure } = await run(STATUS, { ...ADA, now: LATER });
    expect(failure).toBeNull();
    expect(data).toMatchObject({ state: 'confirmed', validUntil: addDays(TODAY, 5), frequencyPerDay: 4 });
    expect(bank.asked).toEqual(['details c1']);
    expect(await kept()).toMatchObject([
      { consentId: 'c1', grantedAt: NOW, listed, validUntil: addDays(TODAY, 5), frequencyPerDay: 4 },
    ]);
  });

  it('of a consent that never came to the bank shows the journal, without a call', async () => {
    const { run, bank } = await operatorAt();
    bank.fails.set('request', refused('No'));
    await run(REQUEST);
    bank.asked.length = 0;
    const { data, failure } = await run(STATUS);
    expect([failure, data.state, data.resourceId, bank.asked]).toEqual([null, 'failed', null, []]);
  });
});

it.each([
  ['status', 'consent status'],
  ['delete', 'consent deletion'],
] as const)('psd2 consent %s needs the %s of the bank, and its customer', async (verb, capability) => {
  const lacking = new GrantingBank({ lacks: [capability] });
  for (const at of [lacking, new GrantingBank()]) {
    const { run, bank, states } = await operatorAt(at);
    await run(REQUEST);
    bank.asked.length = 0;
    const how = at === lacking ? ADA : { globals: { customer: 'bob' }, given: ['customer'] };
    const { failure } = await run(['consent', verb, 'co-1'], how);
    const lacks = `The interface of this bank, here, has no ${capability}`;
    const message = at === lacking ? lacks : expect.stringContaining('ada');
    expect([failure, bank.asked]).toMatchObject([{ code: 'usage', message }, []]);
    expect(await states()).toEqual(['c1 confirmed']);
  }
});

describe('psd2 consent delete', () => {
  const DELETE = ['consent', 'delete', 'co-1'];

  it.each([true, false])('ends it at the bank, in the journal and for readings (granted: %s)', async (is) => {
    const { run, bank, ids, journal } = await operatorAt();
    bank.customersDecide = is;
    await run(REQUEST, UNDECIDED);
    expect((await run(DELETE)).data.state).toBe('cancelled');
    expect([bank.asked.at(-1), await ids()]).toEqual(['delete c1', []]);
    expect(journal('co-1').at(-1)).toMatchObject({ type: 'ended', bankStatus: 'terminatedByTpp' });
  });

  it('sends the customer to the bank if it wants them for that, and nothing ends until it says so', async () => {
    const { run, bank, ids, states } = await operatorAt();
    await run(REQUEST);
    Object.assign(bank, { endsAtPage: true, customersDecide: false });
    const open = await run(DELETE, UNDECIDED);
    expect(open.said).toContain('https://customers.bank.example/c1/end');
    expect(open.failure?.code).toBe('still_open');
    expect([await ids(), await states()]).toEqual([['c1'], ['c1 confirmed']]);
    bank.customersDecide = true;
    const ended = await run(DELETE);
    expect([ended.failure, ended.data.state, await ids()]).toEqual([null, 'cancelled', []]);
  });

  it('of a customer who is absent sends nobody to the bank, and nothing ends if the bank wants them', async () => {
    const { run, bank, open, ids, states } = await operatorAt();
    await run(REQUEST);
    bank.endsAtPage = true;
    const { context, said } = open(ADA);
    const { data } = await run(['consent', 'list']);
    const [consent] = Object.values(data);
    await expect(endConsent(context, String(consent?.resourceId), 'is absent')).rejects.toThrow();
    expect(said()).not.toContain('https://customers.bank.example');
    expect([await ids(), await states()]).toEqual([['c1'], ['c1 confirmed']]);
  });

  it('leaves the consent as it is if it fails at the bank, and the state of one that was revoked', async () => {
    const { run, bank, ids, states } = await operatorAt();
    await run(REQUEST);
    bank.fails.set('delete', new Psd2Error('bank_failing', 'The bank is failing'));
    expect((await run(DELETE)).failure?.code).toBe('bank_failing');
    expect([await ids(), await states()]).toEqual([['c1'], ['c1 confirmed']]);
    bank.says('c1', { consentStatus: 'revokedByPsu', means: 'revoked' });
    await run(['consent', 'status', 'co-1']);
    expect((await run(DELETE)).data.state).toBe('revoked');
    expect(await states()).toEqual(['c1 revoked']);
  });

  it('of a consent that is not at the bank says what ends it', async () => {
    const { run, bank } = await operatorAt();
    bank.fails.set('request', new Psd2Error('bank_unreachable', 'The connection was lost'));
    await run(REQUEST);
    bank.asked.length = 0;
    expect(endOf(await run(DELETE))).toEqual([
      'exit 2, usage of co-1: The consent co-1 is not at the bank',
      ...['End it here with:', '$ consent cancel co-1'],
    ]);
    const cancelled = await run(['consent', 'cancel', 'co-1']);
    expect(cancelled.failure).toBeNull();
    expect(cancelled.said).not.toContain('consent delete');
    expect(endOf(await run(DELETE))).toEqual(['exit 2, usage of co-1: The consent co-1 is not at the bank']);
    expect(bank.asked).toEqual([]);
  });
});

it.each(['--psu-password-file', '--otp-file'])(
  'a consent takes %s only if the profile allows that',
  async (option) => {
    const { run, bank } = await operatorAt();
    bank.customersDecide = false;
    await run(REQUEST, UNDECIDED);
    bank.asked.length = 0;
    for (const words of [['consent', 'resume', 'co-1'], REQUEST]) {
      const { failure } = await run([...words, option, join(temporary, 'missing')]);
      expect(failure?.message).toBe('The profile env takes no credentials from files');
    }
    expect(bank.asked).toEqual([]);
  },
);

it('a consent that is continued takes the TAN of the file that is named then', async () => {
  const bank = new GrantingBank();
  const links: ScaLinks = { approach: 'embedded', id: 'a1', status: '/a1', step: { next: 'code' } };
  const taken: string[] = [];
  let wantsTan = false;
  const known = differing(bank.interface, ({ sca }) => ({
    sca: {
      ...sca,
      hasEmbedded: true,
      proceed: async (step) =>
        wantsTan || !sca.proceed ? { next: 'give', step: { next: 'code' }, links } : sca.proceed(step),
      give: async ({ gift }) => {
        taken.push(gift.what);
        bank.says('c1', { consentStatus: 'valid', means: 'valid' });
        return { links, scaStatus: 'finalised' };
      },
    },
  }));
  Object.assign(bank, { interface: { ...known, takesCredentials: { isAlone: true } } });
  const { run } = await operatorAt(bank);
  const env = { PSD2_EMBEDDED: 'files' };
  const [pin, tan] = [join(temporary, 'pin'), join(temporary, 'tan')];
  for (const path of [pin, tan]) writeFileSync(path, '123456\n', { mode: 0o600 });
  bank.customersDecide = false;
  const first = await run(REQUEST, { ...UNDECIDED, env });
  expect([first.data.state, taken]).toEqual(['authorizing', []]);
  wantsTan = true;
  const RESUME = ['consent', 'resume', 'co-1'];
  const then = await run([...RESUME, '--psu-password-file', pin, '--otp-file', tan], { ...ADA, env });
  expect([then.data.state, taken]).toEqual(['confirmed', ['code']]);
});

it('--paste needs a terminal', async () => {
  const { run, bank } = await operatorAt();
  bank.customersDecide = false;
  await run(REQUEST, UNDECIDED);
  for (const words of [['consent', 'resume', 'co-1'], REQUEST])
    expect(endOf(await run([...words, '--paste']))).toEqual([
      'exit 2, usage: --paste asks for an address, and psd2 cannot ask without a terminal',
      'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
    ]);
});

it('what a consent lacks and what the bank says beside it is shown, and a lack is warned of', async () => {
  const { run, bank } = await operatorAt();
  const access = { accounts: [{ iban: IBAN }], balances: [{ iban: IBAN }] };
  bank.becomes = { consentStatus: 'valid', means: 'valid', access, messages: ['Only balances'] };
  const { said, data } = await run([...REQUEST, '--account', IBAN]);
  expect(said).toContain('The consent covers less than was asked for. It lacks: transactions.');
  expect(data).toMatchObject({ lacks: ['transactions'], messages: ['Only balances'] });
  bank.says('c1', { messages: ['Only balances', 'Until May'] });
  expect((await run(['consent', 'status', 'co-1'])).data).toMatchObject({
    messages: ['Only balances', 'Until May'],
  });
  const { printed } = await run(['consent', 'show', 'co-1'], { ...ADA, format: 'table' });
  expect(printed).toContain(`Accounts\t${IBAN}\nLacks\ttransactions\nBank says\tOnly balances Until May\n`);
});

it('psd2 consent show has what the customer has granted, in the words of the bank', async () => {
  const { run, bank } = await operatorAt();
  bank.customersDecide = false;
  await run([...REQUEST, '--account', IBAN], UNDECIDED);
  const show = async () =>
    (await run(['consent', 'show', 'co-1'], { ...ADA, format: 'table' })).printed.split('\n').slice(3, 7);
  const asked = ['ACCOUNT_INFO\tnot granted yet', 'At the bank\treceived', `Accounts\t${IBAN}`, 'Resolved\t'];
  expect(await show()).toEqual(asked);
  const other = 'FR1420041010050500013M02606';
  const accounts = [{ iban: IBAN }, { iban: other }];
  bank.says('c1', { consentStatus: 'valid', means: 'valid', access: { accounts }, frequencyPerDay: 4 });
  await run(['consent', 'resume', 'co-1']);
  expect(await show()).toEqual([
    ...['ACCOUNT_INFO\tgranted', 'At the bank\tvalid', `Accounts\t${IBAN} ${other}`],
    'Readings\t4 a day without the customer',
  ]);
});

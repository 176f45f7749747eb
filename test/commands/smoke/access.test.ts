import { expect, it } from 'vitest';
import { openRecords } from '../../../src/commands/smoke/record.ts';
import { addDays, bankDay, bankLocalTime } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { keepConsent, storeConsent, storeConsentFlow, storeLogin } from '../access.ts';
import { BankHere } from '../bank-here.ts';
import { GrantingBank, refused } from '../consent/granting-bank.ts';
import { ANNA, NOW, payerAt, TODAY } from '../payer-here.ts';
import { smokeAt } from './smoke-here.ts';

// The login and the consent of a smoke test: those that are there, and those that it makes and ends.

const temporary = temporaryFolder();
const later = (days: number) => new Date(Date.parse(NOW) + days * 86_400_000).toISOString();
const INFO = [{ name: 'ACCOUNT_INFO' as const, products: [] }];
const END = 'pass clean-up: nothing to end';

it.each<[logsIn: BankHere['interface']['logsIn'], customer: string | undefined, line: string]>([
  ['customers', undefined, 'pass login'],
  ['customers', '7777777', 'skip login [skipped]: customer 7777777 is not logged in'],
  ['nobody', undefined, 'skip login: this bank has no login'],
  ['application', '7777777', 'pass login'],
  ['with a consent', undefined, 'pass login'],
  ['with a consent', '7777777', 'skip login: the customer logs in with the consent'],
])('where %s logs in, the customer %s', async (logsIn, customer, line) => {
  const bank = new BankHere();
  Object.assign(bank.interface, { logsIn });
  const payer = await payerAt(bank, temporary);
  if (logsIn === 'application') await storeLogin(payer.open().context, null);
  const { lines } = await smokeAt(payer, ['--skip', 'settings..signature,consent..transactions'], {
    ...(customer !== undefined && { globals: { customer } }),
  });
  expect(lines[0]).toBe(line);
});

it('who logged in last is not named if the operator has not named them', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  const { context } = payer.open();
  await storeLogin(context, 'ada');
  await (await context.store()).tokens.forget('ada');
  const { lines } = await smokeAt(payer, []);
  expect(lines[0]).toBe('skip login [skipped]: the customer who logged in last is not logged in any more');
});

it('a login that has ended fails, and a new one is not made beside another', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  await storeLogin(payer.open().context, ANNA, { accessTokenExpiresAt: later(-1), refreshToken: null });
  const ended = await smokeAt(payer, []);
  expect([ended.exitCode, ended.lines[0]]).toEqual([
    4,
    expect.stringMatching(/^fail login: .*\(not_logged_in, exit 4\)$/),
  ]);
  for (const how of [
    {},
    { globals: { customer: ANNA }, given: ['customer'] },
    { globals: { customer: '7777777' } },
  ]) {
    const { end, lines } = await smokeAt(payer, ['--login'], how);
    expect(lines[0]).toBe(
      'fail login: --login could take the place of a login that this profile has (usage, exit 2)',
    );
    expect(end[1]).toBe(
      'psd2 has sent nothing. Name a test customer who is not logged in with --customer, use a profile of its own, or leave out --login.',
    );
  }
  // Another customer who is named is asked, and this profile cannot.
  const asked = await smokeAt(payer, ['--login'], { globals: { customer: '7777777' }, given: ['customer'] });
  expect(asked.lines[0]).toBe('fail login: The profile "env" has no client id (config, exit 3)');
});

it('--login at a bank without one has nothing to do', async () => {
  const payer = await payerAt(new GrantingBank(), temporary);
  const { exitCode, lines } = await smokeAt(payer, ['--login', '--steps', 'login'], {
    globals: { customer: 'ada' },
  });
  expect([exitCode, lines]).toEqual([0, ['skip login: this bank has no login', END]]);
});

const NO_RECORD = 'skip consent: psd2 has no record of a consent that is in force';
it.each<[what: string, days: number, options: string[], line: (lastDay: string) => string]>([
  ['just given', 0, [], (day) => `pass consent: until ${day}`],
  ['that ends in 14 days', 166, [], (day) => `pass consent: until ${day}`],
  [
    'that ends in 13 days',
    167,
    [],
    (day) => `warn consent [consent_ends]: the consent ends in 13 days; until ${day}`,
  ],
  [
    'that ends in 13 days, which is late enough',
    167,
    ['--within', '13d'],
    (day) => `pass consent: until ${day}`,
  ],
  [
    'that ends in 2 days',
    178,
    [],
    (day) => `warn consent [consent_ends]: the consent ends in 2 days; until ${day}`,
  ],
  [
    'that ends tomorrow',
    179,
    [],
    (day) => `warn consent [consent_ends]: the consent ends in 1 day; until ${day}`,
  ],
  ['that has ended', 180, [], () => NO_RECORD],
])('of a consent %s, as the journal has it', async (_, days, options, line) => {
  const payer = await payerAt(new BankHere(), temporary);
  // In the late evening, summer time would begin another day.
  const noon = (day: number) => later(day + 1).replace(/T.*/, 'T11:00:00.000Z');
  await storeConsent(payer.open({ now: noon(0) }).context, ANNA, INFO);
  // That of another customer, and one that was not confirmed, are not this one.
  await storeConsent(payer.open({ now: noon(1) }).context, '7777777', INFO);
  await storeConsentFlow(
    payer.open({ now: noon(0) }).context,
    { customerId: ANNA },
    { type: 'confirm-unanswered' },
  );
  const { lines, ran } = await smokeAt(payer, options, { now: noon(days) });
  const lastDay = bankDay(new Date(noon(180)));
  expect(lines[1]).toBe(line(lastDay));
  expect(ran.data.ends?.consent).toBe(lines[1] === NO_RECORD ? null : `${lastDay}T00:00:00.000Z`);
});

it('of several consents of the journal, that for accounts counts, since readings need it', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  await storeConsent(payer.open().context, ANNA, INFO);
  await storeConsent(payer.open({ now: later(100) }).context, ANNA, [{ name: 'PAYMENTS', products: [] }]);
  const { lines } = await smokeAt(payer, [], { now: later(200) });
  expect(lines[1]).toBe(NO_RECORD);
  // Without one for accounts, another one tells how long the customer's consent lasts.
  const other = await payerAt(new BankHere(), temporary);
  await storeConsent(other.open({ now: later(100) }).context, ANNA, [{ name: 'PAYMENTS', products: [] }]);
  expect((await smokeAt(other, [], { now: later(200) })).lines[1]).toMatch(/^pass consent: until /);
});

const CONSENT_ALONE = ['--steps', 'consent'];
const ADA = { globals: { customer: 'ada' } };
/** An operator at a bank that says what became of the consents of its customers. */
async function grantedAt(bank = new GrantingBank()) {
  const payer = await payerAt(bank, temporary);
  const request = () => payer.run(['consent', 'request'], ADA);
  return {
    ...{ bank, payer, request },
    // Its accounts have no balance.
    smoke: (...options: string[]) =>
      smokeAt(payer, ['--skip', 'settings..signature,balance', ...options], ADA),
  };
}

it('the newest consent that is kept is asked for, and how long it lasts is told', async () => {
  const { bank, request, smoke } = await grantedAt();
  bank.becomes = { consentStatus: 'valid', means: 'valid', validUntil: addDays(TODAY, 90), recurring: true };
  await request();
  bank.becomes = { ...bank.becomes, validUntil: addDays(TODAY, 100) };
  await request();
  bank.asked.length = 0;
  const { lines, exitCode, ran } = await smoke();
  expect([exitCode, lines.slice(0, 3)]).toEqual([
    0,
    ['skip login: this bank has no login', `pass consent: until ${addDays(TODAY, 100)}`, 'pass accounts: 1'],
  ]);
  expect(bank.asked).toEqual(['details c2']);
  expect(ran.data.ends?.consent).toBe(`${addDays(TODAY, 100)}T00:00:00.000Z`);
});

it.each<[says: number | null, until: number]>([
  [80, 80],
  [100, 100],
  // The customer may use it no longer than that.
  [200, 180],
  [null, 90],
])('of a consent for 90 days, of which the bank now says %s, the end is in %i days', async (says, until) => {
  const { bank, request, smoke } = await grantedAt();
  bank.becomes = { consentStatus: 'valid', means: 'valid', validUntil: addDays(TODAY, 90), recurring: true };
  await request();
  bank.says('c1', { validUntil: says === null ? null : addDays(TODAY, says) });
  const { lines, ran } = await smoke();
  const day = addDays(TODAY, until);
  expect([lines[1], ran.data.ends?.consent]).toEqual([`pass consent: until ${day}`, `${day}T00:00:00.000Z`]);
});

it('a consent without an end, and one whose end only psd2 knows', async () => {
  const { bank, request, smoke, payer } = await grantedAt();
  await request();
  // Readings need the customer's SCA again after that time.
  expect((await smoke()).lines[1]).toBe(`pass consent: until ${addDays(TODAY, 180)}`);
  const once = await grantedAt();
  once.bank.becomes = { consentStatus: 'valid', means: 'valid', validUntil: null, recurring: false };
  await once.request();
  expect((await once.smoke()).lines[1]).toBe('pass consent: without an end');
  await payer.run(['consent', 'request', '--valid-until', addDays(TODAY, 6)], ADA);
  const fiveDays = `warn consent [consent_ends]: the consent ends in 5 days; until ${addDays(TODAY, 6)}`;
  // The bank's day begins in the evening before (UTC).
  for (const time of ['00:05:00', '12:00:00', '23:55:00'])
    expect(
      (await smokeAt(payer, CONSENT_ALONE, { ...ADA, now: bankLocalTime(addDays(TODAY, 1), time) })).lines[0],
    ).toBe(fiveDays);
  expect(bank.known.get('c2')).toMatchObject({ validUntil: null });
});

it('a consent that the bank has ended fails, with the command for a new one', async () => {
  const { bank, request, smoke } = await grantedAt();
  await request();
  bank.says('c1', { consentStatus: 'revokedByPsu', means: 'revoked' });
  const { exitCode, lines, ran, end } = await smoke();
  expect([exitCode, lines.slice(1)]).toEqual([
    4,
    [
      'fail consent: The consent co-1 is revokedByPsu at the bank (not_logged_in, exit 4)',
      ...['accounts', 'transactions', 'shapes'].map((id) => `skip ${id}: after consent`),
      END,
    ],
  ]);
  expect(end[0]).toBe('exit 4, not_logged_in: 1 of 14 steps failed: consent');
  expect(ran.failure?.next).toEqual([
    ['consent', 'request', '--customer', 'ada'],
    ['log', '--run', expect.stringMatching(/^sm-/)],
  ]);
  // It is not kept any longer.
  expect((await smoke()).lines[1]).toBe('skip consent [skipped]: customer ada has no valid consent');
});

it('without a consent, what needs one is left out, unless the operator wants it', async () => {
  const { smoke, bank } = await grantedAt();
  const { exitCode, lines } = await smoke();
  expect([exitCode, lines[1], lines[2]]).toEqual([
    ...[0, 'skip consent [skipped]: customer ada has given no consent', 'skip accounts: after consent'],
  ]);
  const wanted = await smoke('--account', '1');
  expect([wanted.exitCode, wanted.lines[1]]).toEqual([
    ...[4, 'fail consent: Customer ada has given no consent (not_logged_in, exit 4)'],
  ]);
  expect(wanted.ran.failure?.next?.[0]).toEqual(['consent', 'request', '--customer', 'ada']);
  expect(bank.asked).toEqual([]);
  const skips = await smoke('--fail-on', 'skip');
  expect(skips.exitCode).toBe(4);
});

const FOR_ALL = 'pass consent: a new consent, which this run ends';
it('--consent makes one of its own, and ends it and no other', async () => {
  const { bank, request, smoke, payer } = await grantedAt();
  // One for a single reading takes the place of no other.
  Object.assign(bank.interface, { consentTerms: { types: [], once: true } });
  await request();
  bank.asked.length = 0;
  const { exitCode, lines } = await smoke('--consent');
  expect([exitCode, lines[1], lines.at(-1)]).toEqual([0, FOR_ALL, 'pass clean-up: ended the consent co-2']);
  expect(bank.asked.slice(1)).toEqual(['request ada: ACCOUNT_INFO', 'sca c2', 'details c2', 'delete c2']);
  const { data } = await payer.run(['consent', 'list'], ADA);
  expect(
    Object.values(data)
      .map(({ flow, state }) => `${flow} ${state}`)
      .toSorted(),
  ).toEqual([...['co-1 confirmed', 'co-2 cancelled']]);
  expect((await smoke()).lines.at(-1)).toBe(END);
});

it.each<[terms: NonNullable<BankHere['interface']['consentTerms']>, note: string]>([
  [
    { types: ['list-only'], once: false },
    'pass consent: a new consent for the list alone, which this run ends',
  ],
  [
    { types: ['dedicated', 'list-with-balances'], once: true },
    'pass consent: a new consent for the list alone, which this run ends',
  ],
  [{ types: ['dedicated'], once: true }, FOR_ALL],
])(
  'where consents have the terms %j, --consent makes one for as little as it can',
  async (consentTerms, note) => {
    const bank = new GrantingBank();
    Object.assign(bank.interface, { consentTerms });
    const { smoke } = await grantedAt(bank);
    expect((await smoke('--consent')).lines[1]).toBe(note);
  },
);

it('a consent whose customer refuses it is ended, and so is one that the bank has lost', async () => {
  const refusing = await grantedAt();
  refusing.bank.becomes = { consentStatus: 'rejected', means: 'rejected' };
  const { lines, exitCode } = await refusing.smoke('--consent');
  expect([exitCode, lines.at(-1)]).toEqual([6, 'pass clean-up: ended the consent co-1']);
  const losing = await grantedAt();
  losing.bank.fails.set(
    'delete',
    new Psd2Error('bank_refused', 'Unknown', { refusal: 'other', isBanks: true, isNotKnown: true }),
  );
  const lost = await losing.smoke('--consent');
  expect(lost.lines.at(-1)).toMatchInlineSnapshot(
    `"warn clean-up [consent_stays]: The bank does not know the consent co-1 with this certificate, but psd2 has not ended it, so it may be in force. Unknown; nothing to end"`,
  );
});

it('a consent that cannot be ended stays noted, and the next run ends it', async () => {
  const { bank, smoke } = await grantedAt();
  bank.fails.set('delete', refused('Not now'));
  const { exitCode, lines } = await smoke('--consent');
  expect([exitCode, lines.at(-1)]).toMatchInlineSnapshot(
    `[7, "fail clean-up: Not now (bank_refused, exit 7)"]`,
  );
  const next = await smoke();
  expect(next.lines.at(-1)).toMatch(/^pass clean-up: nothing to end; of sm-\w+: ended the consent co-1$/);
  expect((await smoke()).lines.at(-1)).toBe(END);
});

it('at a bank without a call that ends it, a consent stays, and nobody is warned', async () => {
  const bank = new GrantingBank({ lacks: ['consent deletion'] });
  const { smoke } = await grantedAt(bank);
  const { exitCode, lines } = await smoke('--consent');
  expect([exitCode, lines[1], lines.at(-1)]).toEqual([
    ...[0, 'pass consent: a new consent, which stays: this bank has no call that ends it', END],
  ]);
  bank.customersDecide = false;
  const undecided = await smokeAt(await payerAt(bank, temporary), ['--consent'], {
    globals: { customer: 'ada', scaTimeout: '1' },
  });
  expect([undecided.exitCode, undecided.lines.at(-1)]).toEqual([
    13,
    'warn clean-up [consent_stays]: the consent co-1 stays: this bank has no call that ends it, and its customer may still authorise it; nothing to end',
  ]);
});

it.each<[own: boolean, earlier: boolean, line: RegExp]>([
  [
    true,
    false,
    /^warn clean-up \[consent_stays\]: The bank does not know the consent [^;]*; nothing to end$/,
  ],
  [
    false,
    true,
    /^warn clean-up \[login_stays\]: the login of customer ada [^;]*; nothing to end; of sm-old: /,
  ],
  [
    true,
    true,
    /^warn clean-up \[consent_stays,login_stays\]: The bank does not know the consent [^;]*; the login of customer ada [^;]*; nothing/,
  ],
])(
  'what stays of this run (%s) and of an earlier one (%s) is told, and is not noted any longer',
  async (own, earlier, line) => {
    const { bank, payer, smoke } = await grantedAt();
    const { context } = payer.open();
    const records = openRecords(payer.folder.smoke('env'));
    await storeLogin(context, 'ada');
    if (earlier) records.noteUnended('sm-old', [{ kind: 'login', customerId: 'ada', tokens: ['other'] }]);
    const lost = { refusal: 'other', isBanks: true, isNotKnown: true } as const;
    if (own) bank.fails.set('delete', new Psd2Error('bank_refused', 'Unknown', lost));
    const { exitCode, lines } = await smoke(...(own ? ['--consent'] : []));
    expect(exitCode).toBe(0);
    expect(lines.at(-1)).toMatch(line);
    expect(records.unended().made).toEqual([]);
  },
);

it('a consent that is kept without its flow is not asked for', async () => {
  const { payer, smoke } = await grantedAt();
  const { context } = payer.open();
  await keepConsent(context, 'ada', 'co-00000000000000', { grantedAt: context.world.now().toISOString() });
  expect((await smoke()).lines[1]).toMatch(/^fail consent: .*\(flow_not_found, exit 2\)$/);
});

import { describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { OutputFormat } from '../../../src/terminal/output/output.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const BEGUN = '2026-11-21T12:00:00.000Z';
const [FIRST, OTHER] = [parseProductId('0000012345'), parseProductId('CARD000001')];
const [IBAN, OTHER_IBAN] = ['DE89370400440532013000', 'FR1420041010050500013M02606'];

const REQUESTED: ConsentEvent = {
  ...{ type: 'requested', resourceId: 'r1' },
  outcomes: [
    { name: 'ACCOUNT_INFO', outcome: true },
    { name: 'PAYMENTS', outcome: false },
  ],
};

const SENT: ConsentEvent = { type: 'confirm-sent', requestId: 'q1', digest: null };
const CONFIRMED: ConsentEvent = { type: 'confirmed' };
const REFUSED: ConsentEvent = {
  ...{ type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'NOT_AUTHORIZED' },
};

type Begin = Omit<Extract<ConsentEvent, { type: 'created' }>, 'type'>;

/** When a consent was granted that was asked for a minute before, a minute after it was begun. */
const GRANTED = '2026-11-21T12:02:00.000Z';
const GOOD_UNTIL = '2027-05-20T12:02:00.000Z';

/** A consent with these events, a minute apart, as psd2 shows it some days later. */
async function shown(events: ConsentEvent[], days = 1, begin: Partial<Begin> = {}, verb = 'show') {
  const folder = newConfigFolder(temporary);
  let now = Date.parse(BEGUN);
  const { context } = openCommand(folder, () => new Date(now));
  const { flows } = await context.store();
  const categories = [
    { name: 'ACCOUNT_INFO' as const, products: [FIRST, OTHER] },
    { name: 'PAYMENTS' as const, products: [] },
  ];
  const created = { transactionId: 't1', customerId: '1000001', categories, ...begin };
  const flow = await flows.begin('consent', created, async ({ current, record }) => {
    for (const event of events) {
      now += 60_000;
      await record(event);
    }
    return current.flow;
  });
  const later = new Date(Date.parse(BEGUN) + days * 86_400_000).toISOString();
  const run = async (format: OutputFormat) => {
    const command = openCommand(folder, later, { format });
    await runIn(command.context, 'consent', verb, ...(verb === 'list' ? [] : [flow]));
    return command.printed();
  };
  return { flow, table: await run('table'), json: JSON.parse(await run('json')) };
}

describe('a consent', () => {
  it('that is granted has its end, and what the bank did not grant', async () => {
    const { flow, table, json } = await shown([REQUESTED, CONFIRMED]);
    expect(table.split('\n')).toEqual([
      ...[`Consent\t${flow}`, 'State\tconfirmed', 'Customer\t1000001'],
      ...[`ACCOUNT_INFO\tgranted for ${FIRST} ${OTHER}`, 'PAYMENTS\tnot granted', 'Resolved\t'],
      ...['Good until\t2027-05-20', 'Resource\tr1', 'Transaction\tt1', ''],
    ]);
    expect(json).toEqual({
      ...{ flow, kind: 'consent', state: 'confirmed', resourceId: 'r1', transactionId: 't1' },
      customerId: '1000001',
      categories: [
        { name: 'ACCOUNT_INFO', products: [FIRST, OTHER], outcome: true },
        { name: 'PAYMENTS', products: [], outcome: false },
      ],
      ...{ resolution: null, createdAt: BEGUN, updatedAt: GRANTED },
    });
  });

  it.each<[string, ConsentEvent[], string, number?]>([
    ['created', [], 'not answered'],
    ['requested', [REQUESTED], 'not granted yet'],
    ['confirming', [REQUESTED, SENT], 'not known to be granted'],
    ['confirmed', [REQUESTED, CONFIRMED], 'granted, but expired,', 200],
    ['rejected', [REQUESTED, REFUSED], 'not granted (rejected)'],
  ])('that is %s says what is granted of it', async (state, events, granted, days) => {
    const { table } = await shown(events, days);
    expect(table.split('\n').slice(1, 4)).toEqual([
      ...[`State\t${state}`, 'Customer\t1000001', `ACCOUNT_INFO\t${granted} for ${FIRST} ${OTHER}`],
    ]);
  });
});

type Terms = NonNullable<Begin['terms']>;
const SOME: Terms = {
  access: { type: 'dedicated', accounts: [IBAN, OTHER_IBAN], balances: [], transactions: [] },
  frequencyPerDay: 4,
};
const CHOSEN: Terms = { access: { type: 'bank-offered', balances: true, transactions: true } };
const ALL: Terms = { access: { type: 'all-accounts' }, recurring: true, frequencyPerDay: 1 };
const LIST: Terms = { access: { type: 'list-only' }, recurring: false, frequencyPerDay: 4 };
const WITH_BALANCES: Terms = { access: { type: 'list-with-balances' } };
const FUNDS: Terms = { access: { type: 'funds', account: IBAN } };
const CARD: Terms = { access: { type: 'funds', account: IBAN, cardNumber: '525412******3241' } };
it.each<[string, Terms, ...string[]]>([
  ['accounts', SOME, `Accounts\t${IBAN} ${OTHER_IBAN}`, 'Readings\t4 a day without the customer'],
  ['a choice of the customer', CHOSEN, 'Accounts\tthose that the customer chooses'],
  ['all accounts', ALL, 'Accounts\tall', 'Readings\t1 a day without the customer'],
  ['the list alone', LIST, 'Accounts\tthe list alone', 'Readings\tone'],
  ['the list and balances', WITH_BALANCES, 'Accounts\tthe list alone, with balances'],
  ['confirmations of funds', FUNDS, `Accounts\t${IBAN}`],
  ['those of a card', CARD, `Accounts\t${IBAN}`, 'Card\t525412******3241'],
  ['what the bank chooses', {}],
])('a consent for %s shows its terms', async (_, terms, ...known) => {
  const categories = [{ name: 'ACCOUNT_INFO' as const, products: [] }];
  const { table, json } = await shown([], 1, { categories, terms });
  expect(table.split('\n').slice(4, 5 + known.length)).toEqual([...known, 'Resolved\t']);
  expect(json).toMatchObject({
    ...{ consentStatus: null, validUntil: null, access: terms.access ?? null },
    ...{ frequencyPerDay: terms.frequencyPerDay ?? null, recurring: terms.recurring ?? null },
  });
});

const TERMS = {
  ...{ access: { type: 'all-accounts' as const }, frequencyPerDay: 4, recurring: true },
  validUntil: parseDate('--valid-until', '2027-05-20'),
};
const ASKED: ConsentEvent = {
  ...{ type: 'requested', resourceId: 'r1', terms: TERMS },
  outcomes: [{ name: 'ACCOUNT_INFO', outcome: true }],
};
const BY_DORA: ConsentEvent[] = [
  ASKED,
  { type: 'sca-started', links: { approach: null, id: 'a1' }, psuId: 'dora' },
  { type: 'noted', bankStatus: 'partiallyAuthorised', scaStatus: 'finalised' },
];
const byEmil = (scaStatus: string): ConsentEvent[] => [
  { type: 'sca-started', links: { approach: null, id: 'a2' }, psuId: 'emil' },
  { type: 'noted', bankStatus: 'partiallyAuthorised', scaStatus },
];
const GRANT: ConsentEvent = {
  ...{ type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: null, recurring: null },
};
const END: ConsentEvent = { type: 'ended', state: 'rejected', bankStatus: 'rejected' };
const REFUSED_BY_EMIL = ['Authorised by\tdora', 'Refused by\temil', 'Waits for\tanother person'];
const BOTH_SIGNED = [...BY_DORA, ...byEmil('failed'), ...byEmil('finalised'), GRANT];
it.each<[string, ConsentEvent[], boolean | null, string[], string[] | null]>([
  ['waits for the customer', [ASKED], null, [], null],
  ['waits for the one who has begun', BY_DORA.slice(0, 2), null, [], ['dora']],
  ['waits for another person', BY_DORA, null, ['Authorised by\tdora', 'Waits for\tanother person'], []],
  ['waits for one who has refused', [...BY_DORA, ...byEmil('failed')], null, REFUSED_BY_EMIL, []],
  ['is granted', BOTH_SIGNED, true, ['Authorised by\tdora, emil'], null],
  ['has ended', [...BY_DORA, END], false, [], null],
])(
  'a consent that %s is granted only then, and has who did what',
  async (_, events, outcome, lines, waitsFor) => {
    const categories = [{ name: 'ACCOUNT_INFO' as const, products: [] }];
    const { table, json } = await shown(events, 1, { categories, terms: {}, returnState: 's' });
    expect(table.split('\n').filter((line) => /^(Authorised|Refused|Waits)/.test(line))).toEqual(lines);
    expect(json).toMatchObject({ categories: [{ outcome }], waitsFor });
  },
);

const IN_PART = 'ACCOUNT_INFO, PAYMENTS (not granted)';
it.each<[string, ConsentEvent[], number, string[], number | null]>([
  ['granted', [REQUESTED, CONFIRMED], 1, ['confirmed', IN_PART, GRANTED, '180'], 180],
  ['over', [REQUESTED, CONFIRMED], 200, ['confirmed', IN_PART, GRANTED, 'over'], 0],
  ['not granted yet', [], 1, ['created', 'ACCOUNT_INFO, PAYMENTS', '', ''], null],
])('psd2 consent list has one that is %s with its days left', async (_, events, days, cells, daysLeft) => {
  const { flow, table, json } = await shown(events, days, {}, 'list');
  const [state, categories, ...left] = cells;
  expect(table).toBe(`${[flow, state, categories, `${FIRST} ${OTHER}`, ...left, '1000001'].join('\t')}\n`);
  expect(json).toMatchObject([
    { flow, createdAt: BEGUN, expiresAt: daysLeft === null ? null : GOOD_UNTIL, daysLeft },
  ]);
});

const open = () => openCommand(newConfigFolder(temporary), BEGUN).context;

const CATEGORIES = 'Use one of ACCOUNT_INFO, FUNDS_AVAILABILITY, PAYMENTS.';
const ACCOUNTS = 'Add --account <id> for each account, or --all-accounts.';
const BOTH = '--account and --all-accounts cannot be used together';
const NO_CATEGORY = 'Add --category with one of ACCOUNT_INFO, FUNDS_AVAILABILITY, PAYMENTS.';
it.each([
  ['', 'The category is missing', NO_CATEGORY],
  [' --category ACCOUNT_INFO', 'The account is missing', ACCOUNTS],
  [' --category PAYMENTS --account 0012345678 --all-accounts', BOTH, ACCOUNTS],
  [
    ' --category payments --all-accounts',
    'Unknown category "payments"',
    `Did you mean PAYMENTS? ${CATEGORIES}`,
  ],
  [' --category x --all-accounts', 'Unknown category "x"', CATEGORIES],
])('psd2 consent request%s asks for nothing', async (words, message, hint) => {
  await expect(runIn(open(), ...`consent request${words}`.split(' '))).rejects.toThrow(
    new Psd2Error('usage', message, { hint }),
  );
});

it.each([
  ...['--list-only', '--balances', '--transactions', '--once', '--paste'],
  ...['--valid-until 2027-01-01', '--frequency 4', '--psu-id x'],
])('psd2 consent request %s is for banks where the operator chooses the terms', async (option) => {
  const [name = '', ...value] = option.split(' ');
  await expect(runIn(open(), 'consent', 'request', name, ...value)).rejects.toThrow(
    new Psd2Error('usage', `The interface of this bank, the step interface (cb), has no ${name}`, {
      hint: 'It is for banks where you choose the terms of a consent.',
    }),
  );
});

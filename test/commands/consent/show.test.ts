import { describe, expect, it } from 'vitest';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
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

type Begin = Omit<Extract<ConsentEvent, { type: 'created' }>, 'type'>;

/** A consent with these events, as psd2 shows it some days later. */
async function shown(
  events: ConsentEvent[],
  {
    days = 1,
    begin = {},
    words = ['show'],
  }: { days?: number; begin?: Partial<Begin>; words?: string[] } = {},
) {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, BEGUN);
  const { flows } = await context.store();
  const categories = [
    { name: 'ACCOUNT_INFO' as const, products: [FIRST, OTHER] },
    { name: 'PAYMENTS' as const, products: [] },
  ];
  const created = { transactionId: 't1', customerId: '1000001', categories, ...begin };
  const flow = await flows.begin('consent', created, async ({ current, record }) => {
    for (const event of events) await record(event);
    return current.flow;
  });
  const later = new Date(Date.parse(BEGUN) + days * 86_400_000).toISOString();
  const run = async (format: OutputFormat) => {
    const command = openCommand(folder, later, { format });
    const named = words[0] === 'list' ? [] : [flow];
    await runIn(command.context, 'consent', ...words, ...named);
    return command.printed();
  };
  return { flow, table: await run('table'), json: JSON.parse(await run('json')) };
}

describe('a consent', () => {
  it('that is granted has its end, and what the bank did not grant', async () => {
    const { flow, table, json } = await shown([REQUESTED, { type: 'confirmed' }]);
    expect(table).toBe(
      [
        ...[`Consent\t${flow}`, 'State\tconfirmed', 'Customer\t1000001'],
        ...[`ACCOUNT_INFO\tgranted for ${FIRST} ${OTHER}`, 'PAYMENTS\tnot granted', 'Resolved\t'],
        ...['Good until\t2027-05-20T12:00:00.000Z', 'Resource\tr1', 'Transaction\tt1', ''],
      ].join('\n'),
    );
    expect(json).toEqual({
      ...{ flow, kind: 'consent', state: 'confirmed', resourceId: 'r1', transactionId: 't1' },
      customerId: '1000001',
      categories: [
        { name: 'ACCOUNT_INFO', products: [FIRST, OTHER], outcome: true },
        { name: 'PAYMENTS', products: [], outcome: false },
      ],
      ...{ resolution: null, createdAt: BEGUN, updatedAt: BEGUN },
    });
  });

  it.each<[string, ConsentEvent[], number, string, string]>([
    ['created', [], 1, 'created', `not answered for ${FIRST} ${OTHER}`],
    ['requested', [REQUESTED], 1, 'requested', `not granted yet for ${FIRST} ${OTHER}`],
    [
      'confirming',
      [REQUESTED, { type: 'confirm-sent', requestId: 'q1', digest: null }],
      1,
      'confirming',
      `not known to be granted for ${FIRST} ${OTHER}`,
    ],
    [
      'over',
      [REQUESTED, { type: 'confirmed' }],
      200,
      'confirmed',
      `granted, but expired, for ${FIRST} ${OTHER}`,
    ],
    [
      'rejected',
      [REQUESTED, { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'NOT_AUTHORIZED' }],
      1,
      'rejected',
      `not granted (rejected) for ${FIRST} ${OTHER}`,
    ],
  ])('that is %s says what is granted of it', async (_, events, days, state, granted) => {
    const { table } = await shown(events, { days });
    expect(table.split('\n').slice(1, 4)).toEqual([
      `State\t${state}`,
      'Customer\t1000001',
      `ACCOUNT_INFO\t${granted}`,
    ]);
  });
});

describe('a consent with terms', () => {
  const linked = (terms: NonNullable<Begin['terms']>) => ({
    categories: [{ name: 'ACCOUNT_INFO' as const, products: [] }],
    terms,
  });

  it.each<[string, NonNullable<Begin['terms']>, string, string]>([
    [
      'accounts',
      {
        access: { type: 'dedicated', accounts: [IBAN, OTHER_IBAN], balances: [], transactions: [] },
        frequencyPerDay: 4,
      },
      `${IBAN} ${OTHER_IBAN}`,
      '4 a day without the customer',
    ],
    [
      'a choice of the customer',
      { access: { type: 'bank-offered', balances: true, transactions: true } },
      'those that the customer chooses',
      '',
    ],
    [
      'all accounts',
      { access: { type: 'all-accounts' }, recurring: true, frequencyPerDay: 1 },
      'all',
      '1 a day without the customer',
    ],
    [
      'the list alone',
      { access: { type: 'list-only' }, recurring: false, frequencyPerDay: 4 },
      'the list alone',
      'one',
    ],
    ['what the bank chooses', {}, '', ''],
  ])('for %s shows them', async (_, terms, accounts, readings) => {
    const { table, json } = await shown([], { begin: linked(terms) });
    const known = [accounts && `Accounts\t${accounts}`, readings && `Readings\t${readings}`].filter(Boolean);
    expect(table.split('\n').slice(4, 5 + known.length)).toEqual([...known, 'Resolved\t']);
    expect(json).toMatchObject({
      ...{ consentStatus: null, validUntil: null, access: terms.access ?? null },
      ...{ frequencyPerDay: terms.frequencyPerDay ?? null, recurring: terms.recurring ?? null },
    });
  });
});

describe('psd2 consent list', () => {
  it.each<[string, ConsentEvent[], number, string[], object]>([
    [
      'granted',
      [REQUESTED, { type: 'confirmed' }],
      1,
      ['confirmed', 'ACCOUNT_INFO, PAYMENTS (not granted)', `${FIRST} ${OTHER}`, BEGUN, '179', '1000001'],
      { expiresAt: '2027-05-20T12:00:00.000Z', daysLeft: 179 },
    ],
    [
      'over',
      [REQUESTED, { type: 'confirmed' }],
      200,
      ['confirmed', 'ACCOUNT_INFO, PAYMENTS (not granted)', `${FIRST} ${OTHER}`, BEGUN, 'over', '1000001'],
      { expiresAt: '2027-05-20T12:00:00.000Z', daysLeft: 0 },
    ],
    [
      'not granted yet',
      [],
      1,
      ['created', 'ACCOUNT_INFO, PAYMENTS', `${FIRST} ${OTHER}`, '', '', '1000001'],
      { expiresAt: null, daysLeft: null },
    ],
  ])('has a consent that is %s with its days left', async (_, events, days, cells, end) => {
    const { flow, table, json } = await shown(events, { days, words: ['list'] });
    expect(table).toBe(`${[flow, ...cells].join('\t')}\n`);
    expect(json).toMatchObject([{ flow, ...end }]);
  });
});

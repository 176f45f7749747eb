import { expect, it } from 'vitest';
import { fieldsRead } from '../../src/bank/interfaces/nextgenpsd2/probing/fields-read.ts';
import {
  driftOf,
  emptyShapes,
  merged,
  type ObservedAnswer,
  type ShapeFile,
  shapesOf,
  writeShapes,
} from '../../src/smoke/shapes.ts';
import { vocabularyOf } from '../../src/smoke/vocabulary.ts';

const KNOWN = vocabularyOf('nextgenpsd2', fieldsRead());
type Row = Record<string, unknown>;

const answer = (rows: readonly Row[], more: Partial<ObservedAnswer> = {}): ObservedAnswer => ({
  ...{ method: 'GET', route: '/v1/accounts/{account}/transactions' },
  ...{ status: 200, contentType: 'application/json' },
  json: { transactions: { booked: rows } },
  ...more,
});
const row = (more: Row = {}): Row => ({
  ...{ transactionId: 't1', bookingDate: '2026-11-26', checkId: 'm' },
  transactionAmount: { amount: '1.00', currency: 'EUR' },
  ...more,
});
const rows = (more: Row = {}) => Array.from({ length: 10 }, () => row(more));

/** What psd2 knows after these runs, on as many days. */
function learnt(...runs: ObservedAnswer[]): ShapeFile {
  let file = emptyShapes('mybank', 'nextgenpsd2', '2026-11-01');
  for (const [day, each] of runs.entries())
    file = merged(file, shapesOf([each], KNOWN), `2026-11-0${day + 1}`);
  return file;
}
const usual = learnt(answer(rows()), answer(rows()), answer(rows()));
const found = (file: ShapeFile, ...answers: ObservedAnswer[]) =>
  driftOf(file, answers, KNOWN).map(
    ({ severity, path }) => `${severity} ${path.replace('$.transactions.booked[].', '')}`,
  );
const without = (name: string) => rows().map(({ [name]: _, ...left }) => left);

it.each(['mandateId', 'creditorId', 'originalAmount', 'transactionFees', 'transactionDetails'])(
  'the loss of %s, which psd2 shows, breaks something',
  (name) => {
    const runs = ['m', 'm', 'm'].map((value) => answer(rows({ [name]: value })));
    expect(found(learnt(...runs), answer(rows()))).toEqual([`breaking ${name}`]);
  },
);

it.each<[string, ObservedAnswer, string[]]>([
  ['nothing', answer(rows()), []],
  ['an empty list', answer([]), []],
  ['another text', answer(rows({ transactionId: '12' })), ['info transactionId']],
  ['a new field', answer(rows({ creditorName: 'Ada' })), ['info creditorName']],
  ['an empty text', answer(rows({ checkId: '' })), []],
  ['null for the first time', answer(rows({ bookingDate: null })), ['warning bookingDate']],
  ['another form of date', answer(rows({ bookingDate: '26/11/2026' })), ['breaking bookingDate']],
  ['a number for a text', answer(rows({ bookingDate: 20261126 })), ['breaking bookingDate']],
  ['a number for a text that psd2 does not read', answer(rows({ checkId: 5 })), ['warning checkId']],
  ['a kind beside the old one', answer([...rows(), row({ bookingDate: 5 })]), ['warning bookingDate']],
  ['a field that is gone', answer(without('bookingDate')), ['breaking bookingDate']],
  ['one that psd2 does not read', answer(without('checkId')), ['warning checkId']],
  ['a field that only some have', answer([...without('bookingDate'), row()]), ['breaking bookingDate']],
  ['no JSON', answer([], { json: undefined, contentType: 'text/html' }), ['breaking $', 'warning $']],
  ['another content type', answer(rows(), { contentType: 'text/plain' }), ['breaking $']],
  ['an unknown code', answer(rows({ balanceType: 'magic' })), ['info balanceType', 'warning balanceType']],
])('after three runs on three days, %s is told of', (_, now, expected) => {
  expect(found(usual, now).toSorted()).toEqual(expected.toSorted());
});

it('a field that the standard requires is missing against the standard, and another one is not', () => {
  const says = (name: string) => driftOf(usual, [answer(without(name))], KNOWN).map(({ message }) => message);
  expect(says('transactionAmount').join()).toMatch(/missing.*against the standard/);
  expect(says('bookingDate').join()).not.toMatch(/standard/);
});

it('a field that only some rows had is no surprise when it is missing, and neither is one that was seen too rarely', () => {
  const [some, all] = [answer([...rows(), ...without('checkId')]), answer(rows())];
  expect(found(learnt(some, all, all), answer(without('checkId')))).toEqual([]);
  expect(found(learnt(all, all, all), answer(without('checkId')))).not.toEqual([]);
  const rarely = learnt(answer([row()]), answer([row()]), answer([row()]));
  expect(found(rarely, answer(without('bookingDate')))).toEqual([]);
  expect(found(learnt(all, all, all), answer(without('bookingDate')))).not.toEqual([]);
});

it('eight equal runs, and those of two accounts, find nothing', () => {
  let file = usual;
  const other = answer([row({ checkId: undefined, creditorName: 'Bob' })]);
  file = merged(file, shapesOf([other], KNOWN), '2026-11-05');
  for (let run = 0; run < 8; run += 1) {
    const now = run % 2 ? other : answer(rows());
    expect(found(file, now).filter((each) => !each.startsWith('info'))).toEqual([]);
    file = merged(file, shapesOf([now], KNOWN), `2026-11-1${run}`);
  }
});

it('no key that may be an id, and no value, is in the file', () => {
  const ids = ['DE89370400440532013000', '3dc3d5b3-7023-4848-9853-f5400a64e80f'];
  const secrets = [...ids, '2026-11-26', 'Ada Lovelace', '12.34'];
  const json = Object.fromEntries(
    secrets.map((secret) => [secret, { amount: '12.34', creditorName: 'Ada Lovelace', iban: secret }]),
  );
  const file = learnt(answer([], { json }), answer([], { json }));
  const text = writeShapes(file);
  for (const secret of secrets) expect(text).not.toContain(secret);
  expect(Object.keys(JSON.parse(text).shapes['GET /v1/accounts/{account}/transactions 200'])).toContain(
    '$.*.iban',
  );
  expect(writeShapes(JSON.parse(text))).toBe(text);
});

it('answers that are errors have forms of their own', () => {
  const refused = answer([], { status: 403, json: { tppMessages: [{ category: 'ERROR', code: 'X' }] } });
  expect(Object.keys(shapesOf([refused, answer(rows())], KNOWN))).toEqual([
    'GET /v1/accounts/{account}/transactions 4xx',
    'GET /v1/accounts/{account}/transactions 200',
  ]);
});

it.each<[string, account: string, day: string, expected: string[]]>([
  ['the form of the same account', 'a001', '2026-11-26', []],
  ['the form of the other account', 'b002', '26/11/2026', []],
  ['another form of the same account', 'a001', '26/11/2026', ['breaking bookingDate']],
  ['a form that this account lost for the one of another', 'b002', '2026-11-26', ['breaking bookingDate']],
  ['the form of an account that is new', 'c003', '2026-11-26T10:00:00Z', ['info bookingDate']],
])('where accounts write days differently, %s (%s, %s) is told of as %j', (_, account, day, expected) => {
  const of = (name: string, bookingDate: string) => answer(rows({ bookingDate }), { account: name });
  const two = [of('a001', '2026-11-25'), of('b002', '25/11/2026')];
  const file = learnt(...two, ...two);
  expect(found(file, of(account, day))).toEqual(expected);
});

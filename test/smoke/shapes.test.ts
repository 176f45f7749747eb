import { expect, it } from 'vitest';
import { fieldsRead } from '../../src/bank/interfaces/nextgenpsd2/probing/fields-read.ts';
import {
  driftOf,
  emptyShapes,
  findingOf,
  merged,
  type ObservedAnswer,
  type ShapeFile,
  shapesOf,
  writeShapes,
} from '../../src/smoke/shapes.ts';
import { vocabularyOf } from '../../src/smoke/vocabulary.ts';
import { thrownBy } from '../support/thrown.ts';

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

it('of two accounts in one run, what either writes differently is told of, in both orders', () => {
  const of = (name: string, bookingDate: string) => answer(rows({ bookingDate }), { account: name });
  const two = [of('a001', '2026-11-25'), of('b002', '2026-11-25')];
  const file = learnt(...two, ...two);
  const both = (one: string, other: string) => [of('a001', one), of('b002', other)];
  const [same, changed] = ['2026-11-26', '26/11/2026'];
  for (const [days, expected] of [
    [[same, same], []],
    [[changed, same], ['breaking bookingDate']],
    [[same, changed], ['breaking bookingDate']],
    [[changed, changed], ['breaking bookingDate']],
  ] as const) {
    const answers = both(...days);
    for (const order of [answers, answers.toReversed()]) expect(found(file, ...order)).toEqual(expected);
  }
  // An account that psd2 sees for the first time hides nothing of the others.
  const fresh = of('0000', changed);
  for (const order of [
    [fresh, of('b002', changed)],
    [of('b002', changed), fresh],
  ])
    expect(found(file, ...order)).toEqual(['breaking bookingDate']);
});

const ROUTE = 'GET /v1/accounts/{account}/transactions 200';
/** The kinds that psd2 sees in a value, by path. */
const kindsOf = (value: unknown) =>
  Object.fromEntries(
    Object.entries(shapesOf([answer([], { json: value })], KNOWN)[ROUTE] ?? {}).map(([path, field]) => [
      path,
      field.kinds.join(),
    ]),
  );

it.each<[value: unknown, kind: string]>([
  [null, 'null'],
  [true, 'boolean'],
  [[], 'array'],
  [{}, 'object'],
  [1, 'integer'],
  [-10, 'integer'],
  [1.5, 'number'],
  [1e30, 'number'],
  // A number with all its digits, as the reader of answers keeps it.
  [{ isLosslessNumber: true, toString: () => '12345678901234567890' }, 'integer'],
  [{ isLosslessNumber: true, toString: () => '1E5' }, 'number'],
  ['', 'string:empty'],
  [' ', 'string:text'],
  ['2026-11-26', 'string:date'],
  ['x2026-11-26', 'string:text'],
  ['2026-11-260', 'string:text'],
  ['2026-11-26T10:00:00', 'string:date-time'],
  ['2026-11-26T10:00:00.123Z', 'string:date-time'],
  ['2026-11-26T10:00:00+01:00', 'string:date-time'],
  ['2026-11-26T10:00:00-0100', 'string:date-time'],
  ['2026-11-26T10:00:00 CET', 'string:text'],
  ['26/11/2026', 'string:day-first'],
  ['26/11/20261', 'string:text'],
  ['126/11/2026', 'string:text'],
  ['20261126T10:00:00', 'string:compact-time'],
  ['120261126T10:00:00', 'string:text'],
  ['20261126T10:00:001', 'string:text'],
  ['DE89370400440532013000', 'string:iban'],
  ['NO9386011117947', 'string:iban'],
  ['DE8937040044053', 'string:iban'],
  ['DE893704004405', 'string:text'],
  ['xDE89370400440532013000', 'string:text'],
  ['DE89370400440532013000 ', 'string:text'],
  ['6F1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44', 'string:uuid'],
  ['a6F1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44', 'string:text'],
  ['6F1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44a', 'string:text'],
  ['0123', 'string:digits'],
  ['a0123', 'string:text'],
  ['0123a', 'string:text'],
  ['1.50', 'string:decimal'],
  ['-12,5', 'string:decimal'],
  ['+12.55', 'string:decimal'],
  ['a1.5', 'string:text'],
  ['1.5 EUR', 'string:text'],
  ['1.', 'string:text'],
  ['/v1/accounts', 'string:uri'],
  ['https://bank.example/x', 'string:uri'],
  ['http://bank.example', 'string:uri'],
  ['/', 'string:uri'],
  ['/a b', 'string:text'],
  ['see /v1', 'string:text'],
  ['Ada', 'string:text'],
])('%j is of the kind %s', (value, kind) => {
  expect(kindsOf(value)).toEqual({ $: kind });
});

it('a field is counted in each of its parents, also within lists, and each of its kinds once', () => {
  const json = {
    transactions: { booked: [{ amount: '1.0' }, { amount: '2.0' }, { amount: 'x', Ada: 1 }, {}] },
  };
  expect(shapesOf([answer([], { json }), answer([], { json: { transactions: {} } })], KNOWN)).toEqual({
    [ROUTE]: {
      $: { in: [2, 2], runs: 1, kinds: ['object'] },
      '$.transactions': { in: [2, 2], runs: 1, kinds: ['object'] },
      '$.transactions.booked': { in: [1, 2], runs: 1, kinds: ['array'] },
      '$.transactions.booked[]': { in: [4, 4], runs: 1, kinds: ['object'] },
      '$.transactions.booked[].amount': { in: [3, 4], runs: 1, kinds: ['string:decimal', 'string:text'] },
      '$.transactions.booked[].*': { in: [1, 4], runs: 1, kinds: ['integer'] },
    },
  });
});

it('the forms of a day are kept by account, and of nothing else', () => {
  const of = (account: string, bookingDate: string) => answer([{ bookingDate, checkId: 'x' }], { account });
  const answers = [of('a001', '2026-11-26'), of('b002', '26/11/2026'), of('a001', '2026-11-26T10:00:00Z')];
  const days = (shapes: ShapeFile['shapes']) =>
    Object.entries(shapes[ROUTE] ?? {}).flatMap(([path, field]) => (field.days ? [[path, field.days]] : []));
  const forms = [
    [
      '$.transactions.booked[].bookingDate',
      { a001: ['string:date', 'string:date-time'], b002: ['string:day-first'] },
    ],
  ];
  expect(days(shapesOf(answers, KNOWN))).toEqual(forms);
  // Of several runs, whichever comes first.
  for (const order of [answers, answers.toReversed()]) expect(days(learnt(...order).shapes)).toEqual(forms);
  expect(days(learnt(answer(rows()), ...answers, answer(rows())).shapes)).toEqual(forms);
});

it('what a run saw is added, and what it did not see was in none of its parents', () => {
  const one = answer([{ checkId: '1', bookingDate: '2026-11-26' }, { checkId: 'b' }]);
  const other = answer([{ checkId: 'a', amount: 'x' }]);
  const empty = answer([], { json: {} });
  const file = learnt(one, other, empty);
  expect(file.shapes[ROUTE]).toEqual({
    $: { in: [3, 3], runs: 3, kinds: ['object'] },
    '$.transactions': { in: [2, 3], runs: 2, kinds: ['object'] },
    '$.transactions.booked': { in: [2, 2], runs: 2, kinds: ['array'] },
    '$.transactions.booked[]': { in: [3, 3], runs: 2, kinds: ['object'] },
    '$.transactions.booked[].checkId': { in: [3, 3], runs: 2, kinds: ['string:digits', 'string:text'] },
    '$.transactions.booked[].bookingDate': { in: [1, 3], runs: 1, kinds: ['string:date'] },
    '$.transactions.booked[].amount': { in: [1, 3], runs: 1, kinds: ['string:text'] },
  });
  // In any order, and with runs between them.
  for (const order of [
    [one, empty, other],
    [empty, one, other],
    [empty, other, one],
    [other, empty, one],
    [other, one, empty],
  ])
    expect(learnt(...order).shapes).toEqual(file.shapes);
  expect([file.runs, file.days, file.learnedFrom, file.learnedTo]).toEqual([
    3,
    3,
    '2026-11-01',
    '2026-11-03',
  ]);
  const again = merged(file, {}, '2026-11-03');
  expect([again.runs, again.days, again.learnedTo]).toEqual([4, 3, '2026-11-03']);
  expect(again.shapes).toEqual(file.shapes);
});

/** What is told of, whole but for its id. */
const says = (file: ShapeFile, ...answers: ObservedAnswer[]) =>
  driftOf(file, answers, KNOWN).map(({ severity, path, message }) =>
    [severity, path.replace('$.transactions.booked[].', ''), message].join(' '),
  );

const IN_PLACE = 'instead of';
it.each<[what: string, before: Row, now: Row, expected: string[]]>([
  ['the same', {}, {}, []],
  ['a list for a text', {}, { checkId: [] }, ['warning checkId array instead of string:text']],
  [
    'a list for a text that psd2 reads',
    {},
    { transactionId: [] },
    ['breaking transactionId array instead of string:text'],
  ],
  [
    'a text for a date',
    {},
    { bookingDate: 'soon' },
    [`breaking bookingDate string:text ${IN_PLACE} string:date`],
  ],
  [
    'digits for a text',
    {},
    { checkId: '7' },
    ['info checkId another text: string:digits instead of string:text'],
  ],
  ['null for the first time', {}, { checkId: null }, ['warning checkId null for the first time']],
  ['null again', { checkId: null }, { checkId: null }, []],
  [
    'a text where there was only null',
    { checkId: null },
    { checkId: 'x' },
    ['warning checkId also string:text'],
  ],
  ['a number where there was only null', { checkId: null }, { checkId: 5 }, ['warning checkId also integer']],
  ['an empty text for a date', {}, { bookingDate: '' }, []],
  [
    'a date where there was only an empty text',
    { bookingDate: '' },
    { bookingDate: '2026-11-26' },
    ['warning bookingDate also string:date'],
  ],
  [
    'a fraction for a whole number',
    { checkId: 5 },
    { checkId: 5.5 },
    ['warning checkId number instead of integer'],
  ],
])('%s is told of so', (_, before, now, expected) => {
  expect(says(learnt(...[0, 1, 2].map(() => answer(rows(before)))), answer(rows(now)))).toEqual(expected);
});

it('kinds that are new beside an old one are told of together', () => {
  const now = [row({ bookingDate: 5 }), row({ bookingDate: null }), row()];
  expect(says(usual, answer(now))).toEqual(['warning bookingDate also integer']);
});

it('what is missing is told of with how often it was there', () => {
  expect(says(usual, answer(without('checkId')))).toEqual(['warning checkId missing; it was in all of 30']);
  expect(says(usual, answer([...without('bookingDate'), row()]))).toEqual([
    'breaking bookingDate in 1 of 11; it was in all of 30',
  ]);
  expect(says(usual, answer(without('transactionAmount')))).toEqual([
    'breaking transactionAmount missing; it was in all of 30; against the standard',
  ]);
  // The whole list may be empty, or missing with what it is in.
  expect(says(usual, answer([], { json: { transactions: {} } }))).toEqual([]);
});

it.each<[what: string, runs: number, rows: number, isSameDay: boolean, isLost: boolean]>([
  ['20 parents in 4 runs', 4, 5, false, true],
  ['18 parents in 3 runs', 3, 6, false, false],
  ['two runs', 2, 20, false, false],
  ['three runs', 3, 20, false, true],
  ['three runs of one day', 3, 20, true, false],
])('a field that was always there in %s is missed or not', (_, runs, count, isSameDay, isLost) => {
  let file = emptyShapes('mybank', 'nextgenpsd2', '2026-11-01');
  const all = Array.from({ length: count }, () => row());
  for (let run = 1; run <= runs; run += 1)
    file = merged(file, shapesOf([answer(all)], KNOWN), isSameDay ? '2026-11-01' : `2026-11-0${run}`);
  expect(says(file, answer(without('checkId'))).length > 0).toBe(isLost);
});

it.each<[what: string, more: Partial<ObservedAnswer>, expected: string[]]>([
  [
    'no JSON at all',
    { json: undefined, contentType: 'text/html' },
    ['breaking $ no JSON', 'warning $ not JSON instead of object'],
  ],
  [
    'no JSON that says it is',
    { json: undefined },
    ['breaking $ no JSON', 'warning $ not JSON instead of object'],
  ],
  ['a body without a type', { contentType: undefined }, ['breaking $ the Content-Type is not JSON']],
  ['a type of its own', { contentType: 'application/hal+JSON; charset=utf-8' }, []],
  [
    'a type that only looks so',
    { contentType: 'application/jsonp' },
    ['breaking $ the Content-Type is not JSON'],
  ],
])('an answer with %s is told of so', (_, more, expected) => {
  expect(says(usual, answer(rows(), more)).toSorted()).toEqual(expected);
});

it('an answer that never was JSON, that is new, or has no content, is no finding', () => {
  const page = answer([], { json: undefined, contentType: 'text/html' });
  expect(says(learnt(page, page, page), page)).toEqual([]);
  expect(says(learnt(page, page, page), answer(rows()))).not.toEqual([]);
  expect(says(usual, { ...page, route: '/v1/consents' })).toEqual([]);
  const none = answer([], { status: 204, json: {} });
  expect(says(learnt(none, none), { ...none, contentType: undefined })).toEqual([]);
});

it('a code that psd2 does not know is told of once, wherever it is, but no text that may be a word of somebody', () => {
  const of = (...codes: unknown[]) => answer(codes.map((scaStatus) => ({ scaStatus })));
  const told = (...codes: unknown[]) => says(usual, of(...codes)).filter((each) => each.includes('the code'));
  expect(told('finalised', 'failed')).toEqual([]);
  expect(told('sent', 'sent', 'gone').toSorted()).toEqual([
    'warning scaStatus psd2 does not know the code gone',
    'warning scaStatus psd2 does not know the code sent',
  ]);
  expect(told('x', 'a b', 'x1', 'y'.repeat(33), 5, null, ['sent'])).toEqual([]);
  expect(told('xy', 'y'.repeat(32))).toHaveLength(2);
  expect(says(usual, answer([], { json: [{ outcome: 'MAYBE' }, null] }))).toContainEqual(
    'warning $[].outcome psd2 does not know the code MAYBE',
  );
});

it('what breaks something comes first, then warnings, then what is new; each has an id that stays', () => {
  const now = answer(rows({ creditorName: 'x', checkId: 5, bookingDate: 5, transactionId: 7 }));
  const findings = driftOf(usual, [now], KNOWN);
  expect(findings.map(({ severity }) => severity)).toEqual(['breaking', 'breaking', 'warning', 'info']);
  // A person accepts a finding by its id, which must not change from one psd2 to the next.
  expect(findings.map(({ id, path }) => `${id} ${path.split('.').at(-1)}`)).toMatchInlineSnapshot(`
    ["dr-0in5v1z bookingDate", "dr-1xdbrno transactionId", "dr-1u0gdlm checkId",
     "dr-1tkt95e creditorName"]
  `);
  for (const { answer: of } of findings) expect(of).toBe(ROUTE);
});

it('a finding is named by its id or the beginning of it, if that is only one', () => {
  const finding = (id: string) => ({ id, answer: ROUTE, path: '$', severity: 'info' as const, message: 'x' });
  const all = [finding('dr-12'), finding('dr-13'), finding('dr-2')];
  expect(findingOf(all, 'dr-2').id).toBe('dr-2');
  expect(findingOf(all, 'dr-13').id).toBe('dr-13');
  for (const id of ['dr-1', 'dr-3', '2'])
    expect(thrownBy(() => findingOf(all, id))).toMatchObject({
      ...{ code: 'usage', message: `There is no finding ${id} in the last run` },
      context: { hint: 'See the findings with:', next: [['smoke', 'show']] },
    });
});

it('the file has a line for each field, sorted', () => {
  const file = learnt(answer([{ checkId: 'x' }]));
  const other = { 'GET /a 200': { $: { in: [1, 1] as [number, number], runs: 1, kinds: ['null'] } } };
  expect(writeShapes(merged(file, other, '2026-11-01'))).toBe(
    [
      '{"version":1,"interface":"nextgenpsd2","bank":"mybank","learnedFrom":"2026-11-01","learnedTo":"2026-11-01","days":1,"runs":2,"shapes":{"GET /a 200":{',
      '  "$":{"in":[1,1],"runs":1,"kinds":["null"]}},',
      `"${ROUTE}":{`,
      '  "$":{"in":[1,1],"runs":1,"kinds":["object"]},',
      '  "$.transactions":{"in":[1,1],"runs":1,"kinds":["object"]},',
      '  "$.transactions.booked":{"in":[1,1],"runs":1,"kinds":["array"]},',
      '  "$.transactions.booked[]":{"in":[1,1],"runs":1,"kinds":["object"]},',
      '  "$.transactions.booked[].checkId":{"in":[1,1],"runs":1,"kinds":["string:text"]}}}}',
      '',
    ].join('\n'),
  );
});

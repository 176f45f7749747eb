import { expect, it } from 'vitest';
import { type Change, Draft } from '../../../../src/commands/bank/learn/draft.ts';
import { parseDate } from '../../../../src/domain/calendar.ts';

// What bank learn knows of a field, and what it could not find out.

const HEARD = { asked: 'GET /v1/consents', says: 'HTTP 404' };
const draft = () =>
  new Draft({ interface: 'nextgenpsd2' }, { interface: 'nextgenpsd2' }, parseDate('--date', '2026-11-30'));
const fieldsOf = ({ findings }: Draft) => findings.map(({ field, status }) => `${field} ${status}`);

it('what could not be found out is noted with its reason, and with what was asked if anything was', () => {
  const one = draft();
  one.lack('oauth.mode', 'nobody says', HEARD);
  one.lack('psu.ip', 'nobody is there');
  const empty = { status: 'unknown', value: null, was: null };
  expect(one.findings).toEqual([
    { ...empty, field: 'oauth.mode', reason: 'nobody says', asked: HEARD.asked, answered: HEARD.says },
    { ...empty, field: 'psu.ip', reason: 'nobody is there', asked: null, answered: null },
  ]);
});

it.each<[string, string[], string[]]>([
  ['the same field', ['psu.ip'], []],
  ['all of it', ['psu'], []],
  ['another field', ['psu.label'], ['psu.label unknown']],
  ['a field whose name begins with it', ['psu.ipAbsent'], ['psu.ipAbsent unknown']],
  ['a group whose name begins as its own', ['ps'], ['ps unknown']],
  ['another one twice', ['psu.label', 'psu.label'], ['psu.label unknown']],
])('after an answer has shown psu.ip, %s is lacking or known', (_, lacks, noted) => {
  const one = draft();
  one.learn({ psu: { ip: 'required' } }, HEARD);
  const before = fieldsOf(one);
  for (const field of lacks) one.lack(field, 'nobody says');
  expect(before).toHaveLength(1);
  expect(fieldsOf(one)).toEqual([...before, ...noted]);
});

const [BEFORE, TODAY] = ['2026-01-01', '2026-11-30'];
it.each<[string, Change, source: string, about: Change]>([
  ['nothing', {}, 'LEARNED', {}],
  ['its name', { name: 'Mine' }, 'LEARNED', { name: 'Mine' }],
  ['its platform', { extends: 'sparda' }, 'LEARNED', { extends: 'sparda' }],
  ['who saw it hold', { verifiedOn: BEFORE }, 'LEARNED', { verifiedOn: BEFORE }],
  ['a source of its own', { source: 'us' }, 'us', {}],
  ['where it was learned', { source: `psd2 bank learn at x on ${BEFORE}` }, 'LEARNED', {}],
  ['days of other fields', { learned: { 'sca.start': BEFORE } }, 'LEARNED', {}],
  ['an earlier day of the same', { learned: { 'psu.ip': BEFORE } }, 'LEARNED', {}],
])('the file says what it said, and what was learned: %s', (_, said, source, about) => {
  const nothing = { interface: 'nextgenpsd2' } as const;
  const one = new Draft({ ...nothing, ...said }, nothing, parseDate('--date', TODAY));
  const learned = { 'sca.start': said.learned?.['sca.start'], 'psu.ip': TODAY };
  const write = () => JSON.parse(JSON.stringify(one.file('bank.example')));
  one.learn({ psu: { ip: 'required' } }, HEARD);
  const from = `psd2 bank learn at bank.example on ${TODAY}`;
  const file = (written: string) => ({
    ...{ ...nothing, ...about, psu: { ip: 'required' }, source: source === 'LEARNED' ? written : source },
    learned: JSON.parse(JSON.stringify(learned)),
  });
  expect(write()).toEqual(file(from));
  one.lack('oauth.mode', 'nobody says');
  one.lack('psu.label', 'nobody says');
  expect(write()).toEqual(file(`${from}. Not found out: oauth.mode, psu.label`));
});

it.each<[string, fields: Change[], order: string[]]>([
  ['none', [], []],
  ['one', [{ psu: { ip: 'own' } }], ['psu.ip same']],
  [
    'equal ones as they came',
    [{ psu: { ip: 'required' } }, { headers: { date: 'always' } }],
    ['psu.ip differs', 'headers.date differs'],
  ],
  [
    'what differs before what is the same',
    [{ psu: { ip: 'own' } }, { headers: { date: 'always' } }],
    ['headers.date differs', 'psu.ip same'],
  ],
  [
    'what decides before all others',
    [{ headers: { date: 'always' } }, { sca: { approaches: ['redirect'] } }],
    ['sca.approaches same', 'headers.date differs'],
  ],
])('findings are in the order of what they mean: %s', (_, fields, order) => {
  const one = draft();
  for (const change of fields) one.learn(change, HEARD);
  one.lack('oauth.mode', 'nobody says');
  one.say('links', 'whole addresses', HEARD);
  expect(one.inOrder.map(({ field, status }) => `${field} ${status}`)).toEqual([
    ...order,
    'links said',
    'oauth.mode unknown',
  ]);
});

import { expect, it } from 'vitest';
import { Draft } from '../../../../src/commands/bank/learn/draft.ts';
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

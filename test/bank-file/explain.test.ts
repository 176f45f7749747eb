import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nextgenpsd2 } from '../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import { aboutPlatform, factOf } from '../../src/bank-file/about.ts';
import { contestedIn, explainBank } from '../../src/bank-file/explain.ts';
import { readPlatform } from '../../src/bank-file/platforms.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { allFields, PLATFORMS, readBankFile } from './described.ts';

const temporary = temporaryFolder();
const described = { nextgenpsd2: () => nextgenpsd2 };

function write(content: object): string {
  const path = join(temporary, 'own.json');
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...content }));
  return path;
}

async function explained(bank: string, field: string) {
  const values = explainBank(await readBankFile(bank));
  return values.find((each) => each.field === field);
}

it.each(Object.entries(PLATFORMS).filter(([name]) => name !== 'standard'))(
  'the platform %s has facts, about fields that there are, and its source says where others differ',
  (name, { banks, source }) => {
    const { behind, facts, notes } = aboutPlatform.parse(readPlatform(name).about);
    expect([behind, facts['']]).not.toContain(undefined);
    expect(facts.banks === undefined).toBe(banks === undefined);
    for (const path of Object.keys({ ...facts, ...notes })) expect(['', ...allFields()]).toContain(path);
    const isContested = Object.values(facts).some(({ sureness }) => sureness === 'contested');
    expect(/differ|decides/.test(source ?? '')).toBe(isContested);
  },
);

const CLIENT = "a client's code";
const none = { source: null, sureness: null, differs: null };

it.each([
  // A parent's value, the platform's own, a default, one that is contested, and a contested default.
  ['comdirect', 'signing.when', { value: 'never', from: 'worldline', sureness: "bank's own page" }],
  ['commerzbank-sandbox', 'oauth.metadata', { from: 'commerzbank-sandbox', sureness: CLIENT }],
  ['comdirect', 'psu.ip', { value: 'own', from: 'default', ...none }],
  ['adorsys', 'headers.date', { from: 'adorsys', sureness: 'seen at a server', differs: null }],
  ['atruvia', 'signing.keyId.serial', { sureness: 'contested', differs: expect.stringContaining('hexa') }],
  ['paysera', 'signing.when', { value: 'always', from: 'default', sureness: 'contested' }],
  ['sparda', 'name', { from: 'sparda', ...none }],
])('of the platform %s, %s is explained', async (bank, field, expected) => {
  expect(await explained(bank, field)).toMatchObject({ field, ...expected });
});

it('of a file, its own values, what psd2 has learned, what it inherits and what another file says are told apart', async () => {
  const path = write({
    ...{ extends: 'atruvia', source: 'our notes', psu: { id: 'required' }, consent: { maxDays: 90 } },
    learned: { 'consent.maxDays': '2026-11-23' },
  });
  const from = { from: path, source: 'our notes' };
  expect(await explained(path, 'psu.id')).toMatchObject({ ...from, sureness: null, differs: null });
  expect(await explained(path, 'consent.maxDays')).toMatchObject({ ...from, sureness: 'seen at a server' });
  expect(await explained(path, 'consent.once')).toMatchObject({ from: 'atruvia', sureness: CLIENT });
  expect(await explained(path, 'platform')).toBeUndefined();
  const seen = write({ extends: 'atruvia', verifiedOn: '2026-11-23', psu: { id: 'required' } });
  expect(await explained(seen, 'psu.id')).toMatchObject({ from: path, sureness: 'seen at a server' });
});

it('what a file or the stored bank says itself is no longer contested', async () => {
  const { file, description } = await readBankFile(write({ extends: 'atruvia', psu: { id: 'required' } }));
  expect(file.platform).toBe('atruvia');
  const fields = (await contestedIn(description, described)).map(({ field }) => field);
  expect(fields).toContain('signing.algorithm');
  expect(fields).toContain('signing.keyId.case');
  expect(fields).not.toContain('psu.id');
  // Of what a file shows, the platform is still known.
  const { description: shown } = await readBankFile(write(file));
  expect((await contestedIn(shown, described)).map(({ field }) => field)).toEqual(fields);
  expect(await contestedIn((await readBankFile(write({}))).description, described)).toEqual([]);
});

it('what a file says of itself has no source, and everything else has that of the file', async () => {
  const path = write({
    ...{ extends: 'atruvia', name: 'A', source: 'our notes', verifiedOn: '2026-11-23' },
    ...{ learned: { 'psu.id': '2026-11-23' }, psu: { id: 'required' } },
    banks: [{ name: 'A', bic: 'NTSBDEB1' }],
  });
  const values = explainBank(await readBankFile(path)).filter(({ from }) => from === path);
  const certainty = values.map(({ field, source, sureness }) => [field, source, sureness]);
  const seen = ['our notes', 'seen at a server'];
  expect(certainty.toSorted()).toEqual([
    ['banks', ...seen],
    ['interface', null, null],
    ['learned.psu.id', null, null],
    ['name', null, null],
    ['psu.id', ...seen],
    ['source', null, null],
    ['verifiedOn', null, null],
  ]);
});

it.each<[learned: string[], field: string, isSeen: boolean]>([
  [[], 'consent.maxDays', false],
  [['consent.maxDays'], 'consent.maxDays', true],
  [['consent'], 'consent.maxDays', true],
  [['consent.maxDays'], 'consent.once', false],
  [['consent.once', 'consent.maxDays'], 'consent.maxDays', true],
  [['consent.maxDays', 'consent.once'], 'consent.maxDays', true],
])('of a file that has learned %j, %s was seen: %j', async (fields, field, isSeen) => {
  const learned = Object.fromEntries(fields.map((each) => [each, '2026-11-23']));
  const path = write({ learned, consent: { maxDays: 90, once: false } });
  expect(await explained(path, field)).toMatchObject({ sureness: isSeen ? 'seen at a server' : null });
});

it.each([
  [[], 'a.b', undefined],
  [['a.b'], 'a.b', 'a.b'],
  [['a'], 'a.b', 'a'],
  [[''], 'a.b', ''],
  [['a.b.c', 'a.bc', 'b'], 'a.b', undefined],
  [['', 'a', 'a.b'], 'a.b.c', 'a.b'],
  [['a.b', 'a', ''], 'a.b.c', 'a.b'],
  [['a', '', 'a.b'], 'a.c', 'a'],
])('of the facts about %j, %s has that of the nearest: %j', (fields, path, nearest) => {
  const facts = fields.map((field) => [field, { source: `of "${field}"`, sureness: 'seen at a server' }]);
  const fact = factOf(aboutPlatform.parse({ facts: Object.fromEntries(facts) }), path);
  expect(fact?.source).toBe(nearest === undefined ? undefined : `of "${nearest}"`);
});

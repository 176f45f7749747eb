import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { variableOf } from '../../src/bank-file/kinds.ts';
import { layersOf } from '../../src/bank-file/layers.ts';
import { looksLikePlatform } from '../../src/bank-file/platforms.ts';
import { parseJson, readText } from '../../src/bank-file/read-json.ts';
import { valuesIn } from '../../src/bank-file/values.ts';
import { Psd2Error } from '../../src/errors.ts';
import { openBelow } from '../store/open-files.ts';
import { checkBankFile, describeBank, readBankFile } from './described.ts';
import { bankFolder, LEAST } from './folder.ts';

const { folder, write } = bankFolder();

/** Returns what psd2 says of something that it refuses. */
async function refusalOf(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Psd2Error)) throw new TypeError(`The work ended with ${error}`);
  const { code, message, hint } = error;
  return { code, message, hint };
}

/** The refusal of a bank file, without advice. */
const wrong = (message: string) => ({ code: 'config', message, hint: undefined });

/** Writes a bank file that extends another. */
const extending = (name: string, more: object = {}, as = 'a.json') =>
  write(as, { ...LEAST, extends: name, ...more });

/** Reads all layers of a bank file. */
async function allLayers(nameOrPath: string) {
  const layers = [];
  for await (const layer of layersOf(nameOrPath)) layers.push(layer);
  return layers;
}

describe('what psd2 says about a bank file', () => {
  it('names the variables of its headers once each, in their order', async () => {
    const [a, b, c] = ['A', 'B', 'C'].map((name) => `env:PSD2_BANK_${name}`);
    const headers = {
      static: { 'X-C': c, 'X-A': a, 'X-Plain': 'env' },
      perOperation: { createConsent: { 'X-B': b, 'X-Again': c } },
    };
    const { bank } = await checkBankFile(write('headers.json', { ...LEAST, headers }));
    expect(bank?.variables).toEqual(['PSD2_BANK_A', 'PSD2_BANK_B', 'PSD2_BANK_C']);
  });

  it.each([
    ['oauth.mode', { consent: { status: 'none' }, oauth: { mode: 'x' } }, ['oauth.mode']],
    ['another field', { consent: { status: 'none' }, psu: { id: 7 } }, ['psu.id', 'consent.status']],
  ])('says nothing of what may not fit only because of %s, which is wrong', async (_, fields, paths) => {
    const { problems } = await checkBankFile(write('unfit.json', { ...LEAST, ...fields }));
    expect(problems.map(({ path }) => path)).toEqual(paths);
  });

  const UNFIT = { ...LEAST, name: 'A', payments: { repeatMinutes: 1 } };
  it.each([
    ['right, with a name', { ...LEAST, name: 'A bank' }, { name: 'A bank', interface: 'nextgenpsd2' }, 0],
    ['right, without a name', LEAST, { name: null, interface: 'nextgenpsd2' }, 0],
    ['wrong, with a name', { ...LEAST, name: 'A', a: 1 }, { name: 'A', interface: 'nextgenpsd2' }, 1],
    ['without an interface', { name: 'A bank' }, { name: 'A bank', interface: null }, 1],
    ['of another interface', { interface: 'cb', name: 'A' }, { name: 'A', interface: null }, 1],
    ['with a name that is no text', { ...LEAST, name: 7 }, { name: null, interface: 'nextgenpsd2' }, 1],
    ['that is a list', [LEAST], { name: null, interface: null }, 1],
    ['that is no JSON', 'hello', { name: null, interface: null }, 1],
    ['with fields that do not fit together', UNFIT, { name: 'A', interface: 'nextgenpsd2' }, 1],
  ])('names the bank of a file %s', async (_what, content, about, wrong) => {
    const { problems, bank, text: _text, ...said } = await checkBankFile(write('bank.json', content));
    expect(said).toEqual(about);
    expect(problems).toHaveLength(wrong);
    expect(bank === undefined).toBe(wrong > 0);
  });

  it('names the bank that a file inherits its name from', async () => {
    write('named.json', { ...LEAST, name: 'Far' });
    const { name, problems } = await checkBankFile(write('a.json', { ...LEAST, extends: 'named.json' }));
    expect({ name, problems }).toEqual({ name: 'Far', problems: [] });
  });

  it('has the text of a file alone only if no other file has a say', async () => {
    const alone = write('alone.json', { ...LEAST, name: 'alone' });
    const text = JSON.stringify({ ...LEAST, name: 'alone' });
    expect((await readBankFile(alone)).aloneText).toBe(text);
    const ofPlatform = { ...LEAST, extends: 'wso2' };
    expect((await readBankFile(write('a.json', ofPlatform))).aloneText).toBe(JSON.stringify(ofPlatform));
    // A file between this one and the platform has a say too.
    for (const shared of ['wso2', extending('alone.json', {}, 'b.json'), extending('a.json', {}, 'c.json')])
      expect((await readBankFile(shared)).aloneText).toBeUndefined();
  });

  it('keeps what it inherits of a repeated payment, unless the file takes it back', async () => {
    const payments = { repeat: 'same-answer', repeatMinutes: 1440 } as const;
    const below = write('below.json', { ...LEAST, extends: 'wso2', payments });
    const inherited = (await readBankFile(below)).file.payments;
    expect(inherited).toMatchObject(payments);
    const kept = await readBankFile(extending('below.json', { payments: { cancel: 'none' } }));
    expect(kept.file.payments).toEqual({ ...inherited, cancel: 'none' });
    const { repeatMinutes: _gone, ...rest } = inherited ?? {};
    const back = await readBankFile(extending('below.json', { payments: { repeat: 'unknown' } }));
    expect(back.file.payments).toEqual({ ...rest, repeat: 'unknown' });
    expect(back.file.signing).toEqual((await readBankFile('wso2')).file.signing);
  });

  it.each([
    [{ ...LEAST, a: 1, b: 2, c: 3 }, 'is invalid: a is not a field of a bank file (and 2 more)'],
    [UNFIT, 'is invalid: payments.repeatMinutes is only possible with payments.repeat "same-answer"'],
    [{ ...LEAST, extends: 'wso2' }, 'must not extend another one'],
    [null, 'is invalid: The file must be an object'],
  ])('says of the stored bank %j the first problem, and how many more there are', async (stored, why) => {
    expect(await refusalOf(describeBank(stored))).toEqual(wrong(`The stored bank ${why}`));
  });
});

describe('what a bank file extends', () => {
  it.each([
    ['sparda', true],
    ['cbi-globe', true],
    ['9', true],
    ['sparda.json', false],
    ['./sparda', false],
    ['Sparda', false],
    ['sparda ', false],
    ['', false],
  ])('%j can be a platform: %j', (name, can) => {
    expect(looksLikePlatform(name)).toBe(can);
  });

  const NEITHER = 'extends names neither a platform that comes with psd2 nor a file beside this one';
  const CIRCLE = 'The bank files extend each other in a circle, back to';
  it.each([
    ['none.json', `${NEITHER}: none.json`],
    ['comdirekt', `${NEITHER}: comdirekt. Did you mean comdirect?`],
    ['a.json', `${CIRCLE} ${join(folder, 'a.json')}`],
  ])('is refused if it is not there: %s', async (name, message) => {
    expect(await refusalOf(allLayers(extending(name)))).toEqual(wrong(message));
  });

  it('is refused if there is no first file, with the nearest platform', async () => {
    const none = join(folder, 'none.json');
    expect(await refusalOf(allLayers(none))).toEqual({
      code: 'usage',
      message: `No bank file or platform is called ${JSON.stringify(none)}`,
      hint: 'See the platforms with: psd2 bank list',
    });
    expect((await refusalOf(allLayers('sparkasen'))).hint).toBe(
      'Did you mean sparkassen? See the platforms with: psd2 bank list',
    );
  });

  it('is checked once, also if a link leads back to the file', async () => {
    const path = extending('link-to-twice.json', { wrong: 1 }, 'twice.json');
    const link = join(folder, 'link-to-twice.json');
    symlinkSync(path, link);
    expect((await checkBankFile(path)).problems).toEqual([
      { path: 'extends', message: `${CIRCLE} ${link}` },
      { path: 'wrong', message: 'wrong is not a field of a bank file' },
    ]);
  });
});

describe('the text of a bank file', () => {
  it('is not there if a folder on the way to it is a file', async () => {
    expect(await readText(join(write('a.json', LEAST), 'b.json'))).toBeUndefined();
    expect(await readText(join(folder, 'none', 'b.json'))).toBeUndefined();
  });

  const TOO_MANY = 'has more than 262144 bytes, too many for a bank file';
  const writeLarge = () => write('large.json', 'x'.repeat(262_145));
  const [latin, loop] = [join(folder, 'latin.json'), join(folder, 'loop.json')];
  writeFileSync(latin, Buffer.from([0x22, 0xf6, 0x22]));
  symlinkSync(loop, loop);
  it.each([
    ['a folder', folder, 'is a folder, not a bank file'],
    ['too large', writeLarge(), TOO_MANY],
    ['without an end', '/dev/zero', TOO_MANY],
    ['not UTF-8', latin, 'is not a text in UTF-8'],
    ['a link to itself', loop, 'cannot be read (ELOOP)'],
  ])('is refused if it is %s', async (_what, path, why) => {
    expect(await refusalOf(readText(path))).toEqual(wrong(`${path} ${why}`));
  });

  it('may come from a pipe, in pieces, with as many bytes as a file may have', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const text = JSON.stringify(LEAST).padEnd(262_144);
    const [read] = await Promise.all([readText(path), writeFile(path, text)]);
    expect(read).toBe(text);
    expect(await readText('/dev/null')).toBe('');
  });

  it('is refused in a pipe that other users can write to', async () => {
    const path = join(folder, 'open-pipe');
    execFileSync('mkfifo', [path]);
    chmodSync(path, 0o666);
    // It may end before anything is written.
    const writing = writeFile(path, JSON.stringify(LEAST)).catch(() => undefined);
    expect((await refusalOf(readText(path))).code).toBe('config');
    await writing;
  });

  it('leaves no file open', async () => {
    const path = write('a.json', LEAST);
    const large = writeLarge();
    const opened = () => ['/dev/null', '/dev/zero', folder].flatMap(openBelow);
    const before = opened();
    for (const each of [path, path, '/dev/null', '/dev/null']) await readText(each);
    for (const each of [large, folder, '/dev/zero']) await refusalOf(readText(each));
    expect(opened()).toEqual(before);
  });
});

describe('the JSON of a bank file', () => {
  it.each([
    ['{"interface": "b",\n  "name": }', "line 2, column 11: Object value expected after ':'"],
    ['{"a": 1', "line 1, column 8: Quoted object key or end of object '}' expected but reached end of input"],
    ['', 'line 1, column 1: JSON value expected but reached end of input'],
    ['hello', "line 1, column 1: JSON value expected but got 'h'"],
    ['{"a": 1}\n {}', "line 2, column 2: Expected end of input but got '{'"],
    ['{"a": 1,\n\n"b": {"id": 1, "id": 2}}', "line 3, column 17: Duplicate key 'id'"],
    ['{"a": "b": 1}', "line 1, column 10: Comma ',' expected after value but got ':'"],
    ['['.repeat(100_000), 'it is nested too deep'],
  ])('that is wrong is refused with its place: %#', async (text, why) => {
    expect(await refusalOf(parseJson(text, 'a.json'))).toEqual(wrong(`a.json is not valid JSON: ${why}`));
  });

  it.each([
    '{"a": "b: \\"c\\": 1", "d" : {"e":[{"f": ":"}, null, {}]}}',
    '{"a\\\\": 1, "b\\"": [], "": {"": 2}}',
    '{"a": 1, "a": 1}',
    '[]',
    'null',
    '"a: 1"',
  ])('is what the text says: %s', async (text) => {
    expect(await parseJson(text, 'a.json')).toEqual(JSON.parse(text));
  });
});

const NESTED = { a: { b: [], c: { d: null } }, e: 1 };
it.each<[unknown, object]>([
  [{}, {}],
  [{ a: {} }, { a: {} }],
  [NESTED, { 'a.b': [], 'a.c.d': null, e: 1 }],
  [7, { '': 7 }],
  [[{}], { '': [{}] }],
])('the values in %j have the paths of their fields', (value, values) => {
  expect([...valuesIn(value)]).toEqual(Object.entries(values));
});

it.each([
  ['env:PSD2_BANK_KEY', 'PSD2_BANK_KEY'],
  ['env:PGPASSWORD', undefined],
  ['environment', undefined],
  ['ENV:PSD2_BANK_KEY', undefined],
  [' env:PSD2_BANK_KEY', undefined],
  ['env:', undefined],
])('the header value %j names the variable %j', (value, variable) => {
  expect(variableOf(value)).toBe(variable);
});

async function messageOf(nameOrPath: string): Promise<string> {
  const { problems } = await checkBankFile(nameOrPath);
  return problems.map(({ path, message }) => `${path}|${message}`).join('\n');
}

describe('what a bank file inherits', () => {
  it('objects merge field by field, lists and single values replace, at every level of the chain', async () => {
    write('far.json', {
      ...LEAST,
      name: 'far',
      headers: { static: { a: '1', b: '1' }, date: 'always' },
      signing: { keyId: { serial: 'decimal', case: 'upper' }, headers: ['digest', 'x-request-id', 'date'] },
      accounts: { paging: { totalPagesHeader: 'pages', pageParameter: 'page' } },
    });
    const near = { headers: { static: { b: '2' } }, signing: { keyId: { case: 'lower' } } };
    extending('./far.json', near, 'near.json');
    const own = { name: 'own', signing: { headers: ['digest'] }, accounts: { paging: 'link' } };
    const { file, description, defaults } = await readBankFile(extending('near.json', own));
    expect(file).toEqual({
      ...LEAST,
      name: 'own',
      headers: { static: { a: '1', b: '2' }, date: 'always' },
      signing: { keyId: { serial: 'decimal', case: 'lower' }, headers: ['digest'] },
      accounts: { paging: 'link' },
    });
    expect(description).toMatchObject({ ...file, signing: { ...file.signing, when: 'always' } });
    expect(defaults).toEqual(expect.arrayContaining(['signing.when', 'signing.keyId.dn', 'verifiedOn']));
    const said = ['interface', 'name', 'signing.keyId.case', 'signing.headers', 'headers.static.a'];
    for (const each of [...said, 'accounts.paging']) expect(defaults).not.toContain(each);
  });

  it('a platform goes before a file of the same name, and ./ names the file', async () => {
    write('sparda', { ...LEAST, name: 'mine' });
    const nameOf = async (nameOrPath: string) => (await readBankFile(nameOrPath)).description.name;
    expect(await nameOf(extending('sparda'))).toBe('Sparda-Banken');
    expect(await nameOf(extending('./sparda'))).toBe('mine');
    expect(await nameOf('sparda')).toBe('Sparda-Banken');
    expect(await nameOf(join(folder, 'sparda'))).toBe('mine');
  });

  it('that somebody saw the facts hold at one bank says nothing of another', async () => {
    write('seen.json', { ...LEAST, verifiedOn: '2026-11-23', learned: { 'psu.id': '2026-11-23' } });
    expect((await readBankFile(join(folder, 'seen.json'))).description.verifiedOn).toBe('2026-11-23');
    const { description, defaults } = await readBankFile(extending('seen.json'));
    expect([description.verifiedOn, description.learned]).toEqual([null, undefined]);
    expect(defaults).toContain('verifiedOn');
  });

  it('fields that do not fit together are found across the chain', async () => {
    const signing = { headers: ['digest', 'psu-id'], ifSent: ['tpp-redirect-uri'] };
    write('base.json', { ...LEAST, signing });
    expect(await messageOf(extending('base.json', { signing: { ifSent: ['psu-id'] } }))).toBe(
      'signing.ifSent|signing.ifSent names psu-id, which signing.headers already names',
    );
  });

  it('a problem of an inherited file names that file', async () => {
    const base = write('base.json', { ...LEAST, signin: {} });
    expect(await messageOf(extending('base.json'))).toBe(
      `signin|In ${base}, which this file extends: signin is not a field of a bank file. Did you mean signing?`,
    );
  });

  it('each file names its interface', async () => {
    expect(await messageOf(write('a.json', { extends: 'standard' }))).toBe(
      'interface|interface must be "nextgenpsd2"',
    );
  });
});

describe('what a bank file cannot extend', () => {
  it.each([
    ...['../base.json', '/etc/passwd', 'sub/base.json', './../base.json', 'sub/../base.json'],
    ...['..', '.', 'a\\b.json'],
  ])('a path that leaves its folder: %s', async (path) => {
    mkdirSync(join(folder, 'sub'), { recursive: true });
    expect(await messageOf(extending(path))).toBe(
      'extends|extends must name a platform that comes with psd2, or a file in the same folder',
    );
  });

  it('a name that every object has', async () => {
    expect(await messageOf(extending('constructor'))).toContain('neither a platform');
    await expect(messageOf('toString')).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('what is no bank file', () => {
  it.each(['[]', 'null', '3', '"nextgenpsd2"'])('%s is JSON, but no object', async (text) => {
    expect(await messageOf(write('bad.json', text))).toBe('|The file must be an object');
  });
});

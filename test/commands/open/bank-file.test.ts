import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  bankFileOf,
  bankOf,
  baseUrlIn,
  contentOfBank,
  describeStored,
  needsClientSecret,
} from '../../../src/commands/open/bank-file.ts';
import { type CheckedBank, checkedBank } from '../../../src/store/machine/checked-bank.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const FIELDS = { interface: 'nextgenpsd2', name: 'A bank', api: { baseUrl: 'https://psd2.bank.example' } };

/** Keeps nothing: each bank file is checked. */
const unchecked = (): CheckedBank => ({ read: () => undefined, write: () => {} });

function written(name: string, fields: object): string {
  const path = join(temporary, name);
  writeFileSync(path, JSON.stringify(fields));
  return path;
}

describe('what a profile stores of a bank file', () => {
  it('is the file with all that it extends, which gives the same values', async () => {
    written('parent.json', FIELDS);
    const own = { interface: 'nextgenpsd2', sca: { pollSeconds: 7 } };
    const path = written('child.json', { ...own, extends: 'parent.json' });
    const { content, description } = await contentOfBank(path);
    expect(JSON.parse(content)).toMatchObject({ name: 'A bank', sca: { pollSeconds: 7 } });
    expect(content).not.toContain('extends');
    expect(description).toMatchObject({ sca: { pollSeconds: 7 } });
    expect(await describeStored(content)).toEqual(description);
    expect(await bankOf(content, {}, unchecked())).toEqual(description);
    expect(await bankFileOf(content)).toEqual(await bankFileOf(path));
  });

  it('is refused if it is damaged, with a way out if it is no JSON', async () => {
    const damaged = {
      code: 'config',
      exitCode: 3,
      message: 'The bank file that the profile stores is damaged',
    };
    const other = '{"interface":7}';
    expect(await failureOf(bankFileOf(other))).toEqual(damaged);
    expect((await failureOf(describeStored(other))).code).toBe('config');
    const text = '{"interface"';
    const hint = 'Give it again with psd2 profile set <profile> --bank <file>.';
    for (const refused of [bankFileOf(text), describeStored(text), bankOf(text, {}, unchecked())])
      expect(await failureOf(refused)).toEqual({ ...damaged, hint });
  });
});

it('the address in a bank file is its base URL, and not known if something is wrong with the file', async () => {
  expect(await baseUrlIn(written('address.json', FIELDS))).toBe('https://psd2.bank.example');
  expect(await baseUrlIn(written('without.json', { ...FIELDS, api: undefined }))).toBeUndefined();
  expect(await baseUrlIn(written('wrong.json', { ...FIELDS, nam: 1 }))).toBeUndefined();
  expect(await baseUrlIn(join(temporary, 'no-such.json'))).toBeUndefined();
});

it.each([
  [{ mode: 'none' }, false],
  [{ mode: 'none', clientAuth: 'basic' }, false],
  [{ mode: 'integrated' }, false],
  [{ mode: 'integrated', clientAuth: 'mtls' }, false],
  [{ mode: 'integrated', clientAuth: 'basic' }, true],
  [{ mode: 'integrated', clientAuth: 'post' }, true],
])('an application needs a secret at %j: %s', async (oauth, expected) => {
  const { description } = await contentOfBank(written('oauth.json', { ...FIELDS, oauth }));
  expect(needsClientSecret(description)).toBe(expected);
});

describe('a header that the environment gives', () => {
  const headers = {
    static: { 'x-plain': 'as it is', 'x-key': 'env:PSD2_BANK_KEY' },
    perOperation: { getAccountList: { 'x-other': 'env:PSD2_BANK_OTHER', 'x-fixed': '1' } },
  };
  const setting = JSON.stringify({ ...FIELDS, headers });

  it('has the value there, without blanks around it', async () => {
    const env = { PSD2_BANK_KEY: ' secret\n', PSD2_BANK_OTHER: 'other' };
    expect((await bankOf(setting, env, unchecked())).headers).toMatchObject({
      static: { 'x-plain': 'as it is', 'x-key': 'secret' },
      perOperation: { getAccountList: { 'x-other': 'other', 'x-fixed': '1' } },
    });
  });

  it.each([
    ['PSD2_BANK_KEY', {}],
    ['PSD2_BANK_KEY', { PSD2_BANK_KEY: ' \t', PSD2_BANK_OTHER: 'other' }],
    ['PSD2_BANK_OTHER', { PSD2_BANK_KEY: 'secret' }],
    ['PSD2_BANK_OTHER', { PSD2_BANK_KEY: 'secret', PSD2_BANK_OTHER: '' }],
  ])('and that %s lacks is named', async (variable, env) => {
    expect(await failureOf(bankOf(setting, env, unchecked()))).toEqual({
      ...{ code: 'config', exitCode: 3 },
      message: `The bank file takes a header from ${variable}, which is not set`,
      hint: `Set ${variable}.`,
    });
  });
});

const writeFile = (path: string, fields: object) =>
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...fields }));

beforeEach(() => void vi.stubGlobal('PSD2_BANK_FILE_RULES', 'rules'));
afterEach(() => void vi.unstubAllGlobals());

function place() {
  const folder = temporaryFolder();
  const kept = join(folder, 'banks', 'mine.json');
  const file = join(folder, 'bank.json');
  const open = (setting = file) => bankOf(setting, { PSD2_BANK_KEY: 'a key' }, checkedBank(kept));
  return { kept, file, open };
}

/** Puts other values in force under the seal of the text: what psd2 then answers shows whether it checked the text again. */
function forge(kept: string, setting: string) {
  const headers = { static: { forged: 'env:PSD2_BANK_KEY' }, perOperation: {} };
  checkedBank(kept).write(setting, { headers });
}

describe('a bank file that was checked', () => {
  it('means the same the second time, and is not checked again', async () => {
    const { kept, file, open } = place();
    const withKey = { static: { 'x-key': 'env:PSD2_BANK_KEY' } };
    writeFile(file, { name: 'A bank', extends: 'sparda', headers: withKey });
    const first = await open();
    expect(first.headers).toMatchObject({ static: { 'x-key': 'a key' } });
    expect(await open()).toEqual(first);
    // The secret of the environment stays there.
    expect(readFileSync(kept, 'utf8')).not.toContain('a key');
    forge(kept, readFileSync(file, 'utf8'));
    expect(await open()).toMatchObject({ headers: { static: { forged: 'a key' } } });
  });

  it('is checked again if it changes', async () => {
    const { file, open } = place();
    writeFile(file, { name: 'One' });
    expect(await open()).toMatchObject({ name: 'One' });
    writeFile(file, { name: 'Two' });
    expect(await open()).toMatchObject({ name: 'Two' });
    writeFile(file, { nam: 'Three' });
    await expect(open()).rejects.toThrow('nam is not a field of a bank file');
    rmSync(file);
    await expect(open()).rejects.toThrow('No bank file or platform is called');
  });

  it('is checked again by a psd2 with other rules, or if what psd2 kept is damaged', async () => {
    const { kept, open } = place();
    const stored = JSON.stringify({ interface: 'nextgenpsd2', name: 'Stored' });
    const first = await open(stored);
    forge(kept, stored);
    vi.stubGlobal('PSD2_BANK_FILE_RULES', 'other rules');
    expect(await open(stored)).toEqual(first);
    const whole = readFileSync(kept, 'utf8');
    for (const damaged of ['', '{}', whole.slice(0, -1), whole.replace('Stored', 'Forged')]) {
      writeFileSync(kept, damaged, { mode: 0o600 });
      expect(await open(stored)).toEqual(first);
    }
  });

  it('is checked each time if another file has a say', async () => {
    const { file, open } = place();
    const other = join(file, '..', 'other.json');
    writeFile(other, { name: 'One' });
    writeFile(file, { extends: 'other.json' });
    expect(await open()).toMatchObject({ name: 'One' });
    writeFile(other, { name: 'Two' });
    expect(await open()).toMatchObject({ name: 'Two' });
  });

  it('is used even if psd2 cannot keep what it means', async () => {
    const { file, open } = place();
    writeFile(file, { name: 'One' });
    writeFileSync(join(file, '..', 'banks'), 'no folder');
    expect(await open()).toMatchObject({ name: 'One' });
  });
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { callsOf } from '../support/verbose.ts';
import { useDoor } from './door-operator.ts';

const operator = useDoor({ name: 'Bank of the tests' });
const inTerminal = terminalOf(operator);
const certificate = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
const read = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(operator.config, 'profiles', `${name}.json`), 'utf8'));
const shown = z.looseObject({
  settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
});
const accounts = z.array(z.looseObject({ accountId: z.string() }));

const KEYS = () => [
  ...['--qwac-cert', certificate('qwac.pem'), '--qwac-key', certificate('qwac-key.pem')],
  ...['--qseal-cert', certificate('qseal.pem'), '--qseal-key', certificate('qseal-key.pem')],
  ...['--ca', certificate('ca.pem')],
];
const baseUrl = () => String(read('sandbox-nextgen').baseUrl);
const add = (name: string, bank: string, ...more: string[]) =>
  operator.psd2(['profile', 'add', name, '--bank', bank, ...KEYS(), ...more, '--json']);

describe('a profile with a bank file', () => {
  it('needs no client, stores the content of the file, and reads accounts whatever the file becomes', async () => {
    const file = operator.write('mine.json', { name: 'My bank', api: { baseUrl: baseUrl() } });
    expect(await add('mine', file)).toMatchObject({ code: 0 });
    expect(read('mine')).toMatchObject({ baseUrl: baseUrl(), bank: expect.stringContaining('My bank') });
    writeFileSync(file, 'no JSON');
    const env = { PSD2_PROFILE: 'mine' };
    const consent = await operator.psd2(['consent', 'request', '--json'], { env });
    expect(consent, consent.stderr).toMatchObject({ code: 0 });
    expect((await operator.json(accounts, ['accounts', 'list'], { env })).length).toBeGreaterThan(0);
    const { settings } = await operator.json(shown, ['profile', 'show', 'mine']);
    expect(settings.bank).toEqual({ value: 'My bank, stored in the profile', source: 'profile' });
  });

  it('takes another bank file, and none', async () => {
    expect(await add('changed', 'standard', '--base-url', baseUrl())).toMatchObject({ code: 0 });
    const file = operator.write('other.json', { name: 'Another bank' });
    const { settings } = await operator.json(shown, ['profile', 'set', 'changed', '--bank', file]);
    expect(settings.bank?.value).toBe('Another bank, stored in the profile');
    const removed = ['profile', 'set', 'changed', '--unset', 'bank', '--app-name', 'My application'];
    expect((await operator.json(shown, removed)).settings).not.toHaveProperty('bank');
  });

  it('can be encrypted, and still reads', async () => {
    operator.write('sealed.json', { api: { baseUrl: baseUrl() } });
    const env = { PSD2_CONFIG_PASSPHRASE: 'a passphrase of the tests', PSD2_PROFILE: 'sealed' };
    const added = await operator.psd2(
      ['profile', 'add', 'sealed', '--bank', './sealed.json', ...KEYS(), '--protect'],
      { env },
    );
    expect(added, added.stderr).toMatchObject({ code: 0 });
    const doctor = await operator.psd2(['doctor', '--json'], { env });
    expect(doctor, doctor.stdout).toMatchObject({ code: 0 });
  });

  it('PSD2_BANK takes the place of the stored bank file', async () => {
    const env = { PSD2_BANK: operator.write('environment.json', { signing: { keyId: { form: 'sn' } } }) };
    const ended = await operator.psd2(['api', 'GET', '/v1/accounts', '--dry-run'], { env });
    expect(ended.stdout).toMatch(/keyId="SN=[0-9a-f]+"/);
  });

  it.each([
    ['missing.json', 'missing.json'],
    ['a-folder.json', 'a-folder.json'],
    ['no-json.json', 'no-json.json'],
    ['wrong.json', 'when'],
  ])(
    'psd2 profile add and set refuse the bank file %s in one sentence, and store nothing',
    async (name, told) => {
      mkdirSync(join(operator.folder, 'a-folder.json'), { recursive: true });
      writeFileSync(join(operator.folder, 'no-json.json'), '{');
      operator.write('wrong.json', { signing: { when: 'sometimes' } });
      const path = join(operator.folder, name);
      const before = read('sandbox-nextgen');
      const refused: ReturnType<typeof readError>[] = [];
      for (const ended of [
        await add('refused', path),
        await operator.psd2(['profile', 'set', 'sandbox-nextgen', '--bank', path, '--json']),
        await operator.psd2(['accounts', 'list', '--json', '--verbose'], { env: { PSD2_BANK: path } }),
      ])
        refused.push(readError(ended));
      for (const { message } of refused) expect(message).toContain(told);
      // A word of the command names no file: that is wrong use. What is set is the configuration's.
      const ofWord = name === 'missing.json' ? 'usage 2' : 'config 3';
      const said = refused.map(({ code, exitCode }) => `${code} ${exitCode}`);
      expect(said).toEqual([ofWord, ofWord, 'config 3']);
      expect(read('sandbox-nextgen')).toEqual(before);
      const listed = await operator.psd2(['profile', 'list']);
      expect(listed.stdout).not.toContain('refused');
    },
  );

  it('a bank that knows the application by a secret wants it, and sends nothing without it', async () => {
    const file = operator.write('secret.json', {
      api: { baseUrl: baseUrl() },
      oauth: {
        mode: 'pre-step',
        metadata: 'https://127.0.0.1/metadata',
        clientId: 'own',
        clientAuth: 'basic',
      },
    });
    const ended = await operator.psd2([
      'profile',
      'add',
      'secret',
      '--bank',
      file,
      ...KEYS(),
      '--json',
      '--verbose',
    ]);
    expect(readError(ended)).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(callsOf(ended)).toEqual([]);
  });
});

/** Answers the questions of the wizard in order. */
async function wizard(words: string[], answers: [question: RegExp, answer: string][]) {
  const psd2 = await inTerminal(words);
  for (const [answered, [question, answer]] of answers.entries()) {
    // The wizard ticks off each answered question.
    await psd2.prints(new RegExp(`^(?:[^✔]*✔){${answered}}[^✔]*${question.source}`));
    await psd2.write(answer);
  }
  const ended = await psd2.ended;
  return { ...ended, screen: stripVTControlCharacters(ended.stdout) };
}

it.each([
  ['asks for the bank file first', []],
  ['takes the file that --bank names', ['--bank', './asked.json']],
])('psd2 profile add %s, and asks only for what this bank needs', async (_, given) => {
  const file = operator.write('asked.json', {
    name: 'Asked',
    api: { baseUrl: baseUrl() },
    signing: { when: 'never' },
  });
  const { code, screen } = await wizard(
    ['profile', 'add', 'asked', '--yes', ...given],
    [
      [/Which bank is it\?/, '\r'],
      ...(given.length === 0 ? [[/Bank: a bank file/, `${file}\r`] satisfies [RegExp, string]] : []),
      [/Base URL of the bank/, '\r'],
      [/QWAC certificate/, `${certificate('qwac.pem')}\r`],
      [/QWAC key/, `${certificate('qwac-key.pem')}\r`],
      [/CA bundle/, `${certificate('ca.pem')}\r`],
      [/Signing certificate of the bank/, '\r'],
      [/Redirect URI/, '\r'],
      [/Largest amount/, '100.00\r'],
      // The door wants signatures.
      [/Store the profile anyway\?/, 'y\r'],
    ],
  );
  expect(code, screen).toBe(0);
  expect(screen).not.toMatch(/Client id|Client secret|Application name|client credentials|QSealC sign/);
  expect(screen).toMatch(/fail +signature/);
  expect(screen.includes('Bank: a bank file')).toBe(given.length === 0);
  expect(read('asked')).toMatchObject({
    ...{ baseUrl: baseUrl(), maxAmount: '100.00', bank: expect.stringContaining('Asked') },
  });
  expect(read('asked')).not.toHaveProperty('clientId');
});

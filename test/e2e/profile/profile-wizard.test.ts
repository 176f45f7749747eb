import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { freePort } from '../../support/free-port.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, useSandbox } from '../support/psd2.ts';

const PASSPHRASE = 'open sesame';
const CTRL_C = '\u0003';
const DOWN = '\u001b[B';
const operator = keepRunning(useSandbox());
const inTerminal = terminalOf(operator);
const sandbox = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
const stored = (name: string) => join(operator.config, 'profiles', `${name}.json`);
const read = (name: string) => JSON.parse(readFileSync(stored(name), 'utf8'));
const qwac = join(operator.folder, 'qwac.p12');

let bank: { baseUrl: string; clientId: string; clientSecret: string; applicationName: string };
let redirectUri: string;
beforeAll(async () => {
  bank = read('sandbox');
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const pair = [
    '-in',
    sandbox('qwac.pem'),
    '-inkey',
    sandbox('qwac-key.pem'),
    '-passout',
    `pass:${PASSPHRASE}`,
  ];
  execFileSync('openssl', ['pkcs12', '-export', ...pair, '-out', qwac], { stdio: 'pipe' });
});

/** Runs the wizard and answers its questions in order. */
async function wizard(
  name: string,
  answers: [question: RegExp, answer: string][],
  columns = 120,
  verb: 'add' | 'edit' = 'add',
) {
  const psd2 = await inTerminal(['profile', verb, name], {
    columns,
    env: { PSD2_REDIRECT_URI: redirectUri },
  });
  for (const [answered, [question, answer]] of answers.entries()) {
    // The wizard ticks off each answered question.
    await psd2.prints(new RegExp(`^(?:[^✔]*✔){${answered}}[^✔]*${question.source}`));
    await psd2.write(answer);
  }
  const ended = await psd2.ended;
  return { ...ended, screen: stripVTControlCharacters(ended.stdout) };
}

const beginning = (): [RegExp, string][] => [
  [/Bank: a bank file/, '\r'],
  [/Base URL of the bank/, `${bank.baseUrl}\r`],
  [/Client id/, `${bank.clientId}\r`],
  [/Client secret/, `${bank.clientSecret}\r`],
  [/Application name/, `${bank.applicationName}\r`],
  [/application for client credentials\?/, 'n\r'],
];
const certificates = (): [RegExp, string][] => [
  [/QWAC certificate/, `${qwac}\r`],
  [/Passphrase of the PKCS#12 file/, `${PASSPHRASE}\r`],
  [/Does a QSealC sign\?/, 'y\r'],
  [/QSealC certificate/, `${sandbox('qseal.pem')}\r`],
  [/Is its key elsewhere/, 'n\r'],
  [/QSealC key/, `${sandbox('qwac-key.pem')}\r`],
  [/The QSealC key does not belong[^✔]*QSealC certificate/, `${sandbox('qseal.pem')}\r`],
  [/Is its key elsewhere/, 'n\r'],
  [/QSealC key/, `${sandbox('qseal-key.pem')}\r`],
];

describe('psd2 profile add without options', () => {
  it('psd2 profile add asks for every setting, checks certificates as they are entered, and tries the connection', async () => {
    const { code, screen } = await wizard(
      'mybank',
      [
        [/Which bank is it\?/, '\r'],
        ...beginning(),
        ...certificates(),
        [/CA bundle/, `${sandbox('ca.pem')}\r`],
        [/Signing certificate of the bank/, '\r'],
        [/Redirect URI/, '\r'],
        [/Largest amount/, '250.00\r'],
      ],
      80,
    );
    expect(code, screen).toBe(0);
    expect(screen).toMatch(/ok +QWAC: valid until/);
    expect(screen).toMatch(/ok +authorize: the bank accepts the application/);
    expect(screen).toContain('[PRODUCTION mybank]');
    expect(screen).not.toMatch(/sesame/);
    expect(screen).not.toContain(bank.clientSecret);
    expect(read('mybank')).toMatchObject({
      environment: 'production',
      clientSecret: bank.clientSecret,
      redirectUri,
      maxAmount: '250.00',
      qwacCertificate: { pkcs12: readFileSync(qwac).toString('base64') },
      qsealCertificate: { pem: readFileSync(sandbox('qseal.pem'), 'utf8') },
    });
    expect(read('mybank')).not.toHaveProperty('qwacKey');
    const shown = await operator.psd2(['profile', 'show', 'mybank']);
    expect(shown.stdout + shown.stderr).not.toContain(bank.clientSecret);
  });

  it.each([
    ['y\r', 0],
    ['\r', 2],
  ])(
    'psd2 profile add lets the operator decide whether to store a profile that could not connect: %j',
    async (answer, code) => {
      const name = `unconnected-${code}`;
      const ended = await wizard(name, [
        [/Which bank is it\?/, `${DOWN}\r`],
        ...beginning(),
        ...certificates(),
        // The system's authorities do not know the sandbox.
        [/CA bundle/, '\r'],
        [/Signing certificate of the bank/, '\r'],
        [/Redirect URI/, '\r'],
        [/Largest amount/, '\r'],
        [/fail +TLS[^✔]*Store the profile anyway\?/, answer],
      ]);
      expect(ended.code, ended.screen).toBe(code);
      expect(existsSync(stored(name))).toBe(code === 0);
      expect(ended.screen).not.toContain('PRODUCTION');
    },
  );

  it('psd2 profile add takes the settings of the running sandbox', async () => {
    const { code, screen } = await wizard('own', [[/Which bank is it\?/, `${DOWN}${DOWN}\r`]]);
    expect(code, screen).toBe(0);
    expect(read('own')).toEqual(read('sandbox'));
  });

  it('psd2 profile add stores nothing if it is interrupted', async () => {
    const { code } = await wizard('interrupted', [
      [/Which bank is it\?/, '\r'],
      [/Bank: a bank file/, '\r'],
      [/Base URL of the bank/, `${bank.baseUrl}\r`],
      [/Client id/, CTRL_C],
    ]);
    expect(code).toBe(130);
    expect(existsSync(stored('interrupted'))).toBe(false);
  });

  it('psd2 profile add names what is missing where it cannot ask', async () => {
    const ended = await operator.psd2(['profile', 'add', 'piped']);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--base-url is missing') });
    const nameless = await operator.psd2(['profile', 'add']);
    expect(nameless).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name of the profile is missing'),
    });
  });
});

describe('psd2 profile edit', () => {
  const again = (changes: [RegExp, string][]): [RegExp, string][] => [
    [/Which bank is it\?/, '\r'],
    [/Bank: a bank file/, '\r'],
    [/Base URL of the bank/, '\r'],
    [/Client id/, '\r'],
    [/Client secret \(empty: keep the stored one\)/, '\r'],
    [/Application name/, '\r'],
    [/application for client credentials\?/, '\r'],
    ...changes,
  ];

  it('psd2 profile edit offers the current settings, and keeps secrets that are not entered again', async () => {
    const { ccClientId, ccClientSecret, ccApplicationName, ...before } = read('sandbox');
    const more = { payeeCheck: 'check', redirectUri };
    writeFileSync(stored('edited'), JSON.stringify({ ...before, ...more }), { mode: 0o600 });
    const answers = again([
      [/Keep the QWAC certificate and its key\?/, '\r'],
      [/Does a QSealC sign\?/, '\r'],
      [/Keep the QSealC certificate and its key\?/, 'n\r'],
      // The Tab key completes a path as far as it is unique.
      [/QSealC certificate: a PEM/, `${sandbox('qse')}\t.pem\r`],
      [/Is its key elsewhere/, '\r'],
      [/QSealC key: a PEM/, `${sandbox('qseal-')}\t\r`],
      [/CA bundle[^?]*keep/, '\r'],
      [/Signing certificate of the bank[^?]*keep/, '\r'],
      [/Redirect URI/, '\r'],
      [/Largest amount/, '75.00\r'],
    ]);
    const { code, screen } = await wizard('edited', answers, 120, 'edit');
    expect(code, screen).toBe(0);
    expect(screen).toMatch(/The profile edited has changed:\r\n.*maxAmount: not set → 75\.00/s);
    expect(read('edited')).toEqual({
      ...before,
      ...more,
      environment: 'sandbox',
      maxAmount: '75.00',
      qsealCertificate: { pem: readFileSync(sandbox('qseal.pem'), 'utf8') },
      qsealKey: { pem: readFileSync(sandbox('qseal-key.pem'), 'utf8') },
    });
  });

  it('psd2 profile edit names psd2 profile set where it cannot ask', async () => {
    expect(await operator.psd2(['profile', 'edit', 'sandbox'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('psd2 profile set sandbox --max-amount 500.00'),
    });
  });
});

describe('psd2 profile set', () => {
  const PROTECTED = { env: { PSD2_CONFIG_PASSPHRASE: 'a passphrase' } };
  const set = (args: string[], options: { input?: string; env?: Record<string, string> } = {}) =>
    operator.psd2(['profile', 'set', 'changed', ...args], options);
  const copy = () => writeFileSync(stored('changed'), JSON.stringify(read('sandbox')), { mode: 0o600 });

  it('psd2 profile set changes only the given settings, and lists the changes', async () => {
    copy();
    const before = read('changed');
    const args = ['--max-amount', '500.00', '--payee-check', 'check --key 1', '--client-secret-stdin'];
    const ended = await set(args, { input: 'another-secret\n' });
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: '' });
    expect(ended.stderr).toContain('maxAmount: not set → 500.00');
    expect(ended.stderr).toContain('payeeCheck: not set → check …');
    expect(ended.stderr).toContain('clientSecret: changed');
    expect(ended.stderr).not.toContain('another-secret');
    const changes = { maxAmount: '500.00', payeeCheck: 'check --key 1', clientSecret: 'another-secret' };
    expect(read('changed')).toEqual({ ...before, ...changes });

    const env = { PSD2_REDIRECT_URI: redirectUri };
    const undone = await set(['--unset', 'payee-check', '--unset', 'maxAmount', '--json'], { env });
    const shown = await operator.psd2(['profile', 'show', 'changed', '--json'], { env });
    expect(JSON.parse(undone.stdout)).toEqual(JSON.parse(shown.stdout));
    expect(read('changed')).toEqual({ ...before, clientSecret: 'another-secret' });
  });

  it('psd2 profile set changes a protected profile, and writes no secret in clear', async () => {
    copy();
    await operator.psd2(['profile', 'protect', 'changed'], PROTECTED);
    const ended = await set(['--max-amount', '7', '--client-secret-env'], {
      env: { ...PROTECTED.env, PSD2_CLIENT_SECRET: 'a-protected-secret' },
    });
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(read('changed')).toMatchObject({
      maxAmount: '7',
      sealed: { names: expect.arrayContaining(['clientSecret']) },
    });
    expect(readFileSync(stored('changed'), 'utf8')).not.toContain('a-protected-secret');
    await operator.psd2(['profile', 'unprotect', 'changed', '--yes'], PROTECTED);
    expect(read('changed')).toMatchObject({ maxAmount: '7', clientSecret: 'a-protected-secret' });
  });

  it.each([
    [[], 2, 'No setting is given'],
    [['--max-amount', '5,00'], 3, 'is not an amount'],
    [['--max-amount', ''], 2, '--unset max-amount'],
    [
      ['--max-amount', '5', '--unset', 'max-amount'],
      2,
      '--max-amount and --unset max-amount cannot be used together',
    ],
    [['--unset', 'max-amont'], 2, 'Did you mean max-amount?'],
    [['--unset', 'client-id'], 2, 'A profile needs the setting client-id'],
    [['--qwac-key', sandbox('qseal-key.pem')], 3, 'The QWAC key does not belong'],
    [['--client-secret-env'], 2, 'PSD2_CLIENT_SECRET is not set'],
  ])('psd2 profile set %j changes nothing', async (args, code, message) => {
    copy();
    const before = read('changed');
    const ended = await set(args);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(read('changed')).toEqual(before);
  });

  it('psd2 profile set suggests the profile that was meant', async () => {
    const ended = await operator.psd2(['profile', 'set', 'sandbx', '--max-amount', '5']);
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('Did you mean sandbox?') });
  });
});

describe('psd2 profile show', () => {
  const shape = z.object({
    source: z.string(),
    settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
  });

  it('psd2 profile show names the source of each value', async () => {
    const env = { PSD2_CLIENT_ID: 'from-the-environment', PSD2_LANG: 'it', PSD2_SIGNER: 'sign --pin 1234' };
    const args = ['profile', 'show', '--timeout', '7'];
    const { source, settings } = await operator.json(shape, args, {
      env: { ...env, PSD2_REDIRECT_URI: undefined },
    });
    expect(source).toBe('environment');
    expect(settings).toMatchObject({
      clientId: { value: 'from-the-environment', source: 'environment' },
      applicationName: { value: bank.applicationName, source: 'profile' },
      clientSecret: { value: 'set', source: 'profile' },
      redirectUri: { value: 'http://127.0.0.1:8910/callback', source: 'default' },
      signer: { value: 'sign …', source: 'environment' },
      timeout: { value: '7 s', source: 'option' },
      scaTimeout: { value: '300 s', source: 'default' },
      language: { value: 'it', source: 'environment' },
    });
  });
});

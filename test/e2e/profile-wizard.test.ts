import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { freePort } from '../free-port.ts';
import { terminalOf } from './in-terminal.ts';
import { useSandbox } from './psd2.ts';

const PASSPHRASE = 'open sesame';
const CTRL_C = '\u0003';
const DOWN = '\u001b[B';
const operator = useSandbox();
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

/** Runs the wizard and answers its questions in their order. */
async function wizard(name: string, answers: [question: RegExp, answer: string][], columns = 120) {
  const psd2 = await inTerminal(['profile', 'add', name], {
    columns,
    env: { PSD2_REDIRECT_URI: redirectUri },
  });
  for (const [answered, [question, answer]] of answers.entries()) {
    // Each question that has its answer is ticked off.
    await psd2.prints(new RegExp(`^(?:[^✔]*✔){${answered}}[^✔]*${question.source}`));
    await psd2.write(answer);
  }
  const ended = await psd2.ended;
  return { ...ended, screen: stripVTControlCharacters(ended.stdout) };
}

const beginning = (): [RegExp, string][] => [
  [/Base URL of the bank/, `${bank.baseUrl}\r`],
  [/Client id/, `${bank.clientId}\r`],
  [/Client secret/, `${bank.clientSecret}\r`],
  [/Application name/, `${bank.applicationName}\r`],
  [/client credentials too\?/, 'n\r'],
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
  it('asks for all of a profile, checks certificates as they are entered, and tries the connection', async () => {
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
    expect(screen).toMatch(/ok +authorize: the bank takes the application/);
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
    ['n\r', 2],
  ])(
    'leaves it to the operator whether a profile is stored that could not connect: %j',
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
        [/fail +TLS[^✔]*Store the profile all the same\?/, answer],
      ]);
      expect(ended.code, ended.screen).toBe(code);
      expect(existsSync(stored(name))).toBe(code === 0);
      expect(ended.screen).not.toContain('PRODUCTION');
    },
  );

  it('takes the settings of the sandbox that runs', async () => {
    const { code, screen } = await wizard('own', [[/Which bank is it\?/, `${DOWN}${DOWN}\r`]]);
    expect(code, screen).toBe(0);
    expect(read('own')).toEqual(read('sandbox'));
  });

  it('stores nothing when it is interrupted', async () => {
    const { code } = await wizard('interrupted', [
      [/Which bank is it\?/, '\r'],
      [/Base URL of the bank/, `${bank.baseUrl}\r`],
      [/Client id/, CTRL_C],
    ]);
    expect(code).toBe(130);
    expect(existsSync(stored('interrupted'))).toBe(false);
  });

  it('names what is missing where nobody can be asked', async () => {
    const ended = await operator.psd2(['profile', 'add', 'piped']);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--base-url is missing') });
    const nameless = await operator.psd2(['profile', 'add']);
    expect(nameless).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name of the profile is missing'),
    });
  });
});

describe('psd2 profile show', () => {
  const shape = z.object({
    source: z.string(),
    settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
  });

  it('names the source of each value', async () => {
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

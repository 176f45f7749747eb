import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, useSandbox } from '../support/psd2.ts';

const PASSPHRASE = 'open sesame';
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
async function wizard(verb: 'add' | 'edit', name: string, answers: [question: RegExp, answer: string][]) {
  const psd2 = await inTerminal(['profile', verb, name], {
    columns: 80,
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

it('psd2 profile add asks for every setting, checks certificates as they are entered, and tries the connection', async () => {
  const { code, screen } = await wizard('add', 'mybank', [
    [/Which bank is it\?/, '\r'],
    ...beginning(),
    ...certificates(),
    // The Tab key completes a path as far as it is unique.
    [/CA bundle/, `${sandbox('ca.p')}\t\r`],
    [/Signing certificate of the bank/, '\r'],
    [/Redirect URI/, '\r'],
    [/Largest amount/, '250.00\r'],
  ]);
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

it('psd2 profile add stores nothing if it is interrupted', async () => {
  const { code } = await wizard('add', 'interrupted', [
    [/Which bank is it\?/, '\r'],
    ...beginning().slice(0, 2),
    [/Client id/, '\u0003'],
  ]);
  expect(code).toBe(130);
  expect(existsSync(stored('interrupted'))).toBe(false);
});

it('psd2 profile edit offers the current settings, and keeps what is not entered again', async () => {
  const { ccClientId, ccClientSecret, ccApplicationName, ...rest } = read('sandbox');
  // The payee check is no question of the wizard.
  const before = { ...rest, redirectUri, payeeCheck: 'check' };
  writeFileSync(stored('edited'), JSON.stringify(before), { mode: 0o600 });
  const { code, screen } = await wizard('edit', 'edited', [
    [/Which bank is it\?/, '\r'],
    [/Bank: a bank file/, '\r'],
    [/Base URL of the bank/, '\r'],
    [/Client id/, '\r'],
    [/Client secret \(empty: keep the stored one\)/, '\r'],
    [/Application name/, '\r'],
    [/application for client credentials\?/, '\r'],
    [/Keep the QWAC certificate and its key\?/, '\r'],
    [/Does a QSealC sign\?/, '\r'],
    [/Keep the QSealC certificate and its key\?/, '\r'],
    [/CA bundle[^?]*keep/, '\r'],
    [/Signing certificate of the bank[^?]*keep/, '\r'],
    [/Redirect URI/, '\r'],
    [/Largest amount/, '75.00\r'],
  ]);
  expect(code, screen).toBe(0);
  expect(screen).toMatch(/The profile edited has changed:\r\n.*maxAmount: not set → 75\.00/s);
  expect(read('edited')).toEqual({ ...before, environment: 'sandbox', maxAmount: '75.00' });
});

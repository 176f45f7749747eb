import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newOperator, type Operator, useLoggedIn } from './psd2.ts';
import { findSecrets, secretOf } from './secret-search.ts';

const SECRET = 'dé/+ secret="of" the client';

const loggedIn = useLoggedIn();
// This makes psd2 print the most.
loggedIn.env.PSD2_DEBUG = '1';

it('the search knows the tokens, codes, secrets and keys of earlier calls, even if no file has them any more', async () => {
  const { stdout: token } = await loggedIn.psd2(['auth', 'token']);
  await loggedIn.succeeds(['auth', 'refresh']);
  await loggedIn.succeeds(['auth', 'logout', '--revoke']);
  const known = loggedIn.secrets();
  const kinds = new Set(known.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([
    'access token',
    'authorization code',
    'client secret',
    'private key',
    'refresh token',
  ]);
  expect(known.map(({ bytes }) => bytes.toString())).toContain(token.trim());
  expect(known.filter(({ kind }) => kind === 'refresh token')).toHaveLength(2);
});

/** The leaks of a program that does something with `secret`, which is in its environment. */
async function leaksOf(program: string, prepare: (operator: Operator) => void = () => {}): Promise<string[]> {
  const operator = newOperator();
  onTestFinished(operator.close);
  await operator.open();
  prepare(operator);
  const script = `const fs = require('node:fs'); const secret = process.env.PSD2_CLIENT_SECRET; ${program}`;
  const node = await operator.startProgram(process.execPath, ['--eval', script], {
    PSD2_CLIENT_SECRET: SECRET,
    CONFIG: operator.config,
    HOME: operator.home,
  });
  const { code, stderr } = await node.ended;
  expect(code, stderr).toBe(0);
  return operator.leaks();
}

describe('a secret is found', () => {
  it.each([
    ['in plain text', SECRET],
    ['in the middle of a line', `x${SECRET}y`],
    ['percent-encoded', encodeURIComponent(SECRET)],
    ['in hex', Buffer.from(SECRET).toString('hex')],
    ['in HEX', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['as JSON', JSON.stringify({ SECRET })],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in base64 after one letter', Buffer.from(`a${SECRET}b`).toString('base64')],
    ['in base64 after two letters', Buffer.from(`ab${SECRET}c`).toString('base64')],
    ['in base64url', Buffer.from(SECRET).toString('base64url')],
    ['broken by a narrow terminal', `${SECRET.slice(0, 9)}\u001b[0m\r\n${SECRET.slice(9)}`],
  ])('the search finds a secret %s', (_form, text) => {
    const trace = { where: 'stdout', content: Buffer.from(text) };
    expect(findSecrets(secretOf('client secret', SECRET), [trace])).toEqual(['client secret in stdout']);
  });

  it.each([
    ['stdout', 'console.log(secret)', /^value of PSD2_CLIENT_SECRET in stdout of --eval/],
    ['stderr', 'console.error(secret)', /in stderr of --eval/],
    ['a log in the home folder', 'fs.writeFileSync(process.env.HOME + "/log", secret)', /in home\/log$/],
    ['a temporary file', 'fs.writeFileSync(process.env.TMPDIR + "/part", secret)', /in tmp\/part$/],
    [
      'a journal',
      'fs.mkdirSync(process.env.CONFIG + "/flows", { recursive: true }); fs.writeFileSync(process.env.CONFIG + "/flows/a", secret)',
      /in config\/flows\/a$/,
    ],
    [
      'the arguments of a program that it starts',
      'require("node:child_process").execFileSync(process.execPath, ["--eval", "0", secret])',
      /in the arguments of a process$/,
    ],
  ])('the search finds a secret in %s', async (_place, program, where) => {
    expect(await leaksOf(program)).toEqual([expect.stringMatching(where)]);
  });

  it('the search finds a token that went through no file', async () => {
    const leaks = await leaksOf(
      // Joined at run time: V8 joins constant strings, and newer versions of Node keep the compiled code in a file.
      'const access_token = ["0123", "456789"].join(""); JSON.parse(JSON.stringify({ data: { access_token } })); console.error(access_token)',
    );
    expect(leaks).toEqual([expect.stringMatching(/^access token in stderr/)]);
  });

  it('the search finds a part of a key', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
    const leaks = await leaksOf('console.log(fs.readFileSync(process.env.HOME + "/part"))', (operator) => {
      mkdirSync(join(operator.config, 'profiles'), { recursive: true });
      writeFileSync(join(operator.config, 'profiles', 'bank.json'), JSON.stringify({ qwacKey: { pem } }));
      writeFileSync(join(operator.home, 'part'), der.subarray(600, 800));
    });
    expect(leaks).toEqual(['private key in home/part']);
  });
});

describe('a secret may be', () => {
  it('a secret may be in profiles, tokens and the files of the sandbox', async () => {
    const folders = '["profiles", "tokens/mybank", "sandbox"].map((name) => process.env.CONFIG + "/" + name)';
    const write = `for (const folder of ${folders}) { fs.mkdirSync(folder, { recursive: true }); fs.writeFileSync(folder + "/file", secret); }`;
    expect(await leaksOf(write)).toEqual([]);
  });

  it('a secret may be in the key file that a setting names', async () => {
    const operator = newOperator();
    onTestFinished(operator.close);
    await operator.open();
    const key = join(operator.folder, 'qwac-key.pem');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(readFileSync(key, 'utf8')).toContain('PRIVATE KEY');
    expect(operator.leaks()).toEqual(['private key in qwac-key.pem']);
    await operator.psd2(['accounts', 'list'], { env: { PSD2_QWAC_KEY: key } });
    expect(operator.leaks()).toEqual([]);
  });
});

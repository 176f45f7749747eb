import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { words } from '../support/words.ts';
import { newTestBank } from './tpp.ts';

// A client that is not ours: curl sends and openssl signs.
const openssl = (input: string, ...words: string[]) => execFileSync('openssl', words, { input });
const curl = async (...words: string[]) =>
  (await promisify(execFile)('curl', ['-sS', '--noproxy', '*', ...words])).stdout;

test('curl and openssl log a customer in on the customer site, and read the accounts', async () => {
  // curl uses the system's clock, so the bank must use it too.
  const { tpp, sandbox } = await newTestBank({ now: () => new Date() });
  const folder = dirname(tpp.registration.qsealCertFile);
  const { applicationName } = tpp.registration.applications.authorizationCode;
  const seal = openssl('', 'x509', '-in', `${folder}/qseal.pem`, '-outform', 'DER').toString('base64');

  function call(method: string, target: string, body = '', ...more: string[]): Promise<string> {
    const [id, date] = [randomUUID(), new Date().toUTCString()];
    const digest = `SHA-256=${openssl(body, 'dgst', '-sha256', '-binary').toString('base64')}`;
    const [line, name] = body ? [`digest: ${digest}\n`, 'digest '] : ['', ''];
    const text = `(request-target): ${method.toLowerCase()} ${target}\n${line}tpp-request-id: ${id}\ndate: ${date}`;
    const signature = openssl(text, 'dgst', '-sha256', '-sign', `${folder}/qseal-key.pem`).toString('base64');
    const parts = `keyId="${applicationName}",algorithm="rsa-sha256",headers="(request-target) ${name}tpp-request-id date"`;
    const headers = [`Date: ${date}`, `TPP-Transaction-ID: ${randomUUID()}`, `TPP-Request-ID: ${id}`];
    headers.push(`TPP-Certificate: ${seal}`, `Signature: ${parts},signature="${signature}"`);
    if (body) headers.push(`Digest: ${digest}`, 'Content-Type: application/json');
    const tls = words`--cacert ${folder}/ca.pem --cert ${folder}/qwac.pem --key ${folder}/qwac-key.pem`;
    const sent = [...headers.flatMap((header) => ['-H', header]), ...(body ? ['--data-binary', body] : [])];
    return curl('-X', method, ...tls, ...sent, ...more, sandbox.baseUrl + target);
  }

  const REDIRECT = ['-o', '/dev/null', '-w', '%{redirect_url}'];
  const login = await call('GET', tpp.authorizePath(), '', ...REDIRECT);
  const jar = `${folder}/cookies`;
  const decide = async (action: string, fields: Record<string, string>) => {
    const page = await curl('-b', jar, '-c', jar, login);
    const [, token = ''] =
      new RegExp(`action="${action}">[^]*?name="token" value="([^"]*)"`).exec(page) ?? [];
    const form = { request: new URL(login).searchParams.get('request') ?? '', token, ...fields };
    const data = `${new URLSearchParams(form)}`;
    return curl('-b', jar, '-c', jar, ...REDIRECT, '-d', data, new URL(action, login).href);
  };
  await decide('/login', { user: 'bruno', password: 'bruno-sandbox', decision: 'login' });
  const code = new URL(await decide('/login/access', { decision: 'allow' })).searchParams.get('code');
  const redeemed = JSON.stringify(tpp.codeCall(code ?? '').body);
  const token = await call('POST', '/auth/oauth/v2/token', redeemed);
  const bearer = `Authorization: Bearer ${JSON.parse(token).data.access_token}`;
  const answer = await call('GET', '/private/customers/2073915/accounts', '', '-H', bearer);
  const accounts = [{ accountId: '0020739150' }, { accountId: '0020739168' }, { accountId: '0000093025' }];
  expect(JSON.parse(answer)).toMatchObject({ result: { outcome: 'SUCCESS' }, data: { accounts } });
});

import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { keepRunning, PROGRAM, readDocument, useLoggedIn } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import { callsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const CONSENT = '/private/customers/1048262/consent/request';
const REQUESTED = JSON.stringify({
  data: { categories: [{ name: 'ACCOUNT_INFO', products: [ACCOUNT] }] },
});
const operator = keepRunning(useLoggedIn());

const answer = z.object({ result: z.object({ outcome: z.string() }) });
const withResource = answer.extend({ resources: z.object({ resourceId: z.uuid() }) });

/** The page of the TPP to which the browser returns. */
async function openCallback(): Promise<string> {
  const server = createServer((_, response) => response.end('Back'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  return `http://127.0.0.1:${address.port}/back`;
}

describe('psd2 api', () => {
  it('psd2 api makes a whole consent: POST from a file, GET with a header, PUT from standard input', async () => {
    writeFileSync(join(operator.folder, 'consent.json'), REQUESTED);
    const transaction = '3f0a3c52-9d7b-4d2c-8a3e-5b6f0f7d9f10';
    const api = (...args: string[]) => ['api', ...args, '--transaction', transaction, '--verbose'];

    const requested = await operator.psd2(api('POST', CONSENT, '--data', '@consent.json'));
    const { resourceId } = readDocument(withResource, requested.stdout).resources;
    const approach = await operator.json(
      answer.extend({ data: z.object({ scaRedirectURL: z.url() }) }),
      api(
        ...['GET', `/private/auth/security/sca/${resourceId}/approach`],
        ...['--header', `TPP-Redirect-URI: ${await openCallback()}`],
      ),
    );
    const customer = await operator.psd2(['sandbox', 'customer', approach.data.scaRedirectURL]);
    expect(customer.code, customer.stderr).toBe(0);
    const confirmed = await operator.psd2(api('PUT', `${CONSENT}/${resourceId}/confirm`, '--data', '-'), {
      input: '{}',
    });
    expect(readDocument(answer, confirmed.stdout).result.outcome).toBe('SUCCESS');
    expect([...callsOf(requested), ...callsOf(confirmed)].map((call) => call.transaction)).toEqual([
      transaction,
      transaction,
    ]);
  });

  it.each(['confirm', 'CONFIRM', 'x/../%63onfirm'])(
    'psd2 api sends %s once, even if the bank refuses the token',
    async (last) => {
      const path = `${CONSENT}/3f0a3c52-9d7b-4d2c-8a3e-5b6f0f7d9f10/${last}`;
      const ended = await operator.psd2([
        ...['api', 'PUT', path, '--data', '{}', '--header', 'X-Sandbox-Fault: status=401', '--verbose'],
      ]);
      expect(callsOf(ended).filter(({ method }) => method === 'PUT')).toHaveLength(1);
      expect(ended.code, ended.stderr).toBe(4);
      expect(ended.stderr).toContain('psd2 has not sent the call again');
      expect(ended.stderr).toContain('psd2 auth refresh');
    },
  );

  it("psd2 api prints the bank's own bytes with --raw; so do the inquiries, but no other command", async () => {
    const path = '/private/customers/1048262/accounts';
    const document = await operator.psd2(['api', 'GET', path]);
    const raw = await operator.psd2(['api', 'GET', path, '--raw']);
    const inquiry = await operator.psd2(['accounts', 'list', '--raw']);
    const masked = (text: string) => text.replace(/"requestId":"\d+"/, '');
    // The bank's answer ends without a line feed; a document ends with one.
    expect(raw.stdout.endsWith('}')).toBe(true);
    expect(document.stdout.endsWith('}\n')).toBe(true);
    expect(masked(inquiry.stdout)).toBe(masked(raw.stdout));
    expect(JSON.parse(masked(document.stdout).replace(',,', ','))).toEqual(
      JSON.parse(masked(raw.stdout).replace(',,', ',')),
    );
    for (const other of [
      ['transfer', 'list'],
      ['auth', 'status'],
      ['consent', 'list'],
    ]) {
      const ended = await operator.psd2([...other, '--raw']);
      expect(ended.code).toBe(2);
      expect(ended.stdout).toBe('');
    }
  });

  it('psd2 api --paginate reads all pages, also with --raw', async () => {
    const path = `/private/customers/{customerId}/products/${ACCOUNT}/transactions/retrieve`;
    const page = z.object({ data: z.object({ transactionsAccounting: z.array(z.unknown()) }) });
    const read = ['api', 'GET', path, '--paginate'];
    const pages = await operator.json(z.array(page), read);
    expect(pages.length).toBeGreaterThan(1);
    const raw = await operator.psd2([...read, '--raw']);
    expect(raw.stdout.match(/"transactionsAccounting"/g)).toHaveLength(pages.length);
    const refused = await operator.psd2([...read, '--json', '--no-token']);
    expect(readDocument(z.array(z.unknown()), refused.stdout)).toHaveLength(1);
    expect(readError(refused)).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
  });
});

describe('psd2 api --dry-run', () => {
  const composed = z.strictObject({
    method: z.string(),
    url: z.url(),
    headers: z.record(z.string(), z.string()),
    body: z.string().nullable(),
    signingString: z.string(),
  });

  it.each([
    String.raw`{"client_secret":"a\"hush"}`,
    String.raw`{"client\u005fsecret":"hush"}`,
    '{ "more": { "code": ["hush"], "refresh_token" : "hush" } }',
  ])('psd2 api --dry-run hides the secrets of a token call: %s', async (body) => {
    const args = ['api', 'POST', '/auth/oauth/v2/token', '--no-token', '--data', body, '--dry-run', '--json'];
    const { stdout, code } = await operator.psd2(args);
    expect(code).toBe(0);
    expect(stdout).not.toContain('hush');
    expect(readDocument(composed, stdout).body).toContain('<secret>');
  });
});

describe('psd2 api --curl', () => {
  /** Runs the printed command in a shell that has psd2. Returns what curl got: the body and the status. */
  async function curl(...args: string[]): Promise<[body: string, status: string]> {
    const folder = join(operator.folder, 'bin');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'psd2'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    // Keeps the arguments of curl in a file, which is searched for secrets as every file is.
    const kept = join(folder, 'curl-arguments');
    const script = ['#!/bin/sh', `printf '%s\\n' "$@" >>'${kept}'`, `export PATH='${operator.env.PATH}'`];
    writeFileSync(join(folder, 'curl'), [...script, 'exec curl "$@"', ''].join('\n'));
    for (const program of ['psd2', 'curl']) chmodSync(join(folder, program), 0o755);
    const { stdout: command } = await operator.psd2(['api', ...args, '--curl']);
    for (const secret of secretsIn(operator.config)) expect(command).not.toContain(secret);
    const line = `${command.trim()} --silent --show-error --write-out '\\n%{http_code}'`;
    const shell = await operator.startProgram('bash', ['-c', line], {
      PATH: `${folder}${delimiter}${operator.env.PATH}`,
    });
    const { code, stdout, stderr } = await shell.ended;
    expect(code, stderr).toBe(0);
    expect(readFileSync(kept, 'utf8')).toContain(args[1]);
    expect(operator.leaks()).toEqual([]);
    const [, body = '', status = ''] = /^(.*)\n(\d+)$/s.exec(stdout) ?? [];
    return [body, status];
  }

  it('psd2 api --curl prints a command that makes the call', async () => {
    const [body, status] = await curl('GET', '/private/customers/1048262/accounts');
    expect(status).toBe('200');
    expect(body).toContain(ACCOUNT);
  });

  it('psd2 api --curl prints a command that sends the body exactly, quotes included', async () => {
    const body = JSON.stringify({ data: { categories: [{ name: "it's", products: ['$HOME'] }] } });
    const [refusal, status] = await curl('POST', CONSENT, '--data', body);
    // The bank judged the content, so digest and signature matched the bytes that curl sent.
    expect([status, JSON.parse(refusal).result.messages[0].code]).toEqual(['417', 'FIELD_INVALID']);
  });

  it('psd2 api --curl prints a command that leaves the path as it was signed', async () => {
    const [refusal, status] = await curl('GET', '/private/./{a,b}[1-2]');
    expect([status, JSON.parse(refusal).result.messages[0].code]).toEqual(['404', 'ENDPOINT_UNKNOWN']);
  });

  it('psd2 api --curl uses the token of the grant that the call is signed for', async () => {
    const login = await operator.psd2(['auth', 'login', '--client-credentials']);
    expect(login.code, login.stderr).toBe(0);
    const [, status] = await curl(
      ...['GET', '/private/customers/1048262/accounts', '--grant', 'client_credentials'],
    );
    expect(status).toBe('200');
  });
});

describe('data whose shape the specification does not show', () => {
  it.each([
    [['customer', 'show'], { customerid: '1048262', name: 'Anna' }],
    [
      ['products', 'list'],
      { products: expect.arrayContaining([expect.objectContaining({ accountId: ACCOUNT })]) },
    ],
    [['accounts', 'show', ACCOUNT], { accountId: ACCOUNT, currency: 'EUR' }],
  ])('psd2 %j prints the data as the bank gives it', async (args, data) => {
    expect(await operator.json(z.looseObject({}), args)).toMatchObject(data);
    const { stdout: raw } = await operator.psd2([...args, '--raw']);
    expect(JSON.parse(raw).data).toMatchObject(data);
    const { stdout: report } = await operator.psd2(args);
    expect(report).toMatch(/^(?:customerid|products\.0\.accountId|accountId)\t\d+$/m);
  });
});

describe('the execution of a bank transfer by psd2 api', () => {
  const TRANSFERS = `/private/customers/1048262/products/${ACCOUNT}/moneyTransfer`;
  const refused = {
    code: 'usage',
    exitCode: 2,
    message: 'psd2 api does not execute a bank transfer',
    hint: expect.stringContaining('Use psd2 transfer'),
  };

  it.each([
    ['in its plain form', `${TRANSFERS}/r1/execute`],
    [
      'with a placeholder for the customer',
      `/private/customers/{customerId}/products/${ACCOUNT}/moneyTransfer/r1/execute`,
    ],
    ['without its leading slash', `${TRANSFERS}/r1/execute`.slice(1)],
    ['in another case', `${TRANSFERS}/r1/EXECUTE`.replace('moneyTransfer', 'MONEYtransfer')],
    ['percent-encoded', `${TRANSFERS}/r1/%65xecute`.replace('money', 'mone%79')],
    ['percent-encoded twice', `${TRANSFERS}/r1/%2565xecute`],
    ['with an encoded slash', `${TRANSFERS}%2Fr1%2fexecute`],
    ['with a query', `${TRANSFERS}/r1/execute?a=b/c`],
    ['with an encoded query', `${TRANSFERS}/r1/execute%3fa=b`],
    ['with a fragment', `${TRANSFERS}/r1/execute#a`],
    ['with a prefix', `/psd2/v1${TRANSFERS}/r1/execute`],
    ['with a trailing slash', `${TRANSFERS}/r1//execute/`],
    ['with dots', `${TRANSFERS}/r1/x/.%2e/./execute`],
    ['with a backslash', `${TRANSFERS}\\r1\\execute`],
    ['with matrix parameters', `${TRANSFERS};a=b/r1/execute;c=d`],
    ['with invisible characters', `${TRANSFERS}/r1/execute%00%20`],
  ])(
    'psd2 api refuses the execution of a bank transfer before it opens or sends anything: %s',
    async (_, path) => {
      const ended = await operator.psd2(['api', 'put', path, '--data', '{}', '--json', '--verbose']);
      expect(readError(ended)).toMatchObject(refused);
      expect(callsOf(ended)).toEqual([]);
      expect(ended.stdout).toBe('');
      const nowhere = await operator.psd2(['api', 'PUT', path, '--json'], {
        env: { PSD2_PROFILE: 'there-is-none' },
      });
      expect(readError(nowhere)).toMatchObject(refused);
    },
  );
});

import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
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
    await operator.succeeds(['sandbox', 'customer', approach.data.scaRedirectURL]);
    const confirmed = await operator.psd2(api('PUT', `${CONSENT}/${resourceId}/confirm`, '--data', '-'), {
      input: '{}',
    });
    expect(readDocument(answer, confirmed.stdout).result.outcome).toBe('SUCCESS');
    expect([...callsOf(requested), ...callsOf(confirmed)].map((call) => call.transaction)).toEqual([
      transaction,
      transaction,
    ]);
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
});

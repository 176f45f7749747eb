import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { makeCertificateSet } from '../../src/sandbox/folder/certificate-set.ts';
import { EC, RSA, withOpenssl } from '../certificates/openssl.ts';
import { readError } from '../e2e/support/errors.ts';
import { success, useHostileBank, write } from './hostile-bank.ts';

const bank = useHostileBank();
const { operator, certificates } = bank;
const DAY_MS = 24 * 60 * 60 * 1000;

const made = withOpenssl((openssl) => {
  const { ca } = certificates;
  const names = ['IP:127.0.0.1'];
  const stranger = openssl.authority('Another CA');
  return {
    elsewhere: openssl.issued(ca, 'bank.example', EC, ['DNS:bank.example']),
    selfSigned: openssl.authority('Nobody'),
    unknown: openssl.issued(stranger, 'unknown', EC, names),
    rsa: openssl.issued(ca, 'rsa', RSA, names),
    /** Issued by a certificate that may not issue any. */
    byLeaf: openssl.issued(certificates.server, 'by a leaf', EC, names),
    stranger,
  };
});

const aroundNow = (days: number) => new Date(Date.now() + days * DAY_MS);
const pairFrom = async (from: Date) => {
  const { ca, server } = await makeCertificateSet({ from, days: 1 });
  return { ca, cert: server.certificate, key: server.key };
};
const expired = await pairFrom(aroundNow(-3));
const early = await pairFrom(aroundNow(2));

const CALL = ['api', 'PUT', '/x', '--data', '{}', '--no-token', '--json'];

describe('psd2 sends no request to a bank whose TLS it cannot trust', () => {
  const only = (ciphers: string) => ({ ...made.rsa, maxVersion: 'TLSv1.2', ciphers }) as const;
  it.concurrent.each<[what: string, options: TlsOptions, said: RegExp]>([
    ['a certificate for another name', made.elsewhere, /its certificate is not for 127\.0\.0\.1$/],
    ['an expired certificate', expired, /its certificate has expired$/],
    ['a certificate that is not valid yet', early, /its certificate is not valid yet/],
    ['a self-signed certificate', made.selfSigned, /comes from an authority that psd2 does not know/],
    [
      'a certificate of an unknown authority',
      made.unknown,
      /comes from an authority that psd2 does not know/,
    ],
    [
      'a certificate issued by a server certificate',
      { ...made.byLeaf, cert: made.byLeaf.cert + certificates.server.cert },
      /its certificate is not acceptable|does not chain/,
    ],
    [
      'only TLS 1.1',
      { ...made.rsa, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
      /supports only unsafe versions of TLS, but psd2 needs TLS 1\.2 or newer/,
    ],
    ['only ciphers without encryption', only('NULL-SHA256:@SECLEVEL=0'), /there is no common cipher/],
    ['only ciphers without a certificate', only('AECDH-AES256-SHA:@SECLEVEL=0'), /there is no common cipher/],
  ])('psd2 sends no request to a bank with %s', async (_, options, said) => {
    const asked: string[] = [];
    const ca = join(operator.folder, `${randomUUID()}.pem`);
    writeFileSync(ca, String(options.ca ?? certificates.ca.cert));
    const baseUrl = await bank.listenTls({ requestCert: false, ...options }, (socket, { target }) => {
      asked.push(target);
      write(socket, success());
    });
    // These settings for Node.js and OpenSSL must have no effect.
    for (const env of [
      {},
      { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '--tls-min-v1.0 --insecure-http-parser' },
    ]) {
      const ended = await operator.psd2(CALL, { env: { PSD2_BASE_URL: baseUrl, PSD2_CA: ca, ...env } });
      expect(readError(ended)).toMatchObject({
        code: 'bank_unreachable',
        exitCode: 11,
        message: expect.stringMatching(said),
        hint: expect.stringMatching(/base URL and the certificates of the profile|psd2 profile set --ca/),
      });
    }
    expect(asked).toEqual([]);
  });

  it('if a CA bundle is set, psd2 does not trust the extra authority of Node.js', async () => {
    const extra = join(operator.folder, 'extra.pem');
    writeFileSync(extra, made.stranger.cert);
    const baseUrl = await bank.listenTls({ ...made.unknown }, (socket) => write(socket, success()));
    const env = { PSD2_BASE_URL: baseUrl, NODE_EXTRA_CA_CERTS: extra };
    expect(readError(await operator.psd2(CALL, { env })).message).toMatch(/that psd2 does not know/);
    const system = await operator.psd2(CALL, { env: { ...env, PSD2_CA: undefined } });
    expect(system).toMatchObject({ code: 0 });
  });
});

describe('a handshake that breaks off', () => {
  it.each([
    ['a server that does not speak TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n', /does not speak TLS/],
    ['an alert', Buffer.from([21, 3, 3, 0, 2, 2, 40]), /ended the TLS handshake/],
    ['an alert about the version', Buffer.from([21, 3, 3, 0, 2, 2, 70]), /needs TLS 1\.2 or newer/],
  ])('psd2 does not retry after %s', async (_, bytes, said) => {
    let connections = 0;
    const host = await bank.listenTcp((socket) => {
      connections += 1;
      socket.once('data', () => socket.end(bytes));
    });
    const ended = await operator.psd2(CALL, { env: { PSD2_BASE_URL: `https://${host}` } });
    expect(readError(ended)).toMatchObject({ exitCode: 11, message: expect.stringMatching(said) });
    expect(connections).toBe(1);
  });

  it('psd2 retries with a server that hangs up, since it has sent nothing yet', async () => {
    let connections = 0;
    const host = await bank.listenTcp((socket) => {
      connections += 1;
      socket.once('data', () => socket.end());
    });
    const ended = await operator.psd2(CALL, { env: { PSD2_BASE_URL: `https://${host}` } });
    expect(readError(ended)).toMatchObject({
      exitCode: 11,
      message: 'The bank could not be reached: the connection could not be made',
    });
    expect(connections).toBe(4);
  });
});

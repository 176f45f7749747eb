import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  explainFailure,
  type FailureKind,
  ProxyRefused,
  whyUnwritable,
} from '../../src/bank/transport/explain-failure.ts';

const ORIGIN = new URL('https://bank.example:8443');
const PROXY = new URL('http://user:secret@proxy.example:3128');
const failed = (code: string, message = 'the reason in English') =>
  Object.assign(new Error(message), { code });
const explained = (error: unknown, { proxy, sent = false }: { proxy?: URL; sent?: boolean } = {}) =>
  explainFailure(error, ORIGIN, proxy, !sent);
/** A second try may succeed. */
const passing = (message: string, kind: FailureKind = 'no reply') => ({ message, passing: true, kind });
/** A second try fails in the same way. */
const lasting = (message: string, kind: FailureKind = 'no reply') => ({ message, passing: false, kind });
/** OpenSSL's reason, as Node gives it if it has no code for it. */
const opensslSays = (reason: string) =>
  failed(
    'EPROTO',
    `write EPROTO 80EBF7D06B7F0000:error:0A000410:SSL routines:ssl3_read_bytes:${reason}:../deps/openssl/ssl/record/rec_layer_s3.c:1605:SSL alert number 40\n`,
  );

describe('a server that psd2 does not reach', () => {
  const notLookedUp = (host: string) => `the host name ${host} could not be looked up`;
  const nothingAt = (address: string) => `nothing listens at ${address}`;
  it.each([
    ['ENOTFOUND', 'the host name bank.example is not known', 'the host name proxy.example is not known'],
    ['EAI_AGAIN', notLookedUp('bank.example'), notLookedUp('proxy.example')],
    ['ECONNREFUSED', nothingAt('bank.example:8443'), nothingAt('proxy.example:3128, the proxy')],
    ['ETIMEDOUT', 'the connection could not be made in time', 'the connection could not be made in time'],
  ])(
    "for %s psd2 names the bank, or the proxy in front of it, which is not the bank's",
    (code, ofBank, ofProxy) => {
      const isName = /NOTFOUND|AGAIN/.test(code);
      expect(explained(failed(code))).toEqual(passing(ofBank, isName ? 'own' : 'no reply'));
      expect(explained(failed(code), { proxy: PROXY })).toEqual(passing(ofProxy, 'own'));
    },
  );
});

describe('a proxy that refuses the connection', () => {
  it('a proxy that asks for a password gets one in HTTPS_PROXY', () => {
    expect(explained(new ProxyRefused(407), { proxy: PROXY })).toEqual({
      ...lasting('the proxy proxy.example:3128 refused the connection (HTTP 407)', 'own'),
      hint: 'Give the user and the password of the proxy in HTTPS_PROXY: http://user:password@host:port.',
    });
  });

  it.each([400, 403, 502])('for HTTP %i of a proxy, the hint names both variables', (status) => {
    expect(explained(new ProxyRefused(status), { proxy: PROXY })).toEqual({
      ...lasting(`the proxy proxy.example:3128 refused the connection (HTTP ${status})`, 'own'),
      hint: 'Check HTTPS_PROXY. A host that needs no proxy belongs in NO_PROXY.',
    });
  });
});

describe('a certificate of the bank that psd2 does not accept', () => {
  const unknownIssuer = 'its certificate comes from an authority that psd2 does not know';
  const trustIt = {
    hint: 'If you trust that authority, put its certificate into a file, and name the file with psd2 profile set --ca, or in PSD2_CA.',
  };

  it.each([
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is not for bank.example'],
    ['CERT_HAS_EXPIRED', 'its certificate has expired'],
    ['CERT_NOT_YET_VALID', "its certificate is not valid yet, or this computer's clock is wrong"],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', unknownIssuer],
    ['SELF_SIGNED_CERT_IN_CHAIN', unknownIssuer],
    ['UNABLE_TO_GET_ISSUER_CERT', unknownIssuer],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', unknownIssuer],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', unknownIssuer],
    ['CERT_SIGNATURE_FAILURE', unknownIssuer],
    ['CERT_REVOKED', 'its certificate is not acceptable (CERT_REVOKED)'],
    ['INVALID_PURPOSE', 'its certificate is not acceptable (INVALID_PURPOSE)'],
    ['PATH_LENGTH_EXCEEDED', 'its certificate is not acceptable (PATH_LENGTH_EXCEEDED)'],
    ['HOSTNAME_MISMATCH', 'its certificate is not acceptable (HOSTNAME_MISMATCH)'],
    ['UNABLE_TO_GET_CRL', 'its certificate is not acceptable (UNABLE_TO_GET_CRL)'],
    ['ERROR_IN_CERT_NOT_AFTER_FIELD', 'its certificate is not acceptable (ERROR_IN_CERT_NOT_AFTER_FIELD)'],
  ])('for %s psd2 says: %s', (code, message) => {
    // Those that a setting or the clock of this machine explains.
    const kind = message === unknownIssuer || code === 'CERT_NOT_YET_VALID' ? 'own' : 'no reply';
    const isUnknown = message === unknownIssuer;
    const throughProxy = { ...lasting(message, kind), ...(isUnknown && trustIt) };
    expect(explained(failed(code))).toEqual({ ...throughProxy, ...(isUnknown && { wasReached: true }) });
    expect(explained(failed(code), { proxy: PROXY })).toEqual(throughProxy);
  });
});

describe('a TLS handshake that fails', () => {
  const noTls = 'what listens at bank.example:8443 does not speak TLS';
  const oldTls = 'it supports only unsafe versions of TLS, but psd2 needs TLS 1.2 or newer';
  const noCommon = (code: string) =>
    `it ended the TLS handshake: there is no common cipher, or it did not accept the QWAC (${code})`;
  const refusedQwac = (code: string) => `it refused the TLS handshake with our QWAC (${code})`;
  const handshakeFailure = noCommon('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE');

  it.each([
    ['ERR_SSL_WRONG_VERSION_NUMBER', noTls],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', noTls],
    ['ERR_SSL_HTTP_REQUEST', noTls],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', oldTls],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', oldTls],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', handshakeFailure],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', handshakeFailure],
    ['ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY', noCommon('ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY')],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', refusedQwac('ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE')],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', refusedQwac('ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE')],
    ['ERR_SSL_BAD_SIGNATURE', 'the TLS handshake failed (ERR_SSL_BAD_SIGNATURE)'],
  ])('for %s psd2 says: %s', (code, message) => {
    expect(explained(failed(code))).toEqual(lasting(message));
  });

  it.each([
    ['wrong version number', noTls],
    ['sslv3 alert handshake failure', handshakeFailure],
    ['ssl/tls alert handshake failure', handshakeFailure],
    ['tlsv1 alert unknown ca', refusedQwac('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')],
    ['no ciphers available', 'the TLS handshake failed (ERR_SSL_NO_CIPHERS_AVAILABLE)'],
  ])('psd2 also understands the reason %j if only the message of EPROTO has it', (reason, message) => {
    expect(explained(opensslSays(reason))).toEqual(lasting(message));
  });

  // Node 26 says SSL/TLS where Node 20 and 24 say SSLV3.
  it.each([
    'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
    'ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE',
    'ERR_SSL_SSLV3_ALERT_NO_CERTIFICATE',
    'ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED',
    'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED',
    'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_SSL_TLSV1_ALERT_ACCESS_DENIED',
    'ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR',
    // There is a common cipher if the handshake of the client is finished.
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
  ])('%s after the request says that the bank refused the QWAC', (code) => {
    for (const spelling of [code, code.replace('SSLV3', 'SSL/TLS')])
      expect(explained(failed(spelling), { sent: true })).toEqual(lasting(refusedQwac(code)));
  });

  it.each([
    'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
    'ERR_SSL_TLSV1_ALERT_USER_CANCELLED',
    'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
    'EPROTO',
  ])('%s after the request is not about the QWAC, and may pass', (code) => {
    expect(explained(failed(code), { sent: true })).toEqual(passing(`the TLS connection failed (${code})`));
  });

  it('EPROTO without a reason is a failed handshake', () => {
    expect(explained(failed('EPROTO', 'write EPROTO'))).toEqual(lasting('the TLS handshake failed (EPROTO)'));
  });
});

describe('an answer that is not HTTP', () => {
  const NOT_HTTP = 'its answer is not valid HTTP';
  const OTHER_LENGTH = `${NOT_HTTP} (its length differs from its Content-Length)`;
  const NO_WASM =
    'WebAssembly does not start (check ulimit -v, or set NODE_OPTIONS=--disable-wasm-trap-handler)';
  const parserFailed = (message: string) =>
    Object.assign(new Error(message), { name: 'HTTPParserError', code: 'HPE_INVALID_CONSTANT' });

  it.each([
    [failed('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), OTHER_LENGTH],
    [failed('UND_ERR_HEADERS_OVERFLOW'), 'its answer has more than 16 KiB of headers'],
    [parserFailed('Response does not match the HTTP/1.1 protocol (No HTTP/)'), `${NOT_HTTP} (No HTTP/)`],
    [parserFailed('Response does not match'), NOT_HTTP],
    [parserFailed('It (was) no answer'), NOT_HTTP],
    [new RangeError('WebAssembly.Memory(): could not allocate memory'), NO_WASM],
  ])('for %s psd2 says: %s', (error, message) => {
    const kind = message.startsWith('WebAssembly') ? 'own' : 'unusable';
    expect(explained(error, { sent: true })).toEqual(lasting(message, kind));
  });
});

describe('any other failure', () => {
  it.each([
    failed('ECONNRESET'),
    failed('EHOSTUNREACH'),
    failed('UND_ERR_SOCKET', 'other side closed'),
    failed('ECONNRESET', 'bad response'),
    new Error('no code'),
    Object.assign(new Error('a number'), { code: 111 }),
    // These words say something only at the beginning of a code.
    failed('MY_CERT_REVOKED'),
    failed('MY_ERR_SSL'),
    // The code of Node counts, and not the message, if there is one.
    Object.assign(opensslSays('wrong version number'), { code: 'ECONNRESET' }),
    { code: 'CERT_HAS_EXPIRED' },
    'CERT_HAS_EXPIRED',
    undefined,
    null,
  ])('%s may pass, and psd2 says only whether the connection was made', (error) => {
    expect(explained(error)).toEqual(passing('the connection could not be made'));
    expect(explained(error, { sent: true })).toMatchObject(passing('the connection was lost'));
  });

  it.each(['ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', 'EMFILE', 'EPERM'])(
    '%s is a failure of this machine',
    (code) => {
      expect(explained(failed(code))).toEqual(passing('the connection could not be made', 'own'));
    },
  );

  it('no failure makes psd2 show the password of the proxy', () => {
    const anyError = fc.oneof(
      fc.string().map((code) => failed(code)),
      fc
        .constantFrom('ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ETIMEDOUT', 'EPROTO')
        .map((code) => failed(code)),
      fc.integer({ min: 100, max: 599 }).map((status) => new ProxyRefused(status)),
      fc.anything(),
    );
    fc.assert(
      fc.property(anyError, fc.boolean(), (error, sent) => {
        expect(JSON.stringify(explained(error, { proxy: PROXY, sent }))).not.toMatch(/secret/);
      }),
    );
  });
});

describe('a request that HTTP cannot express', () => {
  it.each(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'])('%s says what is wrong with it', (code) => {
    expect(whyUnwritable(failed(code, 'invalid header'))).toBe('invalid header');
  });

  it.each([
    failed('UND_ERR_SOCKET'),
    new Error('x'),
    { code: 'UND_ERR_INVALID_ARG', message: 'x' },
    undefined,
  ])('%s says nothing about the request', (error) => {
    expect(whyUnwritable(error)).toBeUndefined();
  });
});

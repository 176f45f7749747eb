/** Whose a failure is, as the log of calls has it. */
export type FailureKind = 'own' | 'unusable' | 'no reply';

/** Why a call got no complete answer. The message continues "The bank could not be reached: ". */
interface Failure {
  message: string;
  /** A second try may succeed. */
  passing: boolean;
  kind: FailureKind;
  /** The bank has answered, and psd2 does not trust it. */
  wasReached?: true;
  /** What to do, if it is not what helps most calls. */
  hint?: string;
}

const passing = (message: string, kind: FailureKind = 'no reply'): Failure => ({
  message,
  passing: true,
  kind,
});
const lasting = (message: string, kind: FailureKind = 'no reply'): Failure => ({
  message,
  passing: false,
  kind,
});

/** A bank that refuses a client certificate may close the connection without a word (TLS 1.3), so a single call cannot tell. */
const LOST: Failure = {
  ...passing('the connection was lost'),
  hint: 'Try again later. If that does not help, psd2 doctor finds out whether the bank refuses the QWAC.',
};

/**
 * Explains why a call got no complete answer. Checks the phases of a call in order: connection, the bank's certificate, TLS
 * handshake, answer.
 *
 * @param error the error of Node's connection
 * @param proxy the proxy, if there is one. The connection goes to it first
 * @param neverSent no byte of the request has left
 */
export function explainFailure(
  error: unknown,
  origin: URL,
  proxy: URL | undefined,
  neverSent: boolean,
): Failure {
  if (error instanceof ProxyRefused)
    return {
      ...lasting(`the proxy ${proxy?.host} refused the connection (HTTP ${error.statusCode})`, 'own'),
      hint:
        error.statusCode === 407
          ? 'Give the user and the password of the proxy in HTTPS_PROXY: http://user:password@host:port.'
          : 'Check HTTPS_PROXY. A host that needs no proxy belongs in NO_PROXY.',
    };
  // OpenSSL 3.5 (Node 26) says "ssl/tls alert", older versions say "sslv3 alert".
  const code = causeCode(error).replace('ERR_SSL_SSL/TLS_ALERT_', 'ERR_SSL_SSLV3_ALERT_');
  return (
    whyNotReached(code, origin, proxy) ??
    whyNotTrusted(code, origin, proxy !== undefined) ??
    whyTlsFailed(code, origin, neverSent) ??
    whyNoHttp(code, error) ??
    (neverSent
      ? passing('the connection could not be made', NO_WAY_OUT.has(code) ? 'own' : 'no reply')
      : LOST)
  );
}

/** Codes of this machine, before anything reached a network. */
const NO_WAY_OUT: ReadonlySet<string> = new Set(
  'ENETUNREACH ENETDOWN EADDRNOTAVAIL EACCES EPERM EMFILE ENFILE ENOBUFS ENOMEM'.split(' '),
);

function whyNotReached(code: string, origin: URL, proxy: URL | undefined): Failure | undefined {
  const first = proxy ?? origin;
  const kind = proxy ? 'own' : 'no reply';
  switch (code) {
    case 'ENOTFOUND':
      return passing(`the host name ${first.hostname} is not known`, 'own');
    case 'EAI_AGAIN':
      return passing(`the host name ${first.hostname} could not be looked up`, 'own');
    case 'ECONNREFUSED':
      return passing(`nothing listens at ${first.host}${proxy ? ', the proxy' : ''}`, kind);
    case 'ETIMEDOUT':
      return passing('the connection could not be made in time', kind);
    default:
      return undefined;
  }
}

function whyNotTrusted(code: string, origin: URL, hasProxy: boolean): Failure | undefined {
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return lasting(`its certificate is not for ${origin.hostname}`);
    case 'CERT_HAS_EXPIRED':
      return lasting('its certificate has expired');
    case 'CERT_NOT_YET_VALID':
      return lasting("its certificate is not valid yet, or this computer's clock is wrong", 'own');
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_SIGNATURE_FAILURE':
      return {
        ...lasting('its certificate comes from an authority that psd2 does not know', 'own'),
        // It may be the certificate of the proxy.
        ...(!hasProxy && { wasReached: true }),
        hint: 'If you trust that authority, put its certificate into a file, and name the file with psd2 profile set --ca, or in PSD2_CA.',
      };
  }
  if (/^(CERT_|INVALID_|PATH_LENGTH_|HOSTNAME_|UNABLE_TO_|ERROR_IN_)/.test(code))
    return lasting(`its certificate is not acceptable (${code})`);
  return undefined;
}

/**
 * The alerts about a client certificate (RFC 8446, section 6.2). With TLS 1.3 they arrive after the client's handshake, when the
 * request may have left.
 */
const QWAC_REFUSED =
  /_ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|NO_CERTIFICATE|CERTIFICATE_(REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)$/;

function whyTlsFailed(code: string, origin: URL, neverSent: boolean): Failure | undefined {
  const refused = `it refused the TLS handshake with our QWAC (${code})`;
  if (QWAC_REFUSED.test(code)) return lasting(refused);
  if (neverSent) return whyNoHandshake(code, origin);
  if (code === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE') return lasting(refused);
  return code.startsWith('ERR_SSL') || code === 'EPROTO'
    ? passing(`the TLS connection failed (${code})`)
    : undefined;
}

function whyNoHandshake(code: string, origin: URL): Failure | undefined {
  switch (code) {
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'ERR_SSL_HTTP_REQUEST':
      return lasting(`what listens at ${origin.host} does not speak TLS`);
    case 'ERR_SSL_UNSUPPORTED_PROTOCOL':
    case 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION':
      return lasting('it supports only unsafe versions of TLS, but psd2 needs TLS 1.2 or newer');
    case 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE':
    case 'ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY':
      return lasting(
        `it ended the TLS handshake: there is no common cipher, or it did not accept the QWAC (${code})`,
      );
  }
  if (/ALERT/i.test(code)) return lasting(`it refused the TLS handshake with our QWAC (${code})`);
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return lasting(`the TLS handshake failed (${code})`);
  return undefined;
}

/** Explains undici's error about an answer. */
function whyNoHttp(code: string, error: unknown): Failure | undefined {
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return lasting('its answer is not valid HTTP (its length differs from its Content-Length)', 'unusable');
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return lasting('its answer has more than 16 KiB of headers', 'unusable');
  if (!(error instanceof Error)) return undefined;
  if (error.message.startsWith('WebAssembly.'))
    return lasting(
      'WebAssembly does not start (check ulimit -v, or set NODE_OPTIONS=--disable-wasm-trap-handler)',
      'own',
    );
  if (error.name === 'HTTPParserError') {
    const reason = /\((.*)\)$/.exec(error.message)?.[1];
    return lasting(`its answer is not valid HTTP${reason ? ` (${reason})` : ''}`, 'unusable');
  }
  return undefined;
}

/** Why undici refused to write a request. Undefined for any other failure. */
export function whyUnwritable(error: unknown): string | undefined {
  const isSo = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'].includes(causeCode(error));
  return isSo && error instanceof Error ? error.message : undefined;
}

/** The code of an error. If OpenSSL's code is only in the message, builds the code as Node would. */
function causeCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return '';
  if (error.code !== 'EPROTO') return error.code;
  const reason = /:error:[^:]*:[^:]*:[^:]*:([^:]+):/.exec(error.message)?.[1];
  return reason === undefined ? error.code : `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
}

/** The proxy answered CONNECT with a status other than 200. */
export class ProxyRefused extends Error {
  readonly statusCode: number;

  constructor(statusCode: number) {
    super(`HTTP ${statusCode}`);
    this.statusCode = statusCode;
  }
}

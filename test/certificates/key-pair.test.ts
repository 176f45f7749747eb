import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeQualifiedCertificate,
  privateKeyPem,
} from '../../src/certificates/eidas.ts';
import {
  chainOf,
  readKeyPair,
  readValidCertificate,
  tppCertificateHeader,
} from '../../src/certificates/key-pair.ts';
import { EC, type PemPair, RSA, withOpenssl } from './openssl.ts';

const made = withOpenssl((openssl) => {
  const authority = openssl.authority('Test CA');
  const right = openssl.issued(authority, 'tpp.example', RSA);
  const key = openssl.write('right.key', right.key);
  const issuer = openssl.issuing(authority, 'Issuer');
  const chain = {
    ...{ root: authority, issuer, own: openssl.issued(issuer, 'tpp.example', RSA) },
    ...{ other: openssl.issued(issuer, 'other.example', EC), stranger: openssl.authority('Stranger') },
  };
  return {
    authority,
    right,
    other: openssl.issued(authority, 'other.example', RSA),
    ec: openssl.issued(authority, 'ec.example', EC),
    ed25519: openssl.issued(authority, 'ed25519.example', ['ed25519']),
    chain,
    renewed: openssl.issuedFor(authority, 'tpp.example', chain.own.key, 3),
    pkcs1: openssl.run('rsa', '-in', key, '-traditional'),
    encrypted: openssl.run('pkcs8', '-topk8', '-v2', 'aes-256-cbc', '-in', key, '-passout', 'pass:hush hush'),
    encryptedPkcs1: openssl.run('rsa', '-in', key, '-aes256', '-traditional', '-passout', 'pass:hush hush'),
  };
});

const now = new Date();
const DAY = 24 * 60 * 60 * 1000;

function read({ cert, key }: PemPair, given: { passphrase?: string; now?: Date } = {}) {
  return readKeyPair({ name: 'QWAC', certificate: cert, key, passphrase: undefined, now, ...given });
}

function refusal(message: string | RegExp, hint?: RegExp) {
  return expect.objectContaining({
    code: 'certificate',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
    ...(hint && { hint: expect.stringMatching(hint) }),
  });
}

describe('a certificate and its key', () => {
  it.each([
    ['PKCS#8', made.right.key],
    ['PKCS#1', made.pkcs1],
  ])('psd2 reads a certificate with its key in the form %s', (_, key) => {
    const pair = read({ ...made.right, key });
    expect(pair.certificate.subject).toBe('CN=tpp.example');
    expect(createPublicKey(pair.key).export({ type: 'spki', format: 'pem' })).toBe(
      pair.certificate.publicKey.export({ type: 'spki', format: 'pem' }),
    );
  });

  it.each([
    ['in order', ['own', 'issuer', 'root']],
    ['with the root first', ['root', 'issuer', 'own']],
    ['with the issuer first', ['issuer', 'own']],
    ['with the certificate of somebody else', ['other', 'root', 'own', 'stranger', 'issuer']],
  ] as const)(
    'psd2 sends the certificate of the key, then its chain, and no root, from a file %s',
    (_, order) => {
      const cert = order.map((name) => made.chain[name].cert).join('# A comment\r\n');
      const pair = read({ cert, key: made.chain.own.key });
      expect(pair.certificatePem).toBe(made.chain.own.cert + made.chain.issuer.cert);
      expect(pair.certificate.subject).toBe('CN=tpp.example');
      expect(readValidCertificate('QSealC', cert.replace(made.chain.other.cert, ''), now).subject).toBe(
        'CN=tpp.example',
      );
    },
  );

  it('psd2 takes of two certificates of a key the one that ends later, if it is valid already', () => {
    const [old, renewed] = [made.chain.own.cert, made.renewed.cert];
    for (const cert of [old + renewed, renewed + old])
      expect(read({ cert, key: made.chain.own.key }).certificatePem).toBe(renewed);
    const early = new Date(Date.parse(new X509Certificate(old).validFrom) - DAY);
    expect(() => read({ cert: old + renewed, key: made.chain.own.key }, { now: early })).toThrow(
      'not valid before',
    );
  });

  describe('of several certificates of a key', async () => {
    const keys = await generateRsaKeys();
    const at = (days: number) => new Date(now.getTime() + days * DAY);
    const authority = await makeCertificateAuthority('Test CA', keys, { from: at(-100), days: 300 });
    const key = createPrivateKey(await privateKeyPem(keys));
    const subject = {
      ...{ commonName: 'tpp.example', organization: 'TPP', organizationIdentifier: 'PSDIT-BI-12345' },
      psd2: undefined,
    };
    const valid = async ([from, to]: [from: number, to: number]) =>
      new X509Certificate(
        await makeQualifiedCertificate(authority, 'web', subject, keys, { from: at(from), days: to - from }),
      );

    it.each<[what: string, chosen: [number, number], other: [number, number]]>([
      ['the one that ends later', [-5, 40], [-10, 30]],
      ['the one that ends later, although the other began later', [-10, 40], [-5, 30]],
      ['the one that is valid already, although the other ends later', [-10, 30], [1, 60]],
      ['the one that is valid still', [-10, 30], [-40, -1]],
      ['of two that are not valid yet, the one that ends later', [2, 60], [1, 50]],
      ['of two that have ended, the one that ended later', [-50, -1], [-40, -2]],
      ['the one that has ended before one that is not valid yet', [-50, -1], [1, 60]],
    ])('psd2 takes %s', async (_, chosen, other) => {
      const [one, two] = [await valid(chosen), await valid(other)];
      for (const all of [
        [one, two],
        [two, one],
      ])
        for (const withKey of [key, undefined])
          expect(chainOf(all, now, withKey)[0]?.serialNumber).toBe(one.serialNumber);
    });
  });

  it('psd2 refuses a key that belongs to another certificate', () => {
    const message = 'The QWAC key does not belong to the QWAC certificate';
    const refused = refusal(message, /that the certificate was requested with/);
    expect(() => read({ ...made.right, key: made.other.key })).toThrow(refused);
  });

  it('psd2 takes an EC key, and no key of another kind', () => {
    expect(read(made.ec).key.asymmetricKeyType).toBe('ec');
    expect(() => read(made.ed25519)).toThrow(
      refusal('The QWAC key has the type ed25519. psd2 works with RSA and EC keys'),
    );
  });

  it('psd2 refuses an expired certificate and one that is not valid yet', () => {
    const certificate = new X509Certificate(made.right.cert);
    const end = new Date(certificate.validTo);
    expect(() => read(made.right, { now: new Date(end.getTime() + 1000) })).toThrow(
      refusal(`The QWAC certificate expired on ${end.toISOString().slice(0, 10)}`, /new certificate/),
    );
    expect(read(made.right, { now: end }).certificate.subject).toBe('CN=tpp.example');
    const beginning = new Date(certificate.validFrom);
    expect(read(made.right, { now: beginning }).certificate.subject).toBe('CN=tpp.example');
    expect(() => read(made.right, { now: new Date(beginning.getTime() - DAY) })).toThrow(
      refusal(`The QWAC certificate is not valid before ${beginning.toISOString()}`, /clock/),
    );
  });
});

describe.each([
  ['PKCS#8', made.encrypted],
  ['PKCS#1', made.encryptedPkcs1],
])('an encrypted %s key', (_, key) => {
  it('the passphrase opens an encrypted key', () => {
    expect(read({ ...made.right, key }, { passphrase: 'hush hush' }).key.asymmetricKeyType).toBe('rsa');
  });

  it.each(['hush', ''])(
    'the passphrase %j does not open an encrypted key, and the error does not show it',
    (passphrase) => {
      const error = refusal('The passphrase does not open the QWAC key', /PSD2_KEY_PASSPHRASE/);
      expect(() => read({ ...made.right, key }, { passphrase })).toThrow(error);
    },
  );

  it('an encrypted key needs a passphrase', () => {
    expect(() => read({ ...made.right, key })).toThrow(
      refusal('The QWAC key is encrypted, and no passphrase was given', /PSD2_KEY_PASSPHRASE/),
    );
  });
});

it('psd2 ignores a passphrase for an unencrypted key', () => {
  expect(read(made.right, { passphrase: 'unneeded' }).key.type).toBe('private');
});

describe('input that is not PEM', () => {
  it('a request for a certificate is named, because it looks like one', () => {
    const cert = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n';
    expect(() => read({ ...made.right, cert })).toThrow(
      refusal('The QWAC certificate is a certificate request, not a certificate', /authority has issued/),
    );
  });

  it.each(['', 'text', made.right.key, made.right.cert.replace('MII', '???')])(
    'psd2 refuses input %# as a certificate',
    (cert) => {
      expect(() => read({ ...made.right, cert })).toThrow(
        refusal('The QWAC certificate is not a PEM certificate', /BEGIN CERTIFICATE/),
      );
    },
  );

  it.each(['', 'text', made.right.cert, made.right.key.replace('MII', '???')])(
    'psd2 refuses input %# as a key',
    (key) => {
      expect(() => read({ ...made.right, key })).toThrow(
        refusal('The QWAC key is not a PEM private key', /BEGIN PRIVATE KEY/),
      );
    },
  );
});

describe('input that is DER', () => {
  const derOf = (pem: string) => Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64').toString('utf8');

  it.each([
    ['x509', { cert: derOf(made.right.cert) }, 'The QWAC certificate is not a PEM certificate'],
    ['pkey', { key: derOf(made.right.key) }, 'The QWAC key is not a PEM private key'],
  ])('the error has the command of OpenSSL that converts it: %s', (command, der, message) => {
    const hint = `^It looks like DER. Convert it: openssl ${command} -inform der -in <file> -out <file>.pem$`;
    expect(() => read({ ...made.right, ...der })).toThrow(refusal(message, new RegExp(hint)));
  });
});

describe('a certificate whose key is stored elsewhere', () => {
  const validTo = new Date(new X509Certificate(made.right.cert).validTo);

  it('psd2 reads a certificate without its key', () => {
    expect(readValidCertificate('QSealC', made.right.cert, now).subject).toBe('CN=tpp.example');
  });

  const END = new Date(validTo.getTime() + 1000);
  const EXPIRED = `The QSealC certificate expired on ${validTo.toISOString().slice(0, 10)}`;
  const KIND = 'The key of the QSealC certificate has the type ed25519. psd2 works with RSA and EC keys';
  it.each([
    ['is neither RSA nor EC', made.ed25519.cert, now, KIND],
    ['has expired', made.right.cert, END, EXPIRED],
    ['is no certificate', made.right.key, now, 'The QSealC certificate is not a PEM certificate'],
  ])('psd2 refuses a certificate that %s, even if it does not see the key', (_, pem, at, message) => {
    expect(() => readValidCertificate('QSealC', pem, at)).toThrow(refusal(message));
  });
});

describe('the TPP-Certificate header', () => {
  const certificate = new X509Certificate(made.right.cert);

  it('the TPP-Certificate header is the DER in base64 on one line', () => {
    const header = tppCertificateHeader(certificate, 'der-base64') ?? '';
    expect(header).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(header).toBe(made.right.cert.replace(/-----.*-----|\n/g, ''));
  });

  it('the TPP-Certificate header can be the percent-encoded PEM, or be left out', () => {
    const header = tppCertificateHeader(certificate, 'pem-urlencoded') ?? '';
    expect(header).toMatch(/^[\x21-\x7e]+$/);
    expect(decodeURIComponent(header)).toBe(made.right.cert);
    expect(tppCertificateHeader(certificate, 'none')).toBeUndefined();
  });
});

import type { X509Certificate } from 'node:crypto';
import * as z from 'zod/mini';
import { Psd2Error } from '../../../../errors.ts';
import { digestHeader, signatureHeader, signingString } from '../../../../signature/http-signature.ts';
import type { BankCall, Signed, WireSettings } from '../../../call/call.ts';
import { keyIdOf } from '../access/key-id.ts';
import { OPERATIONS, type OperationId } from '../description/operations.ts';
import type { BankDescription } from '../description/schema.ts';
import type { Paths } from './paths.ts';

type Headers = Record<string, string>;

/**
 * @returns a function that makes the request of a call: headers, digest and signature, with a new id (NextGenPSD2, sections 1
 *   and 2). It throws Psd2Error `usage` if the bank demands something of the customer that the operator has not given
 */
export function composer(
  bank: BankDescription,
  paths: Paths,
  settings: WireSettings,
): (call: BankCall) => Promise<Signed> {
  const fixed = fixedHeaders(bank.headers.static);
  const nameAtBank = namesAtBank(bank);
  const renamed = (headers: Headers): Headers =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [nameAtBank(name), value]));
  // They are the same for all calls.
  let certificate: string | undefined;
  let keyId: string | undefined;
  return async (call) => {
    const requestId = call.requestId ?? settings.newId();
    const operation = call.facts.login ? undefined : paths.find(call.method, call.path)?.operation;
    const body = bodyOf(call);
    const target = call.origin === undefined ? `${settings.pathPrefix}${call.path}` : call.path;
    const isSigned =
      !call.facts.login &&
      (bank.signing.when === 'always' || (bank.signing.when === 'with-body' && body !== undefined));
    const digest =
      isSigned && (body || bank.signing.emptyBodyDigest)
        ? digestHeader(body ?? toBytes(bank.signing.emptyBody ?? ''), bank.signing.digest)
        : null;
    const headers = renamed({
      accept: call.facts.login ? 'application/json' : bank.headers.accept,
      ...(body && { 'content-type': bank.headers.contentType }),
      ...fixed,
      ...(operation && fixedHeaders(bank.headers.perOperation[operation] ?? {})),
      ...(await standardHeaders(call, operation, bank, settings)),
      ...(isDated(bank, isSigned) && { date: settings.now().toUTCString() }),
      ...call.headers,
      ...(digest && { digest }),
      'x-request-id': requestId,
    });
    const request = { method: call.method, target, headers, body };
    const elsewhere = call.origin === undefined ? {} : { origin: call.origin };
    if (!isSigned)
      return { request: { ...request, ...elsewhere }, tppRequestId: requestId, digest, signingString: '' };
    const { signingCertificate, signer } = settings.identity;
    certificate ??= certificateHeader(signingCertificate, bank.signing.certificate);
    keyId ??= keyIdOf(signingCertificate, bank.signing.keyId);
    const names = signedNames(headers, bank, nameAtBank);
    headers.signature = await signatureHeader(request, names, keyId, signer, bank.signing.algorithm);
    headers['tpp-signature-certificate'] = certificate;
    return {
      request: { ...request, ...elsewhere },
      tppRequestId: requestId,
      digest,
      signingString: signingString(request, names),
    };
  };
}

/** Finds the bank's name of a header (`headers.names`), in lower case. */
export function namesAtBank({ headers }: BankDescription): (name: string) => string {
  const own = new Map(
    Object.entries(headers.names).map(([name, its]) => [name.toLowerCase(), its.toLowerCase()]),
  );
  return (name) => own.get(name) ?? name;
}

/** The only place where a credential of the customer is revealed. */
function bodyOf({ body, credential }: BankCall): Buffer | undefined {
  if (credential) return toBytes(credential.body(credential.value.reveal()));
  return body === undefined ? undefined : toBytes(body);
}

function toBytes(body: object | string): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Headers of the bank file. One with an empty value is not sent. */
function fixedHeaders(headers: Readonly<Headers>): Headers {
  const sent = Object.entries(headers).filter(([, value]) => value !== '');
  return Object.fromEntries(sent.map(([name, value]) => [name.toLowerCase(), value]));
}

function isDated({ headers, signing }: BankDescription, isSigned: boolean): boolean {
  return (
    headers.date === 'always' ||
    (isSigned && (headers.date === 'signed' || lower(signing.headers).includes('date')))
  );
}

function lower(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}

/** The headers to sign, in the order of the bank file. */
function signedNames(
  headers: Readonly<Headers>,
  { signing }: BankDescription,
  nameAtBank: (name: string) => string,
): string[] {
  const named = (names: readonly string[]) => lower(names).map(nameAtBank);
  const isSent = (name: string) => name === '(request-target)' || headers[name] !== undefined;
  // A request without a body has no digest at some banks.
  const demanded = named(signing.headers).filter((name) => name !== 'digest' || isSent(name));
  const missing = demanded.find((name) => !isSent(name));
  if (missing !== undefined)
    throw new Psd2Error(
      'config',
      `The bank file wants the header ${missing} signed, but this call has none`,
      { hint: 'Name it in signing.ifSent instead of signing.headers.' },
    );
  return [...demanded, ...named(signing.ifSent).filter((name) => isSent(name) && !demanded.includes(name))];
}

/** The headers that the standard has for a call. */
async function standardHeaders(
  call: BankCall,
  operation: OperationId | undefined,
  bank: BankDescription,
  settings: WireSettings,
): Promise<Headers> {
  // What gets or revokes tokens is OAuth, and not the standard's.
  if (call.facts.login) return {};
  const does = operation && OPERATIONS[operation];
  const isOfCustomer = operation !== 'checkAvailabilityOfFunds';
  const address = isOfCustomer ? await customerAddress(operation, bank, settings) : undefined;
  return {
    ...(call.bearer &&
      !isFixed(bank, operation) && { [bank.oauth.tokenHeader.toLowerCase()]: `Bearer ${call.bearer}` }),
    ...(address && { 'psu-ip-address': address }),
    // Lists are long, and compress well.
    ...(call.facts.reads !== null && { 'accept-encoding': 'gzip' }),
    ...(isOfCustomer && settings.language && { 'psu-accept-language': settings.language }),
    ...(does?.identifies && customerHeaders(bank, call.psu ?? settings.psu, call.bearer)),
    ...(does?.startsSca && scaHeaders(call, operation, bank)),
  };
}

/** Whether the bank file says what the header of the token has at an operation. */
function isFixed({ headers, oauth }: BankDescription, operation: OperationId | undefined): boolean {
  const own = (operation && headers.perOperation[operation]) ?? {};
  return lower(Object.keys(own)).includes(oauth.tokenHeader.toLowerCase());
}

/** With it, a reading does not count against the consent: it is sent only if the customer is present, or always where demanded. */
async function customerAddress(
  operation: OperationId | undefined,
  { psu }: BankDescription,
  { psuIpAddress, ownAddress }: WireSettings,
): Promise<string | undefined> {
  if (psuIpAddress !== undefined) return psuIpAddress;
  const does = operation && OPERATIONS[operation];
  // To the bank, the customer is absent: the reading counts.
  if (does?.reads) return psu.ipAbsent;
  if (!does?.creates) return undefined;
  if (psu.ip === 'own') return ownAddress();
  if (psu.ip !== 'required') return psu.ip;
  throw new Psd2Error('usage', 'This bank wants to know the IP address of the customer', {
    hint: 'Give it with --psu-ip.',
  });
}

const CUSTOMER = [
  ['id', 'psu-id', '--psu-id'],
  ['idType', 'psu-id-type', '--psu-id-type'],
  ['corporateId', 'psu-corporate-id', '--psu-corporate-id'],
] as const;

/** @throws Psd2Error `usage` for what is missing, `bank_answer` for a token that does not name the customer */
function customerHeaders(
  { psu }: BankDescription,
  customer: WireSettings['psu'],
  bearer: string | undefined,
): Headers {
  const headers: Headers = {};
  for (const [field, header, option] of CUSTOMER) {
    const presence = psu[field];
    if (presence === 'empty') headers[header] = '';
    else if (presence === 'token-sub') headers[header] = tokenSubject(bearer);
    else if (!isPresence(presence)) headers[header] = presence;
    if (!isPresence(presence)) continue;
    const value = customer?.[field];
    if (presence === 'required' && !value)
      throw new Psd2Error('usage', `This bank wants ${option}`, {
        hint: 'The customer knows it from the bank. Give it once, at a login, a consent or a transfer.',
      });
    if (presence !== 'never' && value) headers[header] = value;
  }
  return headers;
}

function isPresence(word: string): word is 'optional' | 'required' | 'never' {
  return ['optional', 'required', 'never'].includes(word);
}

const claims = z.object({ sub: z.string().check(z.regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/)) });

/** Whose a token is: the `sub` of a JSON Web Token (RFC 7519, section 4.1.2). The bank looks at it again, so psd2 proves nothing. */
function tokenSubject(token: string | undefined): string {
  try {
    const payload = Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString('utf8');
    return claims.parse(JSON.parse(payload)).sub;
  } catch {
    throw new Psd2Error('bank_answer', "The customer's token does not say who the customer is", {
      hint: 'psu.id of the bank file says that it does ("token-sub").',
    });
  }
}

function scaHeaders(
  { redirectUri }: BankCall,
  operation: OperationId | undefined,
  { sca }: BankDescription,
): Headers {
  const isDecoupled = sca.approaches[0] === 'decoupled';
  return {
    'tpp-redirect-preferred': String(!isDecoupled),
    ...(isDecoupled && { 'tpp-decoupled-preferred': 'true' }),
    // The bank's status decides, wherever the browser returns to.
    ...(redirectUri && { 'tpp-redirect-uri': redirectUri, 'tpp-nok-redirect-uri': redirectUri }),
    ...(sca.start === 'explicit' &&
      ((operation && OPERATIONS[operation].creates) || operation === 'cancelPayment') && {
        'tpp-explicit-authorisation-preferred': 'true',
      }),
  };
}

/** The value of `TPP-Signature-Certificate`. */
export function certificateHeader(
  certificate: X509Certificate,
  encoding: BankDescription['signing']['certificate'],
): string {
  if (encoding === 'der') return certificate.raw.toString('base64');
  const pem = certificate.toString();
  return encoding === 'pem' ? Buffer.from(pem).toString('base64') : pem.replace(/\r?\n/g, '');
}

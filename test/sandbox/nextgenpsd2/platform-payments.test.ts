import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { PLATFORMS } from '../../../src/bank/interfaces/nextgenpsd2/description/platforms.ts';
import type { BankDescription } from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { readBankFile } from '../../bank-file/described.ts';
import { ANNA, type DoorRequest, type TestDoor, withDoor } from './door-client.ts';
import { debitsOf, linkOf, paymentBody, START } from './payment-client.ts';

const CLIENT = 'PSDIT-BI-12345';
const VERIFIER = 'a'.repeat(43);
const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };
const ADDRESS = { creditorAddress: { townName: 'Berlin', country: 'DE' } };

/** What follows the serial number in keyId at the platforms with a form of their own. */
const KEY_IDS: Record<string, string> = {
  adorsys: ',CA=CN=psd2%20sandbox%20CA%20-%20not%20for%20production,C=IT',
  argenta: ',CA=CN=psd2 sandbox CA - not for production, C=IT',
  atruvia: ',CA=CN=psd2sandboxCA-notforproduction,C=IT',
  redsys: ',CA=CN=SandboxTPPseal,OID.2.5.4.97=PSDIT-BI-12345,O=SandboxTPP,C=IT',
  'salt-edge': ',DN=/C=IT/CN=psd2 sandbox CA - not for production',
};

/** An authorization request, with the bank's names for its parameters. */
function authorizationRequest({ oauth }: BankDescription, scope: string): URLSearchParams {
  const own = new Map(Object.entries(oauth.names));
  const parameters: [string, string][] = [
    ['client_id', oauth.clientId === 'organization-id' ? CLIENT : oauth.clientId],
    ['redirect_uri', 'https://tpp.example/back'],
    ['response_type', oauth.responseType],
    ['scope', scope],
  ];
  const challenge = createHash('sha256').update(VERIFIER).digest('base64url');
  if (oauth.pkce === 'S256')
    parameters.push(['code_challenge', challenge], ['code_challenge_method', 'S256']);
  return new URLSearchParams(
    parameters.map(([name, value]): [string, string] => [own.get(name) ?? name, value]),
  );
}

/** An access token, if the platform wants one before everything. */
async function tokenOf(at: TestDoor, bank: BankDescription): Promise<string | undefined> {
  const { oauth } = bank;
  const common = { client_id: CLIENT };
  const { preStep } = oauth.scope;
  const scope = typeof preStep === 'string' ? preStep : preStep.pis;
  const secret = at.sandbox.registration.applications.authorizationCode.clientSecret;
  const basic = `Basic ${Buffer.from(`${CLIENT}:${secret}`).toString('base64')}`;
  const tokenPath = `/oauth/token${new URL(oauth.tokenEndpoint ?? 'https://none').search}`;
  const client = oauth.clientAuth === 'basic' ? { authorization: basic } : undefined;
  if (oauth.mode === 'client-credentials' || oauth.applicationToken) {
    const fields = { ...common, grant_type: 'client_credentials', scope };
    return String((await at.client.form(tokenPath, fields, client)).json.access_token);
  }
  if (oauth.mode !== 'pre-step') return undefined;
  const redirect_uri = 'https://tpp.example/back';
  const page = at.sandbox.access.authorize(authorizationRequest(bank, scope));
  const back = at.sandbox.access.approve(page?.searchParams.get('request') ?? '', ANNA).returnTo;
  const code = back?.searchParams.get('code') ?? '';
  const fields = { ...common, grant_type: 'authorization_code', code, redirect_uri, code_verifier: VERIFIER };
  return String((await at.client.form(tokenPath, fields, client)).json.access_token);
}

/** Whose a token is, as the token says it. */
function subjectOf(token = ''): string {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  return z.object({ sub: z.string() }).parse(JSON.parse(payload)).sub;
}

/** A payment, or the start of its authorisation, in the form of a platform. */
async function request(
  at: TestDoor,
  name: string,
  bank: BankDescription,
  path: string,
  fields: object,
): Promise<DoorRequest> {
  const { headers, signing, psu } = bank;
  const body = JSON.stringify(fields);
  const isSigned = signing.when !== 'never';
  const isDated = headers.date === 'always' || (headers.date === 'signed' && isSigned);
  const token = await tokenOf(at, bank);
  const sent: Record<string, string> = {
    ...START,
    accept: headers.accept,
    'content-type': headers.contentType,
    ...Object.fromEntries(
      Object.keys({ ...headers.static, ...headers.perOperation.initiatePayment }).map((header) => [
        header.toLowerCase(),
        'x',
      ]),
    ),
    ...(bank.sca.start === 'explicit' && !path.endsWith('/authorisations') && EXPLICIT),
    ...(psu.id === 'token-sub' && { 'psu-id': subjectOf(token) }),
    ...(isDated && { date: at.clock.now().toUTCString() }),
    ...(psu.idType === 'required' && { 'psu-id-type': 'ONLINE' }),
    ...(psu.id === 'required' && { 'psu-id': 'anna' }),
    ...(token !== undefined && { [bank.oauth.tokenHeader.toLowerCase()]: `Bearer ${token}` }),
  };
  const { certificate } = signing;
  const pem = at.client.read('qsealCertFile');
  const serial =
    signing.keyId.serial === 'decimal' ? BigInt(`0x${at.client.serial}`).toString() : at.client.serial;
  const named = KEY_IDS[name];
  return {
    method: 'POST',
    path,
    body,
    unsigned: !isSigned,
    algorithm: signing.algorithm,
    hash: signing.algorithm.includes('512') ? 'RSA-SHA512' : 'RSA-SHA256',
    ...(named !== undefined && { keyId: `SN=${serial}${named}` }),
    signed: [...signing.headers, ...signing.ifSent.filter((header) => sent[header] !== undefined)],
    headers: {
      ...sent,
      ...(isSigned && {
        digest: `${signing.digest}=${createHash(signing.digest === 'SHA-512' ? 'sha512' : 'sha256')
          .update(body)
          .digest('base64')}`,
      }),
      ...(isSigned &&
        certificate !== 'der' && {
          'tpp-signature-certificate':
            certificate === 'pem' ? Buffer.from(pem).toString('base64') : pem.replaceAll('\n', ''),
        }),
    },
  };
}

describe.each(Object.keys(PLATFORMS))('the platform %s', (name) => {
  test('takes a transfer and an instant one in its form, and the customer pays', async () => {
    const { description } = await readBankFile(name);
    const { interface: _interface, ...bank } = description;
    await withDoor(bank, async (at) => {
      for (const product of description.payments.products.payments) {
        const { version, paths } = description.api;
        const path =
          paths.initiatePayment ?? `${version && `/${version}`}/{payment-service}/{payment-product}`;
        const target = path.replace('{payment-service}', 'payments').replace('{payment-product}', product);
        const address = description.payments.address === 'required' ? ADDRESS : {};
        const reply = await at.client.send(
          await request(at, name, description, target, paymentBody(address)),
        );
        expect([reply.status, reply.text]).toEqual([201, expect.stringContaining('RCVD')]);
        if (description.sca.start === 'explicit') {
          const start = linkOf(reply, 'startAuthorisation').replace('/nextgenpsd2', '');
          const started = await at.client.send(await request(at, name, description, start, {}));
          expect(started.status).toBe(201);
        }
        const [open] = at.sandbox.access.open();
        if (open) at.sandbox.access.approve(open.id, ANNA);
        else viaOAuth(at, description, String(reply.json.paymentId));
      }
      expect(await debitsOf(at, 'E2E-1')).toBe(description.payments.products.payments.length);
    });
  });
});

/** The customer approves an authorization request with the scope of the payment. */
function viaOAuth(at: TestDoor, bank: BankDescription, paymentId: string): void {
  const scope = bank.oauth.scope.pis.replaceAll('{paymentId}', paymentId);
  const page = at.sandbox.access.authorize(authorizationRequest(bank, scope));
  at.sandbox.access.approve(page?.searchParams.get('request') ?? '', ANNA);
}

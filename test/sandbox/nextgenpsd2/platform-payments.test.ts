import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readBankFile } from '../../../src/bank-file/bank-file.ts';
import { PLATFORMS } from '../../../src/bank-file/platforms.ts';
import type { BankDescription } from '../../../src/bank-file/schema.ts';
import { ANNA, type DoorRequest, type TestDoor, withDoor } from './door-client.ts';
import { debitsOf, paymentBody, START } from './payment-client.ts';

const CLIENT = 'PSDIT-BI-12345';
const VERIFIER = 'a'.repeat(43);

/** Who issued the certificates, as the platforms with a form of their own write it. */
const ISSUERS: Record<string, string> = {
  adorsys: 'CN=psd2%20sandbox%20CA%20-%20not%20for%20production,C=IT',
  atruvia: 'CN=psd2sandboxCA-notforproduction,C=IT',
};

/** An access token, if the platform wants one before everything. */
async function tokenOf(at: TestDoor, { oauth }: BankDescription): Promise<string | undefined> {
  const common = { client_id: CLIENT };
  const { preStep } = oauth.scope;
  const scope = typeof preStep === 'string' ? preStep : preStep.pis;
  if (oauth.mode === 'client-credentials') {
    const fields = { ...common, grant_type: 'client_credentials', scope };
    return String((await at.client.form('/oauth/token', fields)).json.access_token);
  }
  if (oauth.mode !== 'pre-step') return undefined;
  const redirect_uri = 'https://tpp.example/back';
  const page = at.sandbox.access.authorize(
    new URLSearchParams({
      ...common,
      redirect_uri,
      response_type: 'code',
      scope,
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    }),
  );
  const back = at.sandbox.access.approve(page?.searchParams.get('request') ?? '', ANNA).returnTo;
  const code = back?.searchParams.get('code') ?? '';
  const fields = { ...common, grant_type: 'authorization_code', code, redirect_uri, code_verifier: VERIFIER };
  return String((await at.client.form('/oauth/token', fields)).json.access_token);
}

/** A payment in the form of a platform. */
async function request(
  at: TestDoor,
  name: string,
  bank: BankDescription,
  product: string,
): Promise<DoorRequest> {
  const { headers, signing, psu } = bank;
  const body = JSON.stringify(
    paymentBody(
      bank.payments.address === 'required' ? { creditorAddress: { townName: 'Berlin', country: 'DE' } } : {},
    ),
  );
  const isSigned = signing.when !== 'never';
  const isDated = headers.date === 'always' || (headers.date === 'signed' && isSigned);
  const token = await tokenOf(at, bank);
  const sent: Record<string, string> = {
    ...START,
    accept: headers.accept,
    'content-type': headers.contentType,
    ...Object.fromEntries(Object.keys(headers.static).map((header) => [header.toLowerCase(), 'x'])),
    ...(isDated && { date: at.clock.now().toUTCString() }),
    ...(psu.idType === 'required' && { 'psu-id-type': 'ONLINE' }),
    ...(psu.id === 'required' && { 'psu-id': 'anna' }),
    ...(token !== undefined && { [bank.oauth.tokenHeader.toLowerCase()]: `Bearer ${token}` }),
  };
  const { certificate } = signing;
  const pem = at.client.read('qsealCertFile');
  const serial =
    signing.keyId.serial === 'decimal' ? BigInt(`0x${at.client.serial}`).toString() : at.client.serial;
  const issuer = ISSUERS[name];
  return {
    method: 'POST',
    path: (
      bank.api.paths.initiatePayment ??
      `${bank.api.version && `/${bank.api.version}`}/{payment-service}/{payment-product}`
    )
      .replace('{payment-service}', 'payments')
      .replace('{payment-product}', product),
    body,
    unsigned: !isSigned,
    ...(issuer !== undefined && { keyId: `SN=${serial},CA=${issuer}` }),
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
        const reply = await at.client.send(await request(at, name, description, product));
        expect([reply.status, reply.text]).toEqual([201, expect.stringContaining('RCVD')]);
        const [open] = at.sandbox.access.open();
        if (open) at.sandbox.access.approve(open.id, ANNA);
        else viaOAuth(at, description, String(reply.json.paymentId));
      }
      expect(await debitsOf(at, 'E2E-1')).toBe(description.payments.products.payments.length);
    });
  });
});

/** The customer approves an authorization request with the scope of the payment. */
function viaOAuth(at: TestDoor, { oauth }: BankDescription, paymentId: string): void {
  const page = at.sandbox.access.authorize(
    new URLSearchParams({
      client_id: CLIENT,
      redirect_uri: 'https://tpp.example/back',
      response_type: 'code',
      scope: oauth.scope.pis.replaceAll('{paymentId}', paymentId),
      ...(oauth.pkce === 'S256' && {
        code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
        code_challenge_method: 'S256',
      }),
    }),
  );
  at.sandbox.access.approve(page?.searchParams.get('request') ?? '', ANNA);
}

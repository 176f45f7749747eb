import { createHash, sign } from 'node:crypto';
import { Agent } from 'node:https';
import axios, { AxiosHeaders, type InternalAxiosRequestConfig } from 'axios';
import { OpenAPIClientAxios } from 'openapi-client-axios';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type TestDoor, useDoor } from '../door-client.ts';
import { descriptionAt } from './description.ts';
import { type Call, readAndPay } from './walk.ts';

const door = await useDoor({}, [], { strict: false });

/**
 * Signs what axios is about to send, as a program without psd2's habits may do it: more headers, in its own order, with blanks
 * between the parts. All other headers are those of axios.
 */
function signed(config: InternalAxiosRequestConfig, { client }: TestDoor): InternalAxiosRequestConfig {
  const { method = 'get', data = '', baseURL = '' } = config;
  const headers = AxiosHeaders.from(config.headers);
  const url = new URL(axios.getUri(config), baseURL);
  headers.set('Digest', `SHA-256=${createHash('sha256').update(String(data)).digest('base64')}`);
  headers.set('TPP-Signature-Certificate', client.seal.raw.toString('base64'));
  headers.set('Date', new Date().toUTCString());
  const sent = ['PSU-ID', 'TPP-Redirect-URI'].filter((name) => headers.has(name));
  const names = ['(request-target)', 'Date', 'X-Request-ID', ...sent, 'Accept', 'Digest'];
  const textOf = (name: string) =>
    name === '(request-target)' ? `${method} ${url.pathname}${url.search}` : String(headers.get(name));
  const lines = names.map((name) => `${name.toLowerCase()}: ${textOf(name)}`);
  const signature = sign('RSA-SHA256', Buffer.from(lines.join('\n')), client.read('qsealKeyFile'));
  const issuer = client.seal.issuer.split('\n').reverse().join(', ');
  const keyId = `SN=${client.seal.serialNumber}, CA=${issuer}`;
  headers.set(
    'Signature',
    `algorithm="rsa-sha256", keyId="${keyId}", signature="${signature.toString('base64')}", headers="${names.join(' ')}"`,
  );
  return { ...config, headers };
}

const operations = z.record(
  z.string(),
  z.custom<(...call: unknown[]) => Promise<unknown>>((one) => typeof one === 'function'),
);

test('a client that a generator makes of an OpenAPI description reads accounts and pays', async () => {
  const { client, sandbox } = door;
  const httpsAgent = new Agent({
    ca: client.read('caFile'),
    cert: client.read('qwacCertFile'),
    key: client.read('qwacKeyFile'),
  });
  const http = axios.getAdapter('http');
  const api = new OpenAPIClientAxios({
    definition: descriptionAt(`${sandbox.baseUrl}/nextgenpsd2`),
    axiosConfigDefaults: {
      httpsAgent,
      validateStatus: () => true,
      adapter: (config) => http(signed(config, door)),
    },
  });
  const generated = await api.init();
  const answers = z.object({ status: z.number(), data: z.unknown() });
  const call: Call = async (operationId, values, body) => {
    const make = operations.parse({ [operationId]: Reflect.get(generated, operationId) })[operationId];
    const { status, data } = answers.parse(await make?.(values, body));
    return { status, body: data };
  };
  await readAndPay(call);
  httpsAgent.destroy();
  expect(sandbox.access.open()).toEqual([]);
});

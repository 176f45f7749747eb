import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { doorBankFile, writeDoorBankFile } from '../../../src/sandbox/folder/door-bank-file.ts';
import { standardDoor } from '../../../src/sandbox/nextgenpsd2/door-rules.ts';

const folder = await mkdtemp(join(tmpdir(), 'psd2-door-'));
afterAll(() => rm(folder, { recursive: true }));

const { description } = standardDoor;
const addresses = {
  ...{ baseUrl: 'https://door/api', metadata: 'https://door/metadata' },
  ...{ authorization: 'https://door/authorize', token: 'https://door/token' },
};
const { metadata: _m, authorizationEndpoint: _a, tokenEndpoint: _t, ...bare } = description.oauth;

type OAuth = typeof description.oauth;

async function written(oauth: OAuth): Promise<unknown> {
  await writeDoorBankFile(folder, { ...description, oauth }, addresses);
  return JSON.parse(readFileSync(doorBankFile(folder), 'utf8'));
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test.each<[what: string, has: Partial<OAuth>, becomes: object]>([
  ['OAuth and no addresses', { mode: 'integrated' }, { metadata: addresses.metadata }],
  ['no OAuth', { mode: 'none' }, {}],
  ['no OAuth, and metadata', { mode: 'none', metadata: 'https://bank/m' }, { metadata: addresses.metadata }],
  [
    'an authorization endpoint',
    { mode: 'none', authorizationEndpoint: 'https://bank/a' },
    { authorizationEndpoint: addresses.authorization },
  ],
  ['a token endpoint', { mode: 'none', tokenEndpoint: 'https://bank/t' }, { tokenEndpoint: addresses.token }],
  [
    'a token endpoint with a query',
    { mode: 'none', tokenEndpoint: 'https://bank/t?realm=psd2' },
    { tokenEndpoint: `${addresses.token}?realm=psd2` },
  ],
])('a bank with %s gets the addresses of the door in their place', async (_, has, becomes) => {
  const oauth: OAuth = { ...bare, ...has };
  expect(await written(oauth)).toEqual({
    ...Object(asJson(description)),
    api: { ...Object(asJson(description.api)), baseUrl: addresses.baseUrl },
    oauth: { ...Object(asJson(oauth)), ...becomes },
  });
});

test('the file is for its user alone, in lines, and the only one of its folder', async () => {
  await written(description.oauth);
  expect(doorBankFile(folder)).toBe(join(folder, 'nextgenpsd2-bank.json'));
  expect(statSync(doorBankFile(folder)).mode & 0o777).toBe(0o600);
  expect(readFileSync(doorBankFile(folder), 'utf8')).toMatch(/^\{\n {2}".*\n\}\n$/s);
  expect(readdirSync(folder)).toEqual(['nextgenpsd2-bank.json']);
});

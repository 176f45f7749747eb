import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { platformNames } from '../../../src/bank-file/platforms.ts';
import { readBankFile } from '../../bank-file/described.ts';
import { newDoor } from './door-client.ts';

describe.each(platformNames())('the platform %s', (name) => {
  test('the door plays it, and writes a bank file with its own addresses', async () => {
    const { description } = await readBankFile(name);
    const { interface: _interface, ...bank } = description;
    const { sandbox, client } = await newDoor(bank);
    const file = join(sandbox.registration.caFile, '../../nextgenpsd2-bank.json');
    const written = await readBankFile(file);
    const own = `${sandbox.baseUrl}/nextgenpsd2`;
    const { api, oauth } = written.description;
    expect(api).toEqual({ ...description.api, baseUrl: own });
    expect(oauth).toEqual({
      ...description.oauth,
      ...(oauth.metadata !== undefined && { metadata: `${own}/.well-known/oauth-authorization-server` }),
      ...(oauth.tokenEndpoint !== undefined && {
        tokenEndpoint: `${own}/oauth/token${new URL(description.oauth.tokenEndpoint ?? own).search}`,
      }),
      ...(oauth.authorizationEndpoint !== undefined && {
        authorizationEndpoint: `${sandbox.customerSiteUrl}/nextgenpsd2/authorize`,
      }),
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ signing: description.signing });
    expect((await client.get('/nowhere')).status).toBe(404);
  });
});

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CUSTOMER, keepRunning, PROGRAM, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());

it('the environment alone makes the profile "env", which psd2 does not store', async () => {
  const config = join(operator.folder, 'env-config');
  const script = `
      set -euo pipefail
      psd2() { "$NODE" "$PROGRAM" "$@"; }
      eval "$(psd2 sandbox env)"
      unset PSD2_PROFILE
      export PSD2_CONFIG_DIR=$ELSEWHERE
      psd2 auth login --json
      psd2 accounts list --json
      psd2 auth login --client-credentials --json
      psd2 accounts list --grant client_credentials --json`;
  const bash = await operator.startProgram('bash', ['-c', script], {
    NODE: process.execPath,
    PROGRAM,
    ELSEWHERE: config,
    PSD2_BROWSER: CUSTOMER,
  });
  const ended = await bash.ended;
  expect(ended.code, ended.stderr).toBe(0);
  const [login = '', accounts = '', ownLogin = '', ownAccounts = ''] = ended.stdout.split('\n');
  expect(readDocument(shapes.login, `${login}\n`)).toMatchObject({
    profile: 'env',
    customerId: '1048262',
  });
  expect(readDocument(shapes.accounts, `${accounts}\n`)).toHaveLength(3);
  expect(readDocument(shapes.applicationLogin, `${ownLogin}\n`)).toMatchObject({
    profile: 'env',
    grantType: 'client_credentials',
    refreshTokenExpiresAt: null,
  });
  expect(ownAccounts).toBe(accounts);
  expect(readdirSync(config)).not.toContain('profiles');
  expect(readdirSync(join(config, 'tokens'))).toEqual(['env']);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CUSTOMER, type Environment, keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const own = (name: string) => join(operator.folder, name);

/** A script that records its environment, and then runs its lines. */
function script(name: string, ...lines: string[]): string {
  const text = ['#!/bin/sh', `env > '${own(`${name}.env`)}'`, ...lines, ''].join('\n');
  writeFileSync(own(name), text, { mode: 0o700 });
  return `"${own(name)}"`;
}

/** The names of psd2's variables in an environment, and of one other variable. */
const variablesIn = (text: string) =>
  text
    .split(/[\n\0]/)
    .map((line) => line.split('=', 1)[0] ?? '')
    .filter((name) => name.startsWith('PSD2_') || name === 'HSM_PIN')
    .sort();

const SECRETS: Environment = {
  PSD2_CC_CLIENT_SECRET: 'hush',
  PSD2_KEY_PASSPHRASE: 'hush',
  PSD2_CONFIG_PASSPHRASE: 'hush',
  PSD2_PAGER: 'less --password hush',
  HSM_PIN: '271828',
};

describe('a program that psd2 starts', () => {
  it('the payee check, the signer and the browser get only the psd2 variables that they need', async () => {
    const key = join(operator.config, 'sandbox/certificates/qseal-key.pem');
    const env: Environment = {
      ...SECRETS,
      PSD2_SIGNER: `${script('signer', `openssl dgst -sha256 -sign '${key}' | openssl base64 -A`)} --pin hush`,
      PSD2_PAYEE_CHECK: `${script('payee-check', 'cat > /dev/null', `echo '{"result":"match"}'`)} --token hush`,
      PSD2_BROWSER: `${script('browser', `exec ${CUSTOMER} "$2"`)} hush`,
    };
    const transfer = await operator.json(
      shapes.transfer,
      words`transfer --from 0010482620 --to DE89370400440532013000 --name ${'Ada Lovelace'} --amount 3.00
        --yes`,
      { env },
    );
    expect(transfer.state).toBe('executed');
    const got = (name: string) => variablesIn(readFileSync(own(`${name}.env`), 'utf8'));
    expect(got('signer')).toEqual(['HSM_PIN']);
    expect(got('payee-check')).toEqual(['HSM_PIN']);
    expect(got('browser')).toEqual(['HSM_PIN', 'PSD2_CONFIG_DIR']);
  });

  it.runIf(process.platform === 'linux')(
    'the sandbox that stays in the background gets only the psd2 variables that it needs',
    async () => {
      const env: Environment = {
        ...SECRETS,
        PSD2_CLIENT_SECRET: 'hush',
        PSD2_CONFIG_DIR: own('other-config'),
      };
      const started = await operator.json(
        z.looseObject({ pid: z.number() }),
        ['sandbox', 'start', '--detach', '--port', '0'],
        {
          env,
        },
      );
      try {
        expect(variablesIn(readFileSync(`/proc/${started.pid}/environ`, 'utf8'))).toEqual([
          'HSM_PIN',
          'PSD2_CONFIG_DIR',
          'PSD2_CONFIG_PASSPHRASE',
        ]);
      } finally {
        await operator.psd2(['sandbox', 'stop'], { env });
      }
    },
  );
});

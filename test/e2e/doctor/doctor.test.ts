import { readFileSync } from 'node:fs';
import module from 'node:module';
import { expect, it } from 'vitest';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { tokensFile } from '../support/tokens-file.ts';
import { callsOf } from '../support/verbose.ts';

const operator = keepRunning(useLoggedIn());

it('psd2 doctor passes for a correct setup, with one call and without spending a token', async () => {
  const tokens = tokensFile(operator.config);
  const before = readFileSync(tokens, 'utf8');
  const ended = await operator.succeeds(['doctor', '--json', '--verbose']);
  const { ok, checks } = readDocument(shapes.checks, ended.stdout);
  expect(ok).toBe(true);
  const skipped = checks.filter(({ status }) => status !== 'ok').map(({ name, status }) => [name, status]);
  const keepsCode = 'enableCompileCache' in module;
  expect(skipped).toEqual([
    ...(keepsCode ? [] : [['compiled code', 'skip']]),
    ['signer', 'skip'],
    ['DNS', 'skip'],
  ]);
  expect(callsOf(ended).map(({ path }) => path)).toEqual(['/auth/oauth/v2/authorize']);
  expect(readFileSync(tokens, 'utf8')).toBe(before);
});

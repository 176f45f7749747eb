import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { shellOf } from '../../docs/pages.ts';
import { useDoor } from '../nextgenpsd2/door-operator.ts';
import { type Operator, PROGRAM, useLoggedIn } from '../support/psd2.ts';

// The script that docs/pipelines.md prints, and a customer who authorises after psd2 has stopped.

const [PAY, RESUME] = shellOf('docs/pipelines.md')
  .filter(({ heading }) => heading === 'Pay, and know what happened')
  .map(({ text }) => text);
const operators = { cb: useLoggedIn(), 'a NextGenPSD2 bank': useDoor({ payments: {} }) };

/** Runs shell with `psd2` on its path. @returns what it printed */
async function runsShell(operator: Operator, script: string): Promise<string> {
  const folder = join(operator.folder, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'psd2'), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, {
    mode: 0o755,
  });
  const bash = await operator.startProgram('bash', ['-c', `set -Eeuo pipefail\n${script}`], {
    ...{ PATH: `${folder}:${process.env.PATH}`, PSD2_NO_INPUT: '1' },
    ...{ PSD2_BROWSER: 'none', PSD2_SCA_TIMEOUT: '2' },
  });
  const { code, stdout, stderr } = await bash.ended;
  expect(code, stderr).toBe(0);
  return stdout;
}

it.each([
  ['cb', 'not paid: the customer refused. If they only were late, resume it'],
  ['a NextGenPSD2 bank', 'open: somebody can still authorise it at the bank. Resume or cancel it'],
] as const)('the printed script at %s calls no payment over whose customer is late: %s', async (at, says) => {
  const operator = operators[at];
  if (at !== 'cb') await operator.succeeds(['consent', 'request']);
  const { stdout: account } = await operator.succeeds([
    ...['accounts', 'list', '--query', '[0].accountId', '--raw-output'],
  ]);
  expect(await runsShell(operator, `ACCOUNT=${account}\n${PAY}`)).toBe(`${says}\n`);
  const told = readFileSync(join(operator.folder, 'error.json'), 'utf8');
  const [, address = ''] = /"event":"open","url":"([^"]+)"/.exec(told) ?? [];
  await operator.succeeds(['sandbox', 'customer', address]);
  await runsShell(operator, `${RESUME}`);
  const paid: unknown = JSON.parse(readFileSync(join(operator.folder, 'transfer.json'), 'utf8'));
  expect(z.looseObject({ state: z.string() }).parse(paid).state).toMatch(/^(executed|settled)$/);
});

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PROGRAM, useOperator } from '../support/psd2.ts';

const SMOKE = fileURLToPath(new URL('smoke.sh', import.meta.url));
const operator = useOperator();

it('smoke.sh takes a payment from login to settled, and cleans up', async () => {
  const bash = await operator.startProgram('bash', [SMOKE], {
    PSD2: `${process.execPath} ${PROGRAM}`,
    PSD2_CONFIG_DIR: undefined,
    PSD2_BROWSER: undefined,
  });
  const { code, stdout, stderr } = await bash.ended;
  expect(code, `${stdout}\n${stderr}`).toBe(0);
  expect(stdout).toMatch(/^smoke: settled \d+\n$/);
  expect(readdirSync(operator.temporary)).toEqual([]);
});

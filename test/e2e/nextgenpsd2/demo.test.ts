import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useOperator } from '../support/psd2.ts';

const operator = useOperator();

it('psd2 demo --interface nextgenpsd2 shows a login, a consent and readings, and leaves nothing behind', async () => {
  const { code, stdout, stderr } = await operator.psd2(['demo', '--interface', 'nextgenpsd2']);
  expect(code, stderr).toBe(0);
  expect([...stderr.matchAll(/^\$ psd2 (\w+(?: [a-z]+)?)/gm)].map(([, step]) => step)).toEqual([
    'sandbox start',
    'auth login',
    'consent request',
    'accounts list',
    'accounts balance',
    'accounts transactions',
  ]);
  const [, accountId] = /^\$ psd2 accounts balance (\d+)$/m.exec(stderr) ?? [];
  expect(stdout).toContain(`Product id\t${accountId}`);
  expect(stdout).toMatch(/^Account balance\t[\d.]+ EUR$/m);
  expect(stderr).toContain('Payments over this interface come in a later version.');
  expect(readdirSync(operator.temporary)).toEqual([]);
  expect(readdirSync(operator.home)).toEqual([]);
});

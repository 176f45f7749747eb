import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useOperator, words } from '../support/psd2.ts';

const operator = useOperator();

it('psd2 demo --interface nextgenpsd2 shows a login, a consent, readings, a payment and a smoke test, and leaves nothing behind', async () => {
  const { stdout, stderr } = await operator.succeeds(['demo', '--interface', 'nextgenpsd2']);
  expect(
    [...stderr.matchAll(/^\$ psd2 (\w+(?: [a-z]+)?)/gm)].map(([, step]) => step),
  ).toEqual(words`${'sandbox start'}
    ${'auth login'} ${'consent request'} ${'accounts list'} ${'accounts balance'}
    ${'accounts transactions'} transfer ${'accounts balance'} smoke`);
  const [, accountId] = /^\$ psd2 accounts balance (\d+)$/m.exec(stderr) ?? [];
  expect(stdout).toContain(`accountId\t${accountId}`);
  expect(stdout).toMatch(/^accountBalance\.amount\t[\d.]+$/m);
  expect(stderr).toContain('The instant transfer over NextGenPSD2 is settled.');
  expect(readdirSync(operator.temporary)).toEqual([]);
  expect(readdirSync(operator.home)).toEqual([]);
});

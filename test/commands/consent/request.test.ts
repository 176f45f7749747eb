import { expect, it } from 'vitest';
import * as z from 'zod';
import { useOperatorHere } from '../operator.ts';

const operator = useOperatorHere({ consents: 'enforced' });
it('a consent that the customer grants ends the refusal that psd2 status shows', async () => {
  await operator.logIn('bruno');
  const product = '0020739150';
  await expect(operator.run(['accounts', 'balance', product])).rejects.toMatchObject({ code: 'forbidden' });
  await expect(operator.run(['status'])).rejects.toMatchObject({ code: 'needs_attention' });
  const request = ['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', product];
  await operator.runApproved(request, 'bruno');
  const { attention } = await operator.json(z.object({ attention: z.array(z.unknown()) }), ['status']);
  expect(attention).toEqual([]);
});

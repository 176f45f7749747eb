import { expect, it } from 'vitest';
import * as z from 'zod';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow } from '../access.ts';
import { useOperatorHere } from '../operator.ts';

const temporary = temporaryFolder();
const operator = useOperatorHere({ consents: 'enforced' });
const CONSENTS = z.array(
  z.object({
    categories: z.array(z.object({ name: z.string(), products: z.array(z.string()) })),
    createdAt: z.string(),
    updatedAt: z.string(),
    expiresAt: z.nullable(z.string()),
  }),
);

it('a category and a product that are named twice are asked for once', async () => {
  await operator.logIn('anna');
  const [first, second] = ['0010482620', '0010482638'];
  const products = [first, second, first].flatMap((product) => ['--account', product]);
  const categories = ['ACCOUNT_INFO', 'PAYMENTS', 'ACCOUNT_INFO'].flatMap((name) => ['--category', name]);
  await operator.runApproved(['consent', 'request', ...categories, ...products], 'anna');
  const [consent] = await operator.json(CONSENTS, ['consent', 'list']);
  expect(consent?.categories).toMatchObject([
    { name: 'ACCOUNT_INFO', products: [first, second] },
    { name: 'PAYMENTS', products: [first, second] },
  ]);
});

it('a consent that the customer grants ends the refusal that psd2 status shows', async () => {
  operator.folder = newConfigFolder(temporary);
  await operator.logIn('bruno');
  const product = '0020739150';
  await expect(operator.run(['accounts', 'balance', product])).rejects.toMatchObject({ code: 'forbidden' });
  await expect(operator.run(['status'])).rejects.toMatchObject({ code: 'needs_attention' });
  const request = ['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', product];
  await operator.runApproved(request, 'bruno');
  const { attention } = await operator.json(z.object({ attention: z.array(z.unknown()) }), ['status']);
  expect(attention).toEqual([]);
});

it('the list says when a consent was granted, not when it was asked for', async () => {
  const { clock } = operator.bank;
  operator.folder = newConfigFolder(temporary);
  const asked = clock.now();
  const { context } = operator.open();
  const { flows } = await context.store();
  const outcomes = [{ name: 'PAYMENTS', outcome: true }];
  const flow = await storeConsentFlow(context, { categories: [{ name: 'PAYMENTS', products: [] }] });
  await flows.resume('consent', flow, async (open) => {
    clock.advance(60_000);
    await open.record({ type: 'requested', resourceId: 'r1', outcomes });
    clock.advance(60_000);
    await open.record({ type: 'confirmed' });
  });
  const granted = clock.now();
  clock.advance(60_000);
  const [consent] = await operator.json(CONSENTS, ['consent', 'list']);
  const end = new Date(granted.getTime() + 180 * 24 * 60 * 60 * 1000);
  expect(consent).toMatchObject({
    createdAt: asked.toISOString(),
    updatedAt: granted.toISOString(),
    expiresAt: end.toISOString(),
  });
  const table = (await operator.run(['consent', 'list'], { format: 'table' })).printed();
  expect(table.trimEnd().split('\t').slice(4)).toEqual([granted.toISOString(), '180', '1000001']);
});

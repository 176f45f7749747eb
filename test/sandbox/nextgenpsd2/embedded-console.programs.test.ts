import { describe, expect, test } from 'vitest';
import { useQuietPages } from '../quiet-pages.ts';
import { useDoor } from './door-client.ts';
import { follow, method, pin, tan, tanOf } from './embedded-client.ts';
import { initiate } from './payment-client.ts';

const door = await useDoor({}, ['embedded']);

describe('the console in Chromium, while a TPP asks for PIN and TAN', () => {
  const pages = useQuietPages();

  test('it shows what the customer’s device shows: text, picture, and whether the TAN is valid', async () => {
    const page = await pages.open({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${door.sandbox.customerSiteUrl}/console`);
    await page.getByRole('tab', { name: 'Flows' }).click();
    await page.getByText('requests that wait for a customer').first().waitFor();
    expect(await page.getByText('Devices of customers').count()).toBe(0);
    const reply = await initiate(door, {}, { headers: { 'psu-id': 'anna' } });
    const known = await follow(door, reply, 'updatePsuAuthentication', pin());
    const chosen = await follow(door, known, 'selectAuthenticationMethod', method('904'));
    const picture = page.getByAltText('the picture that was scanned');
    await picture.waitFor();
    expect((await picture.boundingBox())?.width).toBeGreaterThan(80);
    const code = await tanOf(door);
    await page
      .getByText(`photoTAN: 12.50 EUR to Beta GmbH, DE02 1203 0000 0000 2020 51. TAN ${code}`)
      .waitFor();
    await page.getByRole('cell', { name: 'valid', exact: true }).waitFor();
    await follow(door, chosen, 'authoriseTransaction', tan(code));
    await page.getByRole('cell', { name: 'not valid any more' }).waitFor();
  });
});

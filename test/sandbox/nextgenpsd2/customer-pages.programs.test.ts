import { afterAll, describe, expect, test } from 'vitest';
import { companyCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import { serve } from '../fake-bank.ts';
import { useQuietPages } from '../quiet-pages.ts';
import { askConsent, authorisationOf, type DoorReply, SAVINGS, useDoor } from './door-client.ts';
import { initiate, SCT } from './payment-client.ts';

const tpp = await serve((_, response) => response.end('<title>Back</title>'));
afterAll(() => tpp.close());
const CALLBACK = `${tpp.origin}/callback`;

const door = await useDoor(
  { sca: { approaches: ['redirect', 'decoupled'] }, payments: { futureDays: 3650 } },
  ['company-account'],
);

async function statusOf({ json }: DoorReply): Promise<unknown> {
  return (await door.client.get(`/v1/consents/${json.consentId}/status`)).json.consentStatus;
}

describe("the second door's pages in Chromium, without scripts", () => {
  const pages = useQuietPages();
  const open = () => pages.open({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });

  test('a customer chooses the accounts that the bank offers, and goes back', async () => {
    const page = await open();
    const reply = await askConsent(door, { access: { balances: [] } }, { 'tpp-redirect-uri': CALLBACK });
    await page.goto(String(reply.json._links?.scaRedirect?.href));
    await page.getByLabel('User').fill('anna');
    await page.getByLabel('Password').fill('anna-sandbox');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sandbox TPP asks for access to your accounts' }).waitFor();
    await page.getByText('It may see the account, its balance.').first().waitFor();
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
    await page.getByLabel(SAVINGS).check();
    await page.getByRole('button', { name: 'Approve consent', exact: true }).click();
    await page.waitForURL(CALLBACK);
    const { json } = await door.client.get('/v1/accounts', String(reply.json.consentId));
    expect(json.accounts).toMatchObject([{ resourceId: SAVINGS }]);
  });

  test('a customer approves a waiting request on the page, and withdraws the consent there', async () => {
    const page = await open();
    const asks = { 'psu-id': 'bruno', 'tpp-decoupled-preferred': 'true', 'tpp-redirect-uri': null };
    const reply = await askConsent(door, {}, asks);
    await page.goto(`${door.sandbox.customerSiteUrl}/requests`);
    await page.getByRole('button', { name: 'Continue as Bruno Conti', exact: true }).click();
    await page.getByRole('button', { name: 'Approve consent', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    expect(await statusOf(reply)).toBe('valid');
    await page.getByText('Sandbox TPP sees 3 accounts until 31 January 2027').waitFor();
    await page.getByRole('button', { name: 'Withdraw consent', exact: true }).click();
    await page.getByRole('heading', { name: 'Consents that you gave' }).waitFor({ state: 'detached' });
    expect(await statusOf(reply)).toBe('revokedByPsu');
  });

  test('the page shows a payment in full, who has authorised it, and the console has a button for the other', async () => {
    const iban = companyCustomers[0]?.products[0]?.iban ?? '';
    const payee = { name: 'Ada Lovelace', iban: 'DE89370400440532013000' };
    const reply = await initiate(door, {
      ...{ debtorAccount: { iban }, creditorName: payee.name, creditorAccount: { iban: payee.iban } },
      ...{ instructedAmount: { currency: 'EUR', amount: '4321.50' }, requestedExecutionDate: '2026-12-01' },
    });
    const page = await open();
    await page.goto(String(reply.json._links?.scaRedirect?.href));
    await page.getByRole('button', { name: 'Continue as Dora', exact: false }).click();
    await page.getByText('must authorise it too').waitFor();
    expect(await page.locator('.sum').innerText()).toBe('4,321.50 EUR\nto Ada Lovelace');
    expect(await page.getByText('1 December 2026').count()).toBe(1);
    for (const text of [
      'DE89 3704 0044 0532 0130 00',
      'Bank transfer',
      'If you did not ask for this, refuse it.',
    ])
      await page.getByText(text, { exact: true }).waitFor();
    expect(await page.getByText('sepa-credit-transfers').count()).toBe(0);
    await page.getByRole('button', { name: 'Approve payment', exact: true }).click();
    const next = `/authorise?request=next-${authorisationOf(reply)}`;
    const emils = await pages.open({ javaScriptEnabled: false });
    await emils.goto(`${door.sandbox.customerSiteUrl}${next}`);
    await emils.getByRole('button', { name: 'Continue as Emil', exact: false }).click();
    await emils.getByText('Your approval completes it.').waitFor();
    const owner = await pages.open({});
    await owner.goto(`${door.sandbox.customerSiteUrl}/console#flows`);
    await owner.getByRole('button', { name: 'Approve as emil', exact: true }).click();
    await owner.getByText('Approve as emil: done.').waitFor();
    expect((await door.client.get(`${SCT}/${reply.json.paymentId}/status`)).json.transactionStatus).toBe(
      'ACTC',
    );
  });

  test('the console shows what waits, and its button decides', async () => {
    const page = await pages.open({});
    await page.goto(`${door.sandbox.customerSiteUrl}/console#flows`);
    const reply = await askConsent(door, {}, { 'tpp-redirect-uri': CALLBACK });
    await page.getByText(authorisationOf(reply)).waitFor();
    await page.getByText(`${door.sandbox.baseUrl}/nextgenpsd2`).waitFor();
    const [back] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Approve as carla', exact: true }).click(),
    ]);
    await back.waitForURL(CALLBACK);
    expect(await statusOf(reply)).toBe('valid');
  });
});

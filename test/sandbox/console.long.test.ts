import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { useQuietPages } from './quiet-pages.ts';
import { openTestBank, resourceOf, type TestBank } from './tpp.ts';

const CURRENT = '/private/customers/1048262/products/0010482620';
const HOSTILE = '<img src=x onerror=alert(1)>';

let bank: TestBank;
let token: string;
/** Keeps the certificates, so the sandbox makes them only once. */
const folder = mkdtempSync(join(tmpdir(), 'psd2-console-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(async () => {
  bank = await openTestBank({ folder });
  token = (await bank.tpp.login()).accessToken;
});
afterEach(() => bank.close());

const consoleUrl = () => `${bank.sandbox.customerSiteUrl}/console`;

async function verifyTransfer(): Promise<string> {
  return resourceOf(await bank.tpp.verifyTransfer(token, { amount: '12.50' }));
}

async function scaState(id: string): Promise<unknown> {
  const { json } = await bank.tpp.send({ path: `/private/operations/${id}/status`, token });
  return json.data?.authorizationStatus;
}

describe('the console in Chromium', () => {
  const pages = useQuietPages();
  let page: Page;

  beforeEach(async () => {
    page = await pages.open({ viewport: { width: 1280, height: 800 } });
    await page.goto(consoleUrl());
    await page.getByText('live', { exact: true }).waitFor();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const rows = () => page.getByRole('option');
  const detail = () => page.getByRole('article', { name: 'The selected call' });

  test('the console shows earlier calls and new ones without a reload', async () => {
    expect(await rows().count()).toBe(2);
    await bank.tpp.send({ path: '/private/customers/1048262/accounts', token });
    await rows().nth(2).waitFor();
    expect(await rows().first().innerText()).toMatch(/GET[\s\S]*\/accounts[\s\S]*200[\s\S]*served/);
    await expect(
      bank.tpp.send({ path: '/x', token, headers: { 'X-Sandbox-Fault': 'cut-after-effect' } }),
    ).rejects.toThrow();
    await rows().nth(3).waitFor();
    expect(await rows().first().innerText()).toMatch(/cut[\s\S]*ENDPOINT_UNKNOWN/);
  });

  test('the console marks where a signing string first differs, and names the mistake', async () => {
    const path = `${CURRENT}/transactions/retrieve?dateFrom=01%2F11%2F2026`;
    await bank.tpp.send({ path, token, signedTarget: `get ${decodeURIComponent(path)}` });
    await rows().nth(2).waitFor();
    await page.keyboard.press('j');
    await detail().getByText('400 · SIGNATURE_INVALID').waitFor();
    await detail().getByText('(request-target) is percent-decoded.').waitFor();
    expect(await detail().getByLabel('first difference').allInnerTexts()).toEqual(['%', '/']);
    const computed = await detail().getByLabel('What the bank computed').innerText();
    // The reason and the bodies come before the signing strings.
    const text = await detail().innerText();
    const parts = ['percent-decoded', 'Request', 'Answer', 'Signing string'];
    const places = parts.map((part) => text.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(computed).toContain(`(request-target): get ${path}\ntpp-request-id: `);
  });

  test('a call shows certificates, digest, request and answer, but only the beginning of tokens', async () => {
    await verifyTransfer();
    await rows().nth(2).waitFor();
    await page.keyboard.press('j');
    await detail().getByText('200 · served').waitFor();
    const text = await detail().innerText();
    expect(text).toContain('The signature is valid.');
    expect(text).toContain('Matches the body.');
    for (const fact of ['PSDIT-BI-12345', 'PSP_AI, PSP_PI, PSP_IC', 'Bank of Italy, IT-BI', 'eseal'])
      expect(text).toContain(fact);
    expect(text).toContain(`POST ${CURRENT}/moneyTransfer/verify HTTP/1.1`);
    expect(text).toContain('"beneficiaryName":"Ada Lovelace"');
    expect(text).toContain('psd2-sandbox, customer 1048262');
    for (const _ of [1, 2]) await page.keyboard.press('j');
    await detail().getByLabel('Request GET /auth/oauth/v2/authorize').waitFor();
    await page.keyboard.press('k');
    await detail().getByLabel('Request POST /auth/oauth/v2/token').waitFor();
    const { clientSecret } = bank.tpp.registration.applications.authorizationCode;
    const seen = `${text} ${await detail().innerText()}`;
    expect(seen).toContain(`"access_token": "${token.slice(0, 6)}…"`);
    expect(seen).toContain(`Bearer ${token.slice(0, 6)}…`);
    for (const secret of [token, clientSecret]) expect(seen).not.toContain(secret);
  });

  test('the console names each call by what it does and shows a 24-hour time', async () => {
    await verifyTransfer();
    await bank.tpp.send({ path: `${CURRENT}/transactions/retrieve?nextAccounting=31`, token });
    await bank.tpp.send({ path: '/nowhere', token });
    await rows().nth(4).waitFor();
    const titles = ['/nowhere', 'transactions page 4', 'verify moneyTransfer', 'token authorization_code'];
    expect(await page.locator('#calls .title').allInnerTexts()).toEqual([...titles, 'authorise']);
    for (const time of await page.locator('#calls time').allInnerTexts())
      expect(time).toMatch(/^\d\d:\d\d:\d\d$/);
  });

  test('the console shows hostile bytes as text', async () => {
    await bank.tpp.send({
      method: 'POST',
      path: `/private/%3Cscript%3E?x=${encodeURIComponent(HOSTILE)}`,
      token,
      headers: { 'X-Evil': HOSTILE },
      body: { evil: HOSTILE },
    });
    await rows().nth(2).waitFor();
    await page.keyboard.press('j');
    await detail().getByText(`X-Evil: ${HOSTILE}`, { exact: false }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('the list, the filter and the views work with the keyboard', async () => {
    for (let call = 0; call < 3; call += 1) await bank.tpp.send({ path: `/x${call}`, token });
    await rows().nth(4).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('option', { selected: true }).innerText()).toContain('/x1');
    expect(await page.getByRole('listbox').getAttribute('aria-activedescendant')).toBe(
      await page.getByRole('option', { selected: true }).getAttribute('id'),
    );
    await page.keyboard.press('End');
    expect(await page.getByRole('option', { selected: true }).innerText()).toContain('/authorize');
    await page.keyboard.press('/');
    await page.keyboard.type('x2');
    expect(await rows().count()).toBe(1);
    await page.keyboard.press('Escape');
    expect(await rows().count()).toBe(5);
    await page.keyboard.press('/');
    await page.keyboard.type('x2');
    await page.keyboard.press('Enter');
    await detail().getByText('404 · ENDPOINT_UNKNOWN').waitFor();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('detail');
    await page.keyboard.press('3');
    await page.getByRole('tabpanel', { name: 'Accounts' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel', { name: 'Faults' }).waitFor();
    expect(await page.getByRole('tab', { selected: true }).innerText()).toBe('Faults');
  });

  test.each([
    ['Approve', 'AUTHORIZED'],
    ['Refuse', 'NOT_AUTHORIZED'],
    ['Expire', 'EXPIRED'],
  ])('the console plays the customer: %s', async (button, state) => {
    await page.keyboard.press('2');
    await page.getByText('None yet.').waitFor();
    const id = await verifyTransfer();
    await page.getByText('12.50 EUR from 0010482620 to Ada Lovelace').waitFor();
    expect(await page.getByRole('button', { name: button }).count()).toBe(0);
    await bank.tpp.startSca(token, id);
    await page.getByRole('button', { name: button }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: state, exact: true }).waitFor();
    await page.getByText(`${button}: done.`).waitFor();
    expect(await scaState(id)).toBe(state);
    // The browser went back to the provider, which does not exist in this test.
    expect(page.context().pages()).toHaveLength(button === 'Expire' ? 1 : 2);
  });

  /** The address to which a played customer's browser returns. Nothing listens there in this test. */
  async function returnOf(button: string): Promise<URL> {
    const sent = page.context().waitForEvent('request', (each) => each.url().includes('/callback'));
    await page.getByRole('button', { name: button, exact: true }).focus();
    await page.keyboard.press('Enter');
    const request = await sent;
    await page.getByText(`${button}: done.`).waitFor();
    await page.getByText('None.').first().waitFor();
    return new URL(request.url());
  }

  test('the console logs a customer in, and the code is valid', async () => {
    await page.keyboard.press('2');
    await bank.tpp.send({ path: bank.tpp.authorizePath() });
    const link = page.getByRole('link', { name: 'Open the login page' });
    expect(await link.getAttribute('href')).toMatch(/\/login\?request=[0-9a-f-]{36}$/);
    const { searchParams } = await returnOf('Log in as bruno');
    const tokens = await bank.tpp.send(bank.tpp.codeCall(searchParams.get('code') ?? ''));
    const { json } = await bank.tpp.send({
      path: '/private/customers/customerid-info',
      token: String(tokens.json.data?.access_token),
    });
    expect(json.data).toEqual({ customerid: '2073915' });
  });

  test('the console plays a customer who does not log in', async () => {
    await page.keyboard.press('2');
    await bank.tpp.send({ path: bank.tpp.authorizePath() });
    const { searchParams } = await returnOf('Refuse');
    expect(searchParams.get('error')).toBe('access_denied');
  });

  test('the list has a body that was refused for its size, with its beginning and its digest', async () => {
    const body = `{"data":"${'a'.repeat(1024 * 1024)}"}`;
    await bank.tpp.send({ method: 'POST', path: `${CURRENT}/moneyTransfer/verify`, token, body });
    await rows().nth(2).waitFor();
    await page.keyboard.press('j');
    await detail().getByText('400 · BODY_TOO_LARGE').waitFor();
    await detail().getByText('Matches the body.').waitFor();
    const text = await detail().innerText();
    expect(text).toContain(`… ${body.length} bytes in all`);
    expect(text.length).toBeLessThan(40_000);
  });

  test('the accounts view shows the ledger and follows each movement', async () => {
    await page.keyboard.press('3');
    await page.getByRole('button', { name: 'Show the ledger of 0010482620' }).click();
    await page.getByRole('table', { name: /Ledger of 0010482620/ }).waitFor();
    const id = await verifyTransfer();
    await bank.tpp.authorise(token, id);
    await bank.tpp.execute(token, id);
    await page.getByRole('cell', { name: '-12.50 EUR' }).waitFor();
    await page.locator('#customer').fill('nobody');
    await page.keyboard.press('Enter');
    const nobody = page.getByText('There is no customer nobody.');
    await nobody.waitFor();
    expect(await nobody.count()).toBe(1);
  });

  test('the faults view adds and clears faults, and resets the sandbox', async () => {
    await page.keyboard.press('4');
    await page.getByRole('radio', { name: /^status/ }).check();
    await page.getByRole('combobox', { name: 'On' }).fill('accounts');
    await page.getByLabel('Times').fill('1');
    await press('Add');
    await page.getByRole('cell', { name: 'status=503', exact: true }).waitFor();
    const path = '/private/customers/1048262/accounts';
    expect((await bank.tpp.send({ path, token })).status).toBe(503);
    expect((await bank.tpp.send({ path, token })).status).toBe(200);
    await page.getByRole('radio', { name: /^delay/ }).check();
    await page.getByLabel('Value').fill('soon');
    await press('Add');
    await page.getByText('The fault delay needs its milliseconds').waitFor();
    await press('Clear all faults');
    await page.getByText('No active faults.').waitFor();
    // Without a listener, Playwright answers no.
    await press('Reset the sandbox');
    expect((await bank.tpp.send({ path, token })).status).toBe(200);
    page.once('dialog', (dialog) => void dialog.accept());
    await press('Reset the sandbox');
    await page.getByText('The sandbox is reset.').waitFor();
    expect((await bank.tpp.send({ path, token })).status).toBe(401);
    // Chromium itself logs the 400 answer.
    pages.forgive('400 (Bad Request)');
  });

  test('the console says when the sandbox has ended', async () => {
    await bank.sandbox.close();
    const ended = page.getByText('the sandbox does not answer');
    await ended.waitFor();
    expect(await ended.count()).toBe(1);
    pages.forgive('ERR_');
  });

  test('the console fits a narrow window', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await bank.tpp.startSca(token, await verifyTransfer());
    await bank.tpp.send({ path: bank.tpp.authorizePath() });
    await rows().nth(4).waitFor();
    await page.keyboard.press('j');
    await detail().getByText('PSDIT-BI-12345').first().waitFor();
    const boxes = "[document.documentElement, ...document.querySelectorAll('[role=tabpanel], #detail')]";
    const widest = () => page.evaluate(`Math.max(...${boxes}.map((box) => box.scrollWidth))`);
    for (const [view, shown] of [
      ['calls', 'The selected call'],
      ['flows', 'Approve'],
      ['accounts', 'Show the ledger of 0010482620'],
      ['faults', 'Add'],
    ]) {
      await page.goto(`${consoleUrl()}#${view}`);
      await page
        // The label of a call has ids of chance, in which such a word may be.
        .getByLabel(shown ?? '', { exact: true })
        .or(page.getByRole('button', { name: shown ?? '', exact: true }))
        .first()
        .waitFor();
      expect(await widest()).toBe(390);
    }
  });
});

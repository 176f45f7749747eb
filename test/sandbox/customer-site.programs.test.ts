import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  consent,
  type FakeBank,
  fakeBank,
  payment,
  RESOURCE,
  type Served,
  serve,
  serveSite,
} from './fake-bank.ts';
import { useQuietPages } from './quiet-pages.ts';

let callbacks: string[];
let bank: FakeBank;
let site: Served;
let callback: Served;

beforeEach(async () => {
  callbacks = [];
  callback = await serve((request, response) => {
    if (request.url !== '/favicon.ico') callbacks.push(`${request.url} ${request.headers.referer ?? '-'}`);
    response.end('<title>Back</title>');
  });
  bank = fakeBank(`${callback.origin}/callback`);
  site = await serveSite(bank);
});

afterEach(async () => {
  await Promise.all([site.close(), callback.close()]);
});

const loginUrl = () => `${site.origin}/login?request=L1`;
const scaUrl = () => `${site.origin}/sca-authorize/?resourceId=${RESOURCE}`;

describe('the customer site in Chromium, without scripts', () => {
  const pages = useQuietPages();
  let page: Page;

  beforeEach(async () => {
    page = await pages.open({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  it('a customer who types the password and allows access returns to the provider without a referrer', async () => {
    await page.goto(loginUrl());
    expect(await page.title()).toBe('Log in · Sandbox Bank');
    await page.getByLabel('User').fill('bruno');
    await page.getByLabel('Password').fill('bruno-sandbox');
    await page.keyboard.press('Enter');
    await page.getByText('You are logged in as Bruno Conti, customer 2073915').waitFor();
    await page.getByRole('heading', { name: 'Fintrek S.r.l. asks for access to your accounts' }).waitFor();
    expect(await page.title()).toBe('Allow access · Sandbox Bank');
    await press('Allow access');
    await page.waitForURL(`${callback.origin}/callback?code=the-code&state=the-state`);
    expect(bank.decisions).toEqual(['allow L1 2073915']);
    expect(callbacks).toEqual(['/callback?code=the-code&state=the-state -']);
  });

  it('the cursor is in the field to fill in next', async () => {
    const focused = () => page.evaluate('document.activeElement.id');
    await page.goto(loginUrl());
    expect(await focused()).toBe('user');
    await page.keyboard.type('bruno');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await focused()).toBe('password');
    pages.forgive('422 (');
  });

  it('the front page links to the console and to the customers', async () => {
    await page.goto(site.origin);
    expect(await page.title()).toBe('Welcome · Sandbox Bank');
    await page.getByText('User bruno, password bruno-sandbox, customer 2073915').waitFor();
    const links = await page.getByRole('link').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    expect(links).toEqual(['', '#calls', '#flows', '#accounts', '#faults'].map((view) => `/console${view}`));
    await page.goto(`${site.origin}/nowhere`);
    await page.getByRole('link', { name: 'front page' }).click();
    await page.waitForURL(`${site.origin}/`);
    pages.forgive('404 (');
  });

  it('a customer can cancel on the login page without user or password', async () => {
    await page.goto(loginUrl());
    await press('Cancel');
    await page.waitForURL(`${callback.origin}/callback?error=access_denied&state=the-state`);
    expect(bank.decisions).toEqual(['refuse L1']);
  });

  it('the page shows a payment in full, and the customer approves it', async () => {
    await page.goto(scaUrl());
    const terms = await page.locator('dt').allTextContents();
    const values = await page.locator('dd').allInnerTexts();
    expect(Object.fromEntries(terms.map((term, at) => [term, values[at]]))).toEqual({
      Payee: 'Officina Bianchi & Figli',
      IBAN: 'IT60 X054 2811 1010 0000 0123 456',
      Amount: '1,250.40 EUR',
      Fee: '1.50 EUR',
      Total: '1,251.90 EUR',
      Type: 'Instant bank transfer',
      Date: '21 November 2026, immediately',
      Description: 'Invoice 2026/118',
      'From your account': 'IT12 A099 9001 6000 0001 0482 620\n0010482620',
    });
    await press('Approve payment');
    await page.waitForURL(`${callback.origin}/callback?state=the-state`);
    expect(bank.decisions).toEqual([`approve ${RESOURCE}`]);
  });

  it('a customer can refuse a payment that is not instant', async () => {
    bank.sca = { state: 'PENDING', request: { ...payment, instant: false, description: '' } };
    await page.goto(scaUrl());
    expect(await page.locator('dl').textContent()).not.toMatch(/instant|at once/i);
    await page.getByText('None', { exact: true }).waitFor();
    await press('Refuse');
    await page.waitForURL(`${callback.origin}/**`);
    expect(bank.decisions).toEqual([`refuse ${RESOURCE}`]);
  });

  it('the page shows a consent in plain words, and the customer approves it', async () => {
    bank.sca = { state: 'PENDING', request: consent };
    await page.goto(scaUrl());
    const text = await page.getByRole('main').textContent();
    expect(text).toContain('See your accounts');
    expect(text).toContain('Credit card · 0000093017');
    expect(text).toContain('IT12 A099 9001 6000 0001 0482 620');
    expect(text).toContain('Prepare payments from your accounts');
    expect(text).toContain('is valid for 180 days, until 20 May 2027');
    await press('Approve consent');
    await page.waitForURL(`${callback.origin}/**`);
    expect(bank.decisions).toEqual([`approve ${RESOURCE}`]);
  });

  it('the pages fit a narrow phone and follow the colour scheme', async () => {
    bank.sca.request = { ...payment, beneficiaryName: 'W'.repeat(70), description: 'x'.repeat(140) };
    for (const url of [site.origin, loginUrl(), scaUrl()]) {
      await page.goto(url);
      expect(await page.locator('html').evaluate((html) => html.scrollWidth)).toBe(320);
    }
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await background()).not.toBe(light);
  });
});

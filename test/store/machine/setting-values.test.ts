import { describe, expect, it } from 'vitest';
import {
  applicationNameOf,
  baseUrlOf,
  dailyLimitOf,
  maxAmountOf,
  type Profile,
  parseBaseUrl,
  redirectUriOf,
  staleAfterOf,
} from '../../../src/store/machine/settings.ts';
import { thrownBy } from '../../support/thrown.ts';

describe('the base URL', () => {
  it.each([
    ['https://bank.example', 'https://bank.example/'],
    ['https://bank.example/', 'https://bank.example/'],
    ['https://bank.example:8443/psd2/v1/', 'https://bank.example:8443/psd2/v1'],
    ['https://[::1]:8443', 'https://[::1]:8443/'],
    ['http://127.0.0.1:8080/api/', 'http://127.0.0.1:8080/api'],
    ['http://localhost', 'http://localhost/'],
    ['http://[::1]:8080', 'http://[::1]:8080/'],
  ])('the base URL %s is read as %s', (text, href) => {
    expect(parseBaseUrl(text).href).toBe(href);
  });

  it.each([
    ['bank.example', 'The base URL "bank.example" is not a URL'],
    ['http://127.0.0.1.bank.example', 'The base URL "http://127.0.0.1.bank.example" is not https'],
    ['ftp://localhost', 'The base URL "ftp://localhost" is not https'],
    ['http://bank.example', 'The base URL "http://bank.example" is not https'],
    ['https://bank.example/?a=1', 'The base URL "https://bank.example/?a=1" contains a query or a fragment'],
    ['https://bank.example/#a', 'The base URL "https://bank.example/#a" contains a query or a fragment'],
    ['https://bank.example/?', 'The base URL "https://bank.example/?" contains a query or a fragment'],
    ['https://bank.example/#', 'The base URL "https://bank.example/#" contains a query or a fragment'],
    ['https://me:hush@bank.example', 'The base URL contains a user name or password'],
    ['http://me:hush@bank.example', 'The base URL contains a user name or password'],
  ])('the base URL %s is refused', (text, message) => {
    expect(thrownBy(() => parseBaseUrl(text))).toMatchObject({
      code: 'config',
      message,
      hint: 'Use the form https://host[:port][/prefix].',
    });
  });

  it('the base URL of a profile is its own, or named as missing', () => {
    expect(baseUrlOf({ name: 'bank', settings: { baseUrl: 'https://bank.example/v1//' } }).href).toBe(
      'https://bank.example/v1',
    );
    expect(() => baseUrlOf({ name: 'bank', settings: {} })).toThrow('The profile "bank" has no base URL');
  });
});

const bank = (settings: Profile['settings']) => ({ name: 'bank', settings });
const limit = (ccDailyLimit?: string) => dailyLimitOf(bank({ ccDailyLimit }));
const stale = (staleAfter?: string) => staleAfterOf(bank({ staleAfter }));
const redirect = (redirectUri?: string) => redirectUriOf(bank({ redirectUri }));
const most = (maxAmount?: string) => maxAmountOf(bank({ maxAmount }));
const application = (applicationName: string) =>
  applicationNameOf(bank({ applicationName }), 'applicationName');

it('the daily limit is a whole number, or unknown', () => {
  expect([limit(), limit('1'), limit('400'), limit('999999999')]).toEqual([null, 1, 400, 999_999_999]);
});

it('data is stale after two days, or after what the operator says', () => {
  expect([stale(), stale('36h'), stale('1d')]).toEqual([172_800_000, 129_600_000, 86_400_000]);
});

it('the redirect URI has a default, and is kept exactly as registered', () => {
  expect(redirect()).toBe('http://127.0.0.1:8910/callback');
  for (const uri of ['https://tpp.example/back?to=psd2', 'http://localhost:80/cb'])
    expect(redirect(uri)).toBe(uri);
});

it('the largest amount of a transfer has at most nine digits and two decimals, or there is none', () => {
  for (const amount of ['0', '7', '500', '500.5', '500.05', '999999999.99'])
    expect(most(amount)).toBe(amount);
  expect(most()).toBeNull();
});

it('an application name goes into the Signature header as registered', () => {
  expect(application('My App (v2) ~ test!')).toBe('My App (v2) ~ test!');
  expect(applicationNameOf(bank({ ccApplicationName: 'Other' }), 'ccApplicationName')).toBe('Other');
});

const REFUSED = [
  {
    ...{ what: 'daily limit', read: limit, hint: 'Check PSD2_CC_DAILY_LIMIT.' },
    texts: ['0', '-1', '4.5', 'many', '', '1000000000', '007', '5 a day'],
    message: (text: string) => `The daily limit ${JSON.stringify(text)} is not a whole number from 1`,
  },
  {
    ...{ what: 'age', read: stale, hint: expect.any(String), message: () => expect.any(String) },
    texts: ['0d', '2', 'two days', '-1d'],
  },
  {
    ...{ what: 'redirect URI', read: redirect },
    texts: [
      'callback',
      'ftp://127.0.0.1/',
      'myapp://callback',
      'https://tpp.example/#x',
      'https://tpp.example/back#',
    ],
    message: (text: string) => `The redirect URI "${text}" is not an http or https URL without a fragment`,
    hint: 'Set PSD2_REDIRECT_URI, for example to http://127.0.0.1:8910/callback; it must be registered at the bank.',
  },
  {
    ...{ what: 'redirect URI with a port that browsers refuse', read: redirect },
    texts: ['http://127.0.0.1:6000/callback'],
    message: (text: string) => `The redirect URI "${text}" has the port 6000, which browsers refuse to open`,
    hint: 'Use another port, as in http://127.0.0.1:8910/callback (PSD2_REDIRECT_URI or the profile); it must be registered at the bank.',
  },
  {
    ...{ what: 'redirect URI with a line break', read: redirect, hint: expect.any(String) },
    texts: ['http://127.0.0.1:8910/\ncallback'],
    message: () => 'The redirect URI contains a line break or another control character',
  },
  {
    ...{ what: 'largest amount', read: most },
    texts: [
      '',
      '1000000000',
      '500.',
      '500.005',
      '.50',
      '+500',
      '-500',
      '500,00',
      '5e2',
      '500 EUR',
      'EUR 500',
      '٣',
      '500\n',
    ],
    message: (text: string) => `The largest amount ${JSON.stringify(text)} is not an amount`,
    hint: 'Give PSD2_MAX_AMOUNT or --max-amount as digits with a point before at most two decimals: 500.00.',
  },
  {
    ...{ what: 'application name', read: application },
    texts: ['My "App"', 'My\\App', 'Café', 'éA', ''],
    message: () => 'The application name contains a character that the Signature header cannot carry',
    hint: 'Use the registered name: printable ASCII without quotes and backslashes (PSD2_APP_NAME).',
  },
];

it.each(REFUSED.flatMap(({ texts, ...row }) => texts.map((text) => ({ ...row, text }))))(
  'the $what $text is refused',
  ({ read, text, message, hint }) => {
    expect(thrownBy(() => read(text))).toMatchObject({ code: 'config', message: message(text), hint });
  },
);

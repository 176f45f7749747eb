import { describe, expect, it } from 'vitest';
import {
  applicationNameOf,
  baseUrlOf,
  dailyLimitOf,
  maxAmountOf,
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

describe('the daily limit', () => {
  const of = (ccDailyLimit: string) => dailyLimitOf({ name: 'bank', settings: { ccDailyLimit } });

  it('the daily limit is a whole number, or unknown', () => {
    expect(dailyLimitOf({ name: 'bank', settings: {} })).toBeNull();
    expect([of('1'), of('400'), of('999999999')]).toEqual([1, 400, 999_999_999]);
  });

  it.each(['0', '-1', '4.5', 'many', '', '1000000000', '007', '5 a day'])(
    'the daily limit %j is refused',
    (limit) => {
      expect(thrownBy(() => of(limit))).toMatchObject({
        code: 'config',
        message: `The daily limit ${JSON.stringify(limit)} is not a whole number from 1`,
        hint: 'Check PSD2_CC_DAILY_LIMIT.',
      });
    },
  );
});

describe('the age from which data is stale', () => {
  const of = (staleAfter?: string) =>
    staleAfterOf({ name: 'bank', settings: staleAfter === undefined ? {} : { staleAfter } });

  it('data is stale after two days, or after what the operator says', () => {
    expect([of(), of('36h'), of('1d')]).toEqual([172_800_000, 129_600_000, 86_400_000]);
  });

  it.each(['0d', '2', 'two days', '-1d'])('the age %j is refused', (text) => {
    expect(thrownBy(() => of(text))).toMatchObject({ code: 'config' });
  });
});

describe('the redirect URI', () => {
  const of = (redirectUri?: string) =>
    redirectUriOf({ name: 'bank', settings: redirectUri === undefined ? {} : { redirectUri } });

  it('the redirect URI has a default, and is kept exactly as registered', () => {
    expect(of()).toBe('http://127.0.0.1:8910/callback');
    expect(of('https://tpp.example/back?to=psd2')).toBe('https://tpp.example/back?to=psd2');
    expect(of('http://localhost:80/cb')).toBe('http://localhost:80/cb');
  });

  it.each([
    'callback',
    'ftp://127.0.0.1/',
    'myapp://callback',
    'https://tpp.example/#x',
    'https://tpp.example/back#',
  ])('the redirect URI %s is refused', (uri) => {
    expect(thrownBy(() => of(uri))).toMatchObject({
      code: 'config',
      message: `The redirect URI "${uri}" is not an http or https URL without a fragment`,
      hint: 'Set PSD2_REDIRECT_URI, for example to http://127.0.0.1:8910/callback; it must be registered at the bank.',
    });
  });

  it('a redirect URI with a port that browsers refuse to open is refused', () => {
    expect(thrownBy(() => of('http://127.0.0.1:6000/callback'))).toMatchObject({
      code: 'config',
      message:
        'The redirect URI "http://127.0.0.1:6000/callback" has the port 6000, which browsers refuse to open',
      hint: 'Use another port, as in http://127.0.0.1:8910/callback (PSD2_REDIRECT_URI or the profile); it must be registered at the bank.',
    });
  });

  it('a redirect URI with a line break is refused', () => {
    expect(() => of('http://127.0.0.1:8910/\ncallback')).toThrow(
      'The redirect URI contains a line break or another control character',
    );
  });
});

describe('the largest amount of a transfer', () => {
  const of = (maxAmount?: string) =>
    maxAmountOf({ name: 'bank', settings: maxAmount === undefined ? {} : { maxAmount } });

  it.each(['0', '7', '500', '500.5', '500.05', '999999999.99'])('%s is an amount', (amount) => {
    expect(of(amount)).toBe(amount);
  });

  it('without a largest amount, there is none', () => {
    expect(of()).toBeNull();
  });

  it.each([
    ...[
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
      'none',
    ],
    ...['500.x', 'x.50', '٣', '500\n'],
  ])('the largest amount %j is refused', (amount) => {
    expect(thrownBy(() => of(amount))).toMatchObject({
      code: 'config',
      message: `The largest amount ${JSON.stringify(amount)} is not an amount`,
      hint: 'Give PSD2_MAX_AMOUNT or --max-amount as digits with a point before at most two decimals: 500.00.',
    });
  });
});

describe('the application name', () => {
  const of = (applicationName: string) =>
    applicationNameOf({ name: 'bank', settings: { applicationName } }, 'applicationName');

  it('an application name goes into the Signature header as registered', () => {
    expect(of('My App (v2) ~ test!')).toBe('My App (v2) ~ test!');
    expect(
      applicationNameOf({ name: 'bank', settings: { ccApplicationName: 'Other' } }, 'ccApplicationName'),
    ).toBe('Other');
  });

  it.each(['My "App"', 'My\\App', 'Café', 'éA', ''])('the application name %j is refused', (name) => {
    expect(thrownBy(() => of(name))).toMatchObject({
      code: 'config',
      message: 'The application name contains a character that the Signature header cannot carry',
      hint: 'Use the registered name: printable ASCII without quotes and backslashes (PSD2_APP_NAME).',
    });
  });
});

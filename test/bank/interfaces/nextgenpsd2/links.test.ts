import { describe, expect, it } from 'vitest';
import {
  apiLink,
  type Base,
  browserLink,
  serverLink,
} from '../../../../src/bank/interfaces/nextgenpsd2/links.ts';
import { meaning, pathsOf } from '../../../../src/bank/interfaces/nextgenpsd2/paths.ts';
import { described, errorOf } from './scripted.ts';

// Where the links of a bank lead: below the base URL, elsewhere on its host, or nowhere that psd2 goes.

const HOST = 'https://bank.example';
const BARE: Base = { origin: HOST, pathPrefix: '', version: 'v1', links: 'auto' };
const BELOW: Base = { ...BARE, pathPrefix: '/psd2' };
const VERSIONED: Base = { ...BARE, pathPrefix: '/v1/berlin' };
const UNVERSIONED: Base = { ...BELOW, version: '' };

const invalid = (name: string) => ({
  code: 'bank_answer',
  message: expect.stringContaining(`The bank's link ${name} is not a valid address: `),
});
/** A link that can mean no call of the standard. */
const nothing = () => ({ isMeant: () => false, rewritten: new Set<string>() });

describe('a link to a call', () => {
  it.each<[string, Base, string, object]>([
    ['an address', BARE, 'https://bank.example/v1/x?a=%2f', { path: '/v1/x?a=%2f' }],
    ['an address with marks', BARE, `https://bank.example/v1/x?c='|"`, { path: `/v1/x?c='|"` }],
    ['an address with the port of https', BARE, 'https://bank.example:443/v1/x', { path: '/v1/x' }],
    ['an address in capitals', BARE, 'HTTPS://bank.example/V1/X', { path: '/V1/X' }],
    ['an address with a fragment', BARE, 'https://bank.example/v1/x#y', { path: '/v1/x' }],
    ['an address with dots', BARE, 'https://bank.example/v1/../x', { path: '/v1/../x' }],
    ['an address without a path', BARE, 'https://bank.example', { path: '/' }],
    ['an address without a path, with a query', BARE, 'https://bank.example?a=1', { path: '/?a=1' }],
    ['a path', BARE, '/v1/x', { path: '/v1/x' }],
    ['a path without its slash', BARE, 'v1/x', { path: '/v1/x' }],
    ['a path below the base URL', BELOW, '/v1/x', { path: '/v1/x' }],
    ['a path without its slash below the base URL', BELOW, 'v1/x', { path: '/v1/x' }],
    ['the whole path below the base URL', BELOW, '/psd2/v1/x', { path: '/v1/x' }],
    ['an address below the base URL', BELOW, 'https://bank.example/psd2/v1/x', { path: '/v1/x' }],
    ['an address beside the base URL', BELOW, `${HOST}/psd2x/v1/x`, { path: '/psd2x/v1/x', origin: HOST }],
    ['a path that does not begin like the base URL', BELOW, '/x/v1/y', { path: '/x/v1/y' }],
    ['a path that begins like it within a segment', BELOW, '/psd2x/v1/y', { path: '/psd2x/v1/y' }],
    ['a path whose base URL begins with the version', VERSIONED, '/v1/berlin/v1/x', { path: '/v1/x' }],
    ['a path on the host by bank file', { ...BELOW, links: 'host' }, '/x/y', { path: '/x/y', origin: HOST }],
    ['a path below it by bank file', { ...BELOW, links: 'base' }, '/psd2/x', { path: '/psd2/x' }],
    ['a path that only begins like the version', BELOW, '/v12/x', { path: '/v12/x' }],
    ['a name at the base URL', BARE, 'x', { path: '/x' }],
    ['a path at a bank without a version', UNVERSIONED, '//bank.example/x', { path: '/x', origin: HOST }],
  ])('can be %s', (_, base, href, target) => {
    expect(apiLink(href, base, 'next', nothing())).toEqual(target);
  });

  it.each([
    ['?page=2', '/v1/accounts?page=1', { path: '/v1/accounts?page=2' }],
    ['next', '/v1/accounts', { path: '/v1/next' }],
    ['', '/v1/accounts', { path: '/v1/accounts' }],
    ['v1/x', '/v1/accounts', { path: '/v1/x' }],
  ])('%j in the answer to %s leads to %j', (href, called, target) => {
    expect(apiLink(href, BELOW, 'next', { ...nothing(), calledPath: called })).toEqual(target);
  });

  it.each([
    'https://evil.example/v1/x',
    'http://bank.example/v1/x',
    'https://bank.example:8443/v1/x',
    'https://bank.example@evil.example/v1/x',
    '//evil.example/v1/x',
    'javascript:alert(1)',
  ])('%s leads to another host', (href) => {
    expect(errorOf(() => apiLink(href, BARE, 'scaStatus', nothing()))).toEqual({
      code: 'bank_answer',
      message: `The bank's link scaStatus leads to another host: ${href}`,
      hint: expect.stringContaining('only to the host of the base URL'),
    });
  });

  it.each([
    'https://',
    'https://a b/',
    '/v1/\u0000',
    '/v1/ x',
    '\\\\evil.example',
    '/v1/\ud800',
    '/v1/x\n',
    `/${'x'.repeat(8192)}`,
  ])('%j is none', (href) => {
    expect(errorOf(() => apiLink(href, BARE, 'next', nothing()))).toMatchObject(invalid('next'));
  });

  it('can have 8192 characters', () => {
    const longest = `/${'x'.repeat(8191)}`;
    expect(apiLink(longest, BARE, 'next', nothing())).toEqual({ path: longest });
  });
});

describe('a link of a gateway', () => {
  const paths = pathsOf(described());
  const called = { method: 'GET', path: '/v1/accounts/a1/transactions?bookingStatus=both' } as const;
  const isMeant = meaning(paths, 'GET', ['getTransactionList'], called);
  const follow = (href: string, base: Base) => {
    const rewritten = new Set<string>();
    return { ...apiLink(href, base, 'next', { isMeant, rewritten }), rewritten: [...rewritten] };
  };

  it.each([
    ['http://bank.example/psd2/v1/accounts/a1/transactions?page=2&x=a%2Bb', 'page=2&x=a%2Bb'],
    ['http://xs2a:8080/v1/accounts/a1/transactions?page=2', 'page=2'],
    ['http://xs2a:8080/v1/accounts/a1/transactions/?page=2', 'page=2'],
    ['//inner.example/a/b/v1/accounts/a1/transactions?page=2', 'page=2'],
    ['https://bank.example/inner/v1/accounts/a1/transactions?page=2', 'page=2'],
    ['/inner/v1/accounts/a1/transactions?page=2', 'page=2'],
  ])('%s is called at the base URL', (href, query) => {
    expect(follow(href, BELOW)).toEqual({
      path: `/v1/accounts/a1/transactions?${query}`,
      rewritten: ['next'],
    });
  });

  it('at a base URL that ends with the version is called there', () => {
    const base: Base = { ...BARE, pathPrefix: '/v1' };
    expect(follow('/v1/accounts/a1/transactions?page=2', base)).toEqual({
      path: '/v1/accounts/a1/transactions?page=2',
      rewritten: ['next'],
    });
  });

  it('that is its path already is called as it is', () => {
    const path = '/v1/accounts/a1/transactions?page=2';
    expect(follow(path, BELOW)).toEqual({ path, rewritten: [] });
  });

  it.each([
    'http://xs2a:8080/v1/accounts/a2/transactions?page=2',
    'http://xs2a:8080/v1/accounts/a1/balances',
    'http://xs2a:8080/v2/accounts/a1/transactions',
    'http://xs2a:8080/v1/accounts/a1/transactions/x',
  ])('%s is about something else, and is refused', (href) => {
    expect(errorOf(() => follow(href, BELOW))).toMatchObject({
      message: `The bank's link next leads to another host: ${href}`,
    });
  });
});

describe('a link for the browser', () => {
  it.each([
    ['https://other.example/sca?x=%2f#y', 'https://other.example/sca?x=%2f#y'],
    ['HTTPS://other.example', 'HTTPS://other.example'],
    ['http://127.0.0.1:9/x', 'http://127.0.0.1:9/x'],
    ['http://localhost/x', 'http://localhost/x'],
    ['/sca', 'https://bank.example/sca'],
    ['//other.example/sca', 'https://other.example/sca'],
    ['v1/sca', 'https://bank.example/psd2/v1/sca'],
  ])('%s opens %s', (href, opened) => {
    expect(browserLink(href, BELOW, 'scaRedirect')).toBe(opened);
  });

  it.each([
    'http://other.example/',
    'javascript:alert(1)',
    'ftp://other.example/',
    'file:///etc/passwd',
    'custom+x.y-1:z',
  ])('%s opens nothing', (href) => {
    expect(errorOf(() => browserLink(href, BARE, 'scaRedirect'))).toEqual({
      code: 'bank_answer',
      message: "The bank's link scaRedirect is not an https address",
      hint: 'psd2 does not send the customer there.',
    });
  });

  it('that is no address opens nothing', () => {
    expect(errorOf(() => browserLink('https://', BARE, 'scaRedirect'))).toMatchObject(invalid('scaRedirect'));
  });
});

describe('the address of an OAuth server', () => {
  const hosts = new Set(['bank.example', 'login.example:8443']);

  it.each([
    ['https://login.example:8443/token?x=%2f', 'https://login.example:8443', '/token?x=%2f'],
    ['https://bank.example/a/../token', HOST, '/a/../token'],
    ['/token', HOST, '/token'],
    ['v1/token', HOST, '/psd2/v1/token'],
  ])('%s is on the host %s, at %s', (href, origin, path) => {
    expect(serverLink(href, BELOW, hosts, 'token_endpoint')).toEqual({ origin, path });
  });

  it.each([
    ['https://evil.example/token', 'evil.example'],
    ['https://login.example/token', 'login.example'],
    ['http://bank.example/token', 'bank.example'],
    ['data:x', 'data:'],
  ])('%s is unknown', (href, host) => {
    expect(errorOf(() => serverLink(href, BARE, hosts, 'token_endpoint'))).toEqual({
      code: 'bank_answer',
      message: `The OAuth address token_endpoint is on a host that psd2 does not know: ${host}`,
      hint: 'psd2 sends codes and tokens only to hosts that the bank file (oauth) or the base URL names.',
    });
  });
});

import { expect, test } from 'vitest';
import {
  appMessage,
  customerPage,
  doorUrl,
  linkTo,
  metadataUrl,
  waitingPage,
} from '../../../src/sandbox/nextgenpsd2/links.ts';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { bankOf } from './refused.ts';

const baseUrl = 'https://bank.example';
const customerSiteUrl = 'https://customers.example';

test.each<[links: 'auto' | 'host' | 'base', variations: Variation[], href: string]>([
  ['auto', [], '/nextgenpsd2/v1/consents/a%2Fb?c=1'],
  ['auto', ['absolute-links'], 'https://bank.example/nextgenpsd2/v1/consents/a%2Fb?c=1'],
  ['auto', ['base-links'], '/v1/consents/a%2Fb?c=1'],
  ['auto', ['gateway-links'], 'http://xs2a.internal:8080/core/v1/consents/a%2Fb?c=1'],
  // What the bank file says counts more.
  ['host', ['base-links'], '/nextgenpsd2/v1/consents/a%2Fb?c=1'],
  ['base', ['absolute-links'], '/v1/consents/a%2Fb?c=1'],
])('with links %s and %j, a link is %s', (links, variations, href) => {
  const rules = { ...defaultRules, description: bankOf({ links }), variations };
  const to = (query?: string) =>
    linkTo({ baseUrl, rules }, 'getConsentInformation', { consentId: 'a/b' }, query);
  expect([to('?c=1'), to()]).toEqual([{ href }, { href: href.replace('?c=1', '') }]);
});

test('the addresses of the door and of its customers', () => {
  expect([doorUrl({ baseUrl }), metadataUrl({ baseUrl })]).toEqual([
    'https://bank.example/nextgenpsd2',
    'https://bank.example/nextgenpsd2/.well-known/oauth-authorization-server',
  ]);
  expect([
    customerPage({ customerSiteUrl }, 'a&b'),
    waitingPage({ customerSiteUrl }),
    appMessage({ customerSiteUrl }),
  ]).toEqual([
    'https://customers.example/authorise?request=a%26b',
    'https://customers.example/requests',
    'Log in at https://customers.example/requests and approve the request.',
  ]);
});

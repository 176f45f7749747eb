import { expect, it } from 'vitest';
import {
  OPERATIONS,
  type OperationId,
  pathOfOperation,
} from '../../../../../src/bank/interfaces/nextgenpsd2/description/operations.ts';

// What psd2 may say with each operation, and where it is called at a bank with addresses of its own.

function isOperation(id: string): id is OperationId {
  return Object.hasOwn(OPERATIONS, id);
}

const IDS = Object.keys(OPERATIONS).filter(isOperation);
const CREATING: OperationId[] = [
  'initiatePayment',
  'createConsent',
  'createConsentConfirmationOfFunds',
  'createSigningBasket',
];

it.each(IDS)('%s says of the customer and of SCA what the standard has for it', (id) => {
  const { method, path, startsSca, identifies, creates } = OPERATIONS[id];
  const isOfAuthorisations = /authorisations(\/\{authorisationId\})?$/.test(path);
  expect(creates).toBe(CREATING.includes(id));
  expect(startsSca).toBe(creates || id === 'cancelPayment' || (method === 'POST' && isOfAuthorisations));
  expect(identifies).toBe(creates || (isOfAuthorisations && method !== 'GET'));
});

it.each(IDS)('%s is of the service of its path', (id) => {
  const { path, kind, reads } = OPERATIONS[id];
  const isConsent = /^\/v\d\/consents/.test(path) || /authorisations/.test(path);
  const isReading = /^\/v1\/(card-)?accounts/.test(path);
  const others = path === '/v1/funds-confirmations' ? 'piis' : 'pis';
  expect(kind).toBe(isConsent ? 'consent' : isReading ? 'ais' : others);
  expect(reads).toBe(isReading ? (path.includes('{') ? 'account' : 'list') : null);
});

/** The operations below whose paths others are. */
const PARENTS: readonly [parent: OperationId, begin: string][] = [
  ['initiatePayment', '/v1/{payment-service}/'],
  ['getAccountList', '/v1/accounts'],
  ['getCardAccountList', '/v1/card-accounts'],
  ['createConsent', '/v1/consents'],
  ['createConsentConfirmationOfFunds', '/v2/consents/confirmation-of-funds'],
  ['createSigningBasket', '/v1/signing-baskets'],
];

it.each(PARENTS)(
  'with an own path of %s, what is below it is below that, and nothing else',
  (parent, begin) => {
    const paths = { [parent]: '/own/place' };
    for (const id of IDS) {
      const { path } = OPERATIONS[id];
      const at = pathOfOperation({ version: 'v7', paths }, id);
      if (path.startsWith(begin)) expect(at).toBe(path.replace(OPERATIONS[parent].path, '/own/place'));
      else expect(at).toBe(path.replace(/^\/v1\//, '/v7/'));
    }
  },
);

it.each(['getConsentStatus', 'getBalances', 'cancelPayment'] as const)(
  'an own path of %s alone is that of this operation alone',
  (own) => {
    for (const id of IDS)
      expect(pathOfOperation({ version: 'v1', paths: { [own]: '/own' } }, id)).toBe(
        id === own ? '/own' : OPERATIONS[id].path,
      );
  },
);

it('an own path of the operation comes before one of its parent', () => {
  const paths = { createConsent: '/c', getConsentStatus: '/s' };
  expect(pathOfOperation({ version: 'v1', paths }, 'getConsentStatus')).toBe('/s');
  expect(pathOfOperation({ version: 'v1', paths }, 'getConsentInformation')).toBe('/c/{consentId}');
});

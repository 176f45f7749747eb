import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { DoorGrant } from '../../../../src/sandbox/nextgenpsd2/oauth/grant.ts';
import type { OperationId } from '../../../../src/sandbox/nextgenpsd2/operations.ts';
import {
  cancellationWish,
  readScaWish,
  type ScaWish,
} from '../../../../src/sandbox/nextgenpsd2/sca/sca-wish.ts';
import type { Variation } from '../../../../src/sandbox/nextgenpsd2/variations.ts';
import { rawRequest } from '../../strict/raw.ts';
import { bankHere, grantOf } from '../bank-here.ts';
import { ANNA, CALLBACK } from '../door-client.ts';
import { answerTo } from '../refused.ts';

type File = Omit<BankFile, 'interface'>;
type Headers = Record<string, string>;

/** What a call asks for about SCA. */
async function wishing(
  file: File,
  headers: Headers,
  {
    id = 'createConsent',
    grant,
    variations = [],
    strict = true,
    read = readScaWish,
  }: {
    id?: OperationId;
    grant?: Partial<DoorGrant>;
    variations?: Variation[];
    strict?: boolean;
    read?: typeof readScaWish;
  } = {},
) {
  const { bank } = await bankHere(file, variations, { strict });
  const request = rawRequest({ headers: Object.entries(headers) });
  const operation = { id, kind: 'start', parameters: new Map<string, string>() } as const;
  const call = { request, operation, faults: [], grant: grant && grantOf(grant) };
  const wishes: ScaWish[] = [];
  const answer = answerTo(() => wishes.push(read(bank, call)));
  const [wish] = wishes;
  return { answer, wish };
}

const BACK = { 'TPP-Redirect-URI': CALLBACK };
const NAMED = { ...BACK, 'PSU-ID': 'anna' };
const sca = (...approaches: ('redirect' | 'oauth' | 'decoupled' | 'embedded')[]): File => ({
  sca: { approaches },
});
const prefers = (redirect?: string, decoupled?: string): Headers => ({
  ...NAMED,
  ...(redirect !== undefined && { 'TPP-Redirect-Preferred': redirect }),
  ...(decoupled !== undefined && { 'TPP-Decoupled-Preferred': decoupled }),
});

test.each<[file: File, headers: Headers, approach: ScaWish['approach']]>([
  [{}, prefers(), 'redirect'],
  [sca('decoupled', 'redirect'), prefers(), 'decoupled'],
  [sca('decoupled', 'redirect'), prefers('true'), 'redirect'],
  [sca('redirect', 'decoupled'), prefers('false'), 'decoupled'],
  [sca('redirect', 'embedded'), prefers('false'), 'embedded'],
  [sca('redirect', 'embedded', 'decoupled'), prefers('false', 'true'), 'decoupled'],
  [sca('redirect', 'decoupled'), prefers(undefined, 'true'), 'decoupled'],
  [sca('redirect', 'decoupled'), prefers('true', 'true'), 'decoupled'],
  [sca('redirect', 'decoupled'), prefers(undefined, 'false'), 'redirect'],
  [sca('redirect', 'embedded'), prefers('false', 'false'), 'embedded'],
  // A TPP that wants no decoupled SCA gets none, if the bank has another.
  [sca('decoupled', 'embedded', 'redirect'), prefers('false', 'false'), 'embedded'],
  [sca('decoupled', 'embedded', 'redirect'), prefers('true', 'false'), 'redirect'],
  [sca('decoupled', 'embedded', 'redirect'), prefers(undefined, 'false'), 'embedded'],
  [sca('decoupled', 'redirect', 'embedded'), prefers(undefined, 'false'), 'redirect'],
  [sca('decoupled'), prefers(undefined, 'false'), 'decoupled'],
  // Who does not have what the TPP prefers takes its own first.
  [sca('redirect'), prefers('false'), 'redirect'],
  [sca('decoupled'), prefers('true'), 'decoupled'],
  [sca('redirect', 'embedded'), prefers(undefined, 'true'), 'redirect'],
  // With OAuth in the authorisation there is no other redirect.
  [{ ...sca('redirect'), oauth: { mode: 'integrated' } }, prefers(), 'oauth'],
  [{ ...sca('decoupled', 'redirect'), oauth: { mode: 'integrated' } }, prefers('true'), 'oauth'],
  [{ ...sca('redirect'), oauth: { mode: 'pre-step' } }, prefers(), 'redirect'],
])('at a bank with %j, a call with %j asks for %s', async (file, headers, approach) => {
  const { wish } = await wishing(file, headers);
  expect(wish).toMatchObject({
    approach,
    redirectUri: CALLBACK,
    nokRedirectUri: undefined,
    psuId: 'anna',
    explicit: false,
  });
});

describe('who begins the authorisation', () => {
  const NEEDS =
    '400 FORMAT_ERROR TPP-Explicit-Authorisation-Preferred: The bank starts the authorisation by a call of its own only. Expected: true. Received: ';
  const explicit = (value: string) => ({ ...BACK, 'TPP-Explicit-Authorisation-Preferred': value });
  test.each<
    [
      start: 'explicit' | undefined,
      strict: boolean,
      headers: Headers,
      id: OperationId,
      variations: Variation[],
      says: string | boolean,
    ]
  >([
    [undefined, true, BACK, 'createConsent', [], false],
    [undefined, true, explicit('true'), 'createConsent', [], true],
    [undefined, true, explicit('false'), 'createConsent', [], false],
    ...(['createConsentConfirmationOfFunds', 'initiatePayment', 'createSigningBasket'] as const).map(
      (id): [undefined, boolean, Headers, OperationId, Variation[], boolean] => [
        undefined,
        true,
        explicit('true'),
        id,
        [],
        true,
      ],
    ),
    // A call that begins it is the TPP's already.
    [undefined, true, explicit('true'), 'startConsentAuthorisation', [], false],
    ['explicit', true, explicit('true'), 'createConsent', [], true],
    ['explicit', true, explicit('false'), 'createConsent', [], `${NEEDS}false.`],
    ['explicit', true, BACK, 'createConsent', [], `${NEEDS}nothing.`],
    ['explicit', true, BACK, 'startConsentAuthorisation', [], false],
    ['explicit', false, BACK, 'createConsent', [], true],
    [undefined, true, BACK, 'createConsent', ['start-link'], true],
    [undefined, true, BACK, 'createConsent', ['embedded-atruvia'], true],
    [undefined, true, BACK, 'createConsent', ['embedded'], false],
  ])(
    'sca.start %s, strict %s: %j of %s with %j: %s',
    async (start, strict, headers, id, variations, says) => {
      const { answer, wish } = await wishing(start === undefined ? {} : { sca: { start } }, headers, {
        id,
        strict,
        variations,
      });
      expect(wish?.explicit ?? answer).toBe(says);
    },
  );
});

const said = (path: string, text: string, code = '400 FORMAT_ERROR') => `${code} ${path}: ${text}.`;
const ADDRESS = 'an https address, or http on this machine, without a fragment';

test.each<[file: File, headers: Headers, answer: string]>([
  [{}, {}, said('TPP-Redirect-URI', 'The bank needs to know where the customer goes back to')],
  [sca('decoupled'), BACK, said('PSU-ID', 'The bank needs to know which customer to ask')],
  [sca('decoupled'), { 'PSU-ID': 'anna' }, 'taken'],
  [sca('embedded'), {}, 'taken'],
  [{ oauth: { mode: 'integrated' } }, {}, 'taken'],
  [{}, { ...BACK, 'TPP-Explicit-Authorisation-Preferred': 'true' }, 'taken'],
  [{}, { 'TPP-Explicit-Authorisation-Preferred': 'true' }, 'taken'],
  ...['TPP-Redirect-Preferred', 'TPP-Decoupled-Preferred', 'TPP-Explicit-Authorisation-Preferred'].flatMap(
    (name) =>
      ['True', '1', ''].map((value): [File, Headers, string] => [
        {},
        { ...BACK, [name]: value },
        said(name, `${name} is not a boolean. Expected: true or false. Received: ${value}`),
      ]),
  ),
  ...['TPP-Redirect-URI', 'TPP-Nok-Redirect-URI'].flatMap((name) =>
    ['http://tpp.example/', 'https://tpp.example/#x', '/back', ''].map((value): [File, Headers, string] => [
      {},
      { ...BACK, [name]: value },
      said(
        name,
        `${name} is not an address that the bank redirects to. Expected: ${ADDRESS}. Received: ${value}`,
      ),
    ]),
  ),
  [
    {},
    { ...BACK, 'PSU-ID': 'nobody' },
    said(
      'PSU-ID',
      'The bank has no such customer. Expected: a user of the bank. Received: nobody',
      '401 PSU_CREDENTIALS_INVALID',
    ),
  ],
  [{}, { ...BACK, 'PSU-ID': '' }, 'taken'],
])('at a bank with %j, a call with %j: %s', async (file, headers, answer) => {
  expect((await wishing(file, headers)).answer).toBe(answer);
});

describe('the customer', () => {
  const NO_SUB = (received: string) =>
    said(
      'PSU-ID',
      `PSU-ID is not the token's sub. Expected: the sub. Received: ${received}`,
      '401 PSU_CREDENTIALS_INVALID',
    );
  test.each<
    [
      psu: BankFile['psu'],
      psuId: string | undefined,
      grant: Partial<DoorGrant> | undefined,
      named: string | undefined,
    ]
  >([
    [{}, undefined, undefined, undefined],
    [{}, 'anna', undefined, 'anna'],
    [{}, undefined, { customerId: ANNA }, 'anna'],
    [{}, 'bruno', { customerId: ANNA }, 'bruno'],
    [{}, undefined, {}, undefined],
    [{ id: 'token-sub' }, ANNA, { customerId: ANNA }, 'anna'],
    [{ id: 'token-sub' }, 'anna', { customerId: ANNA }, NO_SUB('anna')],
    [{ id: 'token-sub' }, undefined, { customerId: ANNA }, NO_SUB('nothing')],
    [{ id: 'token-sub' }, ANNA, undefined, NO_SUB(ANNA)],
  ])('with %j is named by %s or by a token %j: %s', async (psu, psuId, grant, named) => {
    const headers = psuId === undefined ? BACK : { ...BACK, 'PSU-ID': psuId };
    const { answer, wish } = await wishing({ psu }, headers, { ...(grant && { grant }) });
    expect(wish ? wish.psuId : answer).toBe(named);
    if (wish) expect(wish.tokenOf).toBe(grant?.customerId);
  });

  test.each<[file: File, grant: Partial<DoorGrant> | undefined, wish: Partial<ScaWish>]>([
    [{}, undefined, { approach: 'redirect', psuId: undefined, tokenOf: undefined }],
    [sca('decoupled'), { customerId: ANNA }, { approach: 'decoupled', psuId: 'anna', tokenOf: ANNA }],
  ])('of a cancellation at a bank with %j is that of the token %j', async (file, grant, wish) => {
    const { wish: read } = await wishing(file, BACK, { ...(grant && { grant }), read: cancellationWish });
    expect(read).toEqual({ ...wish, explicit: true, redirectUri: undefined, nokRedirectUri: undefined });
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { OPERATIONS } from '../../src/bank/interfaces/nextgenpsd2/description/operations.ts';
import { PLATFORMS } from '../../src/bank/interfaces/nextgenpsd2/description/platforms.ts';
import { bankFile } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { describeBank, readBankFile } from './described.ts';
import { bankFolder } from './folder.ts';

const { write } = bankFolder();

const some = <T>(values: readonly T[], minLength = 0) => fc.subarray([...values], { minLength });
/** Without those that fit one mode of OAuth alone. */
const EXTENDED = Object.keys(PLATFORMS).filter((name) => {
  const { oauth, consent } = PLATFORMS[name] ?? {};
  return !oauth?.applicationToken && consent?.status === undefined;
});
const maybe = <T extends object>(fields: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(fields, { requiredKeys: [] });
const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,9}$/);
const value = fc
  .stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,9}[\x21-\x7e])?$/)
  .filter((text) => !text.startsWith('env:'));
const headers = fc
  .uniqueArray(
    fc.tuple(
      word.map((name) => `X-${name}`),
      fc.oneof(value, fc.constant('env:PSD2_BANK_KEY')),
    ),
    {
      selector: ([name]) => name.toLowerCase(),
      maxLength: 3,
    },
  )
  .map((entries) => Object.fromEntries(entries));
const address = word
  .map((host) => `https://${host.toLowerCase().replace(/-+$/, '')}.example/a`)
  // `xn--0` is the beginning of a name in other letters, and no name.
  .filter((url) => URL.canParse(url));
const presence = fc.constantFrom('optional', 'required', 'never');
const operations = Object.keys(OPERATIONS);

/** Bank files of valid values, in every field. */
const anyFile = fc
  .record(
    {
      interface: fc.constant('nextgenpsd2'),
      name: fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => /\S/.test(text)),
      extends: fc.constantFrom(...EXTENDED),
      source: address,
      verifiedOn: fc.constantFrom(null, '2026-11-23', '2028-02-29, its server'),
      api: maybe({
        baseUrl: address,
        version: fc.constantFrom('', 'v1', 'v2', 'berlingroup/v1'),
        paths: fc
          .subarray(Object.entries(OPERATIONS))
          .map((all) => Object.fromEntries(all.map(([id, { path }]) => [id, `/own${path}`]))),
      }),
      headers: maybe({
        static: headers,
        perOperation: some(operations).chain((ids) =>
          fc
            .tuple(...ids.map((id) => headers.map((each) => [id, each])))
            .map((all) => Object.fromEntries(all)),
        ),
        date: fc.constantFrom('never', 'always', 'signed'),
        accept: value,
        contentType: value,
      }),
      psu: maybe({
        id: presence,
        idType: presence,
        corporateId: presence,
        ip: fc.oneof(fc.constantFrom('own', 'required'), fc.ipV4()),
      }),
      signing: maybe({
        when: fc.constantFrom('always', 'never', 'with-body'),
        headers: some(['digest', 'x-request-id', '(request-target)'], 1),
        ifSent: some(['psu-id', 'psu-corporate-id', 'tpp-redirect-uri']),
        keyId: maybe({
          form: fc.oneof(fc.constantFrom('sn-ca', 'sn', 'organization-id'), word),
          serial: fc.constantFrom('hex', 'decimal'),
          case: fc.constantFrom('lower', 'upper'),
          dn: fc.constantFrom('issuer', 'subject'),
          format: fc.constantFrom('rfc2253', 'rfc1779'),
          spaces: fc.constantFrom('keep', 'percent', 'strip'),
          separator: fc.constantFrom(',', ', ', ';'),
        }),
        algorithm: fc.constantFrom('rsa-sha256', 'rsa-sha512', 'SHA-256', 'SHA384withECDSA'),
        digest: fc.constantFrom('SHA-256', 'SHA-512'),
        emptyBodyDigest: fc.boolean(),
        certificate: fc.constantFrom('der', 'pem', 'pem-line'),
      }),
      oauth: fc.record(
        {
          mode: fc.constantFrom('none', 'integrated', 'pre-step', 'client-credentials'),
          metadata: address,
          authorizationEndpoint: address,
          tokenEndpoint: address,
          clientId: word,
          clientAuth: fc.constantFrom('mtls', 'basic', 'post'),
          scope: maybe({
            ais: fc.constantFrom('ais', 'AIS: {consentId}'),
            pis: fc.constantFrom('pis', 'x{paymentId}y'),
            preStep: word,
          }),
          pkce: fc.constantFrom('S256', 'none'),
          tokenHeader: word,
        },
        { requiredKeys: ['metadata'] },
      ),
      sca: maybe({
        approaches: some(['redirect', 'oauth', 'decoupled'], 1),
        start: fc.constantFrom('follow-links', 'explicit'),
        authorisationMinutes: fc.integer({ min: 1, max: 10_080 }),
        pollSeconds: fc.integer({ min: 1, max: 3600 }),
      }),
      consent: maybe({
        types: some(['dedicated', 'bank-offered', 'all-accounts', 'list-only'], 1),
        maxDays: fc.integer({ min: 1, max: 36_500 }),
        frequencyPerDay: fc.integer({ min: 1, max: 1000 }),
        once: fc.boolean(),
      }),
      accounts: maybe({
        bookingStatuses: some(['booked', 'pending', 'both'], 1),
        historyDays: fc.integer({ min: 1, max: 36_500 }),
        delta: fc.constantFrom('none', 'entryReferenceFrom'),
        withBalance: fc.boolean(),
        cards: fc.constantFrom('auto', 'never'),
        balances: maybe({
          booked: some(['closingBooked', 'expected']),
          available: some(['interimAvailable', 'other']),
        }),
        paging: fc.oneof(
          fc.constantFrom('link', 'page-index'),
          fc.record({ totalPagesHeader: word, pageParameter: word }),
        ),
      }),
      payments: fc.record(
        {
          products: maybe({
            payments: some(['sepa-credit-transfers', 'pain.001-sepa-credit-transfers']),
            'bulk-payments': some(['sepa-credit-transfers']),
            'periodic-payments': some(['sepa-credit-transfers']),
          }),
          required: some(['creditorAddress.townName', 'creditorAgent']),
          allowed: some(['purposeCode', 'chargeBearer']),
          futureDays: fc.integer({ min: 0, max: 3650 }),
          repeat: fc.constant('same-answer'),
          repeatMinutes: fc.integer({ min: 1, max: 10_080 }),
          executesWithoutSca: fc.constantFrom('possible', 'never'),
          cancel: fc.constantFrom('authorised', 'direct', 'none'),
          bulk: maybe({
            maxEntries: fc.integer({ min: 1, max: 1_000_000 }),
            format: fc.constantFrom('json', 'pain.001.001.09'),
          }),
          address: fc.constantFrom('optional', 'required'),
          final: some(['ACSC', 'ACCC', 'ACSP'], 1),
        },
        { requiredKeys: ['repeat', 'repeatMinutes'] },
      ),
      errors: fc.dictionary(word, fc.constantFrom('forbidden', 'bank_refused')),
    },
    { requiredKeys: ['interface', 'oauth', 'payments'] },
  )
  // As a file has it: without fields that are undefined.
  .map((file): unknown => JSON.parse(JSON.stringify(file)));

it('any file of valid values resolves, and what bank show prints of it is a valid file that stays as it is', async () => {
  await fc.assert(
    fc.asyncProperty(anyFile, async (content) => {
      const { file, description, defaults } = await readBankFile(write('any.json', content));
      // The values of the file are in force, whatever it extends.
      const { extends: _extends, ...own } = z.looseObject({ extends: z.optional(z.string()) }).parse(content);
      expect(description).toMatchObject(own);
      const shown = await readBankFile(write('shown.json', description));
      expect(shown.description).toEqual(description);
      expect(shown.defaults).toEqual([]);
      // What a profile stores means the same.
      expect(await describeBank(file)).toEqual(description);
      expect(bankFile.parse(description)).toEqual(description);
      expect(defaults).not.toContain('interface');
    }),
    { numRuns: 150 },
  );
});

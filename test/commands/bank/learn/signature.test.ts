import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { atSmallBank, friendly, type Reply, refuses, useSmallBanks } from './small-bank.ts';

// Which signature bank learn finds out, by readings of a consent that does not exist.

const { newFile, learnAt } = useSmallBanks();

const [LACKS, WRONG] = [refuses(401, 'SIGNATURE_MISSING'), refuses(401, 'SIGNATURE_INVALID')];
const isSigned = ({ signature }: IncomingHttpHeaders) => signature !== undefined;
/** A serial number that is not hexadecimal. */
const isDecimal = ({ signature }: IncomingHttpHeaders) => /keyId="SN=\d{18,}/.test(String(signature));

interface Row {
  /** The answer to a reading. Undefined: the bank knows no such consent. */
  reading: (headers: IncomingHttpHeaders) => Reply | undefined;
  own?: Omit<BankFile, 'interface'>;
  /** The readings, and whether they are signed. */
  readings: string[];
  /** What psd2 says of the signature before it begins a consent. */
  found: string[];
  /** Whether it signs the first consent. */
  signs: boolean;
}
const ASKED = 'GET /v1/accounts';
const SAYS = (code: string) => `401 ${code}, "${code}"`;
const UNKNOWN = '403 CONSENT_UNKNOWN, "CONSENT_UNKNOWN"';
it.each<[string, Row]>([
  ['none', { reading: () => undefined, readings: ['signed', 'unsigned'], found: [], signs: false }],
  [
    'none, as the file says',
    {
      reading: () => undefined,
      own: { signing: { when: 'never' } },
      readings: ['unsigned'],
      found: [],
      signs: false,
    },
  ],
  [
    'any',
    {
      reading: (headers) => (isSigned(headers) ? undefined : LACKS),
      readings: ['signed', 'unsigned'],
      found: [`signing.when same "always" | ${ASKED} without a signature: ${SAYS('SIGNATURE_MISSING')}`],
      signs: true,
    },
  ],
  [
    'any, and says something else without',
    {
      reading: (headers) => (isSigned(headers) ? undefined : refuses(400, 'FORMAT_ERROR')),
      readings: ['signed', 'unsigned'],
      found: [],
      signs: true,
    },
  ],
  [
    'another serial number',
    {
      reading: (headers) => (!isSigned(headers) ? LACKS : isDecimal(headers) ? undefined : WRONG),
      readings: ['signed', 'unsigned', 'signed', 'signed', 'signed'],
      found: [
        ...['form same "sn-ca"', 'serial differs "decimal"', 'case same "lower"', 'dn same "issuer"'],
        ...['format same "rfc2253"', 'spaces same "keep"', 'separator same ","'],
      ]
        .map((line) => `signing.keyId.${line} | ${ASKED}: ${UNKNOWN}`)
        .concat(`signing.when same "always" | ${ASKED}: ${UNKNOWN}`),
      signs: true,
    },
  ],
])('of a bank that wants this signature: %s', async (_, { reading, own, readings, found, signs }) => {
  const asked: string[] = [];
  const consents: boolean[] = [];
  const word = (headers: IncomingHttpHeaders) => (isSigned(headers) ? 'signed' : 'unsigned');
  const file = newFile();
  if (own) writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', ...own }));
  await atSmallBank(
    (method, path, headers, body) => {
      if (path === '/v1/accounts') asked.push(word(headers));
      if (method === 'POST' && path === '/v1/consents') consents.push(isSigned(headers));
      // Nothing else is asked.
      if (path === '/v1/consents') return refuses(429, 'ACCESS_EXCEEDED');
      return (
        (path === '/v1/accounts' ? reading(headers) : undefined) ?? friendly(method, path, headers, body)
      );
    },
    async (env) => {
      const { result } = await learnAt(env, file);
      const lines = (result?.findings ?? []).flatMap((each) =>
        each.field.startsWith('signing.') && each.status !== 'unknown'
          ? [`${each.field} ${each.status} ${each.value} | ${each.asked}: ${each.answered}`]
          : [],
      );
      expect(asked).toEqual(readings);
      expect(lines.toSorted()).toEqual(found.toSorted());
      expect(consents).toEqual([signs]);
    },
  );
});

it('says if the bank takes no signature that psd2 tried, and how often it tried', async () => {
  let readings = 0;
  await atSmallBank(
    (method, path, ...of) => {
      if (path === '/v1/accounts') readings += 1;
      return path === '/v1/accounts' ? WRONG : friendly(method, path, ...of);
    },
    async (env) => {
      const { result } = await learnAt(env);
      expect(result?.findings.find(({ field }) => field === 'signing')).toEqual({
        ...{ field: 'signing', status: 'unknown', value: null, was: null },
        ...{ asked: ASKED, answered: SAYS('SIGNATURE_INVALID') },
        reason: 'nothing that psd2 tried was accepted',
      });
      // Two readings, then the forms of keyId, the words for the algorithm, and what else differs.
      expect(readings).toBeGreaterThan(30);
    },
  );
});

const HINT =
  'Check the base URL, and api.version and api.paths of the bank file. A gateway or proxy on the way may have answered, too.';
const STEP = { result: { outcome: 'ERROR' } };
it.each<[string, Reply, message: string, hint: string]>([
  [
    'a page',
    { status: 404, body: '<html></html>' },
    "What answered is not the bank's interface (HTTP 404, the answer is text/html)",
    HINT,
  ],
  [
    'nothing',
    { status: 400 },
    "What answered is not the bank's interface (HTTP 400, the answer is empty)",
    HINT,
  ],
  [
    'accounts',
    { status: 200, body: { accounts: [] } },
    'The bank answers a reading with a consent that does not exist (HTTP 200), so its answers show nothing',
    HINT,
  ],
  [
    'the step interface',
    { status: 401, body: STEP },
    'This bank answers as the step interface (cb) does, not as NextGenPSD2',
    'You recognise it',
  ],
])('asks nothing further where the first answer is %s', async (_, reply, message, hint) => {
  await atSmallBank(
    () => reply,
    async (env, calls) => {
      const { failure, said } = await learnAt(env);
      expect(failure).toMatchObject({ code: 'bank_answer', message, hint: expect.stringContaining(hint) });
      expect(calls).toEqual([ASKED]);
      expect(said).not.toContain('may be left');
    },
  );
});

import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { exactness, playedBank, standardDoor } from '../../../src/sandbox/nextgenpsd2/door-rules.ts';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import { bankOf } from './refused.ts';

type Own = Omit<BankFile, 'interface'>;

/** Where the door takes one form alone. */
function exactOf(own: Own, strict = false): string[] {
  const rules = { ...standardDoor, own: { interface: 'nextgenpsd2', ...own }, strict } as const;
  return Object.entries(exactness({ ...rules, description: bankOf(own) })).flatMap(([where, isExact]) =>
    isExact ? [where] : [],
  );
}

describe('what a bank file says is exact', () => {
  const ALL = 'accept contentType keyId signedHeaders spelling algorithm digest certificate'.split(' ');
  test.each<[own: Own, where: string[]]>([
    [{}, []],
    [{ headers: {}, signing: {} }, []],
    [{ headers: { accept: 'application/json' } }, ['accept']],
    [{ headers: { contentType: 'application/json' } }, ['contentType']],
    [{ headers: { date: 'always' } }, []],
    [{ signing: { keyId: { form: 'serial' } } }, ['keyId']],
    [{ signing: { headers: ['digest', 'x-request-id'] } }, ['signedHeaders']],
    [{ signing: { ifSent: ['psu-id'] } }, ['signedHeaders']],
    [{ signing: { headers: ['digest', 'x-request-id'], ifSent: [] } }, ['signedHeaders']],
    [{ signing: { algorithm: 'rsa-sha512' } }, ['algorithm']],
    [{ signing: { digest: 'SHA-512' } }, ['digest']],
    [{ signing: { certificate: 'pem' } }, ['certificate']],
    [{ signing: { when: 'with-body' } }, []],
    [{ headers: { accept: '*/*' }, signing: { digest: 'SHA-256' } }, ['accept', 'digest']],
  ])('%j: %j, and with --strict everything', (own, where) => {
    expect(exactOf(own)).toEqual(where);
    expect(exactOf(own, true)).toEqual(ALL);
  });
});

test.each<[variations: Variation[], approaches: string[]]>([
  [[], ['redirect', 'decoupled']],
  [
    ['no-sca', 'start-link'],
    ['redirect', 'decoupled'],
  ],
  [['embedded'], ['embedded']],
  [['embedded-atruvia'], ['embedded']],
  [['start-link', 'embedded-atruvia', 'embedded'], ['embedded']],
])('with the variations %j the bank file has the approaches %j, and all else', (variations, approaches) => {
  const description = bankOf({
    sca: { approaches: ['redirect', 'decoupled'], authorisationMinutes: 7 },
    payments: { futureDays: 9 },
  });
  const played = playedBank({ description, variations });
  expect(played).toEqual({ ...description, sca: { ...description.sca, approaches } });
});

import { expect, it } from 'vitest';
import { openSubject } from '../../../src/commands/checks/check.ts';
import { sayContested } from '../../../src/commands/checks/contested.ts';
import { Diagnosis } from '../../../src/commands/checks/diagnosis.ts';
import { openCommand, useFolder } from '../command.ts';

const folder = useFolder();
const NOW = '2026-11-29T10:00:00.000Z';

/** What is said after the bank of a profile has refused the call of a diagnosis with a code; undefined: it has not. */
async function saidAfter(code: string | undefined, bank: string | undefined) {
  const { context } = openCommand(folder, NOW, { env: bank === undefined ? {} : { PSD2_BANK: bank } });
  const diagnosis = new Diagnosis();
  await sayContested({ ...openSubject(context, diagnosis), refusal: code });
  return diagnosis.checks;
}

const OF_SIGNATURE = ['SIGNATURE_INVALID', 'CERTIFICATE_EXPIRED', 'KID_MISSING', 'TIMESTAMP_INVALID'];
const OF_ANYTHING = ['', 'FORMAT_ERROR', 'SERVICE_BLOCKED', 'X_SIGNATURE_INVALID', 'UNKIND_TOKEN_'];
it.each<[string, codes: (string | undefined)[], fields: string[]]>([
  ['atruvia', [...OF_SIGNATURE, ...OF_ANYTHING], ['signing.keyId', 'signing.algorithm']],
  ['atruvia', ['TOKEN_INVALID', 'PSU_CREDENTIALS_INVALID', undefined], []],
  ['n26', ['TOKEN_UNKNOWN', ...OF_ANYTHING], ['oauth.mode']],
  ['n26', [...OF_SIGNATURE, 'PSU_CREDENTIALS_INVALID'], []],
  // The call has no consent, no payment and no SCA.
  ['paysera', [...OF_SIGNATURE, ...OF_ANYTHING], ['signing.when']],
  ['unicredit', [...OF_SIGNATURE, ...OF_ANYTHING, 'TOKEN_INVALID'], []],
  ['standard', OF_ANYTHING, []],
])('what the sources of %s contest is said after %j: %j', async (bank, codes, fields) => {
  for (const code of codes) {
    const checks = await saidAfter(code, bank);
    const named = checks.map(({ detail }) =>
      [...detail.matchAll(/(\S+) \(others have: [^)]+\)/g)].map(([, field]) => field),
    );
    expect(named, code).toEqual(fields.length === 0 ? [] : [fields]);
    for (const check of checks)
      expect(check).toMatchObject({
        ...{ name: 'contested', status: 'warn' },
        detail: expect.stringMatching(/^sources differ about what may be the reason: signing|oauth/),
        fix: { hint: expect.stringContaining('write what the bank wants into its file') },
      });
  }
});

it('nothing is contested without a bank file, and of what the file says itself', async () => {
  expect(await saidAfter('SIGNATURE_INVALID', undefined)).toEqual([]);
  const signedAs = (when: string) =>
    JSON.stringify({ interface: 'nextgenpsd2', platform: 'paysera', signing: { when } });
  expect(await saidAfter('SIGNATURE_INVALID', signedAs('always'))).toHaveLength(1);
  expect(await saidAfter('SIGNATURE_INVALID', signedAs('never'))).toEqual([]);
});

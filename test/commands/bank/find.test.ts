import { describe, expect, it } from 'vitest';
import { find } from '../../../src/commands/bank/find.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { type How, openCommand, runIn } from '../command.ts';
import { failureIfAny } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const SPARDA = 'DE11700905000123456789';
const COMMERZBANK = 'DE89370400440532013000';

const bank = (name: string, ...banks: object[]) =>
  JSON.stringify({ interface: 'nextgenpsd2', name, ...(banks.length > 0 && { banks }) });
const coded = (name: string, bankCode: string) => ({ name, bankCode, country: 'DE' });

/** Profiles, each with what the setting `bank` has; undefined: it has none. */
async function withProfiles(banks: Record<string, string | undefined>) {
  const folder = newConfigFolder(temporary);
  const { profiles } = openCommand(folder, NOW).context;
  for (const [name, content] of Object.entries(banks))
    await profiles.write(name, { baseUrl: 'https://bank.example/', ...(content && { bank: content }) });
  return async (words: string[], how: How = {}) => {
    const command = openCommand(folder, NOW, how);
    const failure = await failureIfAny(runIn(command.context, ...words));
    return { failure, printed: command.printed(), said: command.said() };
  };
}

describe('psd2 bank find', () => {
  it('names the profiles that serve a bank, else the platforms', async () => {
    const run = await withProfiles({ munich: bank('Sparda', coded('Sparda', '70090500')), cb: undefined });
    const { printed, said } = await run(['bank', 'find', SPARDA]);
    const data: unknown = JSON.parse(printed);
    expect(find.prints?.shape.is(data)).toBe(true);
    const munich = { kind: 'profile', name: 'munich', bank: 'Sparda', bic: null };
    expect(data).toEqual([{ ...munich, bankCode: '70090500', country: 'DE', login: 'redirect' }]);
    expect(said).toBe('');
    const other = await run(['bank', 'find', 'NTSBDEB1'], { format: 'table' });
    expect(other.printed).toBe(
      'platform\tn26\tN26\tDE\t10011001\tNTSBDEB1\tdecoupled, after a login with OAuth\n',
    );
    expect(other.said).toBe(
      'No profile serves it. Write a bank file that extends one of these, and store it with psd2 profile add.\n',
    );
    const drawn = await run(['bank', 'find', 'NTSBDEB1'], { format: 'table', columns: 160 });
    expect(drawn.printed.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['KIND', 'NAME', 'BANK', 'COUNTRY', 'BANK CODE', 'BIC', 'LOGIN'],
      ['platform', 'n26', 'N26', 'DE', '10011001', 'NTSBDEB1', 'decoupled, after a login with OAuth'],
      [''],
    ]);
    // A word is a whole word, not a part of one.
    expect((await run(['bank', 'find', 'spard'])).printed).toBe('[]\n');
    const italian = await run(['bank', 'find', 'IT60X0542811101000000123456'], { format: 'table' });
    expect(italian.printed.split('\n').map((line) => line.split('\t')[1])).toEqual([
      'cbi-globe',
      'fabrick',
      undefined,
    ]);
    expect(italian.said).toContain('the platforms of its country');
    const none = await run(['bank', 'find', 'nowhere'], { format: 'table' });
    expect([none.printed, none.failure]).toEqual(['', null]);
    expect(none.said).toContain('says that it serves nowhere');
  });

  const ODD = [{ bankCode: 70_090_500, country: 'DE' }, { bic: 5 }, { country: [] }];
  it.each(ODD)('leaves out what is no bank: %j', async (odd) => {
    const run = await withProfiles({ odd: bank('Odd', { name: 'Odd', ...odd }) });
    const { failure, printed } = await run(['bank', 'find', SPARDA]);
    expect([failure, JSON.parse(printed)]).toMatchObject([null, [{ kind: 'platform', name: 'sparda' }]]);
    expect((await run(['bank', 'find', 'NTSBDEB1'])).failure).toBeNull();
  });

  it('finds a profile by the name in its bank file, too', async () => {
    const run = await withProfiles({ first: bank('Odd Fellows'), second: bank('Others') });
    const { printed } = await run(['bank', 'find', 'fellows']);
    expect(JSON.parse(printed)).toMatchObject([{ kind: 'profile', name: 'first' }]);
  });

  it('says where customers authorise with credentials in psd2', async () => {
    const run = await withProfiles({});
    const { printed } = await run(['bank', 'find', 'DE83500900000123456789']);
    expect(JSON.parse(printed)).toMatchObject([{ name: 'atruvia', login: 'embedded' }]);
  });

  it('names a platform that is more exact than a profile', async () => {
    const run = await withProfiles({ coop: bank('Cooperative banks', coded('Volksbanken', '???9????')) });
    expect(JSON.parse((await run(['bank', 'find', SPARDA])).printed)).toMatchObject([{ name: 'sparda' }]);
    expect(JSON.parse((await run(['bank', 'find', 'DE83500900000123456789'])).printed)).toMatchObject([
      { kind: 'profile', name: 'coop' },
    ]);
  });

  const PROFILE = 'profile\tmunich\tSparda-Bank\tDE\t70090500\t\tredirect\n';
  const NONE = (named: string) =>
    `No profile, platform or bank file in this folder says that it serves ${named}\n`;
  const EXTEND =
    'No profile serves it. Write a bank file that extends one of these, and store it with psd2 profile add.\n';
  const STANDARD =
    'See all platforms with psd2 bank list. A bank that none of them serves begins with the platform standard, and psd2 bank learn finds out how it differs.\n';
  const NEARBY = 'psd2 knows no bank with this code. These are the platforms of its country.\n';
  const CAIXA = 'platform\tredsys\tCaixaBank\tES\t2100\tCAIXESBB\tredirect\n';
  const REDSYS = 'platform\tredsys\t\tES\t\t\tredirect\n';
  it.each<[string, named: string, printed: string, said: string]>([
    ['an account of a profile', SPARDA, PROFILE, ''],
    ['the name of a bank of a profile', 'Sparda-Bank', PROFILE, ''],
    ['the name of a profile', 'munich', 'profile\tmunich\t\t\t\t\tredirect\n', ''],
    ['the name of a profile whose bank file is wrong', 'wrong', 'profile\twrong\t\t\t\t\t\n', ''],
    ['the name of a platform', 'redsys', 'platform\tredsys\t\t\t\t\tredirect\n', EXTEND],
    [
      'a bank of a platform',
      'openbank',
      'platform\tredsys\tOpenbank\tES\t0073\tOPENESMM\tredirect\n',
      EXTEND,
    ],
    ['an account at a bank of a platform', 'ES7921000813610123456789', CAIXA, EXTEND],
    ['an account of no bank of a country', 'ES9420805801101234567891', REDSYS, `${NEARBY}${EXTEND}`],
    [
      'an account in a country without platforms',
      'FR1420041010050500013M02606',
      '',
      `${NONE('FR1420041010050500013M02606')}${STANDARD}`,
    ],
    ['what nobody serves', 'nowhere', '', `${NONE('nowhere')}${STANDARD}`],
  ])('of %s says who serves it', async (_, named, printed, said) => {
    const sparda = bank('Sparda', { ...coded('Sparda-Bank', '70090500') });
    const run = await withProfiles({ munich: sparda, wrong: '{"interface":"other"}', cb: undefined });
    const found = await run(['bank', 'find', named], { format: 'table' });
    expect([found.printed, found.said, found.failure]).toEqual([printed, said, null]);
  });

  it.each([
    [
      'a wrong IBAN',
      'DE12700905000123456789',
      {
        ...{ code: 'invalid_iban', message: expect.stringContaining('IBAN') },
        hint: 'Copy it again from the account, or name the bank by its BIC or its name.',
      },
    ],
    ['a wrong IBAN with spaces', 'DE12 7009 0500 0123 4567 89', { code: 'invalid_iban' }],
    [
      'no text',
      ' ',
      { code: 'usage', message: 'No bank is given: give an IBAN, a BIC, or words of its name' },
    ],
    ['signs alone', '-', { code: 'usage' }],
  ])('refuses %s', async (_, named, failure) => {
    const run = await withProfiles({});
    const refused = await run(['bank', 'find', '--', named]);
    expect(refused.failure).toMatchObject({ exitCode: 2, ...failure });
    expect([refused.printed, refused.said]).toEqual(['', '']);
  });
});

const PAYMENT = `transfer create --to ${COMMERZBANK} --name A --amount 1 --yes --from`.split(' ');
const CONSENT = ['consent', 'request', '--account'];
const PROFILES = {
  ...{ munich: bank('Sparda', coded('Sparda', '70090500')), n26: bank('N26', coded('N26', '10011001')) },
  ...{ coop: bank('Coop', coded('Volksbanken', '???9????')), silent: bank('Silent'), cb: undefined },
};

it.each([
  ['n26', SPARDA, 'munich', true],
  ['n26', `${SPARDA}:EUR`, 'munich', true],
  // Its own banks are more, and less, exactly named than that of another profile.
  ['coop', SPARDA, 'munich', true],
  ['munich', SPARDA, null, false],
  // No profile serves it, or the own one does not say what it serves.
  ['n26', COMMERZBANK, null, false],
  ['silent', SPARDA, 'munich', false],
  ['n26', 'bban:70090500', null, false],
])('at the profile %s, %s is said to be an account of %j', async (profile, account, other, isRefused) => {
  const run = await withProfiles(PROFILES);
  const beside = [...CONSENT, COMMERZBANK, '--account'];
  for (const words of [...(account.includes(':') ? [] : [PAYMENT]), CONSENT, beside]) {
    const { failure, said } = await run([...words, account], { globals: { profile } });
    const says = `${account.replace(':EUR', '')} is an account at Sparda, which the profile ${other} serves`;
    const refusal = {
      ...{ code: 'usage', exitCode: 2, message: `${says}, and not the profile ${profile}` },
      hint: `psd2 has sent nothing. Give --profile ${other}.`,
    };
    if (isRefused) expect(failure).toMatchObject(refusal);
    // It goes on, and no certificate is there.
    else expect(failure).toMatchObject({ code: expect.not.stringMatching(/^usage$/) });
    expect(said.includes(`${says}.`)).toBe(other !== null && !isRefused);
  }
});

const ATRUVIA = 'DE83500900000123456789';
it.each([
  ['the first one', 'a-coop', null],
  ['the second one', 'b-coop', null],
  ['the last one', 'c-coop', null],
  ['none of them', 'n26', 'the profiles a-coop, b-coop and c-coop serve'],
])('of several profiles that serve an account alike, %s is in use', async (_, profile, others) => {
  const coop = bank('Coop', coded('Volksbanken', '???9????'));
  const run = await withProfiles({ 'a-coop': coop, 'b-coop': coop, 'c-coop': coop, n26: PROFILES.n26 });
  const { failure, said } = await run([...CONSENT, ATRUVIA], { globals: { profile } });
  const says = `${ATRUVIA} is an account at Volksbanken, which ${others}`;
  if (others !== null)
    expect(failure).toMatchObject({ code: 'usage', message: `${says}, and not the profile n26` });
  else expect(failure).toMatchObject({ code: expect.not.stringMatching(/^usage$/) });
  expect(said).not.toContain('is an account at');
});

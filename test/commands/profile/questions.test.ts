import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doorBankFile } from '../../../src/sandbox/folder/door-bank-file.ts';
import type { ProfileSettings } from '../../../src/store/machine/profiles.ts';
import { certificateBag, keyBag, pbes2Part, pkcs12Of } from '../../certificates/pkcs12-file.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { runIn } from '../command.ts';
import { failureIfAny, failureOf } from '../failure.ts';
import { useOperatorOfEachTest } from '../operator.ts';
import { person } from './person.ts';

const temporary = temporaryFolder();
const operator = useOperatorOfEachTest();

type Answers = Parameters<typeof person>[0];
const files = () => operator.bank.sandbox.registration;
const sandboxFolder = () => dirname(dirname(files().caFile));
const stored = (name = 'bank') => operator.open().context.profiles.read(name);
/** The settings that the environment gives are others. */
const NO_ENVIRONMENT = () => Object.fromEntries(Object.keys(operator.env).map((name) => [name, undefined]));

/** Runs `psd2 profile …` with a person. @returns what they were asked, and what psd2 said */
async function talk(words: string[], answers: Answers, env = {}) {
  const someone = person(answers);
  const marks = new Set<string>();
  const confirm: typeof someone.operator.confirm = async (question, initial) => {
    marks.add(command.context.terminal.marked(''));
    return someone.operator.confirm?.(question, initial) ?? false;
  };
  const command = operator.open({
    ...{ format: 'table', env: { ...NO_ENVIRONMENT(), ...env } },
    operator: { ...someone.operator, confirm },
  });
  const failure = await failureIfAny(runIn(command.context, 'profile', ...words));
  return { ...someone, failure, marks: [...marks], said: command.said() };
}

/** Nobody listens there, so the trial of the connection ends at once. */
const AWAY = 'https://127.0.0.1:1/';

/** The settings of an application of the sandbox, as `--reference` stores them. */
const ofSandbox = (): ProfileSettings => {
  const { clientId, clientSecret, applicationName } = files().applications.authorizationCode;
  return {
    ...{ environment: 'sandbox', baseUrl: AWAY },
    ...{ clientId, clientSecret, applicationName, ca: { path: files().caFile } },
    ...{ qwacCertificate: { path: files().qwacCertFile }, qwacKey: { path: files().qwacKeyFile } },
    ...{ qsealCertificate: { path: files().qsealCertFile }, qsealKey: { path: files().qsealKeyFile } },
  };
};
const store = async (changes: Partial<ProfileSettings> = {}) =>
  operator.open().context.profiles.write('bank', { ...ofSandbox(), ...changes });

/** Stores a profile of the sandbox that runs. */
const storeHere = async (changes: Partial<ProfileSettings> = {}) =>
  store({
    baseUrl: operator.bank.sandbox.baseUrl,
    redirectUri: `http://127.0.0.1:${await freePort()}/callback`,
    ...changes,
  });
const edit = (answers: Answers, words: string[] = []) => talk(['edit', 'bank', ...words], answers);

const STORE: Answers = { 'Store the profile': [true] };

/** Answers that make a profile of the sandbox. */
const answersForSandbox = async (): Promise<Answers> => {
  const { clientId, clientSecret, applicationName } = files().applications.authorizationCode;
  return {
    'Which bank': ['sandbox'],
    'Base URL': [AWAY],
    'Client id': [clientId],
    'Client secret': [clientSecret],
    'Application name': [applicationName],
    'QWAC certificate': [files().qwacCertFile],
    'QWAC key': [files().qwacKeyFile],
    'QSealC certificate': [files().qsealCertFile],
    'QSealC key': [files().qsealKeyFile],
    'CA bundle': [files().caFile],
    'Redirect URI': [`http://127.0.0.1:${await freePort()}/callback`],
    ...STORE,
  };
};
/** Of the questions, those that begin so. */
const those = (asked: string[], beginning: string) => asked.filter((text) => text.startsWith(beginning));

const BANKS = ['production: a bank, with real money', "sandbox: a bank's sandbox"];
const OWN = "own: psd2's own sandbox on this computer";

describe('psd2 profile add without options', () => {
  it('asks each question once, in this order, and suggests what is usual', async () => {
    const { baseUrl } = operator.bank.sandbox;
    const answers = { ...(await answersForSandbox()), 'Base URL': [baseUrl] };
    const { asked, suggested, failure, said, marks } = await talk(['add', 'bank', '--reference'], answers);
    expect(failure).toBeNull();
    const questions = [
      'Which bank is it?',
      'Bank: a bank file, or a platform of psd2 bank list (empty: none, the bank has the step interface: paths begin with /private/customers/)',
      'Base URL of the bank',
      'Client id',
      'Client secret',
      'Application name (the keyId of signatures)',
      'Is there also an application for client credentials?',
      'QWAC certificate: a PEM or PKCS#12 file',
      'QWAC key: a PEM file',
      'Does a QSealC sign? Without one, the QWAC signs',
      'QSealC certificate: a PEM or PKCS#12 file',
      'Is its key elsewhere, for example in an HSM?',
      'QSealC key: a PEM file',
      "CA bundle of the bank's server (empty: the system's)",
      'Signing certificate of the bank (empty: psd2 does not check its signatures)',
      'Redirect URI, as registered at the bank',
      'Largest amount of one transfer (empty: no limit)',
    ];
    expect(asked).toEqual(questions);
    const secret = 'Client secret';
    expect(suggested).toEqual({
      ...Object.fromEntries(questions.filter((text) => text !== secret).map((text) => [text, ''])),
      'Which bank is it?': [undefined, ...BANKS, OWN],
      'Is there also an application for client credentials?': false,
      'Does a QSealC sign? Without one, the QWAC signs': true,
      'Is its key elsewhere, for example in an HSM?': false,
      'Redirect URI, as registered at the bank': 'http://127.0.0.1:8910/callback',
    });
    expect(marks).toEqual(['']);
    expect(said.split('\n').filter((line) => !/^ {2}ok {4}/.test(line))).toEqual([
      '  skip  DNS: 127.0.0.1 is an address',
      'The profile bank is stored. Log in with: psd2 --profile bank auth login',
      '',
    ]);
    expect(stored()).toEqual({
      ...{ ...ofSandbox(), baseUrl: new URL(baseUrl).href },
      redirectUri: expect.stringMatching(/^http:/),
    });
  });

  it('asks nothing that an option has answered, and refuses a wrong option before the first question', async () => {
    const answers = await answersForSandbox();
    const words = ['add', 'bank', '--environment', 'production', '--base-url', AWAY, '--approvals', '1'];
    const { asked, failure, marks } = await talk(words, answers);
    expect([failure, marks]).toEqual([null, ['[PRODUCTION bank] ']]);
    expect([those(asked, 'Which bank'), those(asked, 'Base URL'), those(asked, 'QWAC cert')]).toEqual([
      [],
      [],
      ['QWAC certificate: a PEM or PKCS#12 file'],
    ]);
    expect(stored()).toMatchObject({
      environment: 'production',
      baseUrl: new URL(AWAY).href,
      approvals: '1',
    });
    const wrong = await talk(['add', 'other', '--base-url', 'notaurl'], answers);
    expect([wrong.asked, wrong.failure?.message]).toEqual([[], 'The base URL "notaurl" is not a URL']);
  });

  it.each<[string, Answers, boolean]>([
    ['is the suggestion', {}, true],
    ['goes if nothing but the QWAC signs', { 'Does a QSealC sign?': [false] }, false],
  ])('a pair that options name is asked for all the same, and %s', async (_, more, isStored) => {
    const { qwacKeyFile, qsealCertFile, qsealKeyFile } = files();
    const named = ['--qseal-cert', qsealCertFile, '--qseal-key', qsealKeyFile, '--qwac-key', qwacKeyFile];
    const answers = { ...(await answersForSandbox()), ...more };
    for (const own of ['QWAC key', 'QSealC certificate', 'QSealC key']) delete answers[own];
    const { suggested, failure } = await talk(['add', 'bank', '--reference', ...named], answers);
    expect([failure, suggested['QWAC key: a PEM file']]).toEqual([null, qwacKeyFile]);
    expect(suggested['QSealC certificate: a PEM or PKCS#12 file']).toBe(isStored ? qsealCertFile : undefined);
    const { qsealCertificate, qsealKey, ...rest } = ofSandbox();
    expect(stored()).toEqual({
      ...{ ...rest, ...(isStored && { qsealCertificate, qsealKey }) },
      redirectUri: expect.stringMatching(/^http:/),
    });
  });

  it('an option of the application for client credentials means that there is one', async () => {
    const answers = {
      ...(await answersForSandbox()),
      ...{ 'Its client secret': ['hush'], 'Its application name': ['app'] },
    };
    const { asked, failure } = await talk(['add', 'bank', '--cc-client-id', 'cc'], answers);
    expect(failure).toBeNull();
    expect([those(asked, 'Is there also'), those(asked, 'Its ')]).toEqual([
      [],
      ['Its client secret', 'Its application name'],
    ]);
    expect(stored()).toMatchObject({ ccClientId: 'cc', ccClientSecret: 'hush', ccApplicationName: 'app' });
  });

  it('marks every question after the answer that real money moves', async () => {
    const answers = { ...(await answersForSandbox()), 'Which bank': ['production'] };
    const { marks, failure } = await talk(['add', 'bank'], answers);
    expect([failure, marks]).toEqual([null, ['[PRODUCTION bank] ']]);
    expect(stored()).toMatchObject({ environment: 'production' });
  });

  it('asks for the name too, until it can be one', async () => {
    const answers: Answers = { ...(await answersForSandbox()), 'Name of the profile': ['My Bank', 'mybank'] };
    const { wrong, asked } = await talk(['add', '--reference'], answers);
    expect([asked[0], wrong]).toEqual(['Name of the profile', [expect.stringContaining('"My Bank"')]]);
    expect(stored('mybank')).toMatchObject(ofSandbox());
  });

  it('asks again after each answer that cannot be right', async () => {
    const answers = await answersForSandbox();
    const none = '/does/not/exist.pem';
    const says = (...texts: string[]) => texts.map((text) => expect.stringContaining(text));
    const key = files().qwacKeyFile;
    const wrongAnswers: [string, string[], unknown[]][] = [
      ['Bank:', ['no-such-platform'], says('no-such-platform')],
      ['Base URL', ['http://psd2.bank.example'], says('https')],
      ['Client id', ['', ' '], ['A value is required', 'A value is required']],
      ['Application name', ['ä'], says('application name')],
      ['QWAC certificate', [none, key], says(none, key)],
      ['QWAC key', [none], says(none)],
      ['CA bundle', [none, key], says(none, key)],
      ['Redirect URI', ['callback'], says('redirect URI')],
      ['Largest amount', ['much', '-1.00', 'none'], says('much', '-1.00', 'none')],
    ];
    for (const [question, before] of wrongAnswers)
      answers[question] = [...before, ...(answers[question] ?? [''])];
    const { wrong, failure } = await talk(['add', 'bank', '--reference'], answers);
    expect([failure, wrong]).toEqual([null, wrongAnswers.flatMap(([, , messages]) => messages)]);
    expect(stored()).toMatchObject(ofSandbox());
  });

  it('takes a key that is in the file of the certificate, and a signer in place of a key', async () => {
    const both = join(temporary, 'both.pem');
    const parts = [files().qwacCertFile, files().qwacKeyFile].map((path) => readFileSync(path, 'utf8'));
    writeFileSync(both, parts.join(''), { mode: 0o600 });
    const answers: Answers = {
      ...(await answersForSandbox()),
      'QWAC certificate': [both],
      'Is its key elsewhere': [true],
      'Command that gets': ['sign --pin 1234'],
      'Use it anyway?': [true],
    };
    const env = { PSD2_SIGNER: 'sign --old' };
    const { asked, suggested } = await talk(['add', 'bank', '--reference'], answers, env);
    expect(asked.filter((question) => / key: /.test(question))).toEqual([]);
    expect(suggested['Command that gets the signing string and prints the signature']).toBe('sign --old');
    expect(stored()).toMatchObject({ qwacCertificate: { path: both }, signer: 'sign --pin 1234' });
    for (const key of ['qwacKey', 'qsealKey']) expect(stored()).not.toHaveProperty(key);
  });

  it('takes a PKCS#12 file with a passphrase, which has the key too', async () => {
    const [certificate = '', key = ''] = [files().qwacCertFile, files().qwacKeyFile].map((path) =>
      readFileSync(path, 'utf8'),
    );
    const cipher = { oid: '2.16.840.1.101.3.4.1.42', name: 'aes-256-cbc', keyLength: 32 };
    const both = join(temporary, 'both.p12');
    const part = pbes2Part([certificateBag(certificate), keyBag(key)], { passphrase: 'hush', cipher });
    writeFileSync(both, pkcs12Of(part), { mode: 0o600 });
    const answers = { ...(await answersForSandbox()), 'QWAC certificate': [both] };
    const env = { PSD2_KEY_PASSPHRASE: 'hush' };
    const { asked, wrong, failure } = await talk(['add', 'bank', '--reference'], answers, env);
    expect([failure, wrong, those(asked, 'QWAC key'), those(asked, 'Use it anyway?')]).toEqual([
      ...[null, [], [], []],
    ]);
    expect(stored()).toMatchObject({ qwacCertificate: { path: both } });
    expect(stored()).not.toHaveProperty('qwacKey');
  });

  it('shows what is wrong with a pair, and takes it only after a yes', async () => {
    const answers: Answers = {
      ...(await answersForSandbox()),
      // A QSealC in place of a QWAC.
      'QWAC certificate': [files().qsealCertFile, files().qwacCertFile],
      'QWAC key': [files().qsealKeyFile, files().qwacKeyFile],
      'Use it anyway?': [false],
    };
    const { asked, said } = await talk(['add', 'bank', '--reference'], answers);
    expect([those(asked, 'QWAC certificate').length, those(asked, 'Use it anyway?').length]).toEqual([2, 1]);
    expect(said).toMatch(/^ {2}fail {2}QWAC: .+\n {8}→ .+\n {2}ok {4}QWAC: /);
    expect(stored()).toMatchObject(ofSandbox());
  });

  it('suggests what the environment has, and an answer counts more', async () => {
    const someone = person({
      'Which bank': ['production'],
      'Client id': ['typed'],
      'Is there also an application': [false],
      ...{ 'Largest amount': ['7.00'], ...STORE },
    });
    const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
    const env = { PSD2_MAX_AMOUNT: '1.00', PSD2_REDIRECT_URI: redirectUri };
    await operator.run(['profile', 'add', 'bank', '--reference'], { env, operator: someone.operator });
    expect(stored()).toEqual({
      ...{ ...ofSandbox(), environment: 'production', clientId: 'typed', redirectUri, maxAmount: '7.00' },
      baseUrl: new URL(operator.bank.sandbox.baseUrl).href,
      bankSigningCertificate: { path: files().bankSigningCertFile },
    });
    expect(someone.asked).not.toContain('Client secret');
  });

  it('asks for a secret until there is one', async () => {
    const someone = person({ 'Client secret': ['', ' ', 'hush'], ...STORE });
    const env = { PSD2_CLIENT_SECRET: undefined, PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/` };
    await operator.run(['profile', 'add', 'bank'], { env, operator: someone.operator });
    expect(stored()?.clientSecret).toBe('hush');
    expect(those(someone.asked, 'Client secret')).toHaveLength(3);
  });
});

describe("psd2's own sandbox", () => {
  it('gives its settings if it runs', async () => {
    operator.folder = { ...newConfigFolder(temporary), sandbox: sandboxFolder() };
    const { asked, failure } = await talk(['add', 'bank'], { 'Which bank': ['own'] });
    expect([failure, asked]).toEqual([null, ['Which bank is it?']]);
    const { clientCredentials } = files().applications;
    const { baseUrl } = operator.bank.sandbox;
    expect(stored()).toMatchObject({ ...ofSandbox(), baseUrl, ccClientId: clientCredentials.clientId });
  });

  it('says how to start it if it does not', async () => {
    mkdirSync(operator.folder.root, { recursive: true, mode: 0o700 });
    const { failure } = await talk(['add', 'bank'], { 'Which bank': ['own'] });
    expect(failure).toEqual({
      ...{ code: 'sandbox', exitCode: 3, message: 'The sandbox is not running' },
      hint: 'Start it. This also stores a profile for it:',
      next: [['sandbox', 'start', '--detach']],
    });
    expect(stored()).toBeUndefined();
  });
});

describe('a bank with a bank file', () => {
  it.each([
    ['production', ['never', 'ask']],
    ['sandbox', ['never', 'ask', 'files']],
  ])('says in %s what it means to take credentials, then asks', async (environment, ways) => {
    const words = ['add', 'bank', '--bank', 'atruvia', '--environment', environment, '--base-url', AWAY];
    const answers = { ...(await answersForSandbox()), 'May psd2 take': ['ask'] };
    const { suggested, said, failure } = await talk(words, answers);
    expect([failure, stored()]).toMatchObject([null, { embedded: 'ask' }]);
    const [initial, ...choices] = [suggested['May psd2 take them?']].flat();
    expect([initial, choices.map((each) => String(each).replace(/:.*/, ''))]).toEqual(['never', ways]);
    expect(said).toContain('never keeps, shows or logs them. Only the person whose they are types');
  });

  it.each<
    [
      string,
      'production' | 'sandbox',
      ProfileSettings['embedded'],
      initial: string | undefined,
      after: string | undefined,
    ]
  >([
    ['atruvia', 'production', 'files', 'never', 'never'],
    ['atruvia', 'sandbox', 'files', 'files', 'files'],
    ['atruvia', 'production', 'ask', 'ask', 'ask'],
    ['atruvia', 'production', undefined, 'never', undefined],
    // This bank takes none.
    ['sparkassen', 'production', 'files', undefined, undefined],
    ['sparkassen', 'sandbox', 'files', undefined, 'files'],
  ])('of %s in %s, with %s until now, suggests %s', async (bank, environment, embedded, initial, after) => {
    await store();
    await talk(['set', 'bank', '--bank', bank], {});
    await operator.open().context.profiles.write('bank', { ...ofSandbox(), ...stored(), embedded });
    const { suggested, failure } = await edit({ ...STORE, 'Which bank': [environment] });
    const [first] = [suggested['May psd2 take them?']].flat();
    expect([failure, first, stored()?.embedded]).toEqual([null, initial, after]);
  });

  const door = () => doorBankFile(sandboxFolder());

  it('is asked for less, and its base URL is suggested', async () => {
    const answers = await answersForSandbox();
    for (const own of ['Base URL', 'Client id', 'Application name', 'Which bank']) delete answers[own];
    answers['Which bank'] = ['sandbox'];
    const { asked, suggested } = await talk(['add', 'bank', '--reference', '--bank', door()], answers);
    const { api } = JSON.parse(readFileSync(door(), 'utf8'));
    expect(asked.slice(0, 2)).toEqual(['Which bank is it?', 'Base URL of the bank']);
    expect(suggested['Which bank is it?']).toEqual([undefined, ...BANKS]);
    expect(suggested['Base URL of the bank']).toBe(api.baseUrl);
    for (const other of ['Client id', 'Application name', 'Is there also', 'Bank:'])
      expect(those(asked, other)).toEqual([]);
    expect(stored()).toMatchObject({ baseUrl: api.baseUrl, bank: expect.stringContaining('"nextgenpsd2"') });
  });

  it('may be a platform, or a file by its path', async () => {
    copyFileSync(door(), join(temporary, 'door.json'));
    for (const [name, given] of Object.entries({
      platform: ' sparkassen ',
      path: join(temporary, 'door.json'),
    })) {
      const answers = { ...(await answersForSandbox()), 'Bank:': [given] };
      const { asked, failure } = await talk(['add', name, '--reference'], answers);
      expect([failure, asked[1]?.slice(0, 5)]).toEqual([null, 'Bank:']);
    }
    expect(stored('platform')?.bank).toContain('Sparkassen');
    expect(stored('path')?.bank).toContain('"nextgenpsd2"');
  });

  it('that signs nothing is not asked for a QSealC, and loses a stored one', async () => {
    await store({ signer: 'sign' });
    const { asked } = await edit({ 'Bank:': ['sparkassen'], ...STORE });
    expect(asked.filter((question) => /QSealC/.test(question))).toEqual([]);
    for (const key of ['qsealCertificate', 'qsealKey', 'signer']) expect(stored()).not.toHaveProperty(key);
  });

  it('stays, is replaced, or is taken out', async () => {
    await store();
    await talk(['set', 'bank', '--bank', 'sparkassen'], {});
    const content = stored()?.bank;
    const keep = 'Keep the bank file (Sparkassen (S-Payment), stored in the profile)?';
    const kept = await edit({ ...STORE });
    expect([kept.asked[1], kept.suggested[keep]]).toEqual([keep, true]);
    expect([content, stored()?.bank]).toEqual([expect.stringContaining('Sparkassen'), content]);
    const other = await edit({ ...STORE, 'Keep the bank': [false], 'Bank:': ['sparda'] });
    expect(other.failure).toBeNull();
    expect(stored()?.bank).toContain('Sparda');
    const { clientId, applicationName } = files().applications.authorizationCode;
    const none = await edit({
      ...{ ...STORE, 'Keep the bank': [false], 'Bank:': [''] },
      ...{ 'Client id': [clientId], 'Client secret': ['hush'], 'Application name': [applicationName] },
    });
    expect([none.failure, stored()?.bank]).toEqual([null, undefined]);
    expect(stored()).toMatchObject({ clientId, clientSecret: 'hush' });
  });
});

describe('psd2 profile edit', () => {
  const CC = { ccClientId: 'cc', ccClientSecret: 's', ccApplicationName: 'app', ccDailyLimit: '9' };

  it.each<[ProfileSettings['environment'], string, string]>([
    [undefined, 'https://127.0.0.1:1/', 'sandbox'],
    [undefined, 'https://psd2.bank.invalid/', 'production'],
    ['production', 'https://127.0.0.1:1/', 'production'],
    ['sandbox', 'https://psd2.bank.invalid/', 'sandbox'],
  ])('of a profile that says %s at %s suggests %s', async (environment, baseUrl, suggestion) => {
    await store({ baseUrl, environment });
    const { suggested } = await edit({ 'Store the profile': [false] });
    expect(suggested['Which bank is it?']).toEqual([suggestion, ...BANKS]);
  });

  it('keeps, replaces or takes out the other files', async () => {
    await store({ bankSigningCertificate: { path: files().bankSigningCertFile } });
    const removed = { 'Signing certificate of the bank: keep': [false], ...STORE };
    const other = { 'Signing certificate of the bank (empty': [files().bankSigningCertFile] };
    const first = await edit({ ...removed, ...other }, ['--reference']);
    expect(first.suggested).toMatchObject({
      "CA bundle of the bank's server: keep the stored one?": true,
      'Signing certificate of the bank: keep the stored one?': true,
      'Signing certificate of the bank (empty: psd2 does not check its signatures)': '',
    });
    expect(stored()).toMatchObject({ bankSigningCertificate: { path: files().bankSigningCertFile } });
    await edit(removed);
    expect(stored()).toEqual(ofSandbox());
  });

  it('without --reference stores the contents of new files', async () => {
    await store();
    await edit({
      ...{ 'Keep the QWAC': [false], 'QWAC certificate': [files().qwacCertFile] },
      ...{ 'QWAC key': [files().qwacKeyFile], ...STORE },
    });
    const pem = (path: string) => ({ pem: readFileSync(path, 'utf8') });
    expect(stored()).toEqual({
      ...ofSandbox(),
      ...{ qwacCertificate: pem(files().qwacCertFile), qwacKey: pem(files().qwacKeyFile) },
    });
  });

  it('a QSealC with a new key forgets the signer', async () => {
    await store({ signer: 'sign' });
    const { qsealCertFile, qsealKeyFile } = files();
    const newPair = { 'QSealC certificate': [qsealCertFile], 'QSealC key': [qsealKeyFile] };
    await edit({ 'Keep the QSealC': [false], ...newPair, ...STORE }, ['--reference']);
    expect(stored()).toEqual(ofSandbox());
  });

  it('with the suggested answers alone changes nothing, however often', async () => {
    await storeHere({ ...CC, maxAmount: '5.00' });
    const before = stored();
    for (let round = 0; round < 2; round++)
      expect((await edit({})).said.split('\n').at(-2)).toBe('The profile bank is unchanged.');
    expect(stored()).toEqual(before);
  });

  it('takes out all that belongs to what is there no more, and nothing else', async () => {
    await storeHere({ ...CC, maxAmount: '5.00', approvals: '2' });
    const before = stored() ?? { baseUrl: '' };
    for (const key of ['qsealCertificate', 'qsealKey', 'maxAmount'] as const) delete before[key];
    for (const key of ['ccClientId', 'ccClientSecret', 'ccApplicationName'] as const) delete before[key];
    await edit({
      'Is there also an application': [false],
      'Does a QSealC sign?': [false],
      'Largest amount': ['none'],
      // This bank wants a QSealC.
      ...STORE,
    });
    expect(stored()).toEqual(before);
    expect(before).toMatchObject({ ccDailyLimit: '9', approvals: '2', environment: 'sandbox' });
  });

  it('an empty answer keeps a secret, another one replaces it, and the environment gives none', async () => {
    await storeHere(CC);
    const own = stored()?.clientSecret;
    const someone = person({ 'Its client secret': [' new '] });
    const env = { ...NO_ENVIRONMENT(), PSD2_CLIENT_SECRET: 'of the environment', PSD2_MAX_AMOUNT: '1.00' };
    await operator.run(['profile', 'edit', 'bank'], { env, operator: someone.operator });
    expect(stored()).toMatchObject({ clientSecret: own, ccClientSecret: 'new' });
    expect(stored()).not.toHaveProperty('maxAmount');
    expect(someone.asked).toContain('Client secret (empty: keep the stored one)');
  });

  it('asks for a pair again until its key belongs to its certificate', async () => {
    await storeHere();
    const { qwacKeyFile, nextQwacCertFile: next, nextQwacKeyFile } = files();
    const none = `${temporary}/none.pem`;
    const pairs = { 'QWAC certificate': [none, next, next], 'QWAC key': [qwacKeyFile, nextQwacKeyFile] };
    const { wrong, said, asked } = await edit({ 'Keep the QWAC': [false], ...pairs }, ['--reference']);
    expect(wrong).toEqual([expect.stringContaining(none)]);
    expect(said).toContain('The QWAC key does not belong to the QWAC certificate');
    expect(those(asked, 'QWAC key')).toHaveLength(2);
    expect(stored()).toMatchObject({
      ...{ qwacCertificate: { path: next }, qwacKey: { path: nextQwacKeyFile } },
      qsealCertificate: { path: files().qsealCertFile },
    });
  });

  const CANCELLED = { code: 'cancelled', exitCode: 2, message: 'Nothing was stored' };
  it.each([
    [true, null, { baseUrl: AWAY, maxAmount: '7.00' }],
    [false, CANCELLED, {}],
  ])('shows every check that failed, and asks once about all: %j', async (anyway, failure, changes) => {
    await storeHere({ maxAmount: '5.00' });
    const before = stored();
    const answers = { 'Base URL': ['https://127.0.0.1:1'], 'Store the profile': [anyway], Largest: ['7.00'] };
    const edited = await edit(answers);
    expect(edited.failure).toEqual(failure);
    const shown = edited.said.split('\n');
    expect(shown.flatMap((line) => /^ {2}(\w+) +([\w ]+):/.exec(line)?.slice(1, 3).join(' ') ?? [])).toEqual([
      ...['ok QWAC', 'ok QSealC', 'ok redirect port', 'ok proxy', 'skip DNS', 'fail TLS', 'skip clock'],
      'skip authorize',
    ]);
    expect(those(edited.asked, 'Store')).toHaveLength(1);
    expect(stored()).toEqual({ ...before, ...changes });
  });

  it('stores nothing if another psd2 has changed the profile meanwhile', async () => {
    await storeHere();
    const { operator: someone } = person({ 'Largest amount': ['7.00'] });
    const confirm = async (question: string, initial?: boolean) => {
      if (question.startsWith('Does a QSealC')) await storeHere({ maxAmount: '6.00' });
      return someone.confirm?.(question, initial) ?? false;
    };
    const how = { env: NO_ENVIRONMENT(), operator: { ...someone, confirm } };
    expect(await failureOf(operator.run(['profile', 'edit', 'bank'], how))).toEqual({
      ...{ code: 'config', exitCode: 3 },
      message: 'Another psd2 has changed the profile bank meanwhile, so nothing was stored',
      ...{ hint: 'Look at the profile, then edit it again:', next: [['profile', 'show', 'bank']] },
    });
    expect(stored()?.maxAmount).toBe('6.00');
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { ProfileSettings } from '../../../src/store/machine/profiles.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { runIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { useOperatorHere } from '../operator.ts';
import { person } from './person.ts';

const temporary = temporaryFolder();
const operator = useOperatorHere();

beforeEach(() => {
  operator.folder = newConfigFolder(temporary);
});

const files = () => operator.bank.sandbox.registration;

const stored = (name: string) => operator.open().context.profiles.read(name);

/** Stores a profile for the sandbox, as `--reference` does. */
async function store(name: string, changes: Partial<ProfileSettings> = {}): Promise<void> {
  const { clientId, clientSecret, applicationName } = files().applications.authorizationCode;
  await operator.open().context.profiles.write(name, {
    ...{ environment: 'sandbox', baseUrl: operator.bank.sandbox.baseUrl },
    ...{ clientId, clientSecret, applicationName, ca: { path: files().caFile } },
    ...{ qwacCertificate: { path: files().qwacCertFile }, qwacKey: { path: files().qwacKeyFile } },
    ...{ qsealCertificate: { path: files().qsealCertFile }, qsealKey: { path: files().qsealKeyFile } },
    redirectUri: `http://127.0.0.1:${await freePort()}/callback`,
    ...changes,
  });
}
/** The settings that the environment gives are others. */
const NO_ENVIRONMENT = () => Object.fromEntries(Object.keys(operator.env).map((name) => [name, undefined]));

const edit = async (answers: Record<string, (string | boolean)[]>, words: string[] = ['bank']) => {
  const someone = person(answers);
  const how = { env: NO_ENVIRONMENT(), operator: someone.operator, format: 'table' } as const;
  const { said } = await operator.run(['profile', 'edit', ...words], how);
  return { ...someone, said: said() };
};

describe('psd2 profile edit', () => {
  it('with the suggested answers alone changes nothing, however often', async () => {
    await store('bank', {
      maxAmount: '5.00',
      ccClientId: 'cc',
      ccClientSecret: 's',
      ccApplicationName: 'app',
    });
    const before = stored('bank');
    for (let round = 0; round < 2; round++)
      expect((await edit({})).said.split('\n').at(-2)).toBe('The profile bank is unchanged.');
    expect(stored('bank')).toEqual(before);
  });

  const CC = { ccClientId: 'cc', ccClientSecret: 's', ccApplicationName: 'app', ccDailyLimit: '9' };

  it('takes out all that belongs to what is there no more, and nothing else', async () => {
    await store('bank', { ...CC, maxAmount: '5.00', approvals: '2' });
    const before = stored('bank') ?? { baseUrl: '' };
    for (const key of ['qsealCertificate', 'qsealKey', 'maxAmount'] as const) delete before[key];
    for (const key of ['ccClientId', 'ccClientSecret', 'ccApplicationName'] as const) delete before[key];
    await edit({
      'Is there also an application': [false],
      'Does a QSealC sign?': [false],
      'Largest amount': ['none'],
      // This bank wants a QSealC.
      'Store the profile': [true],
    });
    expect(stored('bank')).toEqual(before);
    expect(before).toMatchObject({ ccDailyLimit: '9', approvals: '2', environment: 'sandbox' });
  });

  it('an empty answer keeps a secret, another one replaces it, and the environment gives none', async () => {
    await store('bank', CC);
    const own = stored('bank')?.clientSecret;
    const someone = person({ 'Its client secret': [' new '] });
    const env = { ...NO_ENVIRONMENT(), PSD2_CLIENT_SECRET: 'of the environment', PSD2_MAX_AMOUNT: '1.00' };
    await operator.run(['profile', 'edit', 'bank'], { env, operator: someone.operator });
    expect(stored('bank')).toMatchObject({ clientSecret: own, ccClientSecret: 'new' });
    expect(stored('bank')).not.toHaveProperty('maxAmount');
    expect(someone.asked).toContain('Client secret (empty: keep the stored one)');
  });

  it('asks for a pair again until its key belongs to its certificate', async () => {
    await store('bank');
    const { wrong, said, asked } = await edit(
      {
        'Keep the QWAC': [false],
        'QWAC certificate': [`${temporary}/none.pem`, files().nextQwacCertFile, files().nextQwacCertFile],
        'QWAC key': [files().qwacKeyFile, files().nextQwacKeyFile],
      },
      ['bank', '--reference'],
    );
    expect(wrong).toEqual([expect.stringContaining(`${temporary}/none.pem`)]);
    expect(said).toContain('The QWAC key does not belong to the QWAC certificate');
    expect(asked.filter((question) => question.startsWith('QWAC key'))).toHaveLength(2);
    expect(stored('bank')).toMatchObject({
      qwacCertificate: { path: files().nextQwacCertFile },
      qwacKey: { path: files().nextQwacKeyFile },
      qsealCertificate: { path: files().qsealCertFile },
    });
  });

  it.each([
    [true, 'stores'],
    [false, 'stores nothing'],
  ])('shows every check that failed, and asks once about all: %j %s', async (anyway) => {
    await store('bank', { maxAmount: '5.00' });
    const before = stored('bank');
    const answers = { 'Base URL': ['https://127.0.0.1:1'], 'Store the profile': [anyway], Largest: ['7.00'] };
    const someone = person(answers);
    const command = operator.open({ env: NO_ENVIRONMENT(), operator: someone.operator, format: 'table' });
    const work = runIn(command.context, 'profile', 'edit', 'bank');
    if (anyway) await work;
    else
      expect(await failureOf(work)).toEqual({
        ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was stored' },
      });
    const shown = command.said().split('\n');
    expect(shown.flatMap((line) => /^ {2}(\w+) +([\w ]+):/.exec(line)?.slice(1, 3).join(' ') ?? [])).toEqual([
      ...['ok QWAC', 'ok QSealC', 'ok redirect port', 'ok proxy', 'skip DNS', 'fail TLS', 'skip clock'],
      'skip authorize',
    ]);
    expect(someone.asked.filter((question) => question.startsWith('Store'))).toHaveLength(1);
    expect(stored('bank')).toEqual(
      anyway ? { ...before, baseUrl: 'https://127.0.0.1:1/', maxAmount: '7.00' } : before,
    );
  });

  it('stores nothing if another psd2 has changed the profile meanwhile', async () => {
    await store('bank');
    const someone = person({ 'Largest amount': ['7.00'] });
    const { confirm } = someone.operator;
    const how = {
      env: NO_ENVIRONMENT(),
      operator: {
        ...someone.operator,
        confirm: async (question: string, initial?: boolean) => {
          if (question.startsWith('Does a QSealC')) await store('bank', { maxAmount: '6.00' });
          return confirm?.(question, initial) ?? false;
        },
      },
    };
    expect(await failureOf(operator.run(['profile', 'edit', 'bank'], how))).toEqual({
      ...{ code: 'config', exitCode: 3 },
      message: 'Another psd2 has changed the profile bank meanwhile, so nothing was stored',
      ...{ hint: 'Look at the profile, then edit it again:', next: [['profile', 'show', 'bank']] },
    });
    expect(stored('bank')?.maxAmount).toBe('6.00');
  });
});

describe('psd2 profile add without options', () => {
  it('suggests what the environment has, and an answer counts more', async () => {
    const someone = person({
      'Which bank': ['production'],
      'Client id': ['typed'],
      'Is there also an application': [false],
      'Largest amount': ['7.00'],
      'Store the profile': [true],
    });
    const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
    const env = { PSD2_MAX_AMOUNT: '1.00', PSD2_REDIRECT_URI: redirectUri };
    await operator.run(['profile', 'add', 'bank', '--reference'], { env, operator: someone.operator });
    const { clientSecret, applicationName } = files().applications.authorizationCode;
    expect(stored('bank')).toEqual({
      ...{
        environment: 'production',
        baseUrl: new URL(operator.bank.sandbox.baseUrl).href,
        clientId: 'typed',
      },
      ...{ clientSecret, applicationName, redirectUri, maxAmount: '7.00', ca: { path: files().caFile } },
      ...{ qwacCertificate: { path: files().qwacCertFile }, qwacKey: { path: files().qwacKeyFile } },
      ...{ qsealCertificate: { path: files().qsealCertFile }, qsealKey: { path: files().qsealKeyFile } },
      bankSigningCertificate: { path: files().bankSigningCertFile },
    });
    expect(someone.asked).not.toContain('Client secret');
  });

  it('asks for a secret until there is one', async () => {
    const someone = person({ 'Client secret': ['', ' ', 'hush'], 'Store the profile': [true] });
    const env = { PSD2_CLIENT_SECRET: undefined, PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/` };
    await operator.run(['profile', 'add', 'bank'], { env, operator: someone.operator });
    expect(stored('bank')?.clientSecret).toBe('hush');
    expect(someone.asked.filter((question) => question === 'Client secret')).toHaveLength(3);
  });
});

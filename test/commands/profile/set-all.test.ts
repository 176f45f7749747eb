import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { Psd2Error } from '../../../src/errors.ts';
import type { ProfileSettings } from '../../../src/store/machine/profiles.ts';
import { runIn } from '../command.ts';
import { failureIfAny } from '../failure.ts';
import { useOperatorOfEachTest } from '../operator.ts';

const operator = useOperatorOfEachTest();

const files = () => operator.bank.sandbox.registration;
const AWAY = 'https://127.0.0.1:1/';
type Pair = Partial<ProfileSettings>;
const qwac = (path: string, key: string): Pair => ({ qwacCertificate: { path }, qwacKey: { path: key } });
const qseal = (path: string, key: string): Pair => ({ qsealCertificate: { path }, qsealKey: { path: key } });
const oldQwac = () => qwac(files().qwacCertFile, files().qwacKeyFile);
const newQwac = () => qwac(files().nextQwacCertFile, files().nextQwacKeyFile);
const oldQseal = () => qseal(files().qsealCertFile, files().qsealKeyFile);
/** A certificate of the same organization, which is no QWAC: `--all` does not ask what it is for. */
const third = () => qwac(files().qsealCertFile, files().qsealKeyFile);
const newQseal = () => qseal(files().nextQsealCertFile, files().nextQsealKeyFile);
const NO_QSEAL: Pair = { qsealCertificate: undefined, qsealKey: undefined };
const QWAC = () => ['--qwac-cert', files().nextQwacCertFile, '--qwac-key', files().nextQwacKeyFile];
const QSEAL = () => ['--qseal-cert', files().nextQsealCertFile, '--qseal-key', files().nextQsealKeyFile];

/** Stores a profile for the sandbox with these certificates, and with the old QSealC unless they say otherwise. */
async function store(name: string, ...pairs: Pair[]): Promise<void> {
  const { clientId, clientSecret, applicationName } = files().applications.authorizationCode;
  const application = { baseUrl: operator.bank.sandbox.baseUrl, clientId, clientSecret, applicationName };
  const settings = Object.assign(application, { ca: { path: files().caFile }, ...oldQseal() }, ...pairs);
  await operator.open().context.profiles.write(name, settings);
}
const pathOf = (name: string) => {
  const source = operator.open().context.profiles.read(name)?.qwacCertificate;
  return source && 'path' in source ? source.path : undefined;
};

/** Runs `psd2 profile set --all`. @returns what became of each profile, and the error */
async function setAll(words: string[], globals = {}) {
  const command = operator.open({ globals });
  const failure = await failureIfAny(
    runIn(command.context, 'profile', 'set', '--all', '--reference', ...words),
  );
  const rows = z
    .array(z.strictObject({ profile: z.string(), result: z.string(), detail: z.string() }))
    .parse(JSON.parse(command.printed() || '[]'))
    .map(({ profile, result, detail }) => [profile, result, detail]);
  return { rows, failure };
}

const CHANGED = 'QWAC; its bank accepts it';
const HAS_IT = 'it has the new one already';

describe('psd2 profile set --all', () => {
  it('goes on after each profile that fails, and the first one decides the exit code', async () => {
    await store('a-away', oldQwac(), { baseUrl: AWAY });
    await store('b-damaged', oldQwac());
    writeFileSync(operator.folder.profile('b-damaged'), '{', { mode: 0o600 });
    await store('c-good', oldQwac());
    await store('d-new', newQwac());
    await store('e-good', oldQwac());
    await store('f-none');
    const { rows, failure } = await setAll(QWAC());
    expect(rows).toEqual([
      ['a-away', 'failed', expect.stringContaining('nothing listens at 127.0.0.1:1')],
      ['b-damaged', 'failed', expect.stringContaining('damaged')],
      ['c-good', 'changed', CHANGED],
      ['d-new', 'unchanged', HAS_IT],
      ['e-good', 'changed', CHANGED],
      ['f-none', 'unchanged', 'it has another QWAC, or none'],
    ]);
    expect(failure).toMatchObject({
      ...{ code: 'bank_unreachable', exitCode: 11 },
      message: expect.stringMatching(/^2 of 6 profiles were not changed: .*127\.0\.0\.1:1/),
    });
    const { qwacCertFile, nextQwacCertFile } = files();
    const paths = ['a-away', 'c-good', 'e-good'].map(pathOf);
    expect(paths).toEqual([qwacCertFile, nextQwacCertFile, nextQwacCertFile]);
  });

  it('the second run finds nothing to change, which is no error', async () => {
    await store('bank', oldQwac());
    expect(await setAll(QWAC())).toEqual({ rows: [['bank', 'changed', CHANGED]], failure: null });
    expect(await setAll(QWAC())).toEqual({ rows: [['bank', 'unchanged', HAS_IT]], failure: null });
    const about = z.looseObject({ about: z.string() });
    const audited = await operator.json(z.array(about), ['audit'], { globals: { profile: 'bank' } });
    expect(audited.map((line) => line.about)).toEqual(['qwacCertificate qwacKey']);
  });

  it('of both pairs a profile gets those that it has the old one of, and keeps what is another one', async () => {
    await store('a-both', oldQwac());
    await store('b-qseal', newQwac());
    await store('c-qwac', oldQwac(), newQseal());
    await store('d-none', newQwac(), newQseal());
    await store('e-other', newQwac(), NO_QSEAL);
    await store('f-other', NO_QSEAL);
    await store('g-qwac', oldQwac(), NO_QSEAL);
    const { rows, failure } = await setAll([...QWAC(), ...QSEAL()]);
    expect(rows).toEqual([
      ['a-both', 'changed', 'QWAC and QSealC; its bank accepts it'],
      ['b-qseal', 'changed', 'QSealC; its bank accepts it'],
      ['c-qwac', 'changed', CHANGED],
      ['d-none', 'unchanged', HAS_IT],
      ['e-other', 'unchanged', 'it has the new QWAC already, and another QSealC, or none'],
      ['f-other', 'unchanged', 'it has another QWAC and QSealC, or none'],
      // It gets no QSealC because it had none, and this bank wants one.
      ['g-qwac', 'failed', expect.stringContaining('but must be the QSealC')],
    ]);
    expect(failure?.message).toMatch(/^1 of 7 profiles was not changed: /);
    expect(operator.open().context.profiles.read('e-other')).not.toHaveProperty('qsealCertificate');
  });

  it('of several old ones, --profile decides before the profile in use, and without either nothing changes', async () => {
    await store('a', oldQwac());
    await store('b', third(), { baseUrl: AWAY });
    await store('c', oldQwac());
    const { failure, rows } = await setAll(QWAC());
    expect([rows, failure]).toEqual([
      [],
      {
        ...{ code: 'usage', exitCode: 2, hint: 'Name a profile that has it with --profile.' },
        message: 'It is unclear which QWAC is the old one: profiles with the same one: a, c; b',
      },
    ]);
    await operator.open().context.profiles.use('b');
    const results = (await setAll(QWAC())).rows.map(([, result]) => result);
    expect(results).toEqual(['unchanged', 'failed', 'unchanged']);
    expect((await setAll(QWAC(), { profile: 'a' })).rows).toEqual([
      ['a', 'changed', CHANGED],
      ['b', 'unchanged', 'it has another QWAC, or none'],
      ['c', 'changed', CHANGED],
    ]);
  });

  /** A certificate without an organization. */
  const foreign = () => qwac(files().caFile, files().qwacKeyFile);
  const named = (one: () => Pair, other: () => Pair): [string, () => Pair][] => [
    ['a', one],
    ['b', other],
  ];
  it.each<[string, [string, () => Pair][], string[] | string]>([
    ['without a profile there is none', [], 'No profile has a QWAC'],
    ['without a QWAC there is none', [['a', () => ({})]], 'No profile has a QWAC'],
    ['the only one of another organization', [['a', foreign]], ['changed']],
    ['one of another organization beside the old one', named(foreign, oldQwac), ['unchanged', 'changed']],
    ['one of another organization beside the new one', named(foreign, newQwac), ['unchanged', 'unchanged']],
    ['the old one beside the new one', named(newQwac, oldQwac), ['unchanged', 'changed']],
  ])('which one is the old one: %s', async (_, profiles, expected) => {
    for (const [name, pair] of profiles) await store(name, pair());
    const { rows, failure } = await setAll(QWAC());
    if (typeof expected !== 'string')
      expect([rows.map(([, result]) => result), failure]).toEqual([expected, null]);
    else
      expect([rows, failure]).toEqual([
        [],
        {
          ...{ code: 'usage', exitCode: 2, message: expected },
          hint: 'Give the certificate to a profile by its name.',
        },
      ]);
  });

  it('a certificate that nobody can read is the failure of its profile', async () => {
    const file = `${operator.folder.root}/garbage.pem`;
    await store('a-pem', { qwacCertificate: { pem: 'garbage' } });
    await store('b-file', qwac(file, files().qwacKeyFile));
    writeFileSync(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', { mode: 0o600 });
    await store('c-good', oldQwac());
    const { rows, failure } = await setAll(QWAC());
    expect(rows).toEqual([
      ['a-pem', 'failed', 'The QWAC certificate cannot be read'],
      ['b-file', 'failed', `${file} has no readable certificate`],
      ['c-good', 'changed', CHANGED],
    ]);
    expect(failure).toMatchObject({ code: 'certificate', exitCode: 3 });
    expect(failure?.message).toBe('2 of 3 profiles were not changed: The QWAC certificate cannot be read');
    // What the file has in it is known to who looks for the reason.
    const { context } = operator.open();
    await expect(runIn(context, 'profile', 'set', '--all', '--reference', ...QWAC())).rejects.toHaveProperty(
      'cause.code',
      expect.stringMatching(/^ERR_/),
    );
    expect((await setAll(['--qwac-cert', file, '--qwac-key', files().qwacKeyFile])).failure?.code).toBe(
      'certificate',
    );
  });

  it('a file that has the key too takes the place of both', async () => {
    const both = `${operator.folder.root}/both.pem`;
    const texts = [files().nextQwacCertFile, files().nextQwacKeyFile].map((path) => readFileSync(path));
    await store('bank', oldQwac());
    writeFileSync(both, Buffer.concat(texts), { mode: 0o600 });
    expect((await setAll(['--qwac-cert', both])).rows).toEqual([['bank', 'changed', CHANGED]]);
    const stored = operator.open().context.profiles.read('bank');
    expect(stored).toMatchObject({ qwacCertificate: { path: both } });
    expect(stored).not.toHaveProperty('qwacKey');
  });

  it('a certificate counts wherever it stands in its file: those of two TPPs may have one issuer', async () => {
    const withIssuer = (name: string, path: string) => {
      const file = `${operator.folder.root}/${name}.pem`;
      const texts = [files().caFile, path].map((each) => readFileSync(each));
      writeFileSync(file, Buffer.concat(texts), { mode: 0o600 });
      return file;
    };
    await store('c-old', oldQwac());
    await store('a-old', qwac(withIssuer('old', files().qwacCertFile), files().qwacKeyFile));
    await store('b-other', qwac(withIssuer('other', files().qsealCertFile), files().qsealKeyFile));
    const words = ['--qwac-cert', withIssuer('new', files().nextQwacCertFile)];
    const globals = { profile: 'c-old' };
    expect((await setAll([...words, '--qwac-key', files().nextQwacKeyFile], globals)).rows).toEqual([
      ['a-old', 'changed', CHANGED],
      ['b-other', 'unchanged', 'it has another QWAC, or none'],
      ['c-old', 'changed', CHANGED],
    ]);
  });

  it('a profile that another psd2 changes meanwhile keeps that change', async () => {
    await store('bank', oldQwac());
    const { context } = operator.open();
    const replace = context.profiles.replace.bind(context.profiles);
    let isFirst = true;
    vi.spyOn(context.profiles, 'replace').mockImplementation(async (...change) => {
      if (isFirst) await store('bank', oldQwac(), { maxAmount: '5.00' });
      isFirst = false;
      return replace(...change);
    });
    await runIn(context, 'profile', 'set', '--all', '--reference', ...QWAC());
    expect(context.profiles.read('bank')).toMatchObject({ maxAmount: '5.00', ...newQwac() });
  });

  it.each<[string, () => Error, 1 | 2]>([
    ['an interruption', () => new Psd2Error('interrupted', 'Interrupted'), 1],
    ['a fault of psd2', () => new TypeError('a fault'), 1],
    ['an interruption before the change', () => new Psd2Error('interrupted', 'Interrupted'), 2],
    ['a fault of psd2 before the change', () => new TypeError('a fault'), 2],
  ])('%s ends all of it', async (_, fault, time) => {
    await store('bank', oldQwac());
    const { context, printed } = operator.open();
    const error = fault();
    const readSealed = vi.spyOn(context.profiles, 'readSealed');
    if (time === 2) readSealed.mockResolvedValueOnce({});
    readSealed.mockRejectedValueOnce(error);
    const run = runIn(context, 'profile', 'set', '--all', '--reference', ...QWAC());
    await expect(run).rejects.toBe(error);
    expect([printed(), pathOf('bank')]).toEqual(['', files().qwacCertFile]);
  });

  it.each<[string, () => string[]]>([
    ['nothing', () => []],
    ['another setting besides', () => [...QWAC(), '--max-amount', '5.00']],
    ['the key of the other pair besides', () => [...QWAC(), '--qseal-key', files().nextQsealKeyFile]],
  ])('%s is not what it takes', async (_, words) => {
    await store('bank', oldQwac());
    expect((await setAll(words())).failure).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: '--all changes certificates and their keys, and nothing else',
      hint: 'Give at least one certificate:',
      next: [['profile', 'set', '--all', '--qwac-cert', 'new-qwac.pem', '--qwac-key', 'new-qwac.key']],
    });
    expect(pathOf('bank')).toBe(files().qwacCertFile);
  });
});

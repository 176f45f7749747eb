import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import type { BankInterface } from '../../../src/bank/ports/bank.ts';
import type { LoginProbe, LoginStart } from '../../../src/bank/ports/customer.ts';
import { CallFailed } from '../../../src/bank/transport/connection.ts';
import { ClosedUnanswered } from '../../../src/bank/transport/line.ts';
import { compareClocks } from '../../../src/commands/checks/connection.ts';
import { Diagnosis } from '../../../src/commands/checks/diagnosis.ts';
import { checkCompiledCode } from '../../../src/commands/checks/settings.ts';
import { doctor } from '../../../src/commands/doctor/doctor.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { thrownBy } from '../../support/thrown.ts';
import { storeLogin } from '../access.ts';
import { runIn } from '../command.ts';
import { failureIfAny } from '../failure.ts';
import { bankWhere, differing } from '../named-bank.ts';
import { type OperatorHere, useOperatorOfEachTest } from '../operator.ts';

const temporary = temporaryFolder();
const operator = useOperatorOfEachTest();
let redirectUri: string;
const ANNA = '1048262';
const PROFILE_CHECKS = [
  ...['QWAC', 'chain', 'signer', 'redirect port'],
  ...['proxy', 'DNS', 'TLS', 'clock', 'authorize', 'token', 'consents', 'expiring'],
];

beforeEach(async () => {
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
});

const printed = z.object({
  ok: z.boolean(),
  checks: z.array(
    z.object({ name: z.string(), status: z.string(), detail: z.string(), fix: z.nullable(z.string()) }),
  ),
});

/** `psd2 doctor`, where the browser returns to a port of its own. */
const opened = ({ env, ...how }: Parameters<OperatorHere['open']>[0] = {}) =>
  operator.open({ ...how, env: { PSD2_REDIRECT_URI: redirectUri, ...env } });
/** Runs `psd2 doctor`. @returns what it printed, by the names of the checks, and how it ended */
async function examine(how?: Parameters<OperatorHere['open']>[0]) {
  const command = opened(how);
  const failure = await failureIfAny(runIn(command.context, 'doctor'));
  const data: unknown = JSON.parse(command.printed());
  expect(doctor.prints?.shape.is(data)).toBe(true);
  const { ok, checks } = printed.parse(data);
  return {
    ...{ failure, ok, checks, said: command.said() },
    names: checks.map(({ name }) => name),
    of(wanted: string) {
      const check = checks.find(({ name }) => name === wanted);
      if (!check) throw new TypeError(`There is no check ${wanted}`);
      const { name: _, ...rest } = check;
      return rest;
    },
    with: (status: string) => checks.filter((check) => check.status === status).map(({ name }) => name),
  };
}
const found = (status: string, detail: string, fix: string | null = null) => ({ status, detail, fix });

/** A bank that answers the call of the doctor so. */
function answering(probe: (login: LoginStart) => LoginProbe, more: Partial<BankInterface> = {}) {
  const { open } = differing(new ToyBank().interface, ({ login }) => ({
    login: { ...login, probe: async (start) => probe(start) },
  }));
  return bankWhere({
    ...more,
    open: (given) => ({ ...open(given), client: () => ({ clientId: 'app-1', needsSecret: false }) }),
  });
}
const GOOD = async () => ({ says: 'the bank knows the application' });
const knowing = (more: Partial<BankInterface> = {}) =>
  answering(() => ({ date: undefined, judge: GOOD }), more);

/** A bank at which the call of the doctor fails so. */
const failing = (error: Psd2Error) =>
  bankWhere({
    open: () => ({
      client: () => null,
      compose: () => Promise.reject(new TypeError('No request')),
      connect: () => {
        throw error;
      },
    }),
  });

it('a setup that is right passes every check that it can make, in order', async () => {
  await operator.logIn('anna');
  const result = await examine();
  expect(result.failure).toBeNull();
  expect(result.ok).toBe(true);
  expect(result.names).toEqual([
    ...['configuration', 'settings', 'file modes', 'compiled code', 'store'],
    ...['QWAC', 'QSealC', 'CA', 'bank signing certificate', 'chain', 'signer', 'redirect port'],
    ...['proxy', 'DNS', 'TLS', 'clock', 'authorize', 'token', 'consents', 'expiring'],
  ]);
  expect(result.with('skip')).toEqual(['signer', 'DNS', 'consents']);
  expect([result.with('warn'), result.with('fail')]).toEqual([['compiled code'], []]);
  const { root } = operator.folder;
  const { checks } = result;
  expect(Object.fromEntries(checks.map(({ name, ...check }) => [name, check]))).toMatchObject({
    configuration: found('ok', `profile env: ${new URL(operator.bank.sandbox.baseUrl).href}`),
    settings: found('ok', 'everything that a login needs is set'),
    'file modes': found('ok', `${root} and its contents: only you can read and change them`),
    'compiled code': found(
      'warn',
      'psd2 compiles itself at each start: it was not started with bin/psd2.js',
      'Give the user a home folder that only this user can change. Slower starts are the only consequence.',
    ),
    chain: found(
      'ok',
      'QWAC: sent alone, since its file has no issuers; QSealC: sent alone, since its file has no issuers',
    ),
    signer: found('skip', 'psd2 signs itself: no PSD2_SIGNER'),
    'redirect port': found('ok', `psd2 can listen at ${redirectUri}`),
    proxy: found('ok', 'none: the bank is reached directly'),
    DNS: found('skip', '127.0.0.1 is an address'),
    consents: found('skip', 'no consent of this customer was requested with this profile'),
    expiring: found('ok', 'nothing ends within 14 days'),
  });
});

describe('a setup that is not right', () => {
  it('without a profile there is nothing to check but the machine', async () => {
    const result = await examine({ env: { PSD2_BASE_URL: undefined } });
    const { of } = result;
    expect(of('configuration').status).toBe('fail');
    expect(of('settings')).toEqual(found('skip', 'there is no profile to check'));
    expect(result.names).toEqual([
      ...['configuration', 'settings', 'file modes', 'compiled code', 'store'],
      ...PROFILE_CHECKS,
    ]);
    expect(result.with('skip')).toEqual(expect.arrayContaining(['settings', ...PROFILE_CHECKS]));
    for (const name of PROFILE_CHECKS) expect(of(name).detail).toBe('there is no profile to check');
    expect(result.failure).toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^1 of \d+ checks failed: configuration$/),
    });
  });

  it('a folder that others can change is not even read', async () => {
    const { root } = operator.folder;
    mkdirSync(root, { recursive: true });
    chmodSync(root, 0o777);
    const result = await examine();
    chmodSync(root, 0o700);
    expect(result.with('fail')).toEqual(['file modes']);
    expect(result.of('file modes')).toMatchObject({ status: 'fail', fix: `Run: chmod 700 ${root}` });
    expect(result.names).toEqual(['file modes', 'configuration', 'settings', ...PROFILE_CHECKS]);
    for (const name of ['configuration', 'settings', ...PROFILE_CHECKS])
      expect(result.of(name)).toEqual(found('skip', 'the configuration folder cannot be trusted'));
    expect(result.failure).toMatchObject({ code: 'config', exitCode: 3, hint: `Run: chmod 700 ${root}` });
  });

  it.each([
    ['PSD2_CLIENT_ID', ' '],
    ['PSD2_REDIRECT_URI', 'callback'],
    ['PSD2_CC_DAILY_LIMIT', 'many'],
    ['PSD2_MAX_AMOUNT', 'much'],
    ['PSD2_STALE_AFTER', 'soon'],
  ])('the settings fail if %s is %j', async (name, value) => {
    const find = failing(new Psd2Error('bank_answer', 'The answer is not signed'));
    const { of } = await examine({ find, env: { [name]: value } });
    expect(of('settings').status).toBe('fail');
  });

  it.each<[isAlone: boolean, embedded: string | undefined, status: string, detail: RegExp]>([
    [true, undefined, 'warn', /give psd2 PIN and TAN, and the profile does not allow it/],
    [true, 'ask', 'ok', /: ask$/],
    [false, undefined, 'ok', /: never$/],
  ])(
    'at a bank with embedded SCA (alone: %s) and a profile that says %s there is a result: %s',
    async (isAlone, embedded, status, detail) => {
      const find = knowing({ takesCredentials: { isAlone } });
      const result = await examine({ find, env: { PSD2_EMBEDDED: embedded } });
      const { fix, ...found } = result.of('embedded SCA');
      expect(found).toEqual({ status, detail: expect.stringMatching(detail) });
      expect(fix?.includes('profile set env --embedded ask') ?? false).toBe(status === 'warn');
      expect((await examine()).names).not.toContain('embedded SCA');
    },
  );

  it('a setting and a certificate that are missing both fail, and the first one decides the exit code', async () => {
    const result = await examine({ env: { PSD2_QWAC_CERT: undefined, PSD2_CLIENT_ID: undefined } });
    expect(result.with('fail')).toEqual(['settings', 'chain', 'TLS']);
    expect(result.failure).toMatchObject({
      exitCode: 3,
      message: `3 of ${result.names.length} checks failed: settings, chain, TLS`,
    });
  });
});

describe('the modes of files', () => {
  /** Makes a file or folder in the configuration folder. */
  function make(name: string, mode: number, isFolder = false): string {
    const path = join(operator.folder.root, name);
    mkdirSync(isFolder ? path : operator.folder.root, { recursive: true, mode: 0o700 });
    if (!isFolder) writeFileSync(path, '');
    chmodSync(path, mode);
    return path;
  }
  const modes = async () => (await examine()).of('file modes');

  it('before there is a folder they are skipped', async () => {
    const { root } = operator.folder;
    expect(await modes()).toEqual(found('skip', `there is no folder ${root} yet`));
  });

  it('a file that others can read fails, with how to repair it; of two the first is named, and how to repair both', async () => {
    const path = make('one', 0o644);
    const [detail, fix] = [`${path} can be read by others (mode 0644)`, `Run: chmod 600 ${path}`];
    expect(await modes()).toEqual(found('fail', detail, fix));
    make('two', 0o644);
    const both = `${fix} To fix all of them at once: chmod -R go= ${operator.folder.root}`;
    expect(await modes()).toEqual(found('fail', `${detail}, and 1 more like it`, both));
  });

  it.each([1, 3, 4])('%i folders that others can list are a warning', async (count) => {
    const paths = ['a', 'b', 'c', 'd'].slice(0, count).map((name) => make(name, 0o755, true));
    const others = count > 3 ? ' and 1 more' : '';
    const detail = `others can list ${paths.slice(0, 3).join(', ')}${others}`;
    expect(await modes()).toEqual(found('warn', detail, `Run: chmod 700 ${paths.join(' ')}`));
  });
});

describe('the way to the bank', () => {
  it('the redirect URI may be elsewhere, have TLS, or be reached over ssh', async () => {
    const port = async (env: Environment) => (await examine({ find: knowing(), env })).of('redirect port');
    const away = 'https://tpp.example/callback';
    expect(await port({ PSD2_REDIRECT_URI: away })).toEqual(
      found('skip', `${away} is not on this computer: log in with --paste`),
    );
    const tls = redirectUri.replace('http:', 'https:');
    expect(await port({ PSD2_REDIRECT_URI: tls })).toEqual(found('ok', `psd2 can listen at ${tls}`));
    const number = new URL(redirectUri).port;
    const forward = `ssh -L ${number}:127.0.0.1:${number} <this computer>`;
    expect(await port({ SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' })).toEqual(
      found('ok', `psd2 can listen at ${redirectUri}`, `For a browser on your own computer: ${forward}`),
    );
  });

  it('an address of IPv6 in the base URL is not looked up', async () => {
    const { of } = await examine({ find: knowing(), env: { PSD2_BASE_URL: 'https://[::1]:1' } });
    expect(of('DNS')).toEqual(found('skip', '::1 is an address'));
  });

  it('a bank that does not listen fails in TLS, and what needs its answer is skipped', async () => {
    const result = await examine({ env: { PSD2_BASE_URL: `https://localhost:${await freePort()}` } });
    expect(result.of('DNS')).toEqual(
      found('ok', expect.stringMatching(/^localhost is .*(127\.0\.0\.1|::1)/)),
    );
    expect(result.of('TLS').status).toBe('fail');
    for (const name of ['clock', 'authorize'])
      expect(result.of(name)).toEqual(found('skip', 'the bank did not answer'));
    expect(result.failure).toMatchObject({ code: 'bank_unreachable', exitCode: 11 });
  });

  it('a bank that does not know the application refuses the call, and the clock is compared all the same', async () => {
    const result = await examine({ env: { PSD2_CLIENT_ID: 'not-this-one', PSD2_ENVIRONMENT: 'production' } });
    expect(result.of('configuration').detail).toMatch(/^profile env, production: https:/);
    expect(result.of('TLS').status).toBe('ok');
    expect(result.of('clock').detail).toMatch(/^\d+ s (ahead of|behind) the bank$/);
    expect(result.of('authorize').status).toBe('fail');
    expect(result.failure).toMatchObject({ code: 'bank_refused', exitCode: 7 });
  });

  it('a base URL with http has no proxy and no TLS to check', async () => {
    const gateway = createHttpServer((_, response) => response.writeHead(404).end());
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void gateway.close());
    const address = gateway.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const result = await examine({ env: { PSD2_BASE_URL: `http://127.0.0.1:${port}` } });
    expect([result.of('configuration').status, result.of('proxy'), result.of('TLS')]).toEqual([
      'ok',
      found('skip', 'a base URL with http is on this computer, which no proxy reaches'),
      found('skip', "the base URL has http, so psd2 can check neither the QWAC nor the bank's certificate"),
    ]);
  });

  it('a name that is not known ends the way there', async () => {
    const result = await examine({ env: { PSD2_BASE_URL: 'https://no-such-bank.invalid' } });
    expect(result.of('DNS')).toEqual(
      found(
        'fail',
        expect.stringMatching(/^The host name no-such-bank\.invalid could not be looked up \(E\w+\)$/),
        'Check the base URL, the network and the name server; behind a proxy set HTTPS_PROXY.',
      ),
    );
    for (const name of ['TLS', 'clock', 'authorize'])
      expect(result.of(name)).toEqual(found('skip', 'the host name is not known'));
  });

  it('a proxy is named without its credentials, and its name is looked up instead', async () => {
    vi.stubEnv('HTTPS_PROXY', `http://someone:hush@127.0.0.1:${await freePort()}`);
    const result = await examine({ env: { PSD2_BASE_URL: 'https://no-such-bank.invalid' } });
    vi.unstubAllEnvs();
    expect(result.of('proxy').detail).toMatch(/^the bank is reached through 127\.0\.0\.1:\d+$/);
    expect(result.of('DNS')).toEqual(found('skip', '127.0.0.1 is an address'));
    expect(result.of('TLS').status).toBe('fail');
    expect(JSON.stringify(result.of('TLS'))).not.toContain('hush');
  });

  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const lost = (neverSent: boolean, cause: unknown) =>
    new Psd2Error('bank_unreachable', 'Lost', {
      cause: new CallFailed('lost', { neverSent, passing: true, cause }),
    });
  it.each([
    ['during the TLS handshake', true, reset],
    ['after the TLS handshake, before it answered', false, new ClosedUnanswered('closed')],
  ])('a bank that closes the connection %s has probably refused the QWAC', async (when, neverSent, cause) => {
    const { of, failure } = await examine({ find: failing(lost(neverSent, cause)) });
    const hint =
      'The usual reason is that the bank refused the QWAC. Ask the bank whether it knows this QWAC and trusts the ' +
      'authority that issued it. If the QWAC is right, try again later.';
    expect(of('TLS')).toEqual(found('fail', `The bank closed the connection ${when}`, hint));
    expect(failure).toMatchObject({ code: 'bank_unreachable', exitCode: 11, hint });
  });

  it.each([
    ['another failure of the system', true, refused, undefined],
    ['a reset after bytes have left', false, reset, undefined],
    ['no error of the system', true, 'reset', undefined],
    ['a reset by a proxy, which says nothing about the bank', true, reset, 'http://127.0.0.1:1'],
  ])('%s is what it is', async (_, neverSent, cause, proxy) => {
    vi.stubEnv('HTTPS_PROXY', proxy);
    const env = proxy === undefined ? {} : { PSD2_BASE_URL: 'https://192.0.2.1' };
    const { of } = await examine({ find: failing(lost(neverSent, cause)), env });
    vi.unstubAllEnvs();
    expect(of('TLS')).toEqual(found('fail', 'Lost'));
  });

  const LATER =
    'Try again later. If it goes on, ask the bank whether it knows this QWAC and trusts the authority that issued it.';
  it.each<[string, { passing: boolean; hint?: string }, string | undefined]>([
    ['was lost, which may pass', { passing: true, hint: 'Run this again.' }, LATER],
    ['was lost, and nobody knows what helps', { passing: true }, undefined],
    ['is wrong, and stays so', { passing: false, hint: 'Set the CA.' }, 'Check the settings.'],
  ])('a connection that %s has the advice of the doctor: %j', async (_, how, hint) => {
    const cause = new CallFailed('lost', { neverSent: true, cause: refused, ...how });
    const own = how.hint === undefined ? {} : { hint: 'Check the settings.' };
    const error = new Psd2Error('bank_unreachable', 'Lost', { ...own, cause });
    expect((await examine({ find: failing(error) })).of('TLS')).toEqual(found('fail', 'Lost', hint));
  });

  it('an answer that cannot be trusted is judged, and its clock is not', async () => {
    const find = failing(new Psd2Error('bank_answer', 'The answer is not signed', { hint: 'Ask the bank.' }));
    const result = await examine({ find });
    expect(result.of('TLS').status).toBe('ok');
    expect(result.of('clock')).toEqual(found('skip', "psd2 cannot trust the bank's answer"));
    expect(result.of('authorize')).toEqual(found('fail', 'The answer is not signed', 'Ask the bank.'));
    expect(result.failure).toMatchObject({ code: 'bank_answer' });
  });
});

describe('what the bank answers to the call of the doctor', () => {
  /** Examines a bank that answers so. @returns the checks that need it, and how the doctor ended */
  async function ask(probe: (login: LoginStart) => LoginProbe) {
    const { of, names, failure } = await examine({ find: answering(probe) });
    return { TLS: of('TLS'), clock: of('clock'), authorize: of('authorize'), failure, count: names.length };
  }
  const SHOOK = found('ok', 'the handshake with the QWAC succeeded, and the bank is trusted');

  it('is asked for once, with the application and an id of its own', async () => {
    const logins: LoginStart[] = [];
    const result = await ask((login) => {
      logins.push({ ...login });
      return { date: operator.bank.clock.now().toUTCString(), judge: GOOD };
    });
    expect(result).toMatchObject({
      ...{ TLS: SHOOK, authorize: found('ok', 'the bank knows the application'), failure: null },
      clock: found('ok', expect.stringMatching(/^[01] s (ahead of|behind) the bank$/)),
    });
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(logins).toEqual([{ clientId: 'app-1', redirectUri, state: id, transactionId: id }]);
    expect(logins[0]?.state).not.toBe(logins[0]?.transactionId);
  });

  it('is a warning if it leaves open whether the bank takes the call, and has no clock without a Date', async () => {
    const judge = async () => ({ says: 'it asks for a token', isUnsure: 'other' as const });
    expect(await ask(() => ({ date: undefined, judge }))).toMatchObject({
      ...{ TLS: SHOOK, clock: found('skip', 'the bank sent no Date'), failure: null },
      authorize: found('warn', 'it asks for a token'),
    });
  });

  it('of a wrong clock and a refusal, both fail, and the clock decides', async () => {
    const date = new Date(operator.bank.clock.now().getTime() - 90_500).toUTCString();
    const said = new Psd2Error('bank_refused', 'The bank said no', { hint: 'Ask it.' });
    const { count, ...result } = await ask(() => ({ date, judge: () => Promise.reject(said) }));
    const hint = 'Set the clock, ideally with NTP: timedatectl set-ntp true';
    expect(result).toEqual({
      ...{ TLS: SHOOK, authorize: found('fail', 'The bank said no', 'Ask it.') },
      clock: found('fail', expect.stringMatching(/^9[01] s ahead of the bank$/), hint),
      failure: {
        ...{ code: 'config', exitCode: 3, hint },
        message: `2 of ${count} checks failed: clock, authorize`,
      },
    });
  });

  it('is none if psd2 cannot send it: the reason is said, and the rest is skipped', async () => {
    const result = await ask(() => {
      throw new Psd2Error('config', 'There is no id of the application', { hint: 'Set it.' });
    });
    const skipped = found('skip', 'the bank did not answer');
    expect(result).toMatchObject({
      ...{ TLS: found('fail', 'There is no id of the application', 'Set it.') },
      ...{ clock: skipped, authorize: skipped, failure: { code: 'config', exitCode: 3, hint: 'Set it.' } },
    });
  });

  it('psd2 does not go on after a fault of its own', async () => {
    const fault = new TypeError('x is undefined');
    const find = answering(() => {
      throw fault;
    });
    await expect(runIn(opened({ find }).context, 'doctor')).rejects.toBe(fault);
  });
});

it('a certificate with the key of another is named as such, and decides the exit code', async () => {
  const { of, failure } = await examine({
    ...{ find: knowing(), env: { PSD2_QSEAL_KEY: operator.env.PSD2_QWAC_KEY } },
  });
  const fix = 'Use the key that the certificate was requested with.';
  expect(of('QWAC')).toMatchObject({ status: 'ok', fix: null });
  expect(of('QSealC')).toMatchObject({ status: 'fail', fix });
  expect(failure).toMatchObject({ code: 'certificate', exitCode: 3, hint: fix });
});

it('a person reads a check a line, in a pipe with tabs, and at a terminal what to do below it', async () => {
  const read = async (how: { columns?: number }) => {
    const { context, printed: text } = opened({ find: knowing(), format: 'table', ...how });
    await runIn(context, 'doctor');
    return text().replace(/\n$/, '').split('\n');
  };
  const { checks } = await examine({ find: knowing() });
  const rows = checks.map(({ status, name, detail, fix }) => [status, name, detail, fix ?? ''].join('\t'));
  expect(await read({})).toEqual(rows);
  const lines = checks.flatMap(({ status, name, detail, fix }) => [
    `${status.padEnd(6)}${name.padEnd(26)}${detail}`,
    ...(fix === null ? [] : [`${' '.repeat(32)}→ ${fix}`]),
  ]);
  expect(await read({ columns: 400 })).toEqual(lines);
});

it('with a store that cannot be used, what is in it and the way to the bank are skipped', async () => {
  // psd2 waits for a database that does not answer, but not with a wrong address.
  const result = await examine({ env: { PSD2_STORE: 'postgres://127.0.0.1:1/none?sslmode=none' } });
  expect(result.of('store').status).toBe('fail');
  for (const name of ['proxy', 'DNS', 'TLS', 'clock', 'authorize', 'token', 'consents', 'expiring'])
    expect(result.of(name)).toEqual(found('skip', 'the store cannot be used'));
  expect(result.failure).toMatchObject({ exitCode: 3 });
});

it('a login that has ended and a port that is busy are two failures, and all names are said', async () => {
  const other = createServer().listen(Number(new URL(redirectUri).port), '127.0.0.1');
  const [accessTokenExpiresAt, refreshTokenExpiresAt] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'];
  await storeLogin(operator.open().context, ANNA, { accessTokenExpiresAt, refreshTokenExpiresAt });
  const result = await examine();
  other.close();
  expect(result.of('token')).toEqual(
    found('fail', `customer ${ANNA}: the login has ended`, 'Run: psd2 auth login'),
  );
  expect(result.failure).toMatchObject({
    ...{ code: 'callback_port_busy', exitCode: 3 },
    message: `2 of ${result.names.length} checks failed: redirect port, token`,
  });
});

it('a check that finds several things names each, and the first failure is the one that counts', async () => {
  const diagnosis = new Diagnosis();
  expect([diagnosis.ok, diagnosis.failure]).toEqual([true, undefined]);
  diagnosis.skip(['zero', 'half'], 'not now');
  const fix = { hint: 'Do this.' };
  const good = { status: 'ok', detail: 'fine', fix: null, value: 7 } as const;
  const value = await diagnosis.make('good', async () => good);
  expect([value, diagnosis.ok, diagnosis.failure]).toEqual([7, true, undefined]);
  await diagnosis.add('several', async () => [
    { name: 'one', status: 'warn', detail: 'soon', fix: { hint: 'Later.' } },
    { name: 'two', status: 'fail', detail: 'gone', fix, code: 'certificate' },
    { name: 'three', status: 'fail', detail: 'wrong', fix: { hint: 'Now.' } },
  ]);
  await diagnosis.add('thrown', async () => {
    throw new Psd2Error('bank_unreachable', 'Nothing listens', { next: [['doctor']] });
  });
  expect(diagnosis.checks).toEqual([
    { name: 'zero', status: 'skip', detail: 'not now', fix: null },
    { name: 'half', status: 'skip', detail: 'not now', fix: null },
    { name: 'good', status: 'ok', detail: 'fine', fix: null },
    { name: 'one', status: 'warn', detail: 'soon', fix: { hint: 'Later.' } },
    { name: 'two', status: 'fail', detail: 'gone', fix },
    { name: 'three', status: 'fail', detail: 'wrong', fix: { hint: 'Now.' } },
    { name: 'thrown', status: 'fail', detail: 'Nothing listens', fix: { next: [['doctor']] } },
  ]);
  expect(diagnosis.ok).toBe(false);
  expect(diagnosis.failure).toMatchObject({ code: 'certificate', message: 'gone', ...fix });
  expect(thrownBy(() => diagnosis.fail())).toMatchObject({
    code: 'certificate',
    message: '3 of 7 checks failed: two, three, thrown',
    ...fix,
  });
});

it.each([new Psd2Error('interrupted', 'Interrupted'), new TypeError('x is undefined')])(
  '%s ends the diagnosis',
  async (error) => {
    const diagnosis = new Diagnosis();
    await expect(diagnosis.make('one', () => Promise.reject(error))).rejects.toBe(error);
    expect(diagnosis.checks).toEqual([]);
  },
);

// The bank's Date has no milliseconds, which is half a second on average.
const DATE = 'Sat, 21 Nov 2026 10:05:00 GMT';
const BANK_TIME = Date.parse(DATE) + 500;

describe("this clock against the bank's", () => {
  it.each([
    [0, 'ok', '0 s ahead of the bank'],
    [5_000, 'ok', '5 s ahead of the bank'],
    [5_001, 'warn', '5 s ahead of the bank'],
    [60_000, 'warn', '60 s ahead of the bank'],
    [60_001, 'fail', '60 s ahead of the bank'],
    [-5_000, 'ok', '5 s behind the bank'],
    [-5_001, 'warn', '5 s behind the bank'],
    [-60_000, 'warn', '60 s behind the bank'],
    [-60_001, 'fail', '60 s behind the bank'],
  ])('for a clock that is %i ms off, the result is: %s', (milliseconds, status, detail) => {
    const finding = compareClocks(new Date(BANK_TIME + milliseconds), DATE);
    expect(finding).toMatchObject({ status, detail });
    if (status === 'ok') expect(finding.fix).toBeNull();
    else expect(finding.fix?.hint).toMatch(/^Set the clock/);
    expect(finding.code).toBe(status === 'fail' ? 'config' : undefined);
  });

  it.each([undefined, '', 'soon'])("psd2 does not compare the clocks if the bank's Date is %j", (date) => {
    expect(compareClocks(new Date(BANK_TIME), date)).toEqual(found('skip', 'the bank sent no Date'));
  });
});

describe('compiled code', () => {
  it.each<[what: string, code: object, expected: object]>([
    [
      'that is kept is right',
      { folder: '/home/ada/.cache/psd2' },
      found('ok', 'Node.js keeps it in /home/ada/.cache/psd2'),
    ],
    [
      'that an old Node.js does not keep is nothing to mend',
      { version: '20.20.2' },
      found('skip', 'Node.js 20.20.2 keeps none; with 22.8 or newer, psd2 starts faster'),
    ],
    [
      'that cannot be kept is a warning, because psd2 only starts more slowly',
      { why: 'others could change /tmp' },
      {
        ...{ status: 'warn', detail: 'psd2 compiles itself at each start: others could change /tmp' },
        fix: { hint: expect.stringMatching(/^Give the user a home folder/) },
      },
    ],
    [
      'in a folder of NODE_COMPILE_CACHE that others can change is a warning',
      { folder: '/tmp/code', isShared: true },
      {
        ...{ status: 'warn', detail: 'others could change the code in /tmp/code, which Node.js runs' },
        fix: { hint: 'NODE_COMPILE_CACHE names this folder. Unset it, or run: chmod go= /tmp/code' },
      },
    ],
  ])('%s', (_what, code, expected) => {
    const path = join(temporary, `${Object.keys(code).join('-')}.cjs`);
    writeFileSync(path, `module.exports = ${JSON.stringify({ state: { code } })}`);
    expect(checkCompiledCode(path)).toMatchObject(expected);
  });
});

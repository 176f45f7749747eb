import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { LoginProbe, LoginStart } from '../../../src/bank/ports/customer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { runIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';
import { type OperatorHere, useOperatorHere } from '../operator.ts';

const temporary = temporaryFolder();
const operator = useOperatorHere();
let redirectUri: string;
beforeEach(async () => {
  operator.folder = newConfigFolder(temporary);
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
});

const NOTHING_SAID = { says: 'the bank knows the application' };

/** A bank that answers the call of the doctor so. */
function answering(probe: (login: LoginStart) => LoginProbe) {
  const { interface: toy } = new ToyBank();
  return bankWhere({
    open: (given) => {
      const opened = toy.open(given);
      return {
        ...opened,
        client: () => ({ clientId: 'app-1', needsSecret: false }),
        connect: (...session) => {
          const bank = opened.connect(...session);
          return { ...bank, login: { ...bank.login, probe: async (login) => probe(login) } };
        },
      };
    },
  });
}

type How = NonNullable<Parameters<OperatorHere['open']>[0]>;
const opened = ({ env, ...how }: How) =>
  operator.open({ ...how, env: { PSD2_REDIRECT_URI: redirectUri, ...env } });
const document = z.object({
  ok: z.boolean(),
  checks: z.array(z.record(z.string(), z.nullable(z.string()))),
});

/** Runs `psd2 doctor`. @returns the checks with these names, and how it ended */
async function examine(names: string[], how: How) {
  const command = opened(how);
  const failure = await runIn(command.context, 'doctor').then(
    () => null,
    (error: unknown) => failureOf(Promise.reject(error)),
  );
  const { checks } = document.parse(JSON.parse(command.printed()));
  return { checks: checks.filter(({ name }) => names.includes(name ?? '')), failure, count: checks.length };
}
const check = (name: string, status: string, detail: string, fix: string | null = null) => ({
  ...{ name, status, detail, fix },
});
const WAY = ['TLS', 'clock', 'authorize'];
const SHOOK = check('TLS', 'ok', 'the handshake with the QWAC succeeded, and the bank is trusted');

describe('what the bank answers to the call of the doctor', () => {
  it('is asked for once, with the application and an id of its own', async () => {
    const logins: LoginStart[] = [];
    const find = answering((login) => {
      logins.push({ ...login });
      return { date: operator.bank.clock.now().toUTCString(), judge: async () => NOTHING_SAID };
    });
    const { checks, failure } = await examine(WAY, { find });
    expect(failure).toBeNull();
    expect(checks).toEqual([
      SHOOK,
      check('clock', 'ok', expect.stringMatching(/^[01] s (ahead of|behind) the bank$/)),
      check('authorize', 'ok', NOTHING_SAID.says),
    ]);
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(logins).toEqual([{ clientId: 'app-1', redirectUri, state: id, transactionId: id }]);
    expect(logins[0]?.state).not.toBe(logins[0]?.transactionId);
  });

  it('is a warning if it leaves open whether the bank takes the call, and has no clock without a Date', async () => {
    const judge = async () => ({ says: 'it asks for a token', isUnsure: 'other' as const });
    const { checks, failure } = await examine(WAY, { find: answering(() => ({ date: undefined, judge })) });
    expect(failure).toBeNull();
    expect(checks).toEqual([
      SHOOK,
      check('clock', 'skip', 'the bank sent no Date'),
      check('authorize', 'warn', 'it asks for a token'),
    ]);
  });

  it('of a wrong clock and a refusal, both fail, and the clock decides', async () => {
    const date = new Date(operator.bank.clock.now().getTime() - 90_500).toUTCString();
    const judge = () =>
      Promise.reject(new Psd2Error('bank_refused', 'The bank said no', { hint: 'Ask it.' }));
    const { checks, failure, count } = await examine(WAY, { find: answering(() => ({ date, judge })) });
    const hint = 'Set the clock, ideally with NTP: timedatectl set-ntp true';
    expect(checks).toEqual([
      SHOOK,
      check('clock', 'fail', expect.stringMatching(/^9[01] s ahead of the bank$/), hint),
      check('authorize', 'fail', 'The bank said no', 'Ask it.'),
    ]);
    expect(failure).toEqual({
      ...{ code: 'config', exitCode: 3, hint },
      message: `2 of ${count} checks failed: clock, authorize`,
    });
  });

  it('is none if psd2 cannot send it: the reason is said, and the rest is skipped', async () => {
    const find = answering(() => {
      throw new Psd2Error('config', 'There is no id of the application', { hint: 'Set it.' });
    });
    const { checks, failure } = await examine(WAY, { find });
    const skipped = 'the bank did not answer';
    expect(checks).toEqual([
      check('TLS', 'fail', 'There is no id of the application', 'Set it.'),
      ...[check('clock', 'skip', skipped), check('authorize', 'skip', skipped)],
    ]);
    expect(failure).toMatchObject({ code: 'config', exitCode: 3, hint: 'Set it.' });
  });

  it('psd2 does not go on after a fault of its own', async () => {
    const fault = new TypeError('x is undefined');
    const find = answering(() => {
      throw fault;
    });
    await expect(runIn(opened({ find }).context, 'doctor')).rejects.toBe(fault);
  });
});

const good = () => answering(() => ({ date: undefined, judge: async () => NOTHING_SAID }));

it('a certificate with the key of another is named as such, and decides the exit code', async () => {
  const env = { PSD2_QSEAL_KEY: operator.env.PSD2_QWAC_KEY };
  const { checks, failure } = await examine(['QWAC', 'QSealC'], { find: good(), env });
  const hint = 'Use the key that the certificate was requested with.';
  expect(checks.map(({ name, status, fix }) => [name, status, fix])).toEqual([
    ['QWAC', 'ok', null],
    ['QSealC', 'fail', hint],
  ]);
  expect(failure).toMatchObject({ code: 'certificate', exitCode: 3, hint });
});

it.each([
  ['https://[::1]:1', '::1 is an address'],
  ['https://192.0.2.1', '192.0.2.1 is an address'],
])('the name in %s is not looked up', async (PSD2_BASE_URL, detail) => {
  const { checks } = await examine(['DNS'], { find: good(), env: { PSD2_BASE_URL } });
  expect(checks).toEqual([check('DNS', 'skip', detail)]);
});

it('psd2 can listen with TLS where the browser returns to', async () => {
  const uri = redirectUri.replace('http:', 'https:');
  const env = { PSD2_REDIRECT_URI: uri };
  const { checks } = await examine(['redirect port'], { find: good(), env });
  expect(checks).toEqual([check('redirect port', 'ok', `psd2 can listen at ${uri}`)]);
});

describe('what a person reads of the checks', () => {
  it('in a pipe is a check a line, with tabs', async () => {
    const { printed } = await run({ find: good(), format: 'table' });
    const { checks } = document.parse(JSON.parse((await run({ find: good() })).printed));
    const rows = checks.map(({ status, name, detail, fix }) => [status, name, detail, fix ?? ''].join('\t'));
    expect(printed).toBe(`${rows.join('\n')}\n`);
  });

  it('at a terminal is a line for each, and what to do below it', async () => {
    const { printed } = await run({ find: good(), format: 'table', columns: 400 });
    const { checks } = document.parse(JSON.parse((await run({ find: good() })).printed));
    const lines = checks.flatMap(({ status, name, detail, fix }) => [
      `${(status ?? '').padEnd(6)}${(name ?? '').padEnd(26)}${detail}`,
      ...(fix === null ? [] : [`${' '.repeat(32)}→ ${fix}`]),
    ]);
    expect(printed.trimEnd().split('\n')).toEqual(lines);
  });

  async function run(how: How) {
    const command = opened(how);
    await runIn(command.context, 'doctor');
    return { printed: command.printed() };
  }
});

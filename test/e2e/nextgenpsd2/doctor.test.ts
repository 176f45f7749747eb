import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';
import { useDoor } from './door-operator.ts';

// The second door wants serial numbers in decimal.
const operator = useDoor({ signing: { keyId: { serial: 'decimal' } } });
const inTerminal = terminalOf(operator);
const online = z.looseObject({ ok: z.boolean(), checks: shapes.checks.shape.checks });
/** The keyId that the door takes, as psd2 advises it: a bank file may inherit any part of it. */
const DECIMAL =
  '{"form":"sn-ca","serial":"decimal","case":"lower","dn":"issuer","format":"rfc2253","spaces":"keep","separator":","}';

/** A bank file with the standard's keyId, which the door refuses. */
const wrong = () => operator.write('wrong.json', { signing: { keyId: { serial: 'hex' } } });

async function checkOnline(file: string, ...args: string[]) {
  const ended = await operator.psd2(['bank', 'check', '--online', file, '--json', '--verbose', ...args]);
  const { ok, checks } = online.parse(JSON.parse(ended.stdout));
  return { ended, ok, of: (name: string) => checks.find((check) => check.name === name) };
}

describe('psd2 doctor at a NextGenPSD2 bank', () => {
  it('makes one reading with a consent that does not exist, and no login', async () => {
    const ended = await operator.psd2(['doctor', '--json', '--verbose']);
    expect(ended.code, ended.stderr).toBe(0);
    const { checks } = shapes.checks.parse(JSON.parse(ended.stdout));
    const statuses = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
    expect(statuses).toMatchObject({ TLS: 'ok', clock: 'ok', signature: 'ok', token: 'skip' });
    expect(statuses).not.toHaveProperty('authorize');
    expect(checks.find(({ name }) => name === 'signature')?.detail).toContain('CONSENT_UNKNOWN');
    expect(callsOf(ended).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /nextgenpsd2/v1/accounts',
    ]);
  });

  it('fails for a refused signature, and tries other forms of keyId only with --yes', async () => {
    const env = { PSD2_BANK: wrong() };
    const asked = await operator.psd2(['doctor', '--json', '--verbose'], { env });
    expect(readError(asked)).toMatchObject({ code: 'config', exitCode: 3 });
    expect(callsOf(asked)).toHaveLength(1);
    const tried = await operator.psd2(['doctor', '--json', '--verbose', '--yes'], { env });
    const { checks } = shapes.checks.parse(JSON.parse(tried.stdout));
    expect(checks.find(({ name }) => name === 'bank file')).toMatchObject({ status: 'ok' });
    expect(callsOf(tried)).toHaveLength(4);
  });
});

describe('psd2 bank check --online', () => {
  it('says that the connection and the signature are right', async () => {
    const found = await checkOnline(operator.write('right.json', { extends: './door.json' }));
    expect(found).toMatchObject({ ok: true, ended: { code: 0 } });
    expect(found.of('QWAC')).toMatchObject({ status: 'ok' });
    expect(found.of('signature')).toMatchObject({ status: 'ok' });
    expect(found.of('bank file')).toBeUndefined();
  });

  it('without a terminal says what to run for the form of keyId, and with --yes finds it', async () => {
    const file = wrong();
    const told = await checkOnline(file);
    expect(told).toMatchObject({ ok: false, ended: { code: 3 } });
    expect(told.of('signature')).toMatchObject({ status: 'fail' });
    expect(told.of('bank file')).toMatchObject({
      status: 'skip',
      fix: expect.stringContaining(`bank check --online ${file} --yes`),
    });
    expect(callsOf(told.ended)).toHaveLength(1);
    const found = await checkOnline(file, '--yes');
    expect(found.of('bank file')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining(`"signing": {"keyId":${DECIMAL}}`),
    });
  });

  it('at a terminal asks before it tries, and takes no for an answer', async () => {
    const psd2 = await inTerminal(['bank', 'check', '--online', wrong()]);
    await psd2.prints(/Try what banks are known to want/);
    await psd2.write('n\r');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(3);
    expect(stdout).toContain('nothing else was tried');
  });

  it('asks nobody if the file is wrong', async () => {
    const found = await checkOnline(operator.write('unknown.json', { signing: { when: 'sometimes' } }));
    expect(found).toMatchObject({ ok: false, ended: { code: 3 } });
    expect(callsOf(found.ended)).toEqual([]);
  });
});

import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { keepRunning, useSandbox, words } from '../support/psd2.ts';

const operator = keepRunning(useSandbox());
const registered = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
const rows = z.array(z.strictObject({ profile: z.string(), result: z.string(), detail: z.string() }));
const QWAC = () => words`--qwac-cert ${registered('next-qwac.pem')} --qwac-key
  ${registered('next-qwac-key.pem')}`;
const QSEAL = () => words`--qseal-cert ${registered('next-qseal.pem')} --qseal-key
  ${registered('next-qseal-key.pem')}`;
const stored = (name: string) => readFileSync(join(operator.config, 'profiles', `${name}.json`), 'utf8');
const run = (...args: string[]) => operator.psd2(['profile', 'set', ...args, '--json']);
const add = (name: string) =>
  cpSync(
    join(operator.config, 'profiles', 'sandbox.json'),
    join(operator.config, 'profiles', `${name}.json`),
  );

/** Certificates of the same TPP that no bank has registered. */
let foreign: string[];
beforeAll(async () => {
  const made = join(operator.folder, 'foreign');
  await operator.succeeds(['cert', 'generate', '--out', made, '--json']);
  foreign = ['--qwac-cert', join(made, 'qwac.pem'), '--qwac-key', join(made, 'qwac-key.pem')];
});

describe('psd2 profile set --all', () => {
  it('every profile with the old certificates gets the new ones, at both doors, and the others stay', async () => {
    for (const name of ['second', 'away', 'other']) add(name);
    await run('away', '--base-url', 'https://127.0.0.1:1');
    await run('other', ...foreign);
    const [other, away] = [stored('other'), stored('away')];
    const changed = await run('--all', ...QWAC(), ...QSEAL());
    const both = { result: 'changed', detail: 'QWAC and QSealC; its bank accepts it' };
    expect(rows.parse(JSON.parse(changed.stdout))).toEqual([
      {
        profile: 'away',
        result: 'failed',
        detail: expect.stringContaining('nothing listens at 127.0.0.1:1'),
      },
      // Its bank does not know the QWAC that it has beside the old QSealC.
      { profile: 'other', result: 'failed', detail: expect.stringContaining('closed the connection') },
      { profile: 'sandbox', ...both },
      { profile: 'sandbox-nextgen', ...both },
      { profile: 'second', ...both },
    ]);
    expect(readError(changed)).toMatchObject({
      code: 'bank_unreachable',
      exitCode: 11,
      message: expect.stringMatching(/^2 of 5 profiles were not changed: /),
    });
    expect(other).toBe(stored('other'));
    expect(away).toBe(stored('away'));
    // The bank takes the new ones for other calls too, and the audit log has the change.
    await operator.succeeds(['auth', 'login', '--json']);
    await operator.succeeds(['accounts', 'list', '--json']);
    const audited = await operator.psd2(['audit', '--profile', 'second', '--json']);
    expect(audited.stdout).toContain('"about":"qwacCertificate qwacKey qsealCertificate qsealKey"');
    // A second run has nothing left to do but what failed.
    for (const name of ['away', 'other']) await operator.psd2(['profile', 'remove', name, '--yes', '--json']);
    const again = await run('--all', ...QWAC(), ...QSEAL());
    expect(again, again.stderr).toMatchObject({ code: 0 });
    expect(rows.parse(JSON.parse(again.stdout)).map(({ result }) => result)).toEqual([
      ...['unchanged', 'unchanged', 'unchanged'],
    ]);
  });
});

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { expectNoSecretIn, PASSPHRASE, useProfileCopies } from '../e2e/profile/profile-copies.ts';
import { keepRunning, useLoggedIn } from '../e2e/support/psd2.ts';
import { secretsIn } from '../e2e/support/secrets.ts';
import { sample } from '../support/sample.ts';

const operator = keepRunning(useLoggedIn());
const { original, copy, own, run, protect, token } = useProfileCopies(operator);

const KILLER = fileURLToPath(new URL('kill-at-step.js', import.meta.url));
/** A file is put in place by a rename or a link. Compiled code does not count: it is no file of the user. */
const IN_PLACE = '^before (?:rename|link) (?!.*\\.code$)';
/** Runs a command that is killed just before it puts its n-th file in place. @returns whether it got that far */
const killedAt = async (config: string, n: number, args: string[]) => {
  const { signal, code, stderr } = await operator.psd2(args, {
    env: {
      ...own(config, PASSPHRASE),
      ...{ NODE_OPTIONS: `--import=${KILLER}`, KILL_AT: IN_PLACE, KILL_NTH: String(n) },
    },
  });
  if (signal === null) expect(code, stderr).toBe(0);
  return signal === 'SIGKILL';
};
const expectReadable = async (config: string) => {
  expect(await token(config)).toBe(await token(original()));
  expect(await run(config, ['api', 'GET', '/x', '--dry-run'], PASSPHRASE)).toMatchObject({ code: 0 });
};

// Each test has its own folder, and waits for the locks of killed processes.
const moments: [file: string, n: number][] = [
  ['the key', 1],
  ['the settings', 2],
  ['a login', 3],
  ['the other login', 4],
  ['the audit log', 5],
];
describe.concurrent.each(sample(moments, 2, ([file]) => file))('when psd2 puts %s in place', (_file, n) => {
  it('a killed psd2 profile protect leaves everything readable, and completes when it runs again', async () => {
    const config = copy();
    const secrets = secretsIn(config);
    expect(await killedAt(config, n, ['profile', 'protect'])).toBe(true);
    await expectReadable(config);
    await protect(config);
    expectNoSecretIn(config, secrets);
    await expectReadable(config);
  });

  it('a killed psd2 profile unprotect leaves everything readable, and completes when it runs again', async () => {
    const config = copy();
    await protect(config);
    expect(await killedAt(config, n, ['profile', 'unprotect', '--yes'])).toBe(true);
    await expectReadable(config);
    expect(await run(config, ['profile', 'unprotect', '--yes'], PASSPHRASE)).toMatchObject({ code: 0 });
    expect(new Set(secretsIn(config))).toEqual(new Set(secretsIn(original())));
  });
});

it('a psd2 profile protect that is killed before it reads only what is encrypted completes when it runs again', async () => {
  const config = copy();
  expect(await killedAt(config, 6, ['profile', 'protect'])).toBe(true);
  await expectReadable(config);
  await protect(config);
  await expectReadable(config);
});

it('psd2 profile protect and unprotect put no other file in place', async () => {
  const config = copy();
  expect(await killedAt(config, 7, ['profile', 'protect'])).toBe(false);
  expect(await killedAt(config, 6, ['profile', 'unprotect', '--yes'])).toBe(false);
});

it('psd2 profile protect undoes a killed psd2 profile unprotect', async () => {
  const config = copy();
  await protect(config);
  expect(await killedAt(config, 3, ['profile', 'unprotect', '--yes'])).toBe(true);
  expect(secretsIn(config)).not.toEqual([]);
  await protect(config);
  expect(secretsIn(config)).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SETTINGS } from '../../src/store/machine/setting-table.ts';
import { environmentFor, type ProgramKind } from '../../src/terminal/program-environment.ts';

const KINDS: Record<ProgramKind, string[]> = {
  browser: ['PSD2_CONFIG_DIR'],
  pager: [],
  signer: [],
  payeeCheck: [],
  notify: [],
  notifyLink: [],
  sandbox: ['PSD2_CONFIG_DIR', 'PSD2_CONFIG_PASSPHRASE'],
  demo: [],
};

/** Every environment variable of psd2 in its sources. */
const OWN = new Set(
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join('src', name), 'utf8').match(/\bPSD2_[A-Z_]*[A-Z]\b/g) ?? []),
);

afterEach(() => {
  vi.unstubAllEnvs();
});

it('this test knows all variables of settings, including secrets and commands', () => {
  expect([...OWN]).toEqual(
    expect.arrayContaining([
      ...Object.values(SETTINGS).flatMap(({ variable }) => variable ?? []),
      ...['PSD2_KEY_PASSPHRASE', 'PSD2_CONFIG_PASSPHRASE', 'PSD2_BROWSER', 'PSD2_PAGER'],
    ]),
  );
});

describe.each(Object.entries(KINDS))('the environment of a program: %s', (name, needed) => {
  const kind = Object.keys(KINDS).find((each): each is ProgramKind => each === name) ?? 'demo';

  it('a program gets only the psd2 variables that it needs, whatever other variables exist now or later', () => {
    for (const variable of [...OWN, 'PSD2_SECRET_TO_COME', 'psd2_client_secret'])
      vi.stubEnv(variable, 'hush');
    expect(
      Object.keys(environmentFor(kind))
        .filter((variable) => /^psd2_/i.test(variable))
        .sort(),
    ).toEqual(needed);
  });

  it("a program gets all variables that are not psd2's", () => {
    const others = { DISPLAY: ':7', XDG_RUNTIME_DIR: '/run', HSM_PIN: '1234', NODE_OPTIONS: '--no-warnings' };
    for (const [variable, value] of Object.entries(others)) vi.stubEnv(variable, value);
    expect(environmentFor(kind)).toMatchObject({ ...others, PATH: process.env.PATH });
  });
});

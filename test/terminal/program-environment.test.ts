import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
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

it.each(Object.entries(KINDS))(
  'a program gets only the psd2 variables that it needs: %s %j',
  (name, needed) => {
    const kind = Object.keys(KINDS).find((each): each is ProgramKind => each === name) ?? 'demo';
    const others = { DISPLAY: ':7', XDG_RUNTIME_DIR: '/run', HSM_PIN: '1234', NODE_OPTIONS: '--no-warnings' };
    for (const [variable, value] of Object.entries(others)) vi.stubEnv(variable, value);
    // Whatever other variables exist now or later.
    for (const variable of [...OWN, 'PSD2_SECRET_TO_COME', 'psd2_client_secret'])
      vi.stubEnv(variable, 'hush');
    const given = environmentFor(kind);
    const own = Object.keys(given).filter((variable) => /^psd2_/i.test(variable));
    expect(own.sort()).toEqual(needed);
    expect(given).toMatchObject({ ...others, PATH: process.env.PATH });
  },
);

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, vi } from 'vitest';
import type { SettingRow } from '../../../src/store/machine/setting-table.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';

// A row of the table is all that a setting needs. So this test adds three rows, and asks of each row, these included, for
// everything that psd2 derives from it. Modules that have read the table before would not know the new rows.
vi.resetModules();
const table = await import('../../../src/store/machine/setting-table.ts');
const NEW: Record<string, SettingRow> = {
  toyText: {
    ...{ kind: 'text', group: 'application', option: 'toy-text', value: 'word', variable: 'PSD2_TOY_TEXT' },
    ...{ label: 'toy', help: 'a new text', prompt: 'A new text?' },
  },
  toySecret: {
    ...{ kind: 'secret', group: 'client credentials', option: 'toy-secret', value: 'file' },
    ...{ variable: 'PSD2_TOY_SECRET', label: 'toy secret', help: 'read the toy secret from a file' },
    ...{ prompt: 'A new secret?' },
  },
  toyFile: {
    ...{ kind: 'file', group: 'trust', option: 'toy-file', value: 'file', variable: 'PSD2_TOY_FILE' },
    ...{ label: 'toy file', help: 'a new file', prompt: 'A new file', ifEmpty: 'nothing' },
  },
};
Object.assign(table.SETTINGS, NEW);
afterAll(() => {
  for (const name of Object.keys(NEW)) Reflect.deleteProperty(table.SETTINGS, name);
  vi.resetModules();
});
const { ProfileStore } = await import('../../../src/store/machine/profiles.ts');
const { environmentSettings } = await import('../../../src/store/machine/settings.ts');
const { keeping, readSettingOptions } = await import('../../../src/commands/profile/given-settings.ts');
const { profileShow } = await import('../../../src/commands/profile/show.ts');
const { askForProfile } = await import('../../../src/commands/profile/wizard.ts');
const { loadOrCreateRegistration } = await import('../../../src/sandbox/folder/registration.ts');
const { writePages } = await import('../../../scripts/docs/pages.ts');
const { openCommand } = await import('../command.ts');

const temporary = temporaryFolder();
const NOW = new Date().toISOString();
const SECRET = join(temporary, 'secret');
writeFileSync(SECRET, 'hush\n', { mode: 0o600 });
const rows = Object.entries(table.SETTINGS);

/** What an option or a variable gives, and what a profile stores then. */
function exampleOf([key, { kind, choices }]: [string, SettingRow]) {
  const text = choices?.[0] ?? (key === 'baseUrl' ? 'https://psd2.bank.example' : `the ${key}`);
  return { text: kind === 'file' ? SECRET : text, stored: kind === 'file' ? { path: SECRET } : text };
}

const isSealed = ({ kind, sealed }: SettingRow) => kind === 'secret' || sealed === true;

const ALL = Object.fromEntries(rows.map((row) => [row[0], exampleOf(row).stored]));

async function stored(settings: object) {
  const folder = newConfigFolder(temporary);
  const { signal } = new AbortController();
  const store = new ProfileStore(folder, undefined, { signal, passphrase: async () => 'a word' });
  await store.write('bank', { baseUrl: 'https://psd2.bank.example' });
  writeFileSync(folder.profile('bank'), JSON.stringify({ ...ALL, ...settings }), { mode: 0o600 });
  return { folder, store };
}

const pages = await writePages('0.0.0');
const helpOf = (verb: string) =>
  pages['docs/reference.md']?.split(`## psd2 profile ${verb}\n`)[1]?.split('\n## ')[0];

describe.each(rows)('the setting %s', (key, row) => {
  const { text, stored: value } = exampleOf([key, row]);

  it('the profile file holds it, and nothing else in its place', async () => {
    expect((await stored({})).store.read('bank')).toMatchObject({ [key]: value });
    const { store } = await stored({ [key]: 7 });
    expect(() => store.read('bank')).toThrow(`is damaged: ${key} is not as psd2 wrote it`);
  });

  it('its variable gives it', () => {
    const { variable } = row;
    const given = variable === null ? {} : environmentSettings({ [variable]: text });
    expect(given).toEqual(variable === null ? {} : { [key]: value });
  });

  it('its option gives it', async () => {
    const { context } = openCommand(newConfigFolder(temporary), NOW);
    const option = table.attributeOf(row.kind === 'secret' ? `${row.option}-file` : row.option);
    const given = row.kind === 'secret' ? SECRET : text;
    const expected = row.kind === 'secret' ? 'hush' : value;
    expect(await readSettingOptions(context, { [option]: given })).toEqual({ [key]: expected });
  });

  it('the help of profile add and set has its option, and psd2 help environment its variable', () => {
    const end = row.kind === 'secret' ? '-file' : '';
    for (const verb of ['add', 'set'])
      expect(helpOf(verb)).toContain(`| \`--${row.option}${end} <${row.value}>\` |`);
    expect(helpOf('add')).toContain(row.help.replaceAll('<', '&lt;'));
    if (row.kind === 'secret') expect(helpOf('set')).toContain(`--${row.option}-env`);
    const topic = pages['docs/reference.md']?.split('## Topic: environment')[1];
    expect(topic).toContain(row.variable ?? '');
  });

  it('profile show has its value, but never a secret', async () => {
    const { folder } = await stored({});
    const how = { globals: { profile: 'bank' }, env: { PSD2_BASE_URL: '' } };
    const { context, printed } = openCommand(folder, NOW, how);
    await profileShow(context, undefined);
    const shown = { text, choice: text, file: SECRET, secret: 'set', program: 'the …', bank: text }[row.kind];
    expect(JSON.parse(printed())).toMatchObject({ settings: { [key]: { value: shown, source: 'profile' } } });
  });
});

it('a protected profile encrypts the settings whose rows say so, and no others', async () => {
  const { folder, store } = await stored({ toyFile: { pem: 'PUBLIC' }, qwacKey: { pem: 'KEY' } });
  const vault = store.vault('bank');
  await vault.exclusively(() => vault.protect({ kind: 'passphrase', passphrase: 'a word' }));
  await store.rewrite('bank');
  const texts = rows.filter(([, { kind }]) => kind !== 'file');
  const sealed = texts.flatMap(([key, row]) => (isSealed(row) ? [key] : []));
  expect(sealed).toContain('toySecret');
  expect(store.read('bank')?.sealed?.names.toSorted()).toEqual([...sealed, 'qwacKey'].toSorted());
  const file = readFileSync(folder.profile('bank'), 'utf8');
  for (const row of texts) expect(file.includes(`"${exampleOf(row).text}"`)).toBe(!isSealed(row[1]));
});

it('the wizard asks the question of each row that has one', async () => {
  const files = await loadOrCreateRegistration(inject('registration'));
  const questions: string[] = [];
  const paths: Record<string, string> = {
    'QWAC cert': files.qwacCertFile,
    'QWAC key:': files.qwacKeyFile,
    'QSealC ce': files.qsealCertFile,
    'QSealC ke': files.qsealKeyFile,
  };
  const texts: Record<string, string> = {
    [table.SETTINGS.baseUrl.prompt]: 'https://127.0.0.1:1',
    [table.SETTINGS.redirectUri.prompt]: 'http://127.0.0.1:8910/callback',
  };
  const answer = async <T>(question: string, given: T): Promise<T> => {
    questions.push(question);
    return given;
  };
  for (const isInHsm of [true, false]) {
    const { context } = openCommand(newConfigFolder(temporary), NOW);
    const terminal = {
      ...context.terminal,
      ask: (question: string) => answer(question, texts[question] ?? '5'),
      askPath: (question: string) => answer(question, paths[question.slice(0, 9)] ?? ''),
      askSecret: (question: string) => answer(question, 'hush'),
      confirm: (question: string) => answer(question, isInHsm || !question.includes('elsewhere')),
      choose: async <T>(question: string, [first]: readonly { value: T }[]) => {
        if (!first) throw new Error('There is no choice');
        return answer(question, first.value);
      },
    };
    // The connection fails at the end, and nobody can be asked about it.
    await expect(askForProfile({ ...context, terminal }, 'bank', keeping(true), {})).rejects.toThrow(
      'no terminal',
    );
  }
  const prompts = rows.flatMap(([, { prompt }]) => prompt ?? []);
  const unasked = prompts.filter((prompt) => !questions.some((question) => question.startsWith(prompt)));
  expect(unasked).toEqual([]);
});

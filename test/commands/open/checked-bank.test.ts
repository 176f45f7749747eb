import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bankOf } from '../../../src/commands/open/bank-file.ts';
import { checkedBank } from '../../../src/store/machine/checked-bank.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';

const written = (path: string, fields: object) =>
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...fields }));

beforeEach(() => {
  vi.stubGlobal('PSD2_BANK_FILE_RULES', 'rules');
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function place() {
  const folder = temporaryFolder();
  const kept = join(folder, 'banks', 'mine.json');
  const file = join(folder, 'bank.json');
  const open = (setting = file) => bankOf(setting, { PSD2_BANK_KEY: 'a key' }, checkedBank(kept));
  return { kept, file, open };
}

/** Puts other values in force under the seal of the text: what psd2 then answers shows whether it checked the text again. */
function forge(kept: string, setting: string) {
  checkedBank(kept).write(setting, {
    headers: { static: { forged: 'env:PSD2_BANK_KEY' }, perOperation: {} },
  });
}

describe('a bank file that was checked', () => {
  it('means the same the second time, and is not checked again', async () => {
    const { kept, file, open } = place();
    written(file, {
      name: 'A bank',
      extends: 'sparda',
      headers: { static: { 'x-key': 'env:PSD2_BANK_KEY' } },
    });
    const first = await open();
    expect(first.headers).toMatchObject({ static: { 'x-key': 'a key' } });
    expect(await open()).toEqual(first);
    // The secret of the environment stays there.
    expect(readFileSync(kept, 'utf8')).not.toContain('a key');
    forge(kept, readFileSync(file, 'utf8'));
    expect(await open()).toMatchObject({ headers: { static: { forged: 'a key' } } });
  });

  it('is checked again if it changes', async () => {
    const { file, open } = place();
    written(file, { name: 'One' });
    expect(await open()).toMatchObject({ name: 'One' });
    written(file, { name: 'Two' });
    expect(await open()).toMatchObject({ name: 'Two' });
    written(file, { nam: 'Three' });
    await expect(open()).rejects.toThrow('nam is not a field of a bank file');
    rmSync(file);
    await expect(open()).rejects.toThrow('No bank file or platform is called');
  });

  it('is checked again by a psd2 with other rules, or if what psd2 kept is damaged', async () => {
    const { kept, open } = place();
    const stored = JSON.stringify({ interface: 'nextgenpsd2', name: 'Stored' });
    const first = await open(stored);
    forge(kept, stored);
    vi.stubGlobal('PSD2_BANK_FILE_RULES', 'other rules');
    expect(await open(stored)).toEqual(first);
    const whole = readFileSync(kept, 'utf8');
    for (const damaged of ['', '{}', whole.slice(0, -1), whole.replace('Stored', 'Forged')]) {
      writeFileSync(kept, damaged, { mode: 0o600 });
      expect(await open(stored)).toEqual(first);
    }
  });

  it('is checked each time if another file has a say', async () => {
    const { file, open } = place();
    const other = join(file, '..', 'other.json');
    written(other, { name: 'One' });
    written(file, { extends: 'other.json' });
    expect(await open()).toMatchObject({ name: 'One' });
    written(other, { name: 'Two' });
    expect(await open()).toMatchObject({ name: 'Two' });
  });

  it('is used even if psd2 cannot keep what it means', async () => {
    const { file, open } = place();
    written(file, { name: 'One' });
    writeFileSync(join(file, '..', 'banks'), 'no folder');
    expect(await open()).toMatchObject({ name: 'One' });
  });
});

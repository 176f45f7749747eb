import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { pagerOf, showInPager } from '../../src/terminal/pager.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const folder = temporaryFolder();

describe('the pager', () => {
  it.each<[Record<string, string>, string[] | undefined]>([
    [{}, undefined],
    [{ PAGER: '' }, undefined],
    [{ PAGER: 'cat' }, undefined],
    [{ PAGER: 'less', TERM: 'dumb' }, undefined],
    [{ PAGER: 'less -S' }, ['less', '-S']],
    [{ PAGER: '"/opt/my less" -S' }, ['/opt/my less', '-S']],
    [{ PAGER: 'less', PSD2_PAGER: 'more' }, ['more']],
    [{ PAGER: 'less', PSD2_PAGER: '' }, undefined],
  ])('with %j the pager is %j', (env, words) => {
    expect(pagerOf(env)).toEqual(words);
  });

  it('a pager command with an open quote is a configuration error', () => {
    expect(() => pagerOf({ PAGER: 'less "' })).toThrow(
      new Psd2Error('config', 'A quote is not closed in PSD2_PAGER or PAGER', {
        hint: 'Write it as in a shell, for example: firefox --profile "my profile".',
      }),
    );
  });

  it('gets the text and no secrets, and psd2 waits until it has ended', async () => {
    const file = join(folder, 'shown');
    vi.stubEnv('PSD2_CLIENT_SECRET', 'hush');
    vi.stubEnv('LESS', undefined);
    vi.stubEnv('LV', undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const script = 'cat > "$1"; echo "$LESS $LV $PSD2_CLIENT_SECRET." >> "$1"';
    expect(await showInPager(['sh', '-c', script, 'pager', file], 'one\n')).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('one\nFRX -c .\n');
  });

  it.each([
    [{}, 'FRX -c'],
    [{ LESS: '-i' }, '-i -c'],
    [{ LV: '-z' }, 'FRX -z'],
    [{ LESS: '', LV: '' }, ' '],
  ])("has the operator's own options: with %j they are %j", async (own, options) => {
    const file = join(folder, 'options');
    for (const name of ['LESS', 'LV']) vi.stubEnv(name, undefined);
    for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    await showInPager(['sh', '-c', 'cat > /dev/null; echo "$LESS $LV" > "$1"', 'pager', file], 'one\n');
    expect(readFileSync(file, 'utf8')).toBe(`${options}\n`);
  });

  it('may end before it has read all of the text', async () => {
    expect(await showInPager(['true'], 'x'.repeat(1_000_000))).toBe(true);
  });

  it('that does not exist shows nothing', async () => {
    expect(await showInPager(['/nowhere/pager'], 'text')).toBe(false);
  });
});

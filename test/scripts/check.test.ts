import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../store/temporary-folder.ts';

const CHECK = fileURLToPath(new URL('../../scripts/check.js', import.meta.url));
const clone = temporaryFolder();

/** What `npm run check` says of a package with these scripts, part by part. */
function check(scripts: Record<string, string>) {
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ scripts }));
  const { status, stdout } = spawnSync(process.execPath, [CHECK], { cwd: clone, encoding: 'utf8' });
  const [, ...parts] = stdout
    .replace(/^Wrong: .*/m, '')
    .split(/^=== /m)
    .map((part) => part.trim());
  return { status, parts: parts.toSorted(), end: stdout.trim().split('\n').at(-1) };
}

it('each part of npm run check runs, whatever becomes of the others, and its output stays together', () => {
  const scripts = {
    'check:one': 'echo a; sleep 0.2; echo b >&2; exit 2',
    'check:two': 'echo c; sleep 0.1; echo d',
    'check:three': 'no-such-program-of-psd2',
    other: 'echo never',
  };
  const { status, parts, end } = check(scripts);
  expect(status).toBe(1);
  expect(parts).toEqual([
    `check:one: ${scripts['check:one']}\na\nb`,
    expect.stringMatching(/^check:three: .*\n.*not found$/),
    `check:two: ${scripts['check:two']}\nc\nd`,
  ]);
  expect(end).toMatch(/^Wrong: /);
  expect(end?.replace('Wrong: ', '').split(', ').toSorted()).toEqual(['check:one', 'check:three']);
});

it('npm run check ends well if all parts do', () => {
  expect(check({ 'check:one': 'true' })).toEqual({
    status: 0,
    parts: ['check:one: true'],
    end: '=== check:one: true',
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readImports } from '../../scripts/docs/imports.ts';
import { walksIn } from '../../scripts/docs/walks.ts';

const page = readFileSync('docs/architecture.md', 'utf8');
const walks = walksIn(page);
const imports = readImports();

it('the architecture page has three walks, and none becomes longer', () => {
  const lengths = Object.fromEntries(walks.map(({ command, files }) => [command, files.length]));
  expect(Object.keys(lengths)).toEqual(['accounts list', 'transfer create', 'sync']);
  expect(lengths['accounts list']).toBeLessThanOrEqual(22);
  expect(lengths['transfer create']).toBeLessThanOrEqual(48);
  expect(lengths.sync).toBeLessThanOrEqual(36);
  for (const [command, length] of Object.entries(lengths))
    expect(page).toContain(`### \`${command}\`: ${length} files`);
});

it.each(walks.map(({ command, files }) => [command, files] as const))(
  'the walk of psd2 %s is one way: another of its files imports each file, from main.ts to undici',
  (_command, files) => {
    expect(new Set(files).size).toBe(files.length);
    const alone = files.filter(
      (file) => !imports.some(({ from, to }) => to === file && files.includes(from)),
    );
    // A worker thread begins in a file of its own.
    expect(alone).toEqual(files.filter((file) => ['main.ts', 'sync-thread.ts'].includes(file)));
    expect(alone).toContain('main.ts');
    expect(imports.some(({ from, to }) => files.includes(from) && to.startsWith('undici/'))).toBe(true);
  },
);

/** The files and folders that a page names. `<noun>` matches any folder. */
function pathsIn(text: string): string[] {
  const named = [...text.matchAll(/`([\w.<>-]+(?:\/[\w.<>-]+)*\/?)`/g)].map(([, path = '']) => path);
  return named.filter((path) => /\.(js|ts|svg|md)$|\w\/$/.test(path));
}

function isThere(path: string): boolean {
  const [above, below] = path.split('<noun>');
  const roots = ['.', 'src', 'src/sandbox'];
  return roots.some((root) =>
    above === undefined || below === undefined
      ? existsSync(join(root, path))
      : existsSync(join(root, above)) &&
        readdirSync(join(root, above)).some((noun) => existsSync(join(root, above, noun, below))),
  );
}

it.each(['docs/architecture.md', 'docs/internals.md'])(
  'every file and folder that %s names exists',
  (path) => {
    const named = pathsIn(readFileSync(path, 'utf8'));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((each) => !isThere(each))).toEqual([]);
  },
);

it('the architecture page names every room of src', () => {
  const [, tree = ''] = /```\nsrc\/\n([\s\S]*?)```/.exec(page) ?? [];
  const rooms = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(rooms.map(({ name }) => name).filter((name) => !tree.includes(`\n  ${name}/ `))).toEqual([]);
});

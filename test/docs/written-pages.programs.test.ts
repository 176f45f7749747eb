import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { writePages } from '../../scripts/docs/pages.ts';

const { version, man } = z
  .object({ version: z.string(), man: z.array(z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));
const pages = await writePages(version);

it.each(Object.keys(pages))('%s is what npm run docs writes', (path) => {
  expect(readFileSync(path, 'utf8'), 'Run npm run docs.').toBe(pages[path]);
});

it('each command has a man page, there are no others, and npm installs them', () => {
  const written = Object.keys(pages).filter((path) => path.startsWith('man/'));
  expect(readdirSync('man').map((name) => `man/${name}`)).toEqual(written.toSorted());
  expect(man).toEqual(written.map((path) => `./${path}`));
});

it.each(readdirSync('man'))('man shows %s without a warning', (name) => {
  const env = { ...process.env, MANWIDTH: '80', LC_ALL: 'C.UTF-8' };
  const options = ['--warnings', '-E', 'UTF-8', '-l', `man/${name}`];
  const { status, stdout, stderr } = spawnSync('man', options, { encoding: 'utf8', env });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^NAME\n +psd2\S* +- +\S/m);
  expect(stdout).toMatch(/^EXAMPLES\n +\$ .*psd2/m);
});

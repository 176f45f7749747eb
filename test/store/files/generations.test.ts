import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { Generations } from '../../../src/store/files/token-file.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
let folder: string;
let generations: Generations;

beforeEach(() => {
  folder = join(newConfigFolder(temporary).root, 'login');
  mkdirSync(folder, { recursive: true });
  generations = new Generations(folder);
});

it('the newest generation counts, and earlier ones are removed', () => {
  expect(generations.newest()).toBe(0);
  expect(generations.add(1, 'one')).toBe(true);
  expect(generations.add(2, 'two')).toBe(true);
  expect(generations.newest()).toBe(2);
  expect(readFileSync(generations.pathOf(2), 'utf8')).toBe('two');
  expect(readdirSync(folder)).toEqual(['2.json']);
});

it('generation 10 comes after generation 9', () => {
  writeFileSync(generations.pathOf(9), '');
  expect(generations.add(10, 'ten')).toBe(true);
  expect(generations.newest()).toBe(10);
});

it('a generation is written once, and a second writer changes nothing', () => {
  generations.add(1, 'first');
  expect(generations.add(1, 'second')).toBe(false);
  expect(readFileSync(generations.pathOf(1), 'utf8')).toBe('first');
  expect(readdirSync(folder)).toEqual(['1.json']);
});

it('a process that stalled while others continued cannot bring back an older generation', () => {
  for (const generation of [1, 2, 3]) generations.add(generation, String(generation));
  expect(generations.add(2, 'late')).toBe(false);
  expect(generations.newest()).toBe(3);
  expect(readdirSync(folder)).toEqual(['3.json']);
});

it('files that killed processes left half written are removed, and damaged files are kept', () => {
  writeFileSync(join(folder, '.11111111-1111-4111-8111-111111111111'), 'half');
  writeFileSync(join(folder, '1.json.damaged-20261121T100000000Z'), 'damaged');
  generations.add(2, 'two');
  expect(readdirSync(folder).sort()).toEqual(['1.json.damaged-20261121T100000000Z', '2.json']);
});

it('a process that stalled cannot bring back a login that was removed', () => {
  const gone = new Generations(join(folder, 'gone'));
  expect(gone.add(5, 'late')).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

it('if several processes write the same generation at the same time, one of them wins', async () => {
  const program = `
    import { Generations } from '../../../src/store/files/token-file.ts';
    const [folder, name] = process.argv.slice(2);
    process.stdin.once('data', () => {
      const won = [];
      for (let n = 1; n <= 50; n += 1) if (new Generations(folder).add(n, name)) won.push(n);
      process.stdout.write(won.join(' '), () => process.exit());
    });
    process.stdout.write('');`;
  const names = ['a', 'b', 'c'];
  const started = await Promise.all(
    names.map((name) => startProgram(program, temporary, { arguments: [folder, name] })),
  );
  for (const { process } of started) process.stdin?.write('go');
  const won = await Promise.all(started.map(({ output }) => output));
  const all = won.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
  expect(new Set(all).size).toBe(all.length);
  const winner = names[won.findIndex((text) => text.split(' ').includes('50'))];
  expect(readFileSync(generations.pathOf(50), 'utf8')).toBe(winner);
  expect(readdirSync(folder)).toEqual(['50.json']);
}, 20_000);

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ReferenceClaims } from '../../../src/store/files/flows/references.ts';
import { thrownBy } from '../../support/thrown.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once } from '../waiting.ts';

const temporary = temporaryFolder();
let folder: string;
let claims: ReferenceClaims;
const isNotFree = () => false;

beforeEach(() => {
  folder = join(newConfigFolder(temporary).root, 'flows');
  mkdirSync(folder, { recursive: true });
  claims = new ReferenceClaims(folder);
});

it('a reference belongs to the flow that took it first, however often others ask for it', () => {
  expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-1');
  expect(claims.take('INV-1', 'tr-2', isNotFree)).toBe('tr-1');
  expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-1');
  expect(claims.take('INV-2', 'tr-2', isNotFree)).toBe('tr-2');
});

it.each([' INV 1', 'INV 1 ', 'INV  1', 'inv 1', 'Inv\t1'])(
  '%j is the same reference as "INV 1"',
  (reference) => {
    claims.take('INV 1', 'tr-1', isNotFree);
    expect(claims.take(reference, 'tr-2', isNotFree)).toBe('tr-1');
  },
);

it('a letter with an accent is the same however it is composed', () => {
  claims.take('caf\u00e9', 'tr-1', isNotFree);
  expect(claims.take('CAFE\u0301', 'tr-2', isNotFree)).toBe('tr-1');
});

it('a flow whose reference another one has taken does not have it any more', () => {
  claims.take('INV-1', 'tr-1', isNotFree);
  claims.take('INV-1', 'tr-2', () => true);
  expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-2');
  expect(claims.take('INV-1', 'tr-2', isNotFree)).toBe('tr-2');
  expect(claims.holders('inv-1')).toEqual(['tr-1', 'tr-2']);
});

it('a use whose file was removed is not taken again, because later ones may have been paid', () => {
  for (const flow of ['tr-1', 'tr-2', 'tr-3']) claims.take('INV-1', flow, () => true);
  const [, second = ''] = readdirSync(join(folder, 'references')).sort();
  rmSync(join(folder, 'references', second));
  expect(claims.take('INV-1', 'tr-4', (flow) => flow !== 'tr-3')).toBe('tr-3');
  expect(claims.take('INV-1', 'tr-4', () => true)).toBe('tr-4');
  expect(claims.holders('INV-1')).toEqual(['tr-1', 'tr-3', 'tr-4']);
});

it('a reference stays with a flow that takes it again, even if that flow has failed', () => {
  const isFree = (flow: string) => {
    throw new TypeError(`${flow} is not to be asked about`);
  };
  for (let times = 0; times < 2; times += 1) expect(claims.take('INV-1', 'tr-1', isFree)).toBe('tr-1');
  expect(readdirSync(join(folder, 'references'))).toHaveLength(1);
});

it('a flow gets its reference even if an earlier run was killed while it took it', () => {
  claims.take('INV-1', 'tr-1', isNotFree);
  const [claim = ''] = readdirSync(join(folder, 'references'));
  const path = join(folder, 'references', claim);
  rmSync(path);
  writeFileSync(`${path}.tr-1`, 'tr', { mode: 0o600 });
  expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-1');
  expect(readdirSync(join(folder, 'references'))).toEqual([claim]);
});

it('a process that is overtaken while it takes a reference learns which flow has it', () => {
  claims.take('INV-1', 'tr-1', isNotFree);
  const [claim = ''] = readdirSync(join(folder, 'references'));
  const path = join(folder, 'references', claim);
  rmSync(path);
  once('linkSync', (link) => {
    writeFileSync(path, 'tr-2', { mode: 0o600 });
    return link();
  });
  expect(claims.take('INV-1', 'tr-1', isNotFree)).toBe('tr-2');
  expect(readdirSync(join(folder, 'references'))).toEqual([claim]);
});

it('if a reference cannot be recorded, nobody has it, and the error says that nothing was paid', () => {
  once('linkSync', failing('EIO'));
  expect(thrownBy(() => claims.take('INV-1', 'tr-1', isNotFree))).toMatchObject({
    code: 'config',
    message: `psd2 cannot record the reference in ${join(folder, 'references')}: EIO`,
    hint: 'Check the free space, and who owns the folder. Nothing was paid.',
  });
  expect(readdirSync(join(folder, 'references'))).toEqual([]);
  expect(claims.take('INV-1', 'tr-2', isNotFree)).toBe('tr-2');
});

it('if several processes take a reference at the same time, one gets it and the others learn which', async () => {
  const program = `
    import { ReferenceClaims } from '../../../src/store/files/flows/references.ts';
    const [folder, flow] = process.argv.slice(2);
    process.stdin.once('data', () => {
      const holders = [];
      const claims = new ReferenceClaims(folder);
      for (let n = 1; n <= 30; n += 1) holders.push(claims.take('INV-' + n, flow, () => false));
      process.stdout.write(holders.join(' '), () => process.exit());
    });`;
  const started = await Promise.all(
    ['tr-1', 'tr-2', 'tr-3'].map((flow) => startProgram(program, temporary, { arguments: [folder, flow] })),
  );
  for (const { process } of started) process.stdin?.write('go');
  const [first, ...others] = await Promise.all(started.map(({ output }) => output));
  expect(first?.split(' ')).toHaveLength(30);
  for (const other of others) expect(other).toBe(first);
}, 20_000);

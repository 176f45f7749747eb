import fs, { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { ReferenceClaims } from '../../../src/store/files/flows/references.ts';
import { Generations } from '../../../src/store/files/token-file.ts';
import { allOf, begunTransfer } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();

/** Makes the file system behave like one without hard links, such as exFAT. */
beforeEach(() => replaceForStore(fs, 'linkSync', failing('EPERM')));

function folder(): string {
  const path = join(newConfigFolder(temporary).root, 'place');
  mkdirSync(path, { recursive: true });
  return path;
}

it('without hard links a generation is still written once', async () => {
  const place = folder();
  const generations = new Generations(place);
  expect(generations.add(1, 'first')).toBe(true);
  expect(generations.add(1, 'second')).toBe(false);
  expect(readFileSync(generations.pathOf(1), 'utf8')).toBe('first');
  expect(readdirSync(place)).toEqual(['1.json']);
});

it('without hard links a reference still belongs to one flow', async () => {
  const claims = new ReferenceClaims(folder());
  expect(claims.take('INV-1', 'tr-1', () => false)).toBe('tr-1');
  expect(claims.take('INV-1', 'tr-2', () => false)).toBe('tr-1');
});

it('without hard links a transfer can be begun and continued', async () => {
  const place = newConfigFolder(temporary);
  const journal = new FileFlows(place.flows('sandbox'), { now: () => new Date(), random: Math.random });
  const open = await begunTransfer(journal);
  await open.record({ type: 'cancelled' });
  expect(await allOf(journal, 'transfer')).toEqual([open.current]);
});

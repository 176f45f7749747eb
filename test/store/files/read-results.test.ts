import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { FileReadResults } from '../../../src/store/files/read-results.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
const AT = '2026-11-21T06:00:00.000Z';
const ALWAYS = new Date(0);
const failed = (customerId: string) => ({
  ...{ customerId, at: AT, skipped: [] },
  failures: [{ productId: 'A', code: 'forbidden', message: 'No' }],
});
let path: string;
beforeEach(() => {
  path = join(newConfigFolder(temporary).root, 'read-results.ndjson');
});

async function customersIn(results: FileReadResults): Promise<string[]> {
  return (await results.failed(ALWAYS)).map(({ customerId }) => customerId);
}

/** What another process would write for a customer. */
async function lineOf(customerId: string): Promise<string> {
  const elsewhere = join(newConfigFolder(temporary).root, 'elsewhere.ndjson');
  await new FileReadResults(elsewhere).add([failed(customerId)]);
  return readFileSync(elsewhere, 'utf8').trim();
}

it('a result that was cut does not take the next one with it', async () => {
  const results = new FileReadResults(path);
  await results.add([failed('1')]);
  appendFileSync(path, (await lineOf('2')).slice(0, 40));
  expect(await customersIn(results)).toEqual(['1']);
  await new FileReadResults(path).add([failed('3')]);
  expect(await customersIn(results)).toEqual(['1', '3']);
});

it('after the file was replaced, only what is in the new one counts', async () => {
  const [results, other] = [new FileReadResults(path), new FileReadResults(path)];
  await results.add([failed('1'), failed('2')]);
  expect(await customersIn(results)).toEqual(['1', '2']);
  await other.forget('1');
  expect(await customersIn(results)).toEqual(['2']);
});

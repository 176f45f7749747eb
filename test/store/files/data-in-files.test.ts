import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { hasDataInFiles } from '../../../src/store/files/data.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();

/** Whether a configuration folder with these files has data of the profile `bank`. */
function hasData(files: Record<string, string>): boolean {
  const folder = newConfigFolder(temporary);
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder.root, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, content, { mode: 0o600 });
  }
  return hasDataInFiles(folder, 'bank');
}

it.each([
  ['a flow', { 'flows/bank/tr-1.ndjson': '' }],
  ['a flow beside the index', { 'flows/bank/index': '', 'flows/bank/co-1.ndjson': '' }],
  ['tokens of a customer', { 'tokens/bank/customer-42/1.json': '{}' }],
  ['tokens of the application', { 'tokens/bank/client-credentials/7.json': '{}' }],
  [
    'tokens after a logout',
    { 'tokens/bank/customer-42/1.json': 'null', 'tokens/bank/customer-42/2.json': '{}' },
  ],
  [
    'tokens of one customer, while another has logged out',
    { 'tokens/bank/customer-42/1.json': 'null', 'tokens/bank/customer-43/1.json': '{}' },
  ],
  ['damaged tokens', { 'tokens/bank/customer-42/1.json': 'garbage' }],
])('%s are data', (_what, files) => {
  expect(hasData(files)).toBe(true);
});

it.each([
  ['no file', {}],
  ['the data of another profile', { 'flows/b/tr-1.ndjson': '', 'tokens/b/customer-42/1.json': '{}' }],
  ['an index, and claims of references', { 'flows/bank/index': '', 'flows/bank/references/x.1': '' }],
  ['a half-written journal', { 'flows/bank/tr-1.ndjson.new': '' }],
  ['a logout', { 'tokens/bank/customer-42/2.json': 'null', 'tokens/bank/customer-42/1.json': '{}' }],
  ['a login that was not finished', { 'tokens/bank/customer-42/.5f0c': '{}' }],
  [
    'counts and notes',
    { 'tokens/bank/unattended-reads/2026-11-21': '42 *\n', 'tokens/bank/last.json': '{}' },
  ],
  ['what is kept of a customer', { 'tokens/bank/customers/bank.example/customer-ada/1.json': '{}' }],
  ['a folder of another name', { 'tokens/bank/customer-42.old/1.json': '{}' }],
  ['a folder that ends like one of tokens', { 'tokens/bank/old-client-credentials/1.json': '{}' }],
  ['a name without the number of a customer', { 'tokens/bank/customer-/1.json': '{}' }],
  ['a name that psd2 gives to no customer', { 'tokens/bank/customer-Ada/1.json': '{}' }],
])('%s is no data', (_what, files) => {
  expect(hasData(files)).toBe(false);
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFiles } from '../../../src/store/files/backend.ts';
import { settingsOf } from '../settings.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
import { BANK } from '../whole-store.ts';

// What files alone keep of a customer: names, and copies of damaged files. The rest is the contract's.

const temporary = temporaryFolder();

it.each([
  ['a note', ['access-notes', 'customer-42.json']],
  ['a damaged note', ['access-notes', 'customer-42.json.damaged-20261121T100000000Z']],
  ['a damaged login', ['customer-42.json.damaged-20261121T100000000Z']],
  ['a half-written note', ['access-notes', 'customer-42.json.tmp-1']],
])('%s goes with the customer whose name it has, and that of others stays', async (_, path) => {
  const folder = newConfigFolder(temporary);
  const tokens = folder.tokens('bank');
  const of = (customer: string) =>
    join(tokens, ...path.map((part) => part.replace('customer-42', `customer-${customer}`)));
  const others = ['4', '421', '42-1', 'x42'];
  for (const customer of ['42', ...others]) put(of(customer), '{}');
  await openFiles(settingsOf(folder)).open('bank', BANK).personal.removeRows('42');
  expect(['42', ...others].map((customer) => existsSync(of(customer)))).toEqual([
    ...[false, true, true, true, true],
  ]);
});

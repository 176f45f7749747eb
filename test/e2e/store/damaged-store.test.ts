import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const ORDER = words`transfer create --yes --from 0010482620 --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 1.00`;

it('psd2 names the damaged journal and its line, and lists, shows and pays the other flows', async () => {
  const damaged = await operator.json(shapes.transfer, [...ORDER, '--reference', 'INV-1']);
  const other = await operator.json(shapes.transfer, [...ORDER, '--reference', 'INV-2']);
  const path = join(operator.config, 'flows', 'sandbox', `${damaged.flow}.ndjson`);
  const lines = readFileSync(path, 'utf8').split('\n');
  lines[2] = '{"at":"garbage"}';
  writeFileSync(path, lines.join('\n'));
  const refusal = { code: 'config', exitCode: 3, message: `The journal ${path} is damaged at line 3` };

  const listed = await operator.succeeds(['transfer', 'list', '--json']);
  expect(readDocument(shapes.transfers, listed.stdout).map(({ flow }) => flow)).toEqual([other.flow]);
  expect(listed.stderr).toContain(refusal.message);
  await operator.succeeds(['transfer', 'show', other.flow]);
  await operator.succeeds(['transfer', 'resume', other.flow, '--yes']);
  await operator.succeeds([...ORDER, '--reference', 'INV-3']);
  for (const name of [damaged.flow, damaged.flow.slice(0, -1), damaged.resourceId ?? '']) {
    const shown = await operator.psd2(['transfer', 'show', name, '--json']);
    expect(readError(shown)).toMatchObject(refusal);
  }
  const removed = await operator.psd2(['profile', 'remove', 'sandbox', '--yes', '--json']);
  expect(readError(removed)).toMatchObject(refusal);
});

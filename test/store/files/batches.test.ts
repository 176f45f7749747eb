import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FileBatches } from '../../../src/store/files/batches.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { batchLine } from '../whole-store.ts';

const temporary = temporaryFolder();

it('a line whose claim cannot be written is not a line that another worker has', async () => {
  const flows = join(newConfigFolder(temporary).root, 'flows');
  mkdirSync(flows, { recursive: true });
  const batches = new FileBatches(flows, { now: () => new Date() });
  const added = { ...batchAdded({ by: 'ada', user: 'ada', machine: 'pisp-1' }), messageId: null };
  const { batch } = await batches.add({ added, lines: [batchLine(1)], again: false });
  const claims = join(flows, 'batches', batch, 'claims');
  writeFileSync(claims, '');
  const work = () => batches.onLine(batch, 1, false, async () => 'ours');
  await expect(work()).rejects.toMatchObject({ code: 'config' });
  rmSync(claims);
  expect(await work()).toBe('ours');
});

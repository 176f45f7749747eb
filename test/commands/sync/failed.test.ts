import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

it('the command that helps with a failed sync can be pasted into a shell, whatever the folder is called', async () => {
  const folder = newConfigFolder(temporaryFolder());
  const out = join(temporaryFolder(), 'my data');
  const { context, printed } = openCommand(folder, '2026-11-21T10:00:00.000Z', { format: 'table' });
  const failures = [{ productId: null, code: 'bank_failing', message: 'The bank failed' }];
  const { results, sync } = await context.store();
  await sync(out).run(new AbortController().signal, (sync) =>
    sync.customer('1000001', async (to) => to.replace('accounts', [])),
  );
  await results.add([{ customerId: '1000001', at: '2026-11-21T09:00:00.000Z', failures, skipped: [] }]);
  await runIn(context, 'sync', 'status', '--failed');
  expect(printed()).toContain(`psd2 --customer 1000001 sync --out '${out}'`);
});

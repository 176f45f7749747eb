import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openKeyRing } from '../../../src/commands/open/keys.ts';
import { useCommands } from '../../cli/in-process.ts';

const { run, said } = useCommands();

it('psd2 refuses a certificate file with a key in it that others can read', async () => {
  for (const [mode, exitCode] of [
    [0o644, 3],
    [0o600, undefined],
  ] as const) {
    process.exitCode = undefined;
    await run(async (context) => {
      mkdirSync(context.folder.root, { recursive: true, mode: 0o700 });
      const path = join(context.folder.root, 'both.pem');
      writeFileSync(path, '-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n');
      chmodSync(path, mode);
      await openKeyRing(context, { name: 'bank', settings: { qwacCertificate: { path } } }).read('QWAC');
    });
    expect([mode, process.exitCode], said()).toEqual([mode, exitCode]);
  }
});

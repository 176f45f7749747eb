import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isOwnSandbox } from '../../../src/commands/sandbox/profile.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';

const folder = newConfigFolder(temporaryFolder());

it("only a profile with certificates in this configuration's sandbox folder is the sandbox's", () => {
  const isOwn = (path: string) => isOwnSandbox({ qwacCertificate: { path } }, { folder });
  expect(isOwn(join(folder.sandbox, 'certificates', 'qwac.pem'))).toBe(true);
  expect(isOwn('/etc/sandbox/qwac.pem')).toBe(false);
  expect(isOwn(join(`${folder.sandbox}-old`, 'certificates', 'qwac.pem'))).toBe(false);
  expect(isOwnSandbox({ qwacCertificate: { pem: '' } }, { folder })).toBe(false);
});

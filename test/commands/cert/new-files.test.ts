import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeNewFiles } from '../../../src/commands/cert/new-files.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();

/** Writes a key, and a request to the second path, into a folder of its own. */
async function write(out: string, second: string) {
  return failureOf(
    (async () =>
      writeNewFiles(out, 'the key and the request', [
        [join(out, 'key.pem'), 'key'],
        [join(out, second), 'request'],
      ]))(),
  );
}

it('a file that appears meanwhile stays, and what psd2 wrote before it goes', async () => {
  const out = join(temporary, 'appeared');
  mkdirSync(out);
  writeFileSync(join(out, 'new.csr'), 'theirs');
  expect(await write(out, 'new.csr')).toEqual({
    ...{ code: 'config', exitCode: 3, hint: 'Check the folder and the free space.' },
    message: expect.stringMatching(/^psd2 cannot write the key and the request to .*appeared: ./),
  });
  expect(readdirSync(out)).toEqual(['new.csr']);
  expect(readFileSync(join(out, 'new.csr'), 'utf8')).toBe('theirs');
});

it('if the second file cannot be begun, the first one goes too', async () => {
  const out = join(temporary, 'missing');
  expect(await write(out, 'none/new.csr')).toMatchObject({ code: 'config', exitCode: 3 });
  expect(readdirSync(out)).toEqual([]);
});

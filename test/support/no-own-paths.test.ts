import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it.each([
  ['the clone', join(process.cwd(), 'dist/main.js')],
  ['the folder of the run', join(tmpdir(), 'psd2-1')],
  ['the home', join(homedir(), '.config')],
])('a snapshot with a path in %s is refused, also deep inside a value', (_what, path) => {
  const refusal = 'A snapshot has a path of this machine';
  expect(() => expect(path).toMatchInlineSnapshot(`"never written"`)).toThrow(refusal);
  expect(() => expect({ hint: [`Look into ${path}`] }).toMatchInlineSnapshot(`"never written"`)).toThrow(
    refusal,
  );
});

it('other paths are not', () => {
  expect('/v1/accounts').toMatchInlineSnapshot(`"/v1/accounts"`);
});

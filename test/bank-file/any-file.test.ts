import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bankFile } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { valuesIn } from '../../src/bank-file/values.ts';
import { checkBankFile, describeBank, PLATFORMS, readBankFile } from './described.ts';
import { bankFolder, LEAST } from './folder.ts';

const { write } = bankFolder();

/** A file with some values of one platform, which extends another. */
const platform = fc.constantFrom(...Object.keys(PLATFORMS));
const anyFile = fc.tuple(platform, platform).chain(([above, own]) => {
  const { extends: _extends, interface: _interface, ...values } = PLATFORMS[own] ?? {};
  return fc.subarray([...valuesIn(values)], { minLength: 1 }).map((some) => {
    const file: Record<string, unknown> = {};
    for (const [path, value] of some) put(file, path.split('.'), value);
    return { file: { ...LEAST, ...file, extends: above }, own: file };
  });
});

function put(into: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) into[name] = value;
  else {
    const below: Record<string, unknown> = { ...Object(into[name]) };
    put(below, rest, value);
    into[name] = below;
  }
}

it('any file of valid values resolves, and what bank show prints of it is a valid file that stays as it is', async () => {
  await fc.assert(
    fc.asyncProperty(anyFile, async ({ file: content, own }) => {
      const path = write('any.json', content);
      // What fits the mode of OAuth of one platform may not fit that of the other.
      fc.pre((await checkBankFile(path)).problems.length === 0);
      const { file, description, defaults } = await readBankFile(path);
      expect(description).toMatchObject(own);
      const shown = await readBankFile(write('shown.json', description));
      expect(shown.description).toEqual(description);
      expect(shown.defaults).toEqual([]);
      // What a profile stores means the same.
      expect(await describeBank(file)).toEqual(description);
      expect(bankFile.parse(description)).toEqual(description);
      expect(defaults).not.toContain('interface');
    }),
    { numRuns: 150 },
  );
});

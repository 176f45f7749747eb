import { expect, it } from 'vitest';
import { nextgenpsd2 } from '../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import { readBankFile } from '../../src/bank-file/bank-file.ts';
import { type Descriptions, descriptionFor } from '../../src/bank-file/description.ts';
import { toyDescription } from '../bank/toy-interface/description.ts';
import { bankFolder } from './folder.ts';

const BOTH: Record<string, Descriptions[string]> = {
  nextgenpsd2: () => nextgenpsd2,
  toy: () => toyDescription,
};

// A name that no interface has is a problem that the schema of the first one says.
it.each<[name: unknown, description: object]>([
  ['nextgenpsd2', nextgenpsd2],
  ['toy', toyDescription],
  ['cb', nextgenpsd2],
  ['toString', nextgenpsd2],
  ['', nextgenpsd2],
  [undefined, nextgenpsd2],
  [null, nextgenpsd2],
  [['toy'], nextgenpsd2],
])('a file of the interface %j is read by one that is described', (name, description) => {
  expect(descriptionFor(BOTH, name)).toBe(description);
});

it('without any description, no file can be read', () => {
  expect(() => descriptionFor({}, 'toy')).toThrow(new TypeError('No interface describes its banks'));
});

const { write } = bankFolder();

it('where the interface says nothing of what a file takes over, it is all fields', async () => {
  write('below.json', { interface: 'toy', name: 'Below', headers: { a: '1', b: '1' }, verifiedOn: 'today' });
  const path = write('own.json', { interface: 'toy', extends: 'below.json', headers: { b: '2' } });
  const { file } = await readBankFile(path, { toy: () => toyDescription });
  expect(file).toEqual({ interface: 'toy', name: 'Below', headers: { a: '1', b: '2' } });
});

import { expect, it } from 'vitest';
import { nextgenpsd2 } from '../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import { type Descriptions, descriptionFor } from '../../src/bank-file/description.ts';
import { toyDescription } from '../bank/toy-interface/description.ts';

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

import { expect, test } from 'vitest';
import { writeStep } from '../../../src/commands/demo/demo.ts';

const WORDS = ['transfer', '--instant', '--to', 'DE89', '--name', 'Ada Lovelace', '--yes'];
const WHOLE = '$ psd2 transfer --instant --to DE89 --name "Ada Lovelace" --yes';

test.each([
  ['without a terminal', undefined, WHOLE],
  ['in a terminal without a width', 0, WHOLE],
  ['with room for it', WHOLE.length + 2, WHOLE],
  [
    'without that room: options stay whole',
    50,
    '$ psd2 transfer --instant --to DE89 \\\n    --name "Ada Lovelace" --yes',
  ],
  [
    'in a narrow terminal',
    20,
    '$ psd2 transfer \\\n    --instant \\\n    --to DE89 \\\n    --name "Ada Lovelace" \\\n    --yes',
  ],
])('the demo writes a command that can be copied, %s', (_where, columns, written) => {
  expect(writeStep(WORDS, columns)).toBe(written);
});

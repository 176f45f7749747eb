import { describe, expect, it } from 'vitest';
import { CODES } from './code-rows.ts';
import { FORM } from './form-rows.ts';
import { judge } from './judged.ts';
import { SEEN } from './seen.ts';
import { WHOSE } from './whose-rows.ts';
import { WORDS } from './word-rows.ts';

describe('the judge of an initiation', () => {
  it.each([...SEEN, ...WHOSE, ...WORDS, ...CODES, ...FORM])(
    'says "$says" with HTTP $status: $name',
    ({ says, name, ...row }) => {
      expect(judge(row)).toMatchObject({ says });
    },
  );
});

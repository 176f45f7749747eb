import { describe, expect, it } from 'vitest';
import { judge } from './judged.ts';
import { SEEN } from './seen.ts';

describe('the judge of an initiation', () => {
  it.each(SEEN)('says "$says" with HTTP $status: $name', ({ says, ...row }) => {
    expect(judge(row)).toMatchObject({ says });
  });
});

import { describe, expect, it } from 'vitest';
import { pagerOf } from '../../src/terminal/pager.ts';

describe('the pager', () => {
  it.each<[Record<string, string>, string[] | undefined]>([
    [{}, undefined],
    [{ PAGER: '' }, undefined],
    [{ PAGER: 'cat' }, undefined],
    [{ PAGER: 'less', TERM: 'dumb' }, undefined],
    [{ PAGER: 'less -S' }, ['less', '-S']],
    [{ PAGER: '"/opt/my less" -S' }, ['/opt/my less', '-S']],
    [{ PAGER: 'less', PSD2_PAGER: 'more' }, ['more']],
    [{ PAGER: 'less', PSD2_PAGER: '' }, undefined],
  ])('with %j the pager is %j', (env, words) => {
    expect(pagerOf(env)).toEqual(words);
  });

  it('a pager command with an open quote is a configuration error', () => {
    expect(() => pagerOf({ PAGER: 'less "' })).toThrow(expect.objectContaining({ code: 'config' }));
  });
});

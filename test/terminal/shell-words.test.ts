import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { shellWords } from '../../src/terminal/shell-words.ts';

const commands = [
  '',
  '   ',
  'firefox',
  '  firefox \t --new-window ',
  "a 'b c' d",
  'a "b c" d',
  `a 'b'"c"d 'e f'g`,
  `'' "" x`,
  `"it's" 'say "x"'`,
  String.raw`a\ b c\\d \'e`,
  String.raw`"a\"b\\c\d\$e" 'f\g'`,
  '"a\\`b"',
  String.raw`'a\' b`,
  "env NAME='a b'  /opt/my\\ browser/run --flag='x y'",
];

describe('shellWords', () => {
  it.each(commands)('shellWords splits %j as sh does', (command) => {
    const shell = execFileSync('sh', ['-c', `for word in ${command}\ndo printf '%s\\0' "$word"; done`], {
      encoding: 'utf8',
    });
    expect(shellWords(command, 'X', 'linux')).toEqual(shell.split('\0').slice(0, -1));
  });

  it('a backslash at the end stays', () => {
    expect(shellWords('a b\\', 'X', 'linux')).toEqual(['a', 'b\\']);
  });

  it('shellWords expands nothing', () => {
    expect(shellWords('a $HOME `id` ~ * ; | > #x', 'X', 'linux')).toEqual(
      'a $HOME `id` ~ * ; | > #x'.split(' '),
    );
  });

  it('shellWords keeps the backslashes of a Windows path', () => {
    expect(shellWords(String.raw`"C:\Program Files\b.exe" C:\x`, 'X', 'win32')).toEqual([
      String.raw`C:\Program Files\b.exe`,
      String.raw`C:\x`,
    ]);
  });

  it.each([`a 'b`, 'a "b', `"a\\"`])('shellWords refuses the open quote in %j', (command) => {
    expect(() => shellWords(command, 'PSD2_BROWSER', 'linux')).toThrow(
      new Psd2Error('config', 'A quote is not closed in PSD2_BROWSER', {
        hint: 'Write it as in a shell, for example: firefox --profile "my profile".',
      }),
    );
  });
});

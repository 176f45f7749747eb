import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  readFurtherData,
  readJsonOption,
  refuseFurtherData,
} from '../../../src/commands/shared/read-data.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const open = () => openCommand(newConfigFolder(temporary), NOW).context;
const read = (value: string, stdin = '') =>
  readJsonOption({ ...open(), readStdin: async () => stdin }, '--data', value);
const usage = (message: string, hint?: string) => ({
  ...{ code: 'usage', exitCode: 2, message },
  ...(hint !== undefined && { hint }),
});

it('the data of an option stays as it is written, from the option, a file and standard input', async () => {
  const text = '{"amount": 1.10}\n';
  const file = join(temporary, 'data.json');
  writeFileSync(file, text);
  expect(await read(text)).toBe(text);
  expect(await read(`@${file}`)).toBe(text);
  expect(await read('-', text)).toBe(text);
  expect(await read('false')).toBe('false');
});

it.each(['', ' ', '{', '{"secret": hush}'])(
  '%j is no JSON, and the error has nothing of it',
  async (text) => {
    const failure = await failureOf(read(text));
    expect(failure).toEqual({
      ...usage(expect.stringMatching(/^--data is not JSON: .+/)),
      hint: 'Give JSON text, @file, or - for standard input.',
    });
    expect(failure.message).not.toContain('hush');
  },
);

it('a file that is not there is named with its option', async () => {
  expect((await failureOf(read('@/does/not/exist'))).message).toContain('/does/not/exist of --data');
});

it('standard input is read once', async () => {
  const context = { ...open(), readStdin: async () => '1' };
  expect(await readFurtherData(context, ['2', '-'])).toEqual(['2', '1']);
  expect(await readFurtherData(context, ['2'], '-')).toEqual(['2']);
  const twice = usage('Only one of --data and --verify-data can read standard input');
  expect(await failureOf(readFurtherData(context, ['-', '-']))).toEqual(twice);
  expect(await failureOf(readFurtherData(context, ['-'], '-'))).toEqual(twice);
});

it('the data of further steps is refused at a bank without operations', async () => {
  expect(refuseFurtherData({ has: new Set(['operations']) })).toBeUndefined();
  const refused = Promise.resolve().then(() => refuseFurtherData({ has: new Set() }));
  expect(await failureOf(refused)).toEqual(usage("This bank's interface has no --verify-data"));
});

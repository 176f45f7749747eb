import { expect, it } from 'vitest';
import { printBankData } from '../../../src/commands/shared/bank-data.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const DATA = {
  ...{ name: 'Ada', isPrivate: false, since: 1815, none: null },
  address: { town: 'London', lines: ['one', { two: 2 }] },
  empty: {},
};

it.each([
  ['json' as const, `${JSON.stringify(DATA, null, 2)}\n`],
  [
    'table' as const,
    'name\tAda\nisPrivate\tfalse\nsince\t1815\nnone\t\naddress.town\tLondon\naddress.lines.0\tone\naddress.lines.1.two\t2\n',
  ],
])(
  'data of the bank that psd2 does not know is printed unchanged, or a line for each value: %s',
  (format, expected) => {
    const { context, printed } = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', {
      format,
    });
    printBankData(context, DATA);
    expect(format === 'json' ? JSON.parse(printed()) : printed()).toEqual(
      format === 'json' ? DATA : expected,
    );
  },
);

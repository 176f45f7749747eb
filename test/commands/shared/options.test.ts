import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { describe, expect, it, vi } from 'vitest';
import { readReferences } from '../../../src/commands/shared/account-references.ts';
import {
  readDays,
  readDuration,
  readLimit,
  readSince,
  readWholeNumber,
} from '../../../src/commands/shared/option-values.ts';
import { keepPsu, type PsuOptions, refusePsu, withPsuOptions } from '../../../src/commands/shared/psu.ts';
import {
  readFurtherData,
  readJsonOption,
  refuseFurtherData,
} from '../../../src/commands/shared/read-data.ts';
import { newRunId } from '../../../src/commands/shared/run-id.ts';
import { requireSyncFolder } from '../../../src/commands/shared/sync-folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = new Date('2026-03-01T12:00:00.000Z');
const open = () => openCommand(newConfigFolder(temporary), NOW.toISOString()).context;
const usage = (message: string, hint?: string) => ({
  ...{ code: 'usage', exitCode: 2, message },
  ...(hint !== undefined && { hint }),
});
const refusal = (read: () => unknown) => failureOf(Promise.resolve().then(read));
const WEEK = 7 * 24 * 60 * 60 * 1000;
/** What is not a number, but might be taken for one. */
const NO_NUMBERS = [
  ...['', ' ', '5 ', ' 5', '+5', '-5', '5.0', '5,0', '1e1', '0x5', '٥', '5\n', 'false', 'Infinity'],
];

describe('a whole number', () => {
  it.each([...NO_NUMBERS, '0', '100'])('%j is none from 1 to 99', async (text) => {
    expect(await refusal(() => readWholeNumber('--cores', text, 1, 99))).toEqual(
      usage(`--cores ${JSON.stringify(text)} is not a whole number from 1 to 99`),
    );
  });

  it.each([...NO_NUMBERS, '0'])('%j is no limit', async (text) => {
    expect((await refusal(() => readLimit(text))).message).toBe(
      `--limit ${JSON.stringify(text)} is not a whole number from 1`,
    );
  });

  it('is decimal, and a limit that is not given is another one', () => {
    const read = (text: string) => readWholeNumber('--cores', text, 1, 99);
    expect([read('1'), read('007'), read('99')]).toEqual([1, 7, 99]);
    expect([readLimit(undefined), readLimit(undefined, 30), readLimit('5', 30)]).toEqual([Infinity, 30, 5]);
  });
});

describe('a duration', () => {
  it.each([
    ['1s', 1_000],
    ['15m', 900_000],
    ['6h', 21_600_000],
    ['7d', WEEK],
    ['1w', WEEK],
  ])('%s is %i milliseconds', (text, milliseconds) => {
    expect(readDuration('--every', text, WEEK)).toBe(milliseconds);
  });

  it.each(['0s', '8d', '604801s', '6', 'h', '1.5h', '-1h', '1 h', '6H', '1y', '2w', ''])(
    '%j is none',
    async (text) => {
      expect(await refusal(() => readDuration('--every', text, WEEK))).toEqual(
        usage(
          `--every ${JSON.stringify(text)} is not a duration up to 7 days`,
          'Write a whole number with its unit: 30s, 15m, 6h, 1d or 2w.',
        ),
      );
    },
  );
});

describe('a number of days', () => {
  it.each([
    ['0', 0],
    ['14', 14],
    ['14d', 14],
    ['2w', 14],
    ['9999', 9999],
  ])('%s is %i', (text, days) => {
    expect(readDays('--within', text)).toBe(days);
  });

  it.each([...NO_NUMBERS, 'd', '2h', '2W', '1 d', '12345', 'x14', '14dx', '1w2d'])(
    '%j is none',
    async (text) => {
      expect(await refusal(() => readDays('--within', text))).toEqual(
        usage(
          `--within ${JSON.stringify(text)} is not a number of days`,
          'For example --within 14, --within 14d or --within 2w.',
        ),
      );
    },
  );
});

describe('a time', () => {
  it.each([
    ['30s', '2026-03-01T11:59:30.000Z'],
    ['90m', '2026-03-01T10:30:00.000Z'],
    ['2h', '2026-03-01T10:00:00.000Z'],
    ['1d', '2026-02-28T12:00:00.000Z'],
    ['1w', '2026-02-22T12:00:00.000Z'],
    ['0d', '2026-03-01T12:00:00.000Z'],
    ['2026-02-28T09:30:00Z', '2026-02-28T09:30:00.000Z'],
    ['2026-02-28T09:30:00.250Z', '2026-02-28T09:30:00.250Z'],
    ['2026-02-28T09:30:00+01:00', '2026-02-28T08:30:00.000Z'],
    ['2026-02-28T09:30:00-0130', '2026-02-28T11:00:00.000Z'],
    // Without a zone it is local time.
    ['2026-02-28', new Date(2026, 1, 28).toISOString()],
    ['2026-02-28T09:30', new Date(2026, 1, 28, 9, 30).toISOString()],
    ['2026-02-28T09:30:00', new Date(2026, 1, 28, 9, 30).toISOString()],
  ])('%s is %s', (text, time) => {
    expect(new Date(readSince(text, NOW)).toISOString()).toBe(time);
  });

  it.each([
    ...[...NO_NUMBERS, 'yesterday', '1y', '1 d', '2H', '-1d', '1h30m', '1234567s', 'x1d', '1dx'],
    ...['2026-02-30', '2026-11-41', '2026-02-30T09:30:00Z', '2026-2-28', '20260228', '21/11/2026'],
    ...['2026-02-28x', 'x2026-02-28', ' 2026-02-28', '2026-02-28 ', '2026-02-28T', '2026-02-28T25:00'],
    ...['2026-02-28T09:30:00Zx', '2026-02-28T09:30:00 Z', '2026-02-28 09:30'],
  ])('%j is none', async (text) => {
    const hint = 'For example 2026-11-21, 2026-11-21T09:30:00Z, or how long ago: 2h, 30m, 1d, 2w.';
    const refused = (option: string) => usage(`${option} ${JSON.stringify(text)} is not a time`, hint);
    expect(await refusal(() => readSince(text, NOW, '--until'))).toEqual(refused('--until'));
    expect(await refusal(() => readSince(text, NOW))).toEqual(refused('--since'));
  });
});

const openCustomers = async () => {
  const context = open();
  const { customers } = await context.store();
  return { context, customers, psu: async () => (await customers.read('ada'))?.psu };
};
const NOTHING = { id: null, idType: null, corporateId: null, corporateIdType: null };
const ALL = { psuId: 'ada', psuIdType: 'RETAIL', psuCorporateId: 'engines' };
const OPTIONS = ['--psu-id', '--psu-id-type', '--psu-corporate-id'];

it('the options of a command say who the customer is at the bank', () => {
  const command = withPsuOptions(new Command()).exitOverride();
  command.parse(
    OPTIONS.flatMap((option, index) => [option, Object.values(ALL)[index] ?? '']),
    { from: 'user' },
  );
  expect(command.opts()).toEqual(ALL);
  for (const line of [
    "--psu-id <id>            the customer's id at the bank, kept with the customer (where the bank has PSU-ID)",
    '--psu-id-type <type>     kind of that id (where the bank has PSU-ID)',
    "--psu-corporate-id <id>  the id of the customer's company (where the bank has PSU-ID)",
  ])
    expect(command.configureHelp({ helpWidth: 200 }).helpInformation()).toContain(line);
});

describe('who the customer is', () => {
  it('is kept with the customer, and what is not named stays', async () => {
    const { context, psu } = await openCustomers();
    await keepPsu(context, 'ada', ALL);
    expect(await psu()).toEqual({ ...NOTHING, id: 'ada', idType: 'RETAIL', corporateId: 'engines' });
    await keepPsu(context, 'ada', { psuIdType: 'CORPORATE' });
    expect(await psu()).toEqual({ ...NOTHING, id: 'ada', idType: 'CORPORATE', corporateId: 'engines' });
    await keepPsu(context, 'ada', { psuCorporateId: 'x' });
    await keepPsu(context, 'ada', { psuId: 'a b' });
    expect(await psu()).toEqual({ ...NOTHING, id: 'a b', idType: 'CORPORATE', corporateId: 'x' });
  });

  it('is not written if nothing is named', async () => {
    const { context, customers } = await openCustomers();
    const change = vi.spyOn(customers, 'change');
    await keepPsu(context, 'ada', {});
    expect(change).not.toHaveBeenCalled();
    await keepPsu(context, 'ada', { psuId: 'ada' });
    expect(change).toHaveBeenCalledOnce();
  });

  it.each<[string, PsuOptions]>([
    ['--psu-id', { psuId: '' }],
    ['--psu-id', { psuId: ' a' }],
    ['--psu-id', { psuId: 'a ' }],
    ['--psu-id', { psuId: 'a\nb' }],
    ['--psu-id', { psuId: 'ä' }],
    ['--psu-id', { psuId: 'a'.repeat(101) }],
    ['--psu-id-type', { psuIdType: '\u007f' }],
    ['--psu-corporate-id', { psuCorporateId: 'a\u00adb' }],
  ])('is refused if a header cannot carry it: %s %j', async (option, options) => {
    const { context, psu } = await openCustomers();
    expect(await failureOf(keepPsu(context, 'ada', options))).toEqual(
      usage(
        `${option} has characters that a header cannot carry, or too many`,
        'Use 1 to 100 visible characters of ASCII.',
      ),
    );
    expect(await psu()).toBeUndefined();
  });

  it.each(['!', '~', 'a!~ z', 'a'.repeat(100)])('may be %j', async (psuId) => {
    const { context, psu } = await openCustomers();
    await keepPsu(context, 'ada', { psuId });
    expect(await psu()).toMatchObject({ id: psuId });
  });
});

it.each<[string, PsuOptions]>([
  ['--psu-id', { psuId: 'ada' }],
  ['--psu-id-type', { psuIdType: '' }],
  ['--psu-corporate-id', { psuCorporateId: 'x' }],
  ['--psu-id', ALL],
])('where customers have ids %s is refused, and a command without it goes on', async (option, options) => {
  expect(await refusal(() => refusePsu({ name: 'cb' }, options))).toEqual(
    usage(
      `The interface of this bank, the step interface (cb), has no ${option}`,
      'It is for banks that learn from psd2 who their customer is.',
    ),
  );
  expect(refusePsu({ name: 'cb' }, { psuId: undefined })).toBeUndefined();
});

const read = (value: string, stdin = '') =>
  readJsonOption({ ...open(), readStdin: async () => stdin }, '--data', value);

it('the data of an option stays as it is written, from the option, a file and standard input', async () => {
  const text = '{"amount": 1.10}\n';
  const file = join(temporary, 'data.json');
  writeFileSync(file, text);
  expect(await read(text)).toBe(text);
  expect(await read(`@${file}`)).toBe(text);
  expect(await read('-', text)).toBe(text);
  expect(await read('false')).toBe('false');
});

it.each(['', ' ', '{', '{"secret": hush}'])('%j is no JSON, and the error has none of it', async (text) => {
  const failure = await failureOf(read(text));
  expect(failure).toEqual({
    ...usage(expect.stringMatching(/^--data is not JSON: .+/)),
    hint: 'Give JSON text, @file, or - for standard input.',
  });
  expect(failure.message).not.toContain('hush');
});

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
  expect(refuseFurtherData({ name: 'cb', has: new Set(['operations']) })).toBeUndefined();
  expect(await refusal(() => refuseFurtherData({ name: 'nextgenpsd2', has: new Set() }))).toEqual(
    usage('The interface of this bank, NextGenPSD2, has no --verify-data'),
  );
});

describe('references to accounts', () => {
  const file = join(temporary, 'card');
  writeFileSync(file, '5254 1234 5678 3241\n');
  const [IBAN, CARD] = ['DE89370400440532013000', 'pan:5254123456783241'];
  const references = (texts: string[]) =>
    readReferences({ readStdin: async () => ' 4111111111111111 \n' }, texts);

  it.each<[string, string[], string[]]>([
    ['none', [], []],
    ['an IBAN', ['DE89 3704 0044 0532 0130 00'], [IBAN]],
    ['the number of a card in a file', [`pan:@${file}`], [CARD]],
    ['with a currency', [`pan:@${file}:eur`], [`${CARD}:EUR`]],
    ['one on standard input', ['pan:-'], ['pan:4111111111111111']],
    ['a card in a file and one on standard input', ['pan:-', `pan:@${file}`], ['pan:4111111111111111', CARD]],
    ['the same twice, in their order', [`pan:@${file}`, IBAN, `pan:@${file}`, IBAN], [CARD, IBAN]],
  ])('are read, each once: %s', async (_, texts, read) => {
    expect(await references(texts)).toEqual(read);
  });

  it('may read standard input once', async () => {
    for (const texts of [
      ['pan:-', 'pan:-'],
      ['pan:-', IBAN, 'pan:-:EUR'],
    ])
      expect(await failureOf(references(texts))).toEqual(
        usage('Only one number can come from standard input', 'Give the others in files: @file.'),
      );
  });

  it('name the file that is not there, and its option', async () => {
    expect(await failureOf(references(['pan:@/does/not/exist']))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('The file /does/not/exist of --account'),
    });
  });
});

it('a folder of synced data must exist, and is not that of psd2 by accident', async () => {
  expect(requireSyncFolder(temporary)).toBeUndefined();
  expect(await refusal(() => requireSyncFolder(''))).toEqual(usage('The value of --sync-folder is empty'));
  const missing = join(temporary, 'missing');
  expect(await refusal(() => requireSyncFolder(missing))).toEqual(
    usage(`--sync-folder names ${missing}, which does not exist`, 'Give the folder of psd2 sync --out.'),
  );
});

it.each([
  ['sm', NOW.toISOString(), 0, 'sm-0mm7p6yo0000'],
  ['do', NOW.toISOString(), 0.999, 'do-0mm7p6yo0zzz'],
  ['sm', '1970-01-01T00:00:00.036Z', 0.5, 'sm-000000010iii'],
] as const)(
  'the id of a run %s at %s has its time, so that ids sort by it, and a tail',
  (kind, at, random, id) => {
    expect(newRunId(kind, { ...open().world, now: () => new Date(at), random: () => random })).toBe(id);
  },
);

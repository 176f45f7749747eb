import { Command } from '@commander-js/extra-typings';
import { describe, expect, it, vi } from 'vitest';
import { keepPsu, type PsuOptions, refusePsu, withPsuOptions } from '../../../src/commands/shared/psu.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const open = async () => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z');
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
    const { context, psu } = await open();
    await keepPsu(context, 'ada', ALL);
    expect(await psu()).toEqual({ ...NOTHING, id: 'ada', idType: 'RETAIL', corporateId: 'engines' });
    await keepPsu(context, 'ada', { psuIdType: 'CORPORATE' });
    expect(await psu()).toEqual({ ...NOTHING, id: 'ada', idType: 'CORPORATE', corporateId: 'engines' });
    await keepPsu(context, 'ada', { psuCorporateId: 'x' });
    await keepPsu(context, 'ada', { psuId: 'a b' });
    expect(await psu()).toEqual({ ...NOTHING, id: 'a b', idType: 'CORPORATE', corporateId: 'x' });
  });

  it('is not written if nothing is named', async () => {
    const { context, customers } = await open();
    const change = vi.spyOn(customers, 'change');
    await keepPsu(context, 'ada', {});
    expect(change).not.toHaveBeenCalled();
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
    const { context, psu } = await open();
    expect(await failureOf(keepPsu(context, 'ada', options))).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: `${option} has characters that a header cannot carry, or too many`,
      hint: 'Use 1 to 100 visible characters of ASCII.',
    });
    expect(await psu()).toBeUndefined();
  });

  it.each(['!', '~', 'a!~ z', 'a'.repeat(100)])('may be %j', async (psuId) => {
    const { context, psu } = await open();
    await keepPsu(context, 'ada', { psuId });
    expect(await psu()).toMatchObject({ id: psuId });
  });
});

describe('at a bank whose customers have ids', () => {
  it.each<[string, PsuOptions]>([
    ['--psu-id', { psuId: 'ada' }],
    ['--psu-id-type', { psuIdType: '' }],
    ['--psu-corporate-id', { psuCorporateId: 'x' }],
    ['--psu-id', ALL],
  ])('%s is refused', async (option, options) => {
    expect(await failureOf((async () => refusePsu(options))())).toEqual({
      ...{ code: 'usage', exitCode: 2, message: `The interface of this bank has no ${option}` },
      hint: 'It is for banks that learn from psd2 who their customer is.',
    });
  });

  it('a command without them goes on', () => {
    expect(refusePsu({ psuId: undefined })).toBeUndefined();
  });
});

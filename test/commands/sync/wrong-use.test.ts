import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const OUT = ['--out', '/nowhere/banking'];

const wrong = (message: string, advice = {}) => new Psd2Error('usage', message, advice);
const whole = (option: string, value: string, range: string) =>
  wrong(`${option} ${JSON.stringify(value)} is not a whole number ${range}`);
const NO_FOLDER = {
  ...{ hint: 'Add --out <folder>. With a store in PostgreSQL it is optional.', next: [['store', '--help']] },
};

it.each([
  [[], wrong('--out is missing: psd2 needs a folder for the files', NO_FOLDER)],
  [['--out', ''], wrong('--out is empty')],
  [[...OUT, '--metrics-file', ''], wrong('--metrics-file is empty')],
  [[...OUT, '--metrics-host', ''], wrong('--metrics-host is empty')],
  [[...OUT, '--metrics-host', '', '--metrics-port', '1'], wrong('--metrics-host is empty')],
  [[...OUT, '--metrics-host', '::1'], wrong('--metrics-host needs --metrics-port')],
  [[...OUT, '--metrics-port', '65536'], whole('--metrics-port', '65536', 'from 0 to 65535')],
  [[...OUT, '--metrics-port', ''], whole('--metrics-port', '', 'from 0 to 65535')],
  [[...OUT, '--concurrency', '0'], whole('--concurrency', '0', 'from 1 to 99')],
  [[...OUT, '--concurrency', '100'], whole('--concurrency', '100', 'from 1 to 99')],
  [[...OUT, '--cores', '0'], whole('--cores', '0', 'from 1 to 999')],
  [[...OUT, '--cores', '1000'], whole('--cores', '1000', 'from 1 to 999')],
  [[...OUT, '--unattended-reads', '0'], whole('--unattended-reads', '0', 'from 1 to 9999')],
  [[...OUT, '--unattended-reads', '10000'], whole('--unattended-reads', '10000', 'from 1 to 9999')],
  [[...OUT, '--since', '2026-11-22'], new Psd2Error('invalid_date', '--since 2026-11-22 is in the future')],
])('psd2 sync %j syncs nothing', async (words, error) => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  await expect(runIn(context, 'sync', ...words)).rejects.toThrow(error);
});

it.each(['8d', '0s', '', '1x', '6'])('a round does not begin every "%s"', async (every) => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const message = expect.stringContaining(`--every ${JSON.stringify(every)}`);
  const work = runIn(context, 'sync', ...OUT, '--every', every);
  await expect(work).rejects.toMatchObject({ code: 'usage', message });
});

it('--all-customers beside a customer who was named is refused; PSD2_CUSTOMER is only a default', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW, { globals: { customer: '1000001' } });
  const given = (source: 'option' | 'environment') =>
    runIn({ ...context, sourceOf: () => source }, 'sync', ...OUT, '--all-customers');
  await expect(given('option')).rejects.toThrow(
    wrong('--customer and --all-customers cannot be used together', { hint: 'Leave one of them out.' }),
  );
  const message = 'The profile "env" has no QWAC certificate';
  await expect(given('environment')).rejects.toMatchObject({ message });
});

const NO_ROUND = 'No round over all customers has begun yet';
it.each([
  [['--since', '12h'], '--since needs --failed', ['sync', 'status', '--failed', '--since', '12h']],
  [[], NO_ROUND, ['sync', '--all-customers']],
])('psd2 sync status %j has nothing to show', async (words, message, next) => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const work = runIn(context, 'sync', 'status', ...words);
  await expect(work).rejects.toThrow(wrong(message, { next: [next] }));
});

it('psd2 sync status --failed says that nothing has failed, and since when', async () => {
  const { context, printed, said } = openCommand(newConfigFolder(temporary), NOW, { format: 'table' });
  await runIn(context, 'sync', 'status', '--failed');
  await runIn(context, 'sync', 'status', '--failed', '--since', '12h');
  expect(printed()).toBe('');
  expect(said()).toBe(
    'No sync has failed since 2026-10-22T12:00:00.000Z.\nNo sync has failed since 2026-11-21T00:00:00.000Z.\n',
  );
});

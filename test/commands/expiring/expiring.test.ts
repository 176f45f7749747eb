import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Ending } from '../../../src/commands/expiring/endings.ts';
import { describeSoon } from '../../../src/commands/expiring/warn.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsent, storeLogin } from '../access.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const inDays = (days: number) => new Date(Date.parse(NOW) + days * 24 * 60 * 60 * 1000).toISOString();
const endings = (...days: number[]): Ending[] =>
  days.map((each, index) => ({
    kind: 'login',
    name: 'refresh token',
    customerId: String(index + 1),
    endsAt: inDays(each),
    next: [],
  }));

it.each([
  ['nothing', [20, 14], undefined],
  ['one', [20, 13], 'the login of customer 2 ends'],
  ['the sooner one of two, and that there is another', [13, 5], 'the login of customer 2 ends'],
  ['what has ended before what will end', [5, -1, 13], 'the login of customer 2 has ended'],
])('psd2 warns of %s', (_, days, text) => {
  const said = describeSoon(endings(...days), new Date(NOW), 14, (time) => time);
  const within = days.filter((each) => each < 14);
  const more = within.length > 1 ? `, and ${within.length - 1} more` : '';
  expect(said).toBe(text && `${text} at ${inDays(Math.min(...days))}${more}`);
});

/** `psd2 expiring` for two logins that end in 13 and 20 days. */
async function expiring(...words: string[]) {
  const folder = newConfigFolder(temporary);
  const { context, printed } = openCommand(folder, NOW);
  for (const [customer, days] of [
    ['1000001', 20],
    ['1000002', 13],
  ] as const)
    await storeLogin(context, customer, { refreshTokenExpiresAt: inDays(days) });
  const error = await runIn(context, 'expiring', ...words).then(
    () => undefined,
    (thrown: { code: string; message: string }) => thrown,
  );
  return { error, ended: JSON.parse(printed() || '[]').map((each: Ending) => each.customerId) };
}

it.each([
  [[], ['1000002'], '1 of 2'],
  [['--within', '21d'], ['1000002', '1000001'], '2 of 2'],
  [['--within', '21'], ['1000002', '1000001'], '2 of 2'],
])('psd2 expiring %j names the sooner end first, and ends with an error', async (words, customers, count) => {
  const { error, ended } = await expiring(...words);
  expect(ended).toEqual(customers);
  expect(error).toMatchObject({ code: 'ends_soon', message: expect.stringContaining(count) });
});

it.each(['', ' ', '14 d', '-1d', '1.5d', '2w', 'false', '99999d'])(
  '--within %j is refused',
  async (within) => {
    expect((await expiring(`--within=${within}`)).error).toMatchObject({ code: 'usage' });
  },
);

it('a damaged consent hides nothing else that ends, and psd2 expiring does not end well because of it', async () => {
  const folder = newConfigFolder(temporary);
  const { context: before } = openCommand(folder, NOW);
  await storeLogin(before, '1000001', { refreshTokenExpiresAt: inDays(13) });
  await storeConsent(before, '1000001', [{ name: 'ACCOUNT_INFO', products: [] }]);
  const flows = folder.flows('env');
  const [journal = ''] = readdirSync(flows).filter((name) => name.endsWith('.ndjson'));
  writeFileSync(join(flows, journal), 'no event\nand no other\n');

  const { context, printed, said } = openCommand(folder, NOW);
  await expect(runIn(context, 'expiring')).rejects.toMatchObject({ code: 'ends_soon' });
  expect(JSON.parse(printed())).toMatchObject([{ kind: 'login', customerId: '1000001' }]);
  expect(said()).toContain(`psd2 cannot show ${journal.replace('.ndjson', '')}`);
  const later = openCommand(folder, NOW);
  const none = runIn(later.context, 'expiring', '--within', '1d');
  await expect(none).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(journal) });

  const status = openCommand(folder, inDays(14));
  await expect(runIn(status.context, 'status')).rejects.toMatchObject({ code: 'needs_attention' });
  expect(JSON.parse(status.printed()).attention).toMatchObject([
    { kind: 'consent', state: 'damaged' },
    { kind: 'login', state: 'ended' },
  ]);
});

import { expect, it } from 'vitest';
import { move } from '../../../src/commands/auth/move.ts';
import { auditedIn, storeLogin } from '../access.ts';
import { answering, type How, openCommand, ranIn, useFolder } from '../command.ts';
import { failureOf } from '../failure.ts';

const NOW = '2026-03-01T00:00:00.000Z';
const [OLD, NEW, THIRD] = ['https://old.example/', 'https://new.example/', 'https://third.example/'];
const YES = { globals: { yes: true } } as const;

const folder = useFolder();

const at = (baseUrl: string, how: How = {}) =>
  openCommand(folder, NOW, { ...how, env: { PSD2_BASE_URL: baseUrl, ...how.env } });

/** Runs `psd2 auth move` with a profile at the new base URL. */
const run = (words: string[], how?: How) => ranIn(at(NEW, how), 'auth', 'move', ...words);

/** Stores logins, and customers with a record, at a base URL. */
async function store(baseUrl: string, logins: number, records = 0): Promise<void> {
  const { context } = at(baseUrl);
  for (let index = 0; index < logins; index++) await storeLogin(context, `${1000001 + index}`);
  const { customers } = await context.store();
  for (let index = 0; index < records; index++) await customers.change(`ada${index}`, (before) => before);
}
const loginsAt = async (baseUrl: string) => {
  const { tokens } = await at(baseUrl).context.store();
  return (await tokens.logins()).length;
};

it('takes logins and records along after a yes, and writes that to the audit log', async () => {
  await store(OLD, 2, 1);
  const { data, said } = await run(['--from', 'https://OLD.example'], YES);
  expect(data).toEqual({ profile: 'env', from: OLD, to: NEW, logins: 2, customers: 1 });
  expect(move.prints?.shape.is(data)).toBe(true);
  expect(said).toBe('');
  expect(await loginsAt(NEW)).toBe(2);
  const { data: audited } = await ranIn(at(NEW), 'audit');
  expect(auditedIn(audited)).toEqual([['profile-changed', null, 'logins moved to the base URL']]);
});

it('the second move has nothing to move, and asks nobody', async () => {
  await store(OLD, 1);
  await run(['--from', OLD], YES);
  expect(await run(['--from', OLD])).toMatchObject({ data: { logins: 0, customers: 0 } });
});

it.each([
  ['logins', 1, 0],
  ['consents alone', 0, 1],
])('names the old base URL that %s belong to', async (_, logins, records) => {
  await store(OLD, logins, records);
  const hint = `The profile has logins or consents at: ${OLD}.`;
  expect(await failureOf(run([]))).toMatchObject({ message: '--from is missing', hint });
  expect(await failureOf(run(['--from', THIRD]))).toMatchObject({
    message: `The profile has no login and no consent at ${THIRD}`,
    hint,
  });
});

it.each([
  [1, 0, '1 login'],
  [2, 0, '2 logins'],
  [0, 1, 'the consents of 1 customer'],
  [0, 2, 'the consents of 2 customers'],
  [1, 2, '1 login and the consents of 2 customers'],
])('a person reads of %i logins and %i records: %s', async (logins, records, what) => {
  await store(OLD, logins, records);
  const { questions, operator } = answering(false, true);
  const words = ['--from', OLD];
  expect(await failureOf(run(words, { operator }))).toEqual({
    ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was moved' },
  });
  expect(await failureOf(run(words))).toEqual({
    ...{ code: 'confirmation_needed', exitCode: 2 },
    message: `psd2 would move ${what} of the profile env from ${OLD} to ${NEW}, and psd2 cannot ask without a terminal`,
    hint: 'Make sure that both addresses belong to the same bank, then add --yes.',
  });
  const { said, printed } = await run(words, { operator, format: 'table' });
  expect([printed, said]).toEqual(['', `Moved ${what} of the profile env to ${NEW}.\n`]);
  const question = `Move ${what} of the profile env from ${OLD} to ${NEW}? psd2 will send the tokens to the new address`;
  expect(questions).toEqual([question, question]);
});

it('without --from the base URLs that have something are named', async () => {
  expect(await failureOf(run([]))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: '--from is missing' },
    hint: `All logins and consents of the profile belong to its base URL ${NEW}.`,
  });
  await store(OLD, 1, 1);
  await store(THIRD, 1);
  expect(await failureOf(run([]))).toMatchObject({
    hint: expect.stringMatching(
      /^The profile has logins or consents at: https:\/\/(old|third)\.example\/(, https:\/\/(old|third)\.example\/)?\.$/,
    ),
  });
});

const ELSEWHERE = `The profile has logins or consents at: ${OLD}.`;
const FORM = 'Use the form https://host[:port][/prefix].';
it.each([
  ['https://new.example', `is the base URL that the profile has now: ${NEW}`, ELSEWHERE],
  ['', 'is wrong. The base URL "" is not a URL', FORM],
  ['old.example', 'is wrong. The base URL "old.example" is not a URL', FORM],
  ['http://old.example', 'is wrong. The base URL "http://old.example" is not https', FORM],
])('--from %j %s', async (from, why, hint) => {
  await store(OLD, 1);
  expect(await failureOf(run(['--from', from], YES))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: `--from ${why}`, hint },
  });
});

it('a base URL without data is refused if another one has some', async () => {
  await store(OLD, 1);
  expect(await failureOf(run(['--from', THIRD], YES))).toEqual({
    ...{ code: 'usage', exitCode: 2, hint: ELSEWHERE },
    message: `The profile has no login and no consent at ${THIRD}`,
  });
  expect(await loginsAt(OLD)).toBe(1);
});

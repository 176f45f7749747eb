import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { ACCESS_TOKEN, PRODUCT, useHostileBank, write, writeTokens } from '../hostile/hostile-bank.ts';
import { useResident } from '../hostile/resident.ts';
import { words } from '../support/words.ts';
import { junk } from './damaged.ts';
import { plausibleAnswer } from './plausible-bank.ts';
import { expectSoundEnd, FUZZ_TIMEOUT_MS, fuzz } from './runs.ts';

const bank = useHostileBank();
const { operator } = bank;
const resident = useResident(operator);

/** Commands that run until they are stopped, or that visit pages. */
const UNSUITED = /^(demo|sandbox (start|customer))$/;

interface Word {
  command: string[];
  options: { flag: string; takes: boolean; writes: boolean }[];
}

/** The other commands, with their options. */
function* wordsOf(command: CommandUnknownOpts, path: string[] = []): Generator<Word> {
  const options = command.options.map(({ flags, long, short, required, optional }) => ({
    flag: long ?? short ?? '',
    takes: required || optional,
    writes: /<(file|path|folder|dir)/.test(flags),
  }));
  if (!UNSUITED.test(path.join(' '))) yield { command: path, options };
  for (const child of command.commands) yield* wordsOf(child, [...path, child.name()]);
}

const commands = [...wordsOf(await buildProgram('0'))];
const globalOptions = commands[0]?.options ?? [];
const sensible = fc.constantFrom(
  ...words`${PRODUCT} DE89370400440532013000 6.00 2026-11-30 1048262 ACCOUNT_INFO Ada EUR {"a":1.50}`,
  ...words`json ndjson table env x /private/x GET PUT moneyTransfer standingOrder 1 0.2 tr- co- it-IT`,
);
const value = fc.oneof({ weight: 3, arbitrary: sensible }, { weight: 1, arbitrary: junk });
/** Where a command may write: below the folder of the test. */
const place = fc.stringMatching(/^[a-z]{1,4}$/);

const oneWord: fc.Arbitrary<string[]> = value.map((word) => [word]);

const commandLine: fc.Arbitrary<string[]> = fc.constantFrom(...commands).chain(({ command, options }) => {
  const option = fc
    .constantFrom(...options, ...globalOptions)
    .chain(({ flag, takes, writes }): fc.Arbitrary<string[]> => {
      if (!takes) return fc.constant([flag]);
      return (writes ? place : value).map((given) => [flag, given]);
    });
  const part = fc.oneof({ weight: 3, arbitrary: option }, { weight: 2, arbitrary: oneWord });
  return fc.array(part, { maxLength: 7 }).map((parts) => [...command, ...parts.flat()]);
});

beforeAll(() => {
  Object.assign(operator.env, {
    PSD2_REDIRECT_URI: 'https://tpp.example/callback',
    PSD2_SCA_TIMEOUT: '0.2',
    PSD2_TIMEOUT: '5',
    PSD2_CC_CLIENT_ID: 'the-application',
    PSD2_CC_CLIENT_SECRET: 'the-client-secret',
    PSD2_CC_APP_NAME: 'the application',
  });
  bank.behave((socket, heard) => write(socket, { body: JSON.stringify(plausibleAnswer(heard)) }));
});

const anyArguments: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 9, arbitrary: commandLine },
  { weight: 1, arbitrary: fc.array(value) },
);

/** How often each exit code occurred, to check that psd2 did not refuse all arguments at once. */
const ends = new Map<number, number>();

it('whatever its arguments, psd2 succeeds or exits with a documented error', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  await fuzz(anyArguments, async (args) => {
    // A random word may also name an unsuited command.
    if (args.some((word) => /^(demo|start|customer)$/.test(word)) && !args.includes('id')) return;
    writeTokens(operator.config, bank.baseUrl);
    const ended = await resident.run(args);
    ends.set(ended.code, (ends.get(ended.code) ?? 0) + 1);
    expectSoundEnd(ended);
    const tells = args.includes('token') ? ended.stderr : ended.stdout + ended.stderr;
    for (const secret of [ACCESS_TOKEN, 'the-client-secret']) expect(tells).not.toContain(secret);
  });
  expect([...ends.keys()]).toEqual(expect.arrayContaining([0, 2]));
});

const VARIABLES = words`
  PSD2_PROFILE PSD2_CUSTOMER PSD2_GRANT PSD2_OUTPUT PSD2_NO_INPUT PSD2_DEBUG PSD2_TIMEOUT PSD2_SCA_TIMEOUT PSD2_PSU_IP
  PSD2_LANG PSD2_TRACE PSD2_CLIENT_ID PSD2_CLIENT_SECRET PSD2_APP_NAME PSD2_CC_CLIENT_ID PSD2_CC_CLIENT_SECRET
  PSD2_CC_APP_NAME PSD2_CC_DAILY_LIMIT PSD2_QWAC_CERT PSD2_QWAC_KEY PSD2_QSEAL_CERT PSD2_QSEAL_KEY PSD2_KEY_PASSPHRASE
  PSD2_CA PSD2_CONFIG_PASSPHRASE PSD2_ENVIRONMENT PSD2_BANK_SIGNING_CERT PSD2_REDIRECT_URI PSD2_MAX_AMOUNT
  NO_COLOR FORCE_COLOR NO_PROXY TERM COLUMNS LANG LC_ALL TZ HOME XDG_CONFIG_HOME CI NODE_ENV DEBUG`;
/** With these values psd2 calls no other host, and writes to no other folder. */
const URLS = [
  ...words`https:// https://[ http://127.0.0.1:1 https://a:b@127.0.0.1:1 https://x?y %`,
  ...['', ' ', 'x\ny'],
];
const environment = fc
  .record(
    {
      variables: fc.dictionary(fc.constantFrom(...VARIABLES), value, { maxKeys: 5 }),
      PSD2_BASE_URL: fc.constantFrom(...URLS),
      HTTPS_PROXY: fc.constantFrom(...URLS.filter((url) => !url.includes('127'))),
      PSD2_CONFIG_DIR: fc.oneof(place, fc.constantFrom('', ' ', 'a/b/c', '.', 'x\ny', 'y'.repeat(300))),
    },
    { requiredKeys: ['variables'] },
  )
  .map(({ variables, ...rest }) => ({ ...variables, ...rest }));

it('whatever its environment, psd2 succeeds or exits with a documented error', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const command = fc.constantFrom<string[][]>(
    ...[words`accounts list`, words`auth login --client-credentials`, words`auth login`, words`auth status`],
    ...[
      words`api GET /x --no-token`,
      words`transfer list`,
      words`profile list`,
      words`customer id --verbose`,
    ],
    ['--help'],
  );
  await fuzz(fc.tuple(command, environment), async ([args, env]) => {
    writeTokens(operator.config, bank.baseUrl);
    const ended = await resident.run(args, { env });
    expectSoundEnd(ended);
    expect(ended.stdout + ended.stderr).not.toContain(ACCESS_TOKEN);
  });
});

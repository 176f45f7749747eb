import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, it } from 'vitest';
import { PRODUCT, useHostileBank, write, writeTokens } from '../hostile/hostile-bank.ts';
import { useResident } from '../hostile/resident.ts';
import { words } from '../support/words.ts';
import { damaged } from './damaged.ts';
import { plausibleAnswer } from './plausible-bank.ts';
import { expectSoundEnd, FUZZ_TIMEOUT_MS, fuzz } from './runs.ts';

const bank = useHostileBank();
const { operator } = bank;
const resident = useResident(operator);

const TRANSFER = words`transfer create --yes --from ${PRODUCT} --to DE89370400440532013000 --name ${'Ada Lovelace'}
  --amount 6.00 --json`;
const CONSENT = words`consent request --category ACCOUNT_INFO --account ${PRODUCT}`;
/** Commands, with the end of the path of the call whose answer the test damages. */
const CALLS: [args: string[], end: string][] = [
  [words`accounts list`, '/accounts'],
  [words`accounts list --json`, '/accounts'],
  [words`accounts balance ${PRODUCT}`, '/balance/retrieve'],
  [words`accounts transactions ${PRODUCT}`, '/transactions/retrieve'],
  [words`accounts transactions ${PRODUCT} -o ndjson --limit 5`, '/transactions/retrieve'],
  [words`accounts show ${PRODUCT}`, `/${PRODUCT}`],
  [words`customer id`, '/customerid-info'],
  [words`auth login --client-credentials`, '/token'],
  [words`auth refresh`, '/token'],
  [words`transfer prepare ${PRODUCT}`, '/prepare'],
  [words`api GET /private/x`, '/x'],
  [words`api PUT /private/x --data {} --raw`, '/x'],
  ...words`/verify /approach /status /execute`.map((end): [string[], string] => [TRANSFER, end]),
  ...words`/request /approach /status /confirm`.map((end): [string[], string] => [CONSENT, end]),
];

beforeAll(() => {
  Object.assign(operator.env, {
    PSD2_REDIRECT_URI: 'https://tpp.example/callback',
    PSD2_SCA_TIMEOUT: '0.2',
    PSD2_CC_CLIENT_ID: 'the-application',
    PSD2_CC_CLIENT_SECRET: 'the-client-secret',
    PSD2_CC_APP_NAME: 'the application',
  });
});

/** After this many runs the test empties the folder, so that thousands of flows do not slow it down. */
const RUNS_OF_A_FOLDER = 250;

/** Without those after which psd2 waits and tries again. */
const status = fc.oneof(
  { weight: 4, arbitrary: fc.constant(200) },
  fc.constantFrom(201, 204, 301, 302, 400, 401, 403, 404, 408, 412, 417, 422, 501, 599),
);

it('whatever the bank answers, psd2 succeeds or exits with a documented error', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const input = fc.constantFrom(...CALLS).chain(([args, end]) =>
    fc.record({
      args: fc.constant(args),
      end: fc.constant(end),
      body: damaged(plausibleAnswer({ target: end })),
      status,
    }),
  );
  let runs = 0;
  await fuzz(input, async ({ args, end, body, status }) => {
    if (runs % RUNS_OF_A_FOLDER === 0) rmSync(operator.config, { recursive: true, force: true });
    runs += 1;
    writeTokens(operator.config, bank.baseUrl);
    let calls = 0;
    bank.behave((socket, heard) => {
      const path = heard.target.split('?', 1)[0] ?? '';
      calls += 1;
      // This test is not about a bank whose pages never end.
      if (path.endsWith(end) && calls < 20) {
        write(socket, status === 204 ? { status, headers: { 'content-length': '0' } } : { status, body });
      } else write(socket, { body: JSON.stringify(plausibleAnswer(heard)) });
    });
    const ended = await resident.run(args);
    if (args.includes('--raw')) ended.stdout = '';
    expectSoundEnd(ended);
  });
});

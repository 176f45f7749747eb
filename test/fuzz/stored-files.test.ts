import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { CUSTOMER_ID, PRODUCT, useHostileBank, write, writeTokens } from '../hostile/hostile-bank.ts';
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
const CONSENT = words`consent request --category ACCOUNT_INFO --account ${PRODUCT} --json`;

/** The files as psd2 wrote them, by their paths in the configuration folder. */
const whole: Record<string, string> = {};
let flows: { transfer: string; consent: string };

beforeAll(async () => {
  Object.assign(operator.env, { PSD2_REDIRECT_URI: 'https://tpp.example/callback', PSD2_SCA_TIMEOUT: '0.2' });
  bank.behave((socket, heard) => write(socket, { body: JSON.stringify(plausibleAnswer(heard)) }));
  const { PSD2_QWAC_CERT: cert = '', PSD2_QWAC_KEY: key = '', PSD2_CA: ca = '' } = operator.env;
  const add = words`profile add p --base-url ${bank.baseUrl} --qwac-cert ${cert} --qwac-key ${key} --ca ${ca}`;
  expect(await resident.run(add)).toMatchObject({ code: 0 });
  // The added profile is now the default, which psd2 uses without --profile.
  operator.env.PSD2_PROFILE = 'env';
  const transfer = JSON.parse((await resident.run(TRANSFER)).stdout).flow;
  const consent = JSON.parse((await resident.run(CONSENT)).stdout).flow;
  flows = { transfer, consent };
  for (const path of [
    'config.json',
    'profiles/p.json',
    'tokens/env/last-login.json',
    `tokens/env/customer-${CUSTOMER_ID}/1.json`,
    `flows/env/${transfer}.ndjson`,
    `flows/env/${consent}.ndjson`,
  ])
    whole[path] = readFileSync(join(operator.config, path), 'utf8');
});

/** A file and its new content, with one damaged line. The lines of a journal before it stay; those after it may be missing. */
const damage = fc.constantFrom(0, 1, 2, 3, 4, 5).chain((index) => {
  const [path = '', content = ''] = Object.entries(whole)[index] ?? [];
  const lines = path.endsWith('.json') ? [content] : content.trimEnd().split('\n');
  return fc.nat(lines.length - 1).chain((at) =>
    damaged(JSON.parse(lines[at] ?? 'null')).chain((line) =>
      fc.boolean().map((last) => ({
        path,
        content: [...lines.slice(0, at), line, ...(last ? [] : lines.slice(at + 1))]
          .join('\n')
          .concat(last ? '' : '\n'),
      })),
    ),
  );
});

it('whatever a stored file contains, psd2 succeeds or exits with a documented error', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const { transfer, consent } = flows;
  const command = fc.constantFrom<string[][]>(
    ...[words`profile list`, words`profile show p`, words`--profile p api GET /x --no-token`],
    ...[
      words`auth status`,
      words`auth list`,
      words`accounts list`,
      words`auth refresh`,
      words`transfer list`,
    ],
    ...[words`transfer show ${transfer} --json`, words`transfer status ${transfer}`],
    ...[words`transfer resume ${transfer} --yes`, words`consent list --json`],
    ...[words`consent show ${consent}`, words`consent resume ${consent}`],
  );
  const input = fc.tuple(
    fc.constant(null).chain(() => damage),
    command,
  );
  await fuzz(input, async ([{ path, content }, args]) => {
    // A renewal leaves newer tokens than the damaged ones.
    rmSync(join(operator.config, 'tokens'), { recursive: true });
    for (const [name, right] of Object.entries(whole)) place(name, name === path ? content : right);
    expectSoundEnd(await resident.run(args));
    // A command may move a damaged file away. Every command works again with the file restored.
    if (!existsSync(join(operator.config, path))) place(path, whole[path] ?? '');
  });
  rmSync(operator.config, { recursive: true });
  writeTokens(operator.config, bank.baseUrl);
  expect(await resident.run(['accounts', 'list'])).toMatchObject({ code: 0 });
});

function place(name: string, content: string): void {
  const path = join(operator.config, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { giveRegistration, logIn, useOperator, words } from '../support/psd2.ts';

// What `psd2 help files` says, against the files that commands leave.

const operator = useOperator();
beforeAll(() => giveRegistration(operator));

/** What is there only if `psd2 bank learn` left something at a bank, and what psd2 writes when a day is over. */
const LATER = ['learn/', 'stats.ndjson'];

it('psd2 help files names all that psd2 writes, and nothing else', async () => {
  operator.env.PSD2_PROFILE = 'sandbox';
  const out = join(operator.folder, 'out');
  await operator.succeeds(words`sandbox start --detach --port 0`);
  await logIn(operator);
  await operator.psd2(words`expiring --within 400d`, { env: { PSD2_NOTIFY: 'true' } });
  await operator.succeeds(words`sync --out ${out}`);
  await operator.succeeds(words`smoke`);
  // It marks the files, and finds no database.
  await operator.psd2(words`store copy --from files --to postgres://ada@127.0.0.1:1/bank`);
  await operator.succeeds(words`customer export 1048262`);
  const customer = words`--profile sandbox-nextgen --customer ada`;
  await operator.succeeds([...customer, ...words`consent request --all-accounts`]);
  await operator.succeeds([...customer, ...words`customer forget ada --yes`]);
  const protect = { env: { PSD2_CONFIG_PASSPHRASE: 'correct horse' } };
  await operator.succeeds(words`profile protect sandbox --passphrase`, protect);
  await operator.succeeds(words`accounts list`, protect);
  await operator.succeeds(words`sandbox stop`);

  const { stdout } = await operator.succeeds(words`help files`);
  const [inRoot = '', inLog = ''] = stdout.split(join(operator.config, 'log'));
  const named = (text: string) => [...text.matchAll(/^ {4}(\S+)/gm)].map(([, name]) => name ?? '');
  const written = (folder: string) =>
    readdirSync(folder, { withFileTypes: true }).map(
      (entry) => entry.name + (entry.isDirectory() ? '/' : ''),
    );
  expect(written(operator.config).sort()).toEqual([...named(inRoot), 'log/'].sort());
  const log = named(inLog).filter((name) => !LATER.includes(name));
  // What the log had of the customer who was forgotten is gone: its file has another name since then.
  const inTheLog = written(join(operator.config, 'log')).filter((name) => !/^calls-\S+\.ndjson$/.test(name));
  expect(inTheLog.sort()).toEqual(log.sort());
});

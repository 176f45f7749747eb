import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { check } from '../../../src/commands/bank/check.ts';
import { doorBankFile } from '../../../src/sandbox/folder/door-bank-file.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow } from '../access.ts';
import { runIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { useOperatorHere } from '../operator.ts';

const temporary = temporaryFolder();
const operator = useOperatorHere();
const shape = z.looseObject({
  ok: z.boolean(),
  checks: z.array(
    z.object({ name: z.string(), status: z.string(), detail: z.string(), fix: z.nullable(z.string()) }),
  ),
});

/** The bank file of the second door of the sandbox, with changes. @returns its path */
function doorFile(change: (text: string) => string = (text) => text): string {
  const { caFile } = operator.bank.sandbox.registration;
  const path = join(temporary, 'door.json');
  writeFileSync(path, change(readFileSync(doorBankFile(dirname(dirname(caFile))), 'utf8')));
  return path;
}

it('psd2 bank check --online of a bank that answers as its file says succeeds, with a result for each check', async () => {
  const words = ['bank', 'check', '--online', doorFile()];
  const command = await operator.run(words);
  const data: unknown = JSON.parse(command.printed());
  expect(check.printsWith?.['--online']?.shape.is(data)).toBe(true);
  const { ok, checks } = shape.parse(data);
  expect([ok, command.said()]).toEqual([true, '']);
  expect(checks.map(({ name, status }) => `${status} ${name}`)).toEqual([
    ...['ok QWAC', 'ok QSealC', 'ok CA', 'ok bank signing certificate', 'ok proxy', 'skip DNS', 'ok TLS'],
    // The operator lives most of a minute from now.
    ...['warn clock', 'ok signature'],
  ]);
  const table = await operator.run(words, { format: 'table' });
  expect(
    table
      .printed()
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t').slice(0, 2).join(' ')),
  ).toEqual(checks.map(({ name, status }) => `${status} ${name}`));
});

it('if the bank refuses the signature, psd2 says how to look for another keyId', async () => {
  const path = doorFile((text) => text.replace('"serial": "hex"', '"serial": "decimal"'));
  const command = operator.open();
  const failure = await failureOf(runIn(command.context, 'bank', 'check', '--online', path));
  expect(failure).toMatchObject({ code: 'config', exitCode: 3 });
  const { ok, checks } = shape.parse(JSON.parse(command.printed()));
  expect(ok).toBe(false);
  expect(checks.at(-1)).toEqual({
    ...{ name: 'bank file', status: 'skip', fix: `Try them with: psd2 bank check --online ${path} --yes` },
    detail: expect.stringMatching(/^psd2 can try what banks are known to want: /),
  });
});

it('if the bank refuses the signature, the contested values of the platform are named that the file has taken over', async () => {
  const path = doorFile((text) =>
    text.replace('{', '{ "platform": "atruvia",').replace('"serial": "hex"', '"serial": "decimal"'),
  );
  const command = operator.open();
  expect(await failureOf(runIn(command.context, 'bank', 'check', '--online', path))).toMatchObject({
    exitCode: 3,
  });
  const { checks } = shape.parse(JSON.parse(command.printed()));
  const said = checks.find(({ name }) => name === 'contested');
  expect(said).toMatchObject({ status: 'warn', fix: expect.stringMatching(/documentation of the bank/) });
  expect(said?.detail).toMatch(
    /^sources differ about what may be the reason: .*signing\.keyId.* \(others have: a hexadecimal/,
  );
  // The call shows nothing of these.
  expect(said?.detail).not.toMatch(/sca|psu/);
});

it('says once that links of the bank lead elsewhere, by those that a consent has kept', async () => {
  const status = 'http://xs2a:8080/v1/consents/c1/authorisations/a1';
  const links = { approach: null, status, start: 'http://elsewhere.example/v1/other' };
  await storeConsentFlow(
    operator.open().context,
    { customerId: 'ada', categories: [{ name: 'ACCOUNT_INFO', products: [] }], terms: {}, returnState: 's1' },
    { type: 'requested', resourceId: 'c1', outcomes: [], links },
    { type: 'ended', state: 'cancelled', bankStatus: null },
  );
  const command = await operator.run(['bank', 'check', '--online', doorFile()]);
  expect(shape.parse(JSON.parse(command.printed())).checks.at(-1)).toEqual({
    ...{ name: 'links', status: 'ok', fix: null },
    detail: "the bank's links lead elsewhere: scaStatus. psd2 calls the same at the base URL",
  });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { platformNames } from '../../../src/bank-file/platforms.ts';
import { sample } from '../../support/sample.ts';
import { keepRunning, type Operator, useSandbox } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { IBAN, PLATFORMS, type Platform } from './forms.ts';
import { openRecorder, type Recorder } from './recorder.ts';
import { departuresOf } from './standard.ts';

/** Two transactions on a page, so the account's five booked ones of the last 90 days need three. */
const DOOR = ['--transactions', '25', '--page-size', '2'];
const ACCOUNT = '0010482620';

it('there is a row for each platform that comes with psd2', () => {
  expect(Object.keys(PLATFORMS).toSorted()).toEqual(platformNames());
});

const accountsShape = z.array(z.looseObject({ accountId: z.string(), iban: z.nullable(z.string()) }));
const balanceShape = z.looseObject({ balances: z.array(z.looseObject({ type: z.string() })).min(1) });
const rowsShape = z.array(z.looseObject({ transactionId: z.nullable(z.string()), status: z.string() }));
const consentShape = z.looseObject({ state: z.string(), consentStatus: z.string() });

const AT_A_PAGE = Object.entries(PLATFORMS).filter(([, { decoupled, embedded }]) => !decoupled && !embedded);

describe.each(sample(AT_A_PAGE, 4, ([name]) => name))('at %s', (name, platform) => {
  const operator = keepRunning(useSandbox(['--bank', name, ...DOOR]));
  const opened = useRecordedDoor(operator, platform);

  it('psd2 logs in, gets a consent, and reads accounts, balances and all pages of transactions', async () => {
    await operator.succeeds(['auth', 'login', '--json']);
    const tokens = () => opened().recorded.filter(({ target }) => target.startsWith('/oauth/token'));
    expect(tokens()).toHaveLength(platform.logsIn ? 1 : 0);

    const request = ['consent', 'request', ...(platform.request ?? [])];
    expect(await operator.json(consentShape, request)).toMatchObject({
      state: 'confirmed',
      consentStatus: platform.untold ? 'not told' : 'valid',
    });
    const accounts = await operator.json(accountsShape, ['accounts', 'list']);
    expect(accounts).toContainEqual(expect.objectContaining({ accountId: ACCOUNT, iban: IBAN }));
    await operator.json(balanceShape, ['accounts', 'balance', ACCOUNT]);

    const before = opened().recorded.length;
    const rows = await operator.json(rowsShape, ['accounts', 'transactions', ACCOUNT]);
    const booked = rows.filter(({ status }) => status === 'booked');
    expect(new Set(booked.map(({ transactionId }) => transactionId)).size).toBe(5);
    expect(rows.some(({ status }) => status === 'pending')).toBe(!platform.onlyBooked);
    const pages = opened().recorded.slice(before);
    expect(pages.filter(({ target }) => target.includes('/transactions')).length).toBeGreaterThanOrEqual(
      platform.onePage ? 1 : 3,
    );
  });

  it('psd2 brings the account into a folder', async () => {
    const out = join(operator.folder, 'synced');
    const report = await operator.json(shapes.syncReport, ['sync', '--out', out]);
    expect(report.customers).toMatchObject([{ status: 'synced', errors: [], skipped: [] }]);
    expect(syncedIn(out).filter((line) => line.includes('"status":"booked"'))).toHaveLength(5);
  });

  it('every request was one of the standard and of this bank, with its own id', () => {
    const { recorded } = opened();
    const calls = recorded.filter(({ target }) => !/^\/(oauth|\.well-known)\//.test(target));
    for (const call of calls) expect(departuresOf(call, platform), JSON.stringify(call.headers)).toEqual([]);
    expect(new Set(calls.map(({ headers }) => headers['x-request-id'])).size).toBe(calls.length);
  });
});

/** The lines of the account's transactions in a folder of `sync`. */
function syncedIn(out: string): string[] {
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith(join('transactions', `${ACCOUNT}.ndjson`)))
    .flatMap((file) => readFileSync(join(out, file), 'utf8').trim().split('\n'));
}

const environment = z.record(z.string(), z.string());
const described = z.looseObject({ oauth: z.looseObject({}).optional() });

/** The issuer of the door's OAuth server is the door's address, so the bank file must say that its tokens are at the recorder. */
function atRecorder(file: string, { baseUrl }: Recorder): string {
  const { oauth, ...bank } = described.parse(JSON.parse(file));
  return JSON.stringify({
    ...bank,
    ...(oauth && { oauth: { tokenEndpoint: `${baseUrl}/oauth/token`, ...oauth } }),
  });
}

/** Sets the operator's environment to the sandbox's second door, behind a recorder. */
function useRecordedDoor(operator: Operator, { env = {} }: Platform): () => Recorder {
  let recorder: Recorder | undefined;
  beforeAll(async () => {
    const door = environment.parse(
      await operator.json(environment, ['sandbox', 'env', '--interface', 'nextgenpsd2']),
    );
    const read = (name: string) => readFileSync(door[name] ?? '', 'utf8');
    const base = door.PSD2_BASE_URL ?? '';
    recorder = await openRecorder(base, { cert: read('PSD2_QWAC_CERT'), key: read('PSD2_QWAC_KEY') });
    const at = (file: string) => join(operator.folder, file);
    writeFileSync(at('ca.pem'), `${recorder.ca}${read('PSD2_CA')}`);
    writeFileSync(
      at('bank.json'),
      atRecorder(read('PSD2_BANK').replaceAll(base, recorder.baseUrl), recorder),
    );
    Object.assign(operator.env, door, env, {
      PSD2_PROFILE: 'env',
      PSD2_BASE_URL: recorder.baseUrl,
      PSD2_CA: at('ca.pem'),
      PSD2_BANK: at('bank.json'),
    });
  });
  afterAll(() => recorder?.close());
  return () => {
    if (!recorder) throw new Error('The recorder is opened before the first test');
    return recorder;
  };
}

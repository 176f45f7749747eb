import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { smokeRun } from '../../../src/commands/smoke/shape.ts';
import type { StepId } from '../../../src/smoke/steps.ts';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { logIn, type Running, useSandbox } from '../support/psd2.ts';

// A smoke test of two machines with one store in PostgreSQL.

const operator = useSandbox();
let server: Server;

beforeAll(async () => {
  server = startServer();
  server.create('bank');
  operator.env.PSD2_STORE = server.url('bank');
  operator.env.PSD2_STORE_PLAIN_TOKENS = '1';
  await operator.succeeds(['store', 'init', '--plain-tokens']);
  await logIn(operator);
});
afterAll(() => server.stop());

async function smoke(...options: string[]) {
  const { code, stdout } = await operator.psd2(['smoke', '--json', '--psu-ip', '192.0.2.1', ...options]);
  const run = smokeRun.read(JSON.parse(stdout));
  return { code, of: (id: StepId) => run.steps.find((step) => step.id === id) };
}

it('reads with the login in the database, and gives up a payment whose journal is there', async () => {
  const payee = ['--initiate', '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--yes'];
  const { code, of } = await smoke(...payee);
  expect([code, of('transactions')?.status, of('initiate')?.detail]).toEqual([
    0,
    'pass',
    'begun and given up',
  ]);
  expect(server.sql('bank', "select state from psd2.flows where kind = 'transfer'")).toBe('cancelled');
});

it('one of two machines runs at a time, and the next run of a killed one ends what it made', async () => {
  const other = join(operator.folder, 'other-machine');
  cpSync(operator.config, other, { recursive: true });
  await operator.psd2(['auth', 'logout']);
  await operator.psd2(['sandbox', 'fault', 'add', 'delay=30000', '--on', 'accounts']);
  const first: Running = await operator.start(['smoke', '--login']);
  await first.prints(/✓ login/);
  const second = await operator.psd2(['smoke', '--json'], { env: { PSD2_CONFIG_DIR: other } });
  expect([second.code, second.stderr]).toEqual([12, expect.stringContaining('smoke_running')]);
  first.kill('SIGKILL');
  await first.ended;
  await operator.psd2(['sandbox', 'fault', 'clear']);
  server.sql('bank', "update psd2.claims set until = '-infinity'");
  const { code, of } = await smoke();
  expect([code, of('clean-up')?.detail]).toEqual([0, expect.stringMatching(/of sm-\w+: ended the login$/)]);
  expect(of('login')?.reason).toBe('nobody is logged in');
});

it('a store that cannot be reached fails the first step', async () => {
  const ended = await operator.psd2(['smoke', '--json'], {
    env: { PSD2_STORE: 'postgres://127.0.0.1:1/bank' },
  });
  const run = smokeRun.read(JSON.parse(ended.stdout));
  expect([ended.code, run.steps.find(({ status }) => status === 'fail')?.id]).toEqual([3, 'settings']);
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeServerCertificate,
  privateKeyPem,
} from '../../../src/certificates/eidas.ts';
import { makeLoopbackCertificate } from '../../../src/certificates/loopback.ts';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { type Environment, keepRunning, logIn, useSandbox, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const PASSWORD = 'pw-of-worker-1';
const ACCOUNT = '0010482620';
const CUSTOMER = '1048262';
const ORDER = words`transfer create --json --yes --from ${ACCOUNT} --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 2.00`;
const operator = keepRunning(useSandbox());
let server: Server;
let port: number;
/** The environment of a worker. */
let worker: Environment;

beforeAll(async () => {
  port = await freePort();
  server = startServer(port, 12);
  server.create('bank');
  server.sql('bank', `create role worker login password '${PASSWORD}'`);
  worker = { PSD2_STORE: server.tcp('bank', 'worker'), PGPASSWORD: PASSWORD, PSD2_STORE_PLAIN_TOKENS: '1' };
});
afterAll(() => server.stop());

const asOwner = { PSD2_STORE: '', PSD2_STORE_PLAIN_TOKENS: '1' };
beforeAll(() => {
  asOwner.PSD2_STORE = server.url('bank');
});

describe('psd2 store', () => {
  it('psd2 store init --dry-run prints the SQL, and psd2 store init makes the tables and roles once', async () => {
    const dry = await operator.psd2(['store', 'init', '--dry-run', '--roles'], { env: asOwner });
    expect(server.sql('bank', `select to_regclass('psd2.store') is null`)).toBe('t');
    server.create('by_hand');
    server.sql('by_hand', dry.stdout);
    const byHand = z.looseObject({ before: z.literal(1), version: z.literal(1) });
    await operator.json(byHand, ['store', 'init'], { env: { PSD2_STORE: server.url('by_hand') } });
    const initialised = z.strictObject({ place: z.string(), before: z.int(), version: z.int() });
    const init = ['store', 'init', '--roles', '--plain-tokens'];
    expect(await operator.json(initialised, init, { env: asOwner })).toMatchObject({ before: 0, version: 1 });
    expect(await operator.json(initialised, init, { env: asOwner })).toMatchObject({ before: 1, version: 1 });
    server.sql('bank', 'grant psd2_worker to worker');
  });

  it('psd2 store copy brings a login to the database, where the worker continues, and the files then refuse', async () => {
    await logIn(operator);
    const status = z.looseObject({
      home: z.string(),
      profiles: z.array(z.looseObject({ customers: z.int() })),
    });
    const args = ['store', 'copy', '--from', 'files', '--to', 'postgres'];
    const copied = z.looseObject({ logins: z.literal(1), flows: z.literal(1), isSame: z.literal(true) });
    await operator.json(copied, args, { env: asOwner });
    expect(await operator.json(status, ['store', 'status'], { env: worker })).toMatchObject({
      home: 'postgres',
      profiles: [{ profile: 'sandbox', customers: 1 }],
    });
    await operator.succeeds(['accounts', 'list'], { env: worker });
    const refused = await operator.psd2(['accounts', 'list', '--json']);
    expect(readError(refused)).toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /^The data of the profile "sandbox" is in PostgreSQL at .+, but this command would use the files in .+$/,
      ),
    });
  });

  it('psd2 sync --out also writes files, which have the same rows as the tables, also after the next sync', async () => {
    const out = join(operator.folder, 'out');
    const args = ['sync', '--all-customers', '--unattended-reads', '9999', '--out', out];
    const sync = () => operator.json(shapes.syncReport, args, { env: worker });
    const first = await sync();
    const before = rowsInTables();
    expect(before).toHaveLength(first.totals.newTransactions);
    expect(rowsInFiles(out)).toEqual(before);
    await operator.succeeds(words`sandbox fault add booking=2 --on transactions --times 1`);
    expect((await sync()).totals).toMatchObject({ synced: 1, newTransactions: 2 });
    expect(rowsInTables()).toHaveLength(before.length + 2);
    expect(rowsInFiles(out)).toEqual(rowsInTables());
  });
});

const row = z.looseObject({ id: z.string() });

/** Account and id of the booked transactions in the tables, sorted. */
function rowsInTables(): string[] {
  return server.sql('bank', "select product_id || ' ' || id from psd2.transactions").split('\n').sort();
}

/** The same of the files of `--out`. */
function rowsInFiles(out: string): string[] {
  const folder = join(out, CUSTOMER, 'transactions');
  const rows = readdirSync(folder).flatMap((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n');
    return lines.map((line) => `${basename(file, '.ndjson')} ${row.parse(JSON.parse(line)).id}`);
  });
  return rows.sort();
}

/** The number of calls to the bank so far. */
async function calls(): Promise<number> {
  return (await operator.json(shapes.log, ['log'], { env: worker })).length;
}

/** What a command that would call the bank says about a store that it cannot use. */
async function refusalOf(env: Environment) {
  const before = await calls();
  const ended = await operator.psd2(['auth', 'refresh', '--json'], { env: { ...worker, ...env } });
  expect(await calls(), 'psd2 sends nothing').toBe(before);
  expect(ended.stdout + ended.stderr).not.toContain(PASSWORD);
  const error = readError(ended);
  expect(error).toMatchObject({ code: 'config', exitCode: 3 });
  return { message: error.message, hint: error.hint ?? '' };
}

describe('a store that cannot be used ends a command before anything is sent', () => {
  const here = () => `PostgreSQL at 127.0.0.1:${port}/bank`;

  it('psd2 reports that nothing listens at the address', async () => {
    const nowhere = await freePort();
    expect(await refusalOf({ PSD2_STORE: `postgres://worker@127.0.0.1:${nowhere}/bank` })).toEqual({
      message: `PostgreSQL at 127.0.0.1:${nowhere}/bank cannot be reached: nothing listens there`,
      hint: 'Check the address, and that PostgreSQL runs.',
    });
  });

  const version = (schema: number) => `update psd2.store set version = ${schema}`;
  const readOnly = (how: string) => `alter role worker ${how}`;
  it.each<[what: string, env: Environment, before: string, after: string, message: string, fix: string]>([
    ['a wrong password', { PGPASSWORD: 'wrong' }, '', '', 'refuses the password', 'PGPASSWORD'],
    ['schema 0', {}, version(0), version(1), 'has no tables of psd2', 'psd2 store init'],
    ['schema 2', {}, version(2), version(1), 'has schema 2, and this psd2 knows schema 1', 'Update psd2'],
    [
      'a user without the rights',
      ...([{}, 'revoke psd2_worker from worker', 'grant psd2_worker to worker'] as const),
      ...(['does not let this user do that', 'psd2_worker'] as const),
    ],
    [
      'a server that can only be read',
      ...([{}, readOnly('set default_transaction_read_only = on')] as const),
      ...([readOnly('reset default_transaction_read_only'), 'is a read-only replica', 'primary'] as const),
    ],
  ])('psd2 reports %s', async (_, env, before, after, what, fix) => {
    server.sql('bank', before);
    const { message, hint } = await refusalOf(env);
    server.sql('bank', after);
    expect(message.replace(/^(PostgreSQL|The store) at /, '')).toBe(`127.0.0.1:${port}/bank ${what}`);
    expect(hint).toContain(fix);
  });

  it('psd2 reports a server that takes no more connections', async () => {
    const clients: pg.Client[] = [];
    const connect = async () => {
      const connectionString = server.tcp('bank', `worker:${PASSWORD}`);
      const client = new pg.Client({ connectionString });
      client.on('error', () => {});
      await client.connect();
      clients.push(client);
    };
    const full = await (async () => {
      for (;;) await connect();
    })().catch((error: { code?: string }) => error.code);
    expect(full).toBe('53300');
    const { message, hint } = await refusalOf({});
    await Promise.all(clients.map((client) => client.end()));
    expect(message).toBe(`${here()} accepts no more connections`);
    expect(hint).toContain('max_connections');
  });

  it('psd2 reports a server whose disk is full', async () => {
    // A small disk for the claims alone, which the test fills.
    const disk = mkdtempSync(join(tmpdir(), 'psd2-small-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0777', 'tmpfs', disk]);
    try {
      mkdirSync(join(disk, 'space'), { mode: 0o777 });
      execFileSync('chown', ['postgres', join(disk, 'space')]);
      server.sql('bank', `create tablespace small location '${join(disk, 'space')}'`);
      server.sql('bank', 'alter table psd2.claims set tablespace small');
      server.sql('bank', 'truncate psd2.claims');
      writeFileSync(join(disk, 'filler'), Buffer.alloc(500_000));
      expect(() => writeFileSync(join(disk, 'rest'), Buffer.alloc(1_000_000))).toThrow('ENOSPC');
      const { message, hint } = await refusalOf({});
      expect(message).toBe(`${here()} has a full disk`);
      expect(hint).toContain('Free some space');
    } finally {
      server.sql('bank', 'alter table psd2.claims set tablespace pg_default');
      server.sql('bank', 'drop tablespace small');
      execFileSync('umount', [disk]);
      rmSync(disk, { recursive: true });
    }
  });

  it('psd2 reports a server certificate that is self-signed, or has expired', async () => {
    const [own, keys] = await Promise.all([generateRsaKeys(), generateRsaKeys()]);
    const now = { from: new Date(), days: 1 };
    const authority = await makeCertificateAuthority('Own CA', own, now);
    const secure = `${server.tcp('bank', 'worker')}?sslmode=verify-full`;
    const alone = await makeLoopbackCertificate(['127.0.0.1']);
    server.useCertificate(alone.cert, alone.key);
    mkdirSync(operator.ownHands, { recursive: true });
    const ca = join(operator.ownHands, 'ca.pem');
    const selfSigned = await refusalOf({ PSD2_STORE: secure });
    expect(selfSigned.message).toBe(`${here()} has a self-signed TLS certificate`);
    expect(selfSigned.hint).toContain('sslrootcert=');
    writeFileSync(ca, authority.certificatePem);
    const past = { from: new Date(Date.now() - 9 * 24 * 60 * 60 * 1000), days: 1 };
    const hosts = [{ type: 'ip' as const, value: '127.0.0.1' }];
    const key = await privateKeyPem(keys);
    server.useCertificate(await makeServerCertificate(authority, 'db', hosts, keys, past), key);
    const expired = await refusalOf({ PSD2_STORE: `${secure}&sslrootcert=${ca}` });
    expect(expired.message).toBe(`${here()} has a TLS certificate that has expired`);
    server.useCertificate(await makeServerCertificate(authority, 'db', hosts, keys, now), key);
    const good = { ...worker, PSD2_STORE: `${secure}&sslrootcert=${ca}` };
    await operator.succeeds(['auth', 'refresh'], { env: good });
  });
});

/** psd2 never gives up on its own: only Ctrl-C ends the wait. */
const WITHOUT_LIMITS = 'connect_timeout=0&statement_timeout=0';

describe('Ctrl-C ends the wait for a database', () => {
  const start = (store: string) =>
    operator.start(['auth', 'refresh'], { ...worker, PSD2_STORE: `${store}?${WITHOUT_LIMITS}` });
  const refusal = Buffer.from('SFATAL\0C53300\0Mtoo many clients\0\0');
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(refusal.length + 4, 1);
  const refuse = (socket: Socket) => {
    socket.once('data', () => socket.end(Buffer.concat([head, refusal])));
  };

  it.each<[what: string, serve: (socket: Socket) => void, connections: number]>([
    ['takes the connection and says nothing', () => {}, 1],
    ['refuses each connection', refuse, 3],
  ])('Ctrl-C ends the wait for a database that %s', async (_, serve, connections) => {
    const sockets: Socket[] = [];
    const listener = createServer((socket) => {
      sockets.push(socket.on('error', () => {}));
      serve(socket);
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      listener.close();
    });
    const at = await freePort();
    await once(listener.listen(at, '127.0.0.1'), 'listening');
    const psd2 = await start(`postgres://worker@127.0.0.1:${at}/bank`);
    await vi.waitUntil(() => sockets.length >= connections, { timeout: 240_000 });
    psd2.kill('SIGINT');
    expect(await psd2.ended).toMatchObject({ code: 130 });
  });

  it('Ctrl-C ends the wait for a table that another session has locked', async () => {
    const holder = new pg.Client({ connectionString: server.url('bank') });
    await holder.connect();
    await holder.query('begin; lock table psd2.store in access exclusive mode');
    const psd2 = await start(server.tcp('bank', 'worker'));
    const waiting = `select count(*) from pg_stat_activity where application_name = 'psd2'
      and wait_event_type = 'Lock'`;
    await vi.waitUntil(() => server.sql('bank', waiting) !== '0', { timeout: 240_000 });
    psd2.kill('SIGINT');
    expect(await psd2.ended).toMatchObject({ code: 130 });
    await holder.query('rollback');
    await holder.end();
  });
});

it('psd2 exits with 9 if the database goes away during an execute, and resume finds out without paying again', async () => {
  const fault = z.looseObject({ id: z.int(), fired: z.int() });
  const { id } = await operator.json(fault, words`sandbox fault add delay=5000 --on execute --times 1`);
  const psd2 = await operator.start(ORDER, worker);
  // Until the bank has the call, psd2 may find the database gone, and send nothing.
  await vi.waitUntil(
    async () => {
      const faults = await operator.json(z.array(fault), ['sandbox', 'fault', 'list']);
      return faults.some((each) => each.id === id && each.fired === 1);
    },
    { timeout: 240_000 },
  );
  server.crash();
  const ended = await psd2.ended;
  server.start();
  const error = readError(ended);
  expect(error).toMatchObject({ code: 'outcome_unknown', exitCode: 9 });
  const flow = error.flow ?? '';
  const resumed = await operator.json(shapes.transfer, ['transfer', 'resume', flow], { env: worker });
  expect(resumed.state).toBe('executed');
  const log = await operator.json(shapes.log, ['log'], { env: worker });
  expect(log.filter(({ path }) => path.endsWith('/execute'))).toHaveLength(1);
});

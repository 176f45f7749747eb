import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { CUSTOMER, keepRunning, logIn, useSandbox } from '../support/psd2.ts';

const ANNA = '1048262';
const BRUNO = '2073915';
const ACCOUNT = '0010482620';
const SECRET_WORDS = 'rent of anna verdi';
const order = (reference: string, ...more: string[]) => [
  ...['transfer', 'create', '--json', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '2.00', '--description', SECRET_WORDS, '--reference', reference],
  ...more,
];
const flow = z.looseObject({ flow: z.string(), state: z.string() });
const proof = z.looseObject({
  pseudonym: z.nullable(z.string()),
  atBank: z.looseObject({ tokens: z.array(z.string()) }),
  removed: z.array(z.object({ name: z.string(), count: z.int() })),
  pseudonymised: z.looseObject({ flows: z.array(z.string()), batches: z.array(z.string()) }),
});

describe.each(['files', 'PostgreSQL'] as const)('psd2 customer with a store in %s', (home) => {
  const operator = keepRunning(useSandbox());
  let server: Server | undefined;
  beforeAll(async () => {
    if (home === 'PostgreSQL') {
      server = startServer(await freePort(), 20);
      server.create('bank');
      Object.assign(operator.env, { PSD2_STORE: server.url('bank'), PSD2_STORE_PLAIN_TOKENS: '1' });
      expect(await operator.psd2(['store', 'init', '--roles', '--plain-tokens'])).toMatchObject({ code: 0 });
    }
    await logIn(operator);
    operator.env.PSD2_BROWSER = `${CUSTOMER} --user bruno`;
    await logIn(operator);
    operator.env.PSD2_BROWSER = CUSTOMER;
    operator.env.PSD2_CUSTOMER = ANNA;
  });
  afterAll(() => server?.stop());

  /** All that the store and the machine have, as a thief would read it. */
  function everything(): string {
    const files = readdirSync(operator.config, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.parentPath.includes('/sandbox/certificates'),
    );
    const texts = files.map((entry) => join(entry.parentPath, entry.name));
    const ofBank = (path: string) => path.startsWith(join(operator.config, 'sandbox'));
    const read = texts
      .filter((path) => !ofBank(path))
      .map((path) => `${path}\n${readFileSync(path, 'utf8')}`);
    const tables =
      server?.sql('bank', "select tablename from pg_tables where schemaname = 'psd2'").split('\n') ?? [];
    return [...read, ...tables.map((table) => server?.sql('bank', `select * from psd2.${table}`))].join('\n');
  }
  const forget = (...more: string[]) => ['customer', 'forget', ANNA, ...more, '--json'];

  it('export gives all that is stored, as its schema says, and no token', async () => {
    await operator.json(flow, order('R-1'));
    await operator.psd2(['sync', '--unattended-reads', '9999', '--out', join(operator.folder, 'out')]);
    const csv = join(operator.folder, 'five.csv');
    writeFileSync(csv, `name,iban,amount\nAda,DE89370400440532013000,3.00\n`);
    const { batch } = await operator.json(z.looseObject({ batch: z.string() }), [
      ...['batch', 'add', csv, '--from', ACCOUNT, '--json'],
    ]);
    const paid = await operator.psd2(['batch', 'run', batch, '--yes', '--json']);
    expect(paid, paid.stderr).toMatchObject({ code: 0 });

    const file = join(operator.folder, 'anna.json');
    await operator.json(z.looseObject({ flows: z.literal(3) }), [
      'customer',
      'export',
      ANNA,
      '--file',
      file,
      '--json',
    ]);
    const text = readFileSync(file, 'utf8');
    const document: unknown = JSON.parse(text);
    const again = await operator.psd2(['customer', 'export', ANNA, '--file', file, '--json']);
    expect(readError(again)).toMatchObject({ exitCode: 2, message: `${file} already exists` });
    expect(readFileSync(file, 'utf8')).toBe(text);
    const { stdout } = await operator.psd2(['schema', 'customer', 'export']);
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(stdout));
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
    const rows = {
      accounts: z.array(z.string()),
      batches: z.array(z.looseObject({ batch: z.literal(batch) })).length(1),
    };
    const known = z.looseObject({
      ...rows,
      folders: z.array(z.unknown()).length(1),
      calls: z.array(z.unknown()).min(5),
    });
    expect(known.parse(document).accounts).toContain(ACCOUNT);
    expect(text).toContain(SECRET_WORDS);
    if (home === 'PostgreSQL') expect(text).toMatch(/"name": "transactions"/);
    for (const { bytes } of operator.secrets()) expect(text.includes(bytes.toString())).toBe(false);
  });

  it('forget refuses without a yes, and while a payment is not over, and changes nothing', async () => {
    const before = everything();
    expect(readError(await operator.psd2(forget()))).toMatchObject({
      code: 'confirmation_needed',
      exitCode: 2,
    });
    const unfinished = await operator.psd2([...order('R-2'), '--sca-timeout', '1'], {
      env: { PSD2_BROWSER: 'none' },
    });
    expect(unfinished.code).toBe(6);
    const refused = readError(await operator.psd2(forget('--yes')));
    expect(refused).toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^Customer 1048262 has unfinished payments: tr-\S+ \(authorizing\)$/),
    });
    expect(before).toContain(SECRET_WORDS);
    const [first] = refused.next;
    const cancelled = await operator.psd2(['transfer', 'cancel', first?.[3] ?? '', '--json', '--yes']);
    expect(cancelled, cancelled.stderr).toMatchObject({ code: 0 });
  });

  if (home === 'PostgreSQL') {
    it('forget refuses a worker, who may only add to journals', async () => {
      server?.sql('bank', "create role worker login password 'pw'; grant psd2_worker to worker");
      const env = { PSD2_STORE: server?.tcp('bank', 'worker'), PGPASSWORD: 'pw' };
      const refused = readError(await operator.psd2(forget('--yes'), { env }));
      expect(refused).toMatchObject({
        exitCode: 3,
        message: expect.stringContaining('may not change journals, so psd2 cannot forget a customer'),
      });
    });
  }

  it('forget leaves no trace of the customer, keeps the payments under a pseudonym, and prints the proof', async () => {
    const token = z.object({ accessToken: z.string() });
    await operator.json(token, ['auth', 'token', '--json']);
    const result = await operator.json(proof, forget('--yes'));
    expect(result.pseudonym).toMatch(/^pseudonym-[0-9a-f]{16}$/);
    expect(result.atBank.tokens).toEqual(['refresh_token', 'access_token']);
    expect(result.pseudonymised.flows).toHaveLength(4);
    expect(result.pseudonymised.batches).toHaveLength(1);
    const names = result.removed.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['tokens', 'log of calls', join(operator.folder, 'out')]));
    if (home === 'PostgreSQL')
      expect(names).toEqual(expect.arrayContaining(['accounts', 'transactions', 'sync_progress']));
    const left = everything();
    for (const word of [ANNA, ACCOUNT, SECRET_WORDS]) expect(left.includes(word), word).toBe(false);
    expect(existsSync(join(operator.folder, 'out', ANNA))).toBe(false);

    const list = z.array(
      z.looseObject({ customerId: z.string(), amount: z.string(), reference: z.nullable(z.string()) }),
    );
    const transfers = await operator.json(list, ['transfer', 'list', '--json'], {
      env: { PSD2_CUSTOMER: undefined },
    });
    expect(transfers.map(({ customerId }) => customerId)).toEqual(Array(3).fill(result.pseudonym));
    expect(transfers.map(({ amount }) => amount)).toEqual(expect.arrayContaining(['2.00', '3.00']));
    expect(await operator.psd2(['audit', '--verify', '--json'])).toMatchObject({ code: 0 });
    const batches = z.array(z.looseObject({ state: z.literal('done') })).length(1);
    await operator.json(batches, ['batch', 'list', '--json'], { env: { PSD2_CUSTOMER: undefined } });
  });

  it('forget again finds nothing, and the reference of a payment stays taken', async () => {
    expect(await operator.json(proof, forget('--yes'))).toMatchObject({ pseudonym: null, removed: [] });
    await logIn(operator);
    const again = readError(await operator.psd2(order('R-1')));
    expect(again).toMatchObject({ code: 'duplicate_reference', exitCode: 2 });
  });

  it('other customers keep all of theirs', async () => {
    const accounts = z.array(z.unknown()).min(1);
    await operator.json(accounts, ['accounts', 'list', '--json'], { env: { PSD2_CUSTOMER: undefined } });
    const logins = await operator.psd2(['auth', 'list', '--json']);
    expect(logins.stdout).toMatch(/"customerId":"(?!1048262)\d+"/);
  });

  it('a batch that somebody has changed: export says so, and forget leaves it alone if the operator says so', async () => {
    const options = { env: { PSD2_CUSTOMER: undefined } };
    const [added] = await operator.json(
      z.array(z.looseObject({ batch: z.string() })),
      ['batch', 'list', '--json'],
      options,
    );
    const batch = added?.batch ?? '';
    const edited = "regexp_replace(content::text, '3.00', '4.00')::json";
    if (server) server.sql('bank', `update psd2.batch_lines set content = ${edited}`);
    else {
      const [lines = ''] = readdirSync(operator.config, { recursive: true, encoding: 'utf8' }).filter(
        (path) => path.endsWith(join(batch, 'lines.ndjson')),
      );
      const path = join(operator.config, lines);
      writeFileSync(path, readFileSync(path, 'utf8').replace('3.00', '4.00'));
    }

    const exported = await operator.psd2(['customer', 'export', BRUNO, '--json'], options);
    expect(readError(exported)).toMatchObject({ code: 'needs_attention', exitCode: 12 });
    const document = z.looseObject({
      customerId: z.literal(BRUNO),
      damagedBatches: z.tuple([z.literal(batch)]),
    });
    document.parse(JSON.parse(exported.stdout));

    const command = ['customer', 'forget', BRUNO, '--yes', '--json'];
    const refused = readError(await operator.psd2(command, options));
    expect(refused).toMatchObject({ exitCode: 3, hint: expect.stringContaining('add --leave-damaged') });
    const logins = await operator.psd2(['auth', 'list', '--json']);
    expect(logins.stdout).toContain(BRUNO);

    const forgotten = await operator.json(proof, [...command, '--leave-damaged'], options);
    expect(forgotten).toMatchObject({ damagedBatches: [batch], atBank: { tokens: { length: 2 } } });
    expect((await operator.psd2(['auth', 'list', '--json'])).stdout).not.toContain(BRUNO);
  });

  it('once it has forgotten who logged in last, psd2 names those who still are', async () => {
    const options = { env: { PSD2_CUSTOMER: undefined, PSD2_BROWSER: `${CUSTOMER} --user bruno` } };
    expect(await operator.psd2(['auth', 'login'], options)).toMatchObject({ code: 0 });
    await operator.psd2(['customer', 'forget', BRUNO, '--yes', '--leave-damaged'], options);
    for (const args of [
      ['accounts', 'list'],
      ['auth', 'status'],
      ['api', 'GET', '/private/{customerId}'],
    ]) {
      const refused = readError(await operator.psd2([...args, '--json'], options));
      expect(refused, args.join(' ')).toMatchObject({
        ...{ code: 'not_logged_in', exitCode: 4 },
        message: 'psd2 has forgotten who logged in last with the profile "sandbox"',
        hint: `Logged in: ${ANNA}. Name one with --customer, or run: psd2 --profile sandbox auth login`,
      });
    }
    const { stdout } = await operator.psd2(['doctor'], options);
    expect(stdout).toContain(`psd2 has forgotten who logged in last; Logged in: ${ANNA}`);
  });
});

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { CUSTOMER, keepRunning, logIn, useSandbox, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ANNA = '1048262';
const ACCOUNT = '0010482620';
const SECRET_WORDS = 'rent of anna verdi';
const order = (reference: string, ...more: string[]) => words`transfer create --json --yes --from
  ${ACCOUNT} --to DE89370400440532013000 --name ${'Ada Lovelace'} --amount 2.00 --description
  ${SECRET_WORDS} --reference ${reference} ${more}`;
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
      await operator.succeeds(['store', 'init', '--roles', '--plain-tokens']);
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
    const read = readdirSync(operator.config, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.startsWith(join(operator.config, 'sandbox')))
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
    const { batch } = await operator.json(shapes.batch, words`batch add ${csv} --from ${ACCOUNT}`);
    await operator.succeeds(['batch', 'run', batch, '--yes', '--json']);

    const file = join(operator.folder, 'anna.json');
    const exported = z.looseObject({ flows: z.literal(3) });
    await operator.json(exported, words`customer export ${ANNA} --file ${file}`);
    const text = readFileSync(file, 'utf8');
    const document: unknown = JSON.parse(text);
    const { stdout } = await operator.psd2(['schema', 'customer', 'export']);
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(stdout));
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
    expect(document).toMatchObject({
      ...{ accounts: expect.arrayContaining([ACCOUNT]), batches: [{ batch }] },
      ...{ folders: [expect.anything()], calls: expect.arrayContaining([expect.anything()]) },
    });
    expect(text).toContain(SECRET_WORDS);
    if (home === 'PostgreSQL') expect(text).toMatch(/"name": "transactions"/);
    for (const { bytes } of operator.secrets()) expect(text.includes(bytes.toString())).toBe(false);
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
    expect(result.pseudonymised.flows).toHaveLength(3);
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
    expect(transfers.map(({ customerId }) => customerId)).toEqual(Array(2).fill(result.pseudonym));
    expect(transfers.map(({ amount }) => amount)).toEqual(expect.arrayContaining(['2.00', '3.00']));
    await operator.succeeds(['audit', '--verify', '--json']);
    const batches = z.array(z.looseObject({ state: z.literal('done') })).length(1);
    await operator.json(batches, ['batch', 'list', '--json'], { env: { PSD2_CUSTOMER: undefined } });
  });
});

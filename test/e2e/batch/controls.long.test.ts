import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writePain001 } from '../../../src/batch-file/pain001/write.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { readError } from '../support/errors.ts';
import { type Environment, keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

// What a stored production profile demands holds whatever the environment says, in files and in a database, and one person
// counts once whatever names they give.

const ACCOUNT = '0010482620';
const IBAN = 'DE89370400440532013000';
const STORED = ['--environment', 'production', '--approvals', '2', '--max-amount', '5.00'];
const LOOSER = { PSD2_APPROVALS: '0', PSD2_MAX_AMOUNT: '1000' };
const operator = keepRunning(useLoggedIn());
let server: Server;

/** Who works on a batch: the environments of the one who adds it, and of two who approve. */
type People = Record<'adder' | 'ada' | 'grace', Environment>;
const homes: Record<string, () => Promise<People>> = {
  files: async () => ({ adder: {}, ada: { PSD2_OPERATOR: 'ada' }, grace: { PSD2_OPERATOR: 'grace' } }),
  PostgreSQL: async () => {
    const PSD2_CONFIG_DIR = join(operator.folder, 'machine');
    mkdirSync(PSD2_CONFIG_DIR, { mode: 0o700 });
    for (const part of ['profiles', 'config.json', 'sandbox'])
      cpSync(join(operator.config, part), join(PSD2_CONFIG_DIR, part), { recursive: true });
    const env = (role: string) => ({ ...plain, PSD2_STORE: server.url('bank').replace('psd2@', `${role}@`) });
    const plain = { PSD2_CONFIG_DIR, PSD2_STORE_PLAIN_TOKENS: '1' };
    await succeeds(['store', 'init', '--roles', '--plain-tokens'], {
      ...plain,
      PSD2_STORE: server.url('bank'),
    });
    for (const role of ['adder', 'ada', 'grace']) {
      const approver = role === 'adder' ? '' : ', psd2_approver';
      server.sql('bank', `create role ${role} login in role psd2_worker${approver}`);
    }
    await succeeds(['auth', 'login'], env('adder'));
    return { adder: env('adder'), ada: env('ada'), grace: env('grace') };
  },
};

async function succeeds(args: string[], env: Environment = {}): Promise<void> {
  await operator.succeeds(args, { env });
}

beforeAll(async () => {
  await succeeds(['profile', 'set', 'sandbox', ...STORED]);
  server = startServer();
  server.create('bank');
});
afterAll(() => server?.stop());

/** Writes the same payment as CSV and as pain.001. */
async function written(amount: string): Promise<{ csv: string; xml: string }> {
  const csv = join(operator.folder, `one-${amount}.csv`);
  writeFileSync(csv, `name,iban,amount,description\nAda Lovelace,${IBAN},${amount},Invoice\n`);
  const debtor = { name: 'Acme', iban: parseSepaIban('IT89F0999001600000010482620') };
  const exact = parsePaymentAmount(amount);
  const payment = {
    ...{ instructionId: null, endToEndId: 'NOTPROVIDED', name: 'ADA LOVELACE', currency: 'EUR' },
    ...{ iban: parseSepaIban(IBAN), amount: exact, description: 'Invoice', address: null },
  };
  const group = {
    ...{ paymentInformationId: 'P-1', debtor, executionDate: bankDay(new Date()), instant: false },
    ...{ urgent: false, count: 1, sum: exact, payments: [payment] },
  };
  const head = { messageId: `M-${amount}`, createdAt: new Date().toISOString(), initiator: 'Acme' };
  let text = '';
  for await (const piece of writePain001({ ...head, format: 'pain.001.001.09', groups: [group] }))
    text += piece;
  const xml = csv.replace('.csv', '.xml');
  writeFileSync(xml, text);
  return { csv, xml };
}

it.each(Object.entries(homes))(
  'in %s, no variable loosens what the profile demands, nobody approves twice, and the same file is one batch',
  async (home, open) => {
    const { adder, ada, grace } = await open();
    const asked = async (args: string[], env: Environment) => {
      const ended = await operator.psd2([...args, '--yes', '--json'], { env: { ...env, ...LOOSER } });
      return ended.code === 0 ? 'done' : readError(ended).message;
    };
    const order = ['transfer', 'create', '--from', ACCOUNT, '--to', IBAN, '--name', 'Ada Lovelace'];
    expect(await asked([...order, '--amount', '5.01'], adder)).toContain('5.00');

    const { csv, xml } = await written(home === 'files' ? '2.31' : '2.32');
    const add = ['batch', 'add', csv, '--from', ACCOUNT];
    const { batch } = await operator.json(shapes.batch, add, { env: { ...adder, ...LOOSER } });
    expect(await asked(['batch', 'add', xml], grace)).toBe(`The batch ${batch} has the same content`);

    const run = ['batch', 'run', batch];
    const approve = (...by: string[]) => ['batch', 'approve', batch, ...by];
    expect(await asked(run, adder)).toBe('The batch needs 2 approvals, and has 0');
    expect(await asked(approve('--by', 'grace'), grace)).toBe('done');
    expect(await asked(approve('--by', home === 'files' ? 'Grace\u200B ' : 'ada'), grace)).not.toBe('done');
    expect(await asked(run, adder)).toBe('The batch needs 2 approvals, and has 1');
    expect(await asked(approve('--by', 'ada'), ada)).toBe('done');
    expect(await asked(run, adder)).toBe('done');
  },
);

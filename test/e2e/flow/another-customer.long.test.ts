import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { bankDate, untilWorkday } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { type Environment, keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const STANDING_ORDER = ['standingOrder', '--account', ACCOUNT];
const TERM = ['--verify-data', '{"numberOfExecutions":12}', '--yes'];
const operator = keepRunning(useLoggedIn());

// From now on the tokens that psd2 uses by default are another customer's.
beforeAll(async () => {
  const env = { PSD2_BROWSER: `${operator.env.PSD2_BROWSER} --user bruno` };
  const login = await operator.json(shapes.login, ['auth', 'login'], { env });
  expect(login.customerId).toBe('2073915');
});

/** A transfer and a consent that wait for the customer, and an operation that waits for its data; all of the first customer. */
async function begun(): Promise<{ transfer: string; consent: string; operation: string }> {
  const own = ['--customer', '1048262', '--json'];
  const left = async (args: string[]): Promise<string> => {
    const env = { PSD2_BROWSER: 'none' };
    const ended = await operator.psd2([...args, ...own, '--sca-timeout', '0.2'], { env });
    expect(ended.code, ended.stderr).toBe(6);
    return JSON.parse(ended.stdout).flow;
  };
  const data = JSON.stringify({
    ...{ ibanBeneficiary: 'DE89370400440532013000', beneficiaryName: 'Ada Lovelace', description: 'Rent' },
    amount: { currency: 'EUR', amount: '2.00' },
    frequency: 'WEEKLY',
    firstExecutionDate: bankDate(untilWorkday()),
  });
  const verify = ['operation', 'verify', ...STANDING_ORDER, '--data', data, ...own];
  return {
    transfer: await left([
      ...['transfer', 'create', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
      ...['--name', 'Ada Lovelace', '--amount', '5.00'],
    ]),
    consent: await left(['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts']),
    operation: (await operator.json(shapes.operation, verify)).flow,
  };
}

it('psd2 asks about a flow, and continues it, as the customer who began it, whoever has logged in since', async () => {
  const flows = await begun();
  const asked = await operator.json(shapes.transfer, ['transfer', 'status', flows.transfer]);
  expect(asked).toMatchObject({ state: 'authorizing', authorizationStatus: 'PENDING' });
  const status = ['operation', 'status', ...STANDING_ORDER, '--resource', flows.operation, '--json'];
  const answered = await operator.psd2(status);
  expect(answered.code, answered.stderr).toBe(0);
  expect(JSON.parse(answered.stdout)).toMatchObject({ authorizationStatus: 'PENDING' });

  const transfer = await operator.json(shapes.transfer, ['transfer', 'resume', flows.transfer]);
  expect(transfer.state).toBe('executed');
  const file = join(operator.folder, 'receipt.pdf');
  const receipt = await operator.psd2(['transfer', 'receipt', flows.transfer, '--file', file]);
  expect(receipt.code, receipt.stderr).toBe(0);
  expect(readFileSync(file, 'latin1')).toMatch(/^%PDF-/);
  const consent = await operator.json(shapes.consent, ['consent', 'resume', flows.consent]);
  expect(consent.state).toBe('confirmed');
  const resume = ['operation', 'resume', flows.operation, ...TERM];
  expect((await operator.json(shapes.operation, resume)).state).toBe('executed');
});

it('psd2 continues no flow with client credentials, which have no customer', async () => {
  const { transfer, consent, operation } = await begun();
  const step = [...STANDING_ORDER, '--resource', operation];
  expect(
    (await operator.psd2(['operation', 'verify', ...step, '--data', '{"numberOfExecutions":12}'])).code,
  ).toBe(0);
  const before = await operator.json(shapes.operation, ['operation', 'show', operation]);
  for (const args of [
    ['transfer', 'resume', transfer, '--yes'],
    ['consent', 'resume', consent],
    ['operation', 'resume', operation, '--yes'],
    ['operation', 'sca', ...step],
  ]) {
    const ended = await operator.psd2([...args, '--grant', 'client_credentials', '--json']);
    const refusal = { code: 'usage', exitCode: 2, message: expect.stringContaining('needs the customer') };
    expect(readError(ended), args.join(' ')).toMatchObject(refusal);
    expect(ended.stdout).toBe('');
  }
  expect(await operator.json(shapes.operation, ['operation', 'show', operation])).toEqual(before);
});

const OWN = '1048262';
const LAST = '2073915';
const LISTED = z.array(z.object({ flow: z.string(), customerId: z.string() }));

/** The ids in a list of flows. */
async function listed(args: string[], env: Environment = {}): Promise<string[]> {
  return (await operator.json(LISTED, args, { env })).map(({ flow }) => flow);
}

it.each(['transfer', 'consent', 'operation'] as const)(
  '%s list shows whose flow each is, and with --customer or PSD2_CUSTOMER those of one customer',
  async (kind) => {
    const flow = (await begun())[kind];
    expect(await operator.json(LISTED, [kind, 'list'])).toContainEqual(
      expect.objectContaining({ flow, customerId: OWN }),
    );
    expect(await listed([kind, 'list', '--customer', OWN])).toContain(flow);
    expect(await listed([kind, 'list'], { PSD2_CUSTOMER: OWN })).toContain(flow);
    expect(await listed([kind, 'list', '--attention'])).toContain(flow);
    expect(await listed([kind, 'list', '--customer', LAST])).toEqual([]);
    expect(await listed([kind, 'list', '--attention'], { PSD2_CUSTOMER: LAST })).toEqual([]);
  },
);

it('psd2 refuses a --customer that is not the customer of the flow, and changes nothing', async () => {
  const flows = await begun();
  const commands = [
    ...['show', 'status', 'resume', 'cancel'].map((verb) => ['transfer', verb, flows.transfer]),
    ['transfer', 'resolve', flows.transfer, '--not-executed', '--yes'],
    ['transfer', 'receipt', flows.transfer, '--file', 'receipt.pdf'],
    ...['show', 'resume', 'cancel'].map((verb) => ['consent', verb, flows.consent]),
    ['consent', 'resolve', flows.consent, '--not-executed', '--yes'],
    ...['show', 'resume', 'cancel'].map((verb) => ['operation', verb, flows.operation]),
    ['operation', 'resolve', flows.operation, '--not-executed', '--yes'],
    ...['status', 'sca', 'execute'].map((verb) => [
      ...['operation', verb, ...STANDING_ORDER],
      ...['--resource', flows.operation],
    ]),
  ];
  for (const args of commands) {
    const ended = await operator.psd2([...args, '--customer', LAST, '--yes', '--json']);
    const message = expect.stringContaining(`belongs to customer ${OWN}, not to "${LAST}"`);
    expect(readError(ended), args.join(' ')).toMatchObject({ exitCode: 2, code: 'usage', message });
    expect(ended.stdout).toBe('');
  }
  const { state } = await operator.json(shapes.transfer, ['transfer', 'show', flows.transfer]);
  expect(state).toBe('authorizing');
  // The variable is a default, and the operator named the flow.
  const shown = ['transfer', 'show', flows.transfer, '--customer', OWN];
  await operator.json(shapes.transfer, shown, { env: { PSD2_CUSTOMER: LAST } });
});

it('without a flow, resume takes an unfinished one of the customer', async () => {
  await begun();
  const ended = await operator.psd2(['transfer', 'resume', '--customer', LAST, '--json', '--yes']);
  expect(readError(ended)).toMatchObject({
    message: `There is no unfinished transfer of customer ${LAST}`,
    next: [['psd2', '--customer', LAST, 'transfer', 'list']],
  });
});

it('the commands after an error act for the same customer as the command that failed', async () => {
  const { transfer } = await begun();
  const added = await operator.psd2(['sandbox', 'fault', 'add', 'status=403']);
  expect(added.code, added.stderr).toBe(0);
  try {
    const consent = ['psd2', '--customer', OWN, 'consent', 'request'];
    const status = await operator.psd2(['transfer', 'status', transfer, '--json']);
    expect(readError(status)).toMatchObject({ exitCode: 5, next: [consent] });
    const given = await operator.psd2(['accounts', 'list', '--json', '--customer', OWN]);
    expect(readError(given)).toMatchObject({ exitCode: 5, next: [consent] });
    const set = await operator.psd2(['accounts', 'list', '--json'], { env: { PSD2_CUSTOMER: OWN } });
    expect(readError(set)).toMatchObject({ exitCode: 5, next: [consent] });
    const byDefault = await operator.psd2(['accounts', 'list', '--json']);
    expect(readError(byDefault)).toMatchObject({ exitCode: 5, next: [['psd2', 'consent', 'request']] });
  } finally {
    await operator.psd2(['sandbox', 'fault', 'clear']);
  }
});

it('a payment that ended with exit code 9 is in transfer list --attention, and its next commands act for its customer', async () => {
  const paid = await operator.psd2([
    ...['transfer', 'create', '--instant', '--payee-verified', '--yes', '--json', '--customer', OWN],
    ...[
      '--from',
      ACCOUNT,
      '--to',
      'DE89370400440532013000',
      '--name',
      'EXECUTION STATUS 500',
      '--amount',
      '1.00',
    ],
  ]);
  const { exitCode, flow, next } = readError(paid);
  expect([exitCode, flow]).toEqual([9, expect.any(String)]);
  expect(await listed(['transfer', 'list', '--state', 'executing', '--state', 'unknown'])).toEqual([]);
  expect(await listed(['transfer', 'list', '--attention'])).toContain(flow);
  const [again] = next;
  const resumed = await operator.psd2([...(again ?? []).slice(1), '--json']);
  expect(readError(resumed)).toMatchObject({ exitCode: 9, flow });
  const decided = await operator.psd2(['transfer', 'resolve', flow ?? '', '--executed', '--yes', '--json']);
  expect(decided.code, decided.stderr).toBe(0);
  expect(await listed(['transfer', 'list', '--attention'])).not.toContain(flow);
});

it('psd2 log --customer shows the calls of one customer, also those whose path does not name them', async () => {
  const { transfer } = await begun();
  await operator.json(shapes.transfer, ['transfer', 'status', transfer]);
  const calls = z.array(z.object({ path: z.string(), flow: z.string().nullable() }));
  const own = await operator.json(calls, ['log', '--customer', OWN]);
  expect(own[0]?.path).toMatch(/\/private\/operations\/.+\/status$/);
  expect(own[0]?.flow).toBe(transfer);
  const others = await operator.json(calls, ['log'], { env: { PSD2_CUSTOMER: LAST } });
  expect(others.filter(({ flow }) => flow !== null)).toEqual([]);
});

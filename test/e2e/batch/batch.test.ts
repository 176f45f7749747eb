import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());

const IBAN = 'DE89370400440532013000';
const line = (name: string, amount: string) => `${name},${IBAN},${amount}\n`;
/** Writes a file of payments. @returns its path */
function file(name: string, ...lines: string[]): string {
  const path = join(operator.folder, name);
  writeFileSync(path, `name,iban,amount\n${lines.join('')}`);
  return path;
}
const add = async (path: string, ...options: string[]) =>
  operator.json(shapes.batch, ['batch', 'add', path, '--from', ACCOUNT, '--json', ...options]);
const report = (batch: string) => operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
const run = (batch: string, ...options: string[]) =>
  operator.psd2(['batch', 'run', batch, '--yes', '--json', ...options]);
/** How many calls of all transfers end so. */
async function sent(end: string): Promise<number> {
  const calls = await operator.json(shapes.log, ['log', '--limit', '1000', '--json']);
  return calls.filter(({ path }) => path.endsWith(end)).length;
}

it('a batch is stored once and paid line by line; a refused line stops no other one, and is retried alone', async () => {
  const five = file(
    'five.csv',
    ...[line('Ada Lovelace', '1.01'), line('Alan Turing', '1.02'), line('SCA REFUSED', '1.03')],
    ...[line('Grace Hopper', '1.04'), line('Mary Jackson', '1.05')],
  );
  const { batch, sha256, state, counts, totals } = await add(five, '--note', 'First');
  expect([batch, state, counts]).toEqual([sha256, 'added', { waiting: 5 }]);
  expect(totals).toEqual([{ from: ACCOUNT, currency: 'EUR', count: 5, amount: '5.15' }]);
  expect(readError(await operator.psd2(['batch', 'add', five, '--from', ACCOUNT, '--json']))).toMatchObject({
    exitCode: 2,
    message: `The batch ${batch} has the same content`,
  });

  const before = await sent('/execute');
  const ran = await run(batch.slice(0, 10));
  expect([ran.code, ran.stderr]).toEqual([8, expect.stringContaining('1 of 5 payments was not made')]);
  const rows = await report(batch);
  expect(rows.map((row) => row.state)).toEqual(['executed', 'executed', 'rejected', 'executed', 'executed']);
  expect(await sent('/execute')).toBe(before + 4);
  expect((await run(batch)).code).toBe(8);
  expect(await sent('/execute')).toBe(before + 4);

  const again = await operator.json(shapes.batch, ['batch', 'retry', batch, '--json']);
  expect([again.retryOf, again.lines]).toEqual([batch, 1]);
  expect(readError(await operator.psd2(['batch', 'retry', batch, '--json']))).toMatchObject({
    message: `The batch ${again.batch} has these payments already`,
    hint: expect.not.stringContaining('--again'),
  });
  const pain = await operator.psd2(['batch', 'report', batch, '--format', 'pain002']);
  expect(pain.stdout.match(/<TxSts>\w+/g)).toEqual(
    ['ACSP', 'ACSP', 'RJCT', 'ACSP', 'ACSP'].map((code) => `<TxSts>${code}`),
  );
});

it('a file is paid again if that is meant, but a reference of its own only once', async () => {
  const path = join(operator.folder, 'monthly.csv');
  writeFileSync(
    path,
    `name,iban,amount,reference\nAda Lovelace,${IBAN},1.11,RENT\nAlan Turing,${IBAN},1.12,\n`,
  );
  const { batch } = await add(path);
  const added = await operator.psd2(['batch', 'add', path, '--from', ACCOUNT, '--json', '--again']);
  expect(added.code).toBe(0);
  expect(added.stderr).toContain('1 of 2 payments has a reference of its own');
  expect((await run(`${batch.slice(0, 12)}-1`)).code).toBe(0);

  const before = await sent('/execute');
  const ran = await run(`${batch.slice(0, 12)}-2`);
  expect(readError(ran)).toMatchObject({
    exitCode: 8,
    hint: expect.stringContaining('psd2 refused them and sent nothing: their reasons say what to correct'),
  });
  expect(await sent('/execute')).toBe(before + 1);
  const [rent, other] = await report(`${batch}-2`);
  expect([rent?.state, rent?.flow, other?.state]).toEqual(['failed', null, 'executed']);
  expect(rent?.reason).toMatch(/^The reference "RENT" was used by transfer .*, which is executed\./);
  expect(rent?.reason).toContain(`payment 1 of the batch ${batch}. psd2 pays a reference once.`);
  expect(rent?.reason).toContain('To pay this too, add it with another reference');

  expect(readError(await operator.psd2(['batch', 'add', path, '--from', ACCOUNT, '--json'])).message).toBe(
    `The batch ${batch} has the same content`,
  );
  const third = await operator.psd2(['batch', 'add', path, '--from', ACCOUNT, '--json', '--again']);
  expect(readError(third)).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('If you mean another payment, give it another reference'),
  });
});

it('an account to debit that is an IBAN with a slip is refused as such', async () => {
  const path = file('slip.csv', line('Ada Lovelace', '1.41'));
  const slip = ['batch', 'add', path, '--from', 'IT60X0542811101000000123457', '--json'];
  expect(readError(await operator.psd2(slip))).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('has wrong check digits'),
  });
});

it('a payment of a customer who is not logged in says how to log in, and stops no other one', async () => {
  const path = join(operator.folder, 'payers.csv');
  writeFileSync(
    path,
    `name,iban,amount,customer\nAda Lovelace,${IBAN},1.31,9999999\nAlan Turing,${IBAN},1.32,\n`,
  );
  const { batch } = await add(path);
  const ran = await run(batch);
  expect(ran.code).toBe(8);
  expect((await report(batch)).map(({ state }) => state)).toEqual(['waiting', 'executed']);
  expect(ran.stderr).toMatch(/Payment 1: The customer 9999999 is not logged in.* Or run: psd2 .*auth login/);
});

it('Ctrl-C in the middle of a run says how to go on, and the run goes on', async () => {
  const { batch } = await add(file('stopped.csv', line('Ada Lovelace', '1.21'), line('Alan Turing', '1.22')));
  const port = await freePort();
  const stopped = await operator.start(['batch', 'run', batch, '--yes', '--json'], {
    PSD2_BROWSER: 'none',
    PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
  });
  await stopped.prints(/http/);
  stopped.kill('SIGINT');
  const ended = await stopped.ended;
  expect(ended.code).toBe(130);
  expect(readError(ended).hint).toContain(`psd2 batch run ${batch}`);
  expect((await report(batch)).map(({ state }) => state)).toEqual(['authorizing', 'waiting']);
  expect((await run(batch)).code).toBe(0);
});

it('a batch is paid only after another person has approved its content', async () => {
  const path = file('approved.csv', line('Ada Lovelace', '2.01'), line('Alan Turing', '2.02'));
  const { batch } = await add(path);
  const env = { PSD2_APPROVALS: '1' };
  const approve = (...by: string[]) => operator.psd2(['batch', 'approve', batch, '--json', ...by], { env });
  const refused = await operator.psd2(['batch', 'run', batch, '--yes', '--json'], { env });
  expect(readError(refused)).toMatchObject({ exitCode: 2, message: 'The batch needs 1 approval, and has 0' });
  expect(readError(await approve()).message).toContain('someone else must approve it');
  expect((await approve('--by', 'Second Person')).code).toBe(0);
  expect(readError(await approve('--by', 'second  person')).exitCode).toBe(2);
  expect(await operator.json(shapes.batch, ['batch', 'show', batch, '--json'], { env })).toMatchObject({
    state: 'approved',
    approvals: [{ by: 'Second Person' }],
  });
  expect((await operator.psd2(['batch', 'run', batch, '--yes', '--json'], { env })).code).toBe(0);
  const late = ['batch', 'reject', batch, '--by', 'Third Person', '--note', 'too late', '--json'];
  expect(readError(await operator.psd2(late, { env }))).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('nothing left to decide'),
  });
  const lines = (await operator.psd2(['audit', '-o', 'ndjson'])).stdout.trim().split('\n');
  const audited: unknown[] = lines
    .map((text) => JSON.parse(text))
    .filter(({ about }) => about?.includes(batch));
  expect(audited).toEqual([
    expect.objectContaining({ action: 'added' }),
    expect.objectContaining({ action: 'approved', about: `batch ${batch}, by Second Person` }),
    expect.objectContaining({
      action: 'paid',
      about: expect.stringMatching(/, 1 of 1 approvals \(Second Person, user .+\)$/),
    }),
  ]);
});

it('PSD2_OPERATOR says who adds a batch, and another operator approves it', async () => {
  const path = file('operators.csv', line('Ada Lovelace', '6.01'));
  const env = (name: string) => ({ env: { PSD2_OPERATOR: name, PSD2_APPROVALS: '1' } });
  const added = ['batch', 'add', path, '--from', ACCOUNT, '--json'];
  const { batch, addedBy } = await operator.json(shapes.batch, added, env('anna'));
  expect(addedBy).toBe('anna');
  const approve = ['batch', 'approve', batch, '--yes', '--json'];
  expect(readError(await operator.psd2(approve, env('anna'))).exitCode).toBe(2);
  expect((await operator.psd2(approve, env('zoe'))).code).toBe(0);
});

it('two runs at once share the payments of a batch, and pay none twice', async () => {
  const names = ['Ada', 'Bea', 'Cleo', 'Dora', 'Eve', 'Fay'];
  const { batch } = await add(
    file('shared.csv', ...names.map((name, index) => line(name, `3.0${index + 1}`))),
  );
  const before = await sent('/execute');
  const both = await Promise.all([
    operator.psd2(['batch', 'run', batch, '--yes', '--json'], { ownProcess: true }),
    operator.psd2(['batch', 'run', batch, '--yes', '--json'], { ownProcess: true }),
  ]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await sent('/execute')).toBe(before + 6);
  expect(new Set((await report(batch)).map(({ flow }) => flow)).size).toBe(6);
});

it('the links go to a file, and the run comes back for what the customers decided', async () => {
  const { batch } = await add(file('links.csv', line('Ada Lovelace', '4.01'), line('Alan Turing', '4.02')));
  const links = join(operator.folder, 'links.ndjson');
  const nowhere = readError(await run(batch, '--links', join(operator.folder, 'none', 'links.ndjson')));
  expect([nowhere.exitCode, (await report(batch)).map(({ state }) => state)]).toEqual([
    3,
    ['waiting', 'waiting'],
  ]);
  const first = await run(batch, '--links', links);
  expect([first.code, readError(first).message]).toEqual([6, '2 of 2 payments await their customer']);
  const written = () =>
    readFileSync(links, 'utf8')
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
  expect(written().map((link) => [link.line, link.amount])).toEqual([
    [1, '4.01'],
    [2, '4.02'],
  ]);
  expect((await run(batch, '--links', links)).code).toBe(6);
  expect(written()).toHaveLength(2);
  // Nobody waits at the redirect URI, so the customer's browser ends at an address that does not answer.
  for (const { url } of written()) await operator.psd2(['sandbox', 'customer', url]);
  expect((await run(batch, '--links', links)).code).toBe(0);
});

it('lines that somebody has changed in the store are noticed before anything is sent', async () => {
  const { batch } = await add(file('edited.csv', line('Ada Lovelace', '5.01')));
  const path = join(operator.config, 'flows', 'sandbox', 'batches', batch, 'lines.ndjson');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('5.01', '9.01'));
  const before = await sent('/verify');
  expect(readError(await run(batch))).toMatchObject({
    exitCode: 3,
    message: expect.stringContaining('not those that were added'),
  });
  expect(await sent('/verify')).toBe(before);
  writeFileSync(path, text);
  expect((await operator.psd2(['batch', 'cancel', batch, '--yes', '--json'])).code).toBe(0);
  expect((await run(batch)).code).toBe(8);
  expect((await report(batch)).map(({ state }) => state)).toEqual(['cancelled']);
});

it('a line is what its transfer is: refused by the bank alone, it keeps its reference until a person ends it', async () => {
  const { batch } = await add(file('refused.csv', line('Ada Lovelace', '7.01'), line('Alan Turing', '7.02')));
  const fault = ['sandbox', 'fault', 'add', 'status=422', '--on', 'execute', '--times', '1'];
  expect((await operator.psd2(fault)).code).toBe(0);
  const ran = await run(batch);
  expect(readError(ran)).toMatchObject({
    ...{ exitCode: 8, message: '1 of 2 payments was not made' },
    hint: expect.stringContaining('without confirming that no money moved'),
  });
  const [first] = await report(batch);
  const flow = first?.flow ?? '';
  const { state } = await operator.json(shapes.transfer, ['transfer', 'show', flow, '--json']);
  expect([first?.state, state]).toEqual(['failed', 'failed']);
  expect(await operator.json(shapes.batch, ['batch', 'show', batch, '--json'])).toMatchObject({
    state: 'done',
    counts: { failed: 1, executed: 1 },
  });
  const attention = ['batch', 'list', '--attention', '--json'];
  expect((await operator.psd2(attention)).stdout).toContain(batch);
  const kept = readError(await operator.psd2(['batch', 'retry', batch, '--json']));
  expect([kept.exitCode, kept.hint]).toEqual([2, expect.stringContaining('transfer resolve --not-executed')]);
  const pain002 = async () => {
    const { stdout } = await operator.psd2(['batch', 'report', batch, '--format', 'pain002']);
    return stdout.match(/(?<=<TxSts>)[A-Z]{4}/g);
  };
  expect(await pain002()).toEqual(['PDNG', 'ACSP']);
  await operator.psd2(['transfer', 'resolve', flow, '--not-executed', '--yes', '--json']);
  expect(await pain002()).toEqual(['RJCT', 'ACSP']);
  const again = await operator.json(shapes.batch, ['batch', 'retry', batch, '--json']);
  expect(again.lines).toBe(1);
});

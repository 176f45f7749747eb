import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { keepRunning, logIn, useLoggedIn } from '../support/psd2.ts';

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());
const endings = z.array(
  z.strictObject({
    kind: z.enum(['certificate', 'login', 'consent']),
    name: z.string(),
    customerId: z.string().nullable(),
    endsAt: z.iso.datetime(),
    next: z.array(z.string()).min(3),
  }),
);
const status = z.looseObject({
  refreshTokenExpiresAt: z.string().nullable(),
  refused: z.strictObject({ what: z.string(), at: z.iso.datetime(), message: z.string() }).optional(),
});
const authStatus = () => operator.json(status, ['auth', 'status']);

it('psd2 expiring exits with 0 if nothing ends soon', async () => {
  expect(await operator.json(endings, ['expiring'])).toEqual([]);
});

it('psd2 expiring lists what ends soon, soonest first, with the command that renews it, and exits with 12', async () => {
  const ended = await operator.psd2(['expiring', '--within', '400d', '--json']);
  expect(readError(ended)).toMatchObject({ code: 'ends_soon', exitCode: 12 });
  const found = endings.parse(JSON.parse(ended.stdout));
  const ends = found.map(({ endsAt }) => endsAt);
  expect(ends).toEqual([...ends].sort());
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'login refresh token',
    'consent ACCOUNT_INFO',
    'consent PAYMENTS',
    ...['QWAC', 'QSealC', 'CA', 'bank signing certificate'].map((name) => `certificate ${name}`),
  ]);
  expect(found[1]?.next.slice(0, 8).join(' ')).toBe(
    'psd2 --profile sandbox --customer 1048262 consent request --category',
  );
});

it.each(['14x', '2w', '-1d', ''])('psd2 expiring refuses --within %j', async (within) => {
  const error = readError(await operator.psd2(['expiring', `--within=${within}`, '--json']));
  expect(error).toMatchObject({ code: 'usage', exitCode: 2 });
});

it('PSD2_NOTIFY gets each ending once, and again if its date changes', async () => {
  const told = join(operator.folder, 'told');
  const script = join(operator.folder, 'tell.mjs');
  writeFileSync(
    script,
    `import { appendFileSync, readFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(told)}, readFileSync(0));`,
  );
  const run = (notify = `"${process.execPath}" "${script}"`) =>
    operator.psd2(['expiring', '--within', '40d'], { env: { PSD2_NOTIFY: notify } });
  const failed = await run('/no/such/program');
  expect(failed.stderr).toContain('The notify command "/no/such/program" could not be started');
  expect(existsSync(told)).toBe(false);
  expect((await run()).code).toBe(12);
  expect((await run()).code).toBe(12);
  const lines = () =>
    readFileSync(told, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  expect(lines()).toMatchObject([{ profile: 'sandbox', kind: 'login', customerId: '1048262' }]);
  expect((await operator.psd2(['auth', 'refresh'])).code).toBe(0);
  await run();
  const [first, second, ...more] = lines();
  expect(more).toEqual([]);
  expect(Date.parse(second?.endsAt)).toBeGreaterThan(Date.parse(first?.endsAt));
});

it('auth status and doctor remember a renewal that the bank refused, until the next login', async () => {
  expect((await authStatus()).refused).toBeUndefined();
  expect((await operator.psd2(['sandbox', 'reset'])).code).toBe(0);
  expect((await operator.psd2(['accounts', 'list'])).code).toBe(4);
  const refused = await authStatus();
  expect(refused).toMatchObject({ refreshTokenExpiresAt: null, refused: { what: 'refresh' } });
  const list = await operator.psd2(['auth', 'list']);
  expect(list.stdout).toContain('renewal refused');
  const doctor = await operator.psd2(['doctor']);
  expect(doctor.stdout).toMatch(/^fail\ttoken\tcustomer 1048262: .*refused to renew/m);
  await logIn(operator, 'none');
  expect((await authStatus()).refused).toBeUndefined();
});

it('auth status remembers a call without consent until the bank allows one', async () => {
  const balance = () => operator.psd2(['accounts', 'balance', ACCOUNT]);
  expect((await balance()).code).toBe(5);
  expect(await authStatus()).toMatchObject({
    refused: { what: 'call', message: expect.stringContaining('consent') },
  });
  const consent = ['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts'];
  expect((await operator.psd2(consent)).code).toBe(0);
  expect((await balance()).code).toBe(0);
  expect((await authStatus()).refused).toBeUndefined();
});

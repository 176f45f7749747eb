import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { EndedCall } from '../support/psd2.ts';
import { type AtSecondDoor, useSecondDoor } from './second-door-customer.ts';

// The customer authorises in psd2, with a PIN and a TAN from files (docs/embedded.md), at the sandbox's second door.

const ANNAS = 'IT89F0999001600000010482620';
const BRUNOS = 'IT53G0999001600000020739150';
const CARLAS = 'IT93B0999001600000030981270';
const PAYEE = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '12.50'];

const transfer = z.looseObject({
  flow: z.string(),
  state: z.string(),
  transactionStatus: z.string().nullable(),
  scaStatus: z.string().nullable(),
});
const payments = z.array(z.looseObject({ orders: z.array(z.object({ paid: z.number() })) }));

/** Writes a file of the operator's own. @returns its path */
function writeOwn({ ownHands }: AtSecondDoor, name: string, content: string): string {
  mkdirSync(ownHands, { recursive: true });
  const path = join(ownHands, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** The PINs and TANs that were given so far. */
const given = new Set<string>();

interface Embedded extends AtSecondDoor {
  /** What the bank calls the SMS. */
  sms: string;
}

/** Runs a command whose customer gives the PIN from a file, and the TAN through a pipe as soon as the bank has sent it. */
async function withTan(at: Embedded, args: string[], user = 'anna'): Promise<EndedCall> {
  const running = await at.start([...args, ...credentials(at, user), '--otp-file', '-', '--yes', '--json']);
  const device = await at.start(['sandbox', 'customer', 'tan', user]);
  const tan = await Promise.race([device.prints(/^\S+\n/), running.ended.then(() => undefined)]);
  if (!tan) {
    device.kill('SIGTERM');
    return running.ended;
  }
  given.add(tan[0].trim());
  await running.write(tan[0]);
  running.closeInput();
  return running.ended;
}

function credentials(at: Embedded, user: string, pin = `pin-${user}`): string[] {
  given.add(pin);
  const method = user === 'carla' ? [] : ['--sca-method', at.sms];
  const customer = user === 'anna' ? [] : ['--customer', user];
  return [
    ...customer,
    '--psu-id',
    user,
    '--psu-password-file',
    writeOwn(at, `pin-${user}`, `${pin}\n`),
    ...method,
  ];
}

const payFrom = (iban: string, ...more: string[]) => [
  'transfer',
  'create',
  '--from',
  iban,
  ...PAYEE,
  ...more,
];
const pay = (...more: string[]) => payFrom(ANNAS, ...more);

/** How often the money of all payments moved. */
async function paidAt(at: AtSecondDoor): Promise<number> {
  const { controlToken, customerSiteUrl } = z
    .object({ controlToken: z.string(), customerSiteUrl: z.string() })
    .parse(JSON.parse(readFileSync(join(at.config, 'sandbox', 'running.json'), 'utf8')));
  const headers = { Authorization: `Bearer ${controlToken}` };
  const answer = await fetch(`${customerSiteUrl}/control/nextgenpsd2/payments`, { headers });
  return payments.parse(await answer.json()).reduce((sum, { orders }) => sum + (orders[0]?.paid ?? 0), 0);
}

/** Where a credential, or what can be made of it, stands: files, and what was printed. */
function leaksOf(at: AtSecondDoor): string[] {
  const marks = [...given].flatMap((value) => [
    value,
    Buffer.from(value).toString('base64').replace(/=+$/, ''),
    Buffer.from(value).toString('hex'),
    createHash('sha256')
      .update(JSON.stringify({ psuData: { password: value } }))
      .digest('base64'),
    createHash('sha256')
      .update(JSON.stringify({ scaAuthenticationData: value }))
      .digest('base64'),
  ]);
  const inFiles = filesIn(at.folder)
    .filter((path) => !path.startsWith(at.ownHands))
    .filter((path) => marks.some((mark) => readFileSync(path, 'latin1').includes(mark)));
  const inOutput = at.history.filter(({ stdout, stderr }) =>
    marks.some((mark) => `${stdout}${stderr}`.includes(mark)),
  );
  return [...inFiles, ...inOutput.map(({ args }) => args.slice(1).join(' '))];
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

describe.each([
  ['as the standard has it', 'SMS to *** 4711', ['--variation', 'embedded'], {}],
  [
    'in the shape of Atruvia',
    'mobile TAN',
    ['--variation', 'embedded-atruvia'],
    {
      psu: { id: 'required', label: 'VR-NetKey or alias' },
      payments: { futureDays: 30, products: { payments: ['pain.001-sepa-credit-transfers'] } },
    },
  ],
] as const)('a bank of embedded SCA, %s', (_what, sms, rules, file) => {
  const door = useSecondDoor([...rules], { payments: { futureDays: 30 }, ...file });
  const at = Object.assign(door, { sms });
  at.env.PSD2_EMBEDDED = 'files';
  beforeEach(async () => {
    await at.psd2(['sandbox', 'fault', 'clear']);
  });

  it('a transfer is paid once, after PIN and TAN', async () => {
    const before = await paidAt(at);
    const { code, stdout, stderr } = await withTan(at, pay('--reference', 'PAID'));
    expect(code, stderr).toBe(0);
    expect(transfer.parse(JSON.parse(stdout))).toMatchObject({
      state: 'executed',
      transactionStatus: 'ACSP',
    });
    expect(await paidAt(at)).toBe(before + 1);
  });

  it('a consent is given, and read with', async () => {
    const { code, stderr } = await withTan(at, ['consent', 'request', '--all-accounts']);
    expect(code, stderr).toBe(0);
    await at.succeeds(['accounts', 'list']);
  });

  it('a cancellation takes a PIN and a TAN of its own', async () => {
    const date = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    const made = await withTan(at, pay('--date', date));
    expect(made.code, made.stderr).toBe(0);
    const { flow } = transfer.parse(JSON.parse(made.stdout));
    const { code, stdout, stderr } = await withTan(at, ['transfer', 'cancel', flow]);
    expect(code, stderr).toBe(0);
    expect(transfer.parse(JSON.parse(stdout))).toMatchObject({
      state: 'cancelled',
      transactionStatus: 'CANC',
    });
  });

  it('of a customer without a method it is paid at the PIN', async () => {
    const before = await paidAt(at);
    const args = [...payFrom(CARLAS), ...credentials(at, 'carla'), '--yes', '--json'];
    const { code, stdout, stderr } = await at.psd2(args);
    expect(code, stderr).toBe(0);
    expect(transfer.parse(JSON.parse(stdout))).toMatchObject({
      state: 'executed',
      transactionStatus: 'ACSP',
    });
    expect(await paidAt(at)).toBe(before + 1);
  });

  it.each([
    ['401 to a right TAN', 'credentials-invalid'],
    ['no answer to a right TAN', 'cut-after-effect'],
  ])('%s: it is paid once, by the word of its status', async (_case, fault) => {
    const before = await paidAt(at);
    await at.succeeds(['sandbox', 'fault', 'add', fault, '--on', 'tan', '--times', '1']);
    const { code, stdout, stderr } = await withTan(at, pay());
    expect(code, stderr).toBe(0);
    expect(transfer.parse(JSON.parse(stdout))).toMatchObject({
      state: 'executed',
      transactionStatus: 'ACSP',
    });
    expect(await paidAt(at)).toBe(before + 1);
  });

  it.each([
    ['pin', 'bruno', BRUNOS],
    ['method', 'anna', ANNAS],
  ])('no answer to the %s: nothing is paid, and it is open', async (on, user, iban) => {
    const before = await paidAt(at);
    await at.succeeds(['sandbox', 'fault', 'add', 'cut-after-effect', '--on', on, '--times', '1']);
    const { code, stderr } = await at.psd2([...payFrom(iban), ...credentials(at, user), '--yes', '--json']);
    expect(code, stderr).toBe(13);
    expect(await paidAt(at)).toBe(before);
  });

  it('a wrong PIN is sent once, and a person must say yes before the next one', async () => {
    const wrong = () =>
      at.psd2([...payFrom(CARLAS), ...credentials(at, 'carla', 'pin-that-is-wrong'), '--yes', '--json']);
    const first = await wrong();
    expect(first.code, first.stderr).toBe(13);
    const second = await wrong();
    expect(second.code, second.stderr).toBe(2);
    expect(second.stderr).not.toContain('pin-that-is-wrong');
  });

  it('neither PIN nor TAN is in a file or in what psd2 printed', async () => {
    const { stdout } = await at.psd2([...pay(), ...credentials(at, 'anna'), '--yes', '--verbose']);
    expect(stdout).toBeDefined();
    await at.psd2(['log', 'list']);
    expect(given.size).toBeGreaterThan(5);
    // What the bank's own command prints shows that the search finds it.
    expect([...new Set(leaksOf(at))]).toEqual(['sandbox customer tan anna']);
  });
});

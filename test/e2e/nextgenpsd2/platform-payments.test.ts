import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sample } from '../../support/sample.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, readDocument, useSandbox, words } from '../support/psd2.ts';
import { IBAN, PLATFORMS } from './forms.ts';

// Money at each platform that comes with psd2: by the built program, at the door that plays it.

const environment = z.record(z.string(), z.string());
const described = z.looseObject({
  payments: z.looseObject({
    products: z.looseObject({ payments: z.array(z.string()) }),
    cancel: z.union([z.string(), z.object({ payments: z.string() })]),
    address: z.string(),
  }),
});
const transfer = z.looseObject({
  flow: z.string(),
  state: z.string(),
  transactionStatus: z.string().nullable(),
});

const AT_A_PAGE = Object.entries(PLATFORMS).filter(([, { decoupled, embedded }]) => !decoupled && !embedded);

describe.each(sample(AT_A_PAGE, 3, ([name]) => name))('at %s', (name, platform) => {
  const operator = keepRunning(useSandbox(['--bank', name]));
  let bank: z.infer<typeof described>['payments'];
  const order = (amount: string, ...more: string[]) => words`transfer create --from ${IBAN} --to
    DE89370400440532013000 --name ${'Ada Lovelace'} --amount ${amount} --yes ${more}
    ${bank.address === 'required' ? ['--payee-town', 'Berlin', '--payee-country', 'DE'] : []}`;

  beforeAll(async () => {
    const door = await operator.json(environment, ['sandbox', 'env', '--interface', 'nextgenpsd2']);
    Object.assign(operator.env, door, platform.env, { PSD2_PROFILE: 'env' });
    if (platform.request?.includes('--psu-ip')) operator.env.PSD2_PSU_IP = '203.0.113.9';
    const shown = await operator.psd2(['bank', 'show', name, '--json']);
    bank = readDocument(described, shown.stdout).payments;
    const words = platform.request ?? [];
    const psu = ['--psu-id', '--psu-id-type'].flatMap((option) => {
      const at = words.indexOf(option);
      return at < 0 ? [] : words.slice(at, at + 2);
    });
    await operator.succeeds(['auth', 'login', ...psu, ...(platform.paysWith ?? [])]);
  });

  it('a transfer is paid', async () => {
    expect(await operator.json(transfer, order('1.01', '--reference', 'P-1'))).toMatchObject({
      state: 'executed',
    });
  });

  it('an instant transfer is settled, or refused before psd2 sends anything', async () => {
    const instant = [...order('1.02'), '--instant', '--payee-verified', '--json'];
    const { code, stdout, stderr } = await operator.psd2(instant);
    if (bank.products.payments.some((product) => product.includes('inst')))
      expect(readDocument(transfer, stdout), stderr).toMatchObject({ state: 'settled' });
    else
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('instant product') });
  });

  it('a transfer that nobody has authorised is cancelled, if the bank cancels', async () => {
    const waits = await operator.psd2([...order('1.03'), '--json'], {
      env: { PSD2_BROWSER: 'none', PSD2_SCA_TIMEOUT: '1' },
    });
    expect(readError(waits)).toMatchObject({ code: 'still_open' });
    const { flow } = readDocument(transfer, waits.stdout);
    const cancelled = await operator.psd2(['transfer', 'cancel', flow, '--yes', '--json']);
    const cancel = typeof bank.cancel === 'string' ? bank.cancel : bank.cancel.payments;
    if (cancel === 'none') expect(readError(cancelled)).toMatchObject({ exitCode: 2 });
    else
      expect(readDocument(transfer, cancelled.stdout), cancelled.stderr).toMatchObject({
        state: 'cancelled',
        transactionStatus: 'CANC',
      });
  });
});

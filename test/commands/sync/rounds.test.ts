import { expect, it } from 'vitest';
import { type CustomerReport, SharedStop, syncCustomers } from '../../../src/commands/sync/customers.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import { ListedRound } from '../../../src/store/listed-round.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { runIn } from '../command.ts';
import { useOperatorHere } from '../operator.ts';

const operator = useOperatorHere();
const out = temporaryFolder();

/** A run of `psd2 sync`, round after round. @param budget reads of an account a day. @param isSpread as with `--every` */
function syncing(budget: number, isSpread = false) {
  const { context } = operator.open();
  return async (customer: string): Promise<CustomerReport[]> => {
    const reports: CustomerReport[] = [];
    const job = {
      ...{
        out,
        since: undefined,
        today: bankDay(context.world.now()),
        concurrency: 1,
        stop: new SharedStop(),
      },
      allowance: { budget, isOperators: true, isSpread },
    };
    await syncCustomers(context, job, new ListedRound([customer]), (report) => void reports.push(report));
    return reports;
  };
}

it('the limit of the day holds in every round of a run, not in the first one alone', async () => {
  const anna = await operator.logIn('anna');
  const round = syncing(2);
  expect(await round(anna)).toMatchObject([{ status: 'synced', skipped: [] }]);
  expect(await round(anna)).toMatchObject([{ status: 'synced', skipped: [] }]);
  expect(await round(anna)).toMatchObject([{ status: 'waiting', accounts: 0 }]);
  expect(await round(anna)).toMatchObject([{ status: 'waiting', accounts: 0 }]);
});

it('a customer whose accounts psd2 may not all read today is synced in part', async () => {
  const bruno = await operator.logIn('bruno');
  const { context } = operator.open();
  const reads = await context.reads();
  // Another command of today has read one of the accounts.
  const read = '0020739150';
  await reads.take(bruno, read);
  expect(await syncing(1)(bruno)).toMatchObject([
    { status: 'partly', accounts: 3, skipped: [read], errors: [] },
  ]);
});

it('the command that helps a customer who is not logged in names the customer', async () => {
  const { context } = operator.open();
  const job = {
    ...{ out, since: undefined, today: bankDay(context.world.now()), concurrency: 1, stop: new SharedStop() },
    allowance: { budget: 4, isOperators: true, isSpread: false },
  };
  const failures: unknown[] = [];
  const report = (_report: CustomerReport, failure: unknown) => void failures.push(failure);
  await syncCustomers(context, job, new ListedRound(['777']), report);
  expect(failures).toMatchObject([
    { code: 'not_logged_in', next: [expect.arrayContaining(['auth', 'login', '--customer', '777'])] },
  ]);
});

it('PSD2_CUSTOMER is only a default, so --all-customers syncs all; the option --customer contradicts it', async () => {
  const folder = temporaryFolder();
  const words = ['sync', '--out', folder, '--all-customers', '--cores', '1'];
  const anna = await operator.logIn('anna');
  await operator.logIn('bruno');
  const sync = async (source: 'option' | 'environment') => {
    const { context, printed } = operator.open({ globals: { customer: anna, psuIp: '203.0.113.7' } });
    await runIn({ ...context, sourceOf: (name) => (name === 'customer' ? source : 'default') }, ...words);
    return JSON.parse(printed());
  };
  await expect(sync('option')).rejects.toMatchObject({ code: 'usage' });
  const { customers } = await sync('environment');
  expect(customers.map(({ customerId }: CustomerReport) => customerId)).toContain(operator.idOf('bruno'));
  expect(customers.length).toBeGreaterThan(1);
});

it('every account that failed is reported, also if an error ends the sync of the customer', async () => {
  const carla = await operator.logIn('carla');
  // Reads are spread over the day. So many leave one also just after midnight.
  const round = syncing(100_000, true);
  const failed = async () => {
    const errors = (await round(carla)).flatMap((each) => each.errors);
    return Object.fromEntries(errors.map(({ productId, code }) => [productId, code]));
  };
  expect(await failed()).toMatchObject({ '0030981204': 'bank_answer', '0030981401': 'not_logged_in' });
  // psd2 pauses after the failures before, so it comes to the next account, and gives the customer more turns.
  expect(await failed()).toMatchObject({ '0030981403': 'forbidden', '0030981420': 'too_many_calls' });
});

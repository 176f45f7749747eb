import { expect, it } from 'vitest';
import { type CustomerReport, SharedStop, syncCustomers } from '../../../src/commands/sync/customers.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import { ListedRound } from '../../../src/store/listed-round.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { useOperatorHere } from '../operator.ts';

const operator = useOperatorHere();
const out = temporaryFolder();

/** A run of `psd2 sync`, round after round. @param budget reads of an account a day. @param isSpread as with `--every` */
function syncing(budget: number, isSpread = false) {
  const { context } = operator.open();
  return async (customer: string): Promise<CustomerReport[]> => {
    const reports: CustomerReport[] = [];
    const job = {
      ...{ out, since: undefined, today: bankDay(context.world.now()), concurrency: 1 },
      stop: new SharedStop(),
      allowance: { budget, isOperators: true, isSpread },
    };
    await syncCustomers(context, job, new ListedRound([customer]), (report) => void reports.push(report));
    return reports;
  };
}

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

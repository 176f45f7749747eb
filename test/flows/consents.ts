import type { Bank } from '../../src/bank/ports/bank.ts';
import type { Consent } from '../../src/domain/consent.ts';
import { runConsent } from '../../src/flows/consent/loop.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import type { Flows, Open } from '../../src/store/ports/flows.ts';
import { success } from '../bank/answers.ts';
import type { RecordedBank, ScriptedAnswer } from '../bank/recorded-bank.ts';
import { consentCategories } from '../domain/orders.ts';
import { begun } from '../store/flows.ts';
import { type FakeCustomer, type FakeWorld, fakeCustomer, fakeWorld } from './doubles.ts';
import { flowsIn, readLines, SCA_STARTED, typesOf } from './transfers.ts';

const PATH = '/private/customers/1234567/consent/request';

/** The bank's answer to a consent request, by category. */
export function requested(accountInfo: boolean, payments: boolean): ScriptedAnswer {
  return success(
    `{"categoriesOutcome":[{"name":"ACCOUNT_INFO","outcome":${accountInfo}},{"name":"PAYMENTS","outcome":${payments}}]}`,
    { resourceId: 'r1', next: { method: 'PUT', href: 'request/r1/confirm' } },
  );
}

/** Adds the calls of a consent to a bank's script. */
export function consentScriptOf(recorded: RecordedBank) {
  return {
    request: (answer: ScriptedAnswer = requested(true, true)) => recorded.expect('POST', PATH, answer),
    approach: (answer: ScriptedAnswer = SCA_STARTED) =>
      recorded.expect('GET', '/private/auth/security/sca/r1/approach', answer),
    status: (answer: ScriptedAnswer) => recorded.expect('GET', '/private/operations/r1/status', answer),
    confirm: (answer: ScriptedAnswer = success('{}', { resourceId: 'r1' })) =>
      recorded.expect('PUT', `${PATH}/r1/confirm`, answer),
  };
}

/** A consent with its own journal, world and customer. */
export interface ConsentSetting {
  world: FakeWorld;
  customer: FakeCustomer;
  flows: Flows;
  open: Open<'consent'>;
  /** The consent as stored on disk. */
  stored(): Promise<Consent>;
  /** Continues the consent from its current journal. */
  run(bank: Bank): Promise<Consent>;
  /** The types of the events in the journal. */
  events(): string[];
}

export async function newConsent(folder: StoreFolder, customer = fakeCustomer()): Promise<ConsentSetting> {
  const world = fakeWorld();
  const flows = flowsIn(folder, world);
  const begin = {
    transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
    customerId: '1234567',
    categories: consentCategories(),
  };
  const open = await begun(flows, 'consent', begin);
  const { flow } = open.current;
  return {
    world,
    customer,
    flows,
    open,
    stored: () => flows.find('consent', flow),
    run: (bank) => flows.resume('consent', flow, (taken) => runConsent(taken, { bank, world, customer })),
    events: () => typesOf(readLines(folder, flow)),
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type { Transfer, TransferOrder } from '../../src/domain/transfer.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { OperationPorts } from '../../src/flows/ports.ts';
import { FileFlows } from '../../src/store/files/flows/flows.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import type { Flows, Open } from '../../src/store/ports/flows.ts';
import { success } from '../bank/answers.ts';
import type { RecordedBank, ScriptedAnswer } from '../bank/recorded-bank.ts';
import { transferOrder } from '../domain/orders.ts';
import { begun, opened } from '../store/flows.ts';
import { put } from '../store/temporary-folder.ts';
import { type FakeCustomer, type FakeWorld, fakeCustomer, fakeWorld } from './doubles.ts';

const PATH = '/private/customers/1234567/products/0000012345/moneyTransfer';

export const VERIFIED = success(
  '{"totalAmount":{"amount":"13.000","currency":"EUR"},"commissions":{"commissions":"0.500","currency":"EUR"},"bankName":"BANCA"}',
  { resourceId: 'r1', next: { method: 'PUT', href: 'r1/execute' } },
);
export const SCA_STARTED = success(
  '{"scaRedirectURL":"https://customers.example/sca-authorize/?resourceId=r1","chosenScaApproach":"REDIRECT"}',
);
export const EXECUTED = success('{"cro":"0012345678","moneyTransferOffline":false,"sendEmailEnabled":true}');

/** The execution status of an instant transfer. */
export function executionStatus(status: string, description = ''): ScriptedAnswer {
  return success(`{"executionStatus":"${status}","executionStatusDescription":"${description}"}`);
}

/** Adds the calls of a transfer to a bank's script. */
export function scriptOf(recorded: RecordedBank) {
  return {
    verify: (answer: ScriptedAnswer = VERIFIED) => recorded.expect('POST', `${PATH}/verify`, answer),
    verify2: (answer: ScriptedAnswer) => recorded.expect('PUT', `${PATH}/r1/verify2`, answer),
    approach: (answer: ScriptedAnswer = SCA_STARTED) =>
      recorded.expect('GET', '/private/auth/security/sca/r1/approach', answer),
    status: (answer: ScriptedAnswer) => recorded.expect('GET', '/private/operations/r1/status', answer),
    execute: (answer: ScriptedAnswer = EXECUTED) => recorded.expect('PUT', `${PATH}/r1/execute`, answer),
    executionStatus: (answer: ScriptedAnswer) =>
      recorded.expect('GET', `${PATH}/r1/execution/status`, answer),
  };
}

/** How often `execute` reached the bank in this test. */
export function executions(recorded: RecordedBank): number {
  return recorded.received.filter(({ target }) => target.endsWith('/execute')).length;
}

/** A transfer with its own journal, world and customer. */
export interface TransferSetting {
  world: FakeWorld;
  customer: FakeCustomer;
  flows: Flows;
  open: Open<'transfer'>;
  /** The transfer as stored on disk. */
  stored(): Promise<Transfer>;
  /** The transfer, opened again as another process does on resume. */
  opened(): Promise<Open<'transfer'>>;
  /** Continues the transfer from its current journal. */
  run(bank: Bank, ports?: Partial<OperationPorts<TransferOrder>>): Promise<Transfer>;
  /** The types of the events in the journal. */
  events(): string[];
}

export async function newTransfer(
  folder: StoreFolder,
  settings: { order?: Partial<TransferOrder>; customer?: FakeCustomer; furtherData?: string[] } = {},
): Promise<TransferSetting> {
  const world = fakeWorld();
  const customer = settings.customer ?? fakeCustomer();
  const flows = flowsIn(folder, world);
  const begin = {
    transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
    commits: 'on execute' as const,
    order: transferOrder(settings.order),
    furtherData: settings.furtherData,
  };
  const open = await begun(flows, 'transfer', begin);
  const { flow } = open.current;
  return {
    world,
    customer,
    flows,
    open,
    stored: () => flows.find('transfer', flow),
    opened: () => opened(flows, 'transfer', flow),
    run: (bank, ports = {}) =>
      flows.resume('transfer', flow, (taken) =>
        runOperation(taken, bank.payments.transfer(taken.current), {
          ...{ bank, world, customer, accept: async () => true },
          ...ports,
        }),
      ),
    events: () => typesOf(readLines(folder, flow)),
  };
}

/** The flows of the profile `sandbox` on disk. */
export function flowsIn(folder: StoreFolder, { now }: Pick<FakeWorld, 'now'>): FileFlows {
  return new FileFlows(folder.flows('sandbox'), { now, random: () => 0.5 });
}

/** The lines of a flow's journal. */
export function readLines(folder: StoreFolder, flow: string): string[] {
  return readFileSync(join(folder.flows('sandbox'), `${flow}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n');
}

/** The types of the events in these lines. */
export function typesOf(lines: readonly string[]): string[] {
  return lines.map((line) => JSON.parse(line).event.type);
}

/** Puts the lines of a journal into a folder, as a killed process left them behind. @returns the id of the flow */
export function leaveBehind(folder: StoreFolder, lines: readonly string[]): string {
  const flow: string = JSON.parse(lines[0] ?? '').event.flow;
  put(join(folder.flows('sandbox'), `${flow}.ndjson`), `${lines.join('\n')}\n`);
  return flow;
}

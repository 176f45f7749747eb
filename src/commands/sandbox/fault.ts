import type { Command } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { control } from '../../sandbox/control/control-client.ts';
import { BadFault, parseFault } from '../../sandbox/faults/fault.ts';
import { type FaultOrder, type FaultRecord, faultRecord } from '../../sandbox/faults/fault-book.ts';
import { parseTarget } from '../../sandbox/faults/target.ts';
import { list as listOf, number, object, orNull, seen, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples, type Noun, type OptionsOf, verb } from '../declare.ts';
import { readDuration, readWholeNumber } from '../shared/option-values.ts';
import { requireRunning } from './running.ts';

const printedFault = object({
  id: whole('id for fault clear').as('Id'),
  fault: text('for example status=503').as('Fault', { whole: true }),
  on: orNull(text('calls that the fault matches; null: every call'))
    .as('On')
    .written((on) => on ?? 'every call'),
  customer: orNull(text('user or id whose calls fail; null: of every customer'))
    .as('Customer')
    .written((customer) => customer ?? 'everyone'),
  when: seen('When', conditionsOf),
  until: orNull(text("when it ends in the bank's time, ISO 8601; null: when it is cleared")),
  times: orNull(whole('number of calls that it changes; null: all')),
  after: whole('number of calls that succeed first'),
  probability: number('share of the calls that it changes, 0 to 1'),
  seed: text('seed of the random choice'),
  seen: whole('number of calls that it matched').as('Calls'),
  fired: whole('number of calls that it changed').as('Applied'),
});

const cleared = object({ cleared: whole('number of removed faults') });

function withFaultOptions(command: Command) {
  return command
    .argument('<fault>', 'for example cut-after-effect, delay=500, status=503, clock=-7')
    .option('--on <call>', 'calls that fail: execute, token, ..., or "GET /private/*"; default: all')
    .option('--times <n>', 'number of calls that fail; default: all')
    .option('--after <n>', 'number of calls that succeed first')
    .option('--probability <p>', 'share of the calls that fail, for example 0.25')
    .option(
      '--for <duration>',
      "how long it lasts in the bank's time, for example 2h; default: until it is cleared",
    )
    .option('--seed <text>', 'with --probability: choose the same calls in every run');
}

type FaultOptions = OptionsOf<typeof withFaultOptions>;

/** @throws Psd2Error `usage`, `sandbox` if it is not running */
const add = verb(
  {
    prints: { what: 'a fault', shape: printedFault },
    help: `
With --customer, a user or a customer id, only the calls of this customer fail.
docs/sandbox.md, "Faults", lists all faults and calls. So does the error for an unknown one.
${examples('psd2 sandbox fault add cut-after-effect --on execute --times 1', 'psd2 sandbox fault add status=503 --for 2h --customer bruno')}`,
  },
  withFaultOptions,
  async (context, fault, options, command) => {
    // Not PSD2_CUSTOMER: that says for whom psd2 acts.
    const isNamed = command.getOptionValueSourceWithGlobals('customer') === 'cli';
    const customer = isNamed ? context.globals.customer : undefined;
    const order = { ...readFaultOrder(fault, options), ...(customer !== undefined && { customer }) };
    const running = await requireRunning(context);
    const added = await control(running, { method: 'POST', path: '/faults', body: order }, faultRecord);
    context.output.record(added, printedFault);
    context.terminal.say('Calls succeed again after: psd2 sandbox fault clear');
  },
);

const list = bareVerb(
  { what: 'faults', shape: listOf(printedFault) },
  examples('psd2 sandbox fault list'),
  listFaults,
);

/** @throws Psd2Error `usage`, `sandbox` if it is not running */
const clear = verb(
  {
    prints: { what: 'number of removed faults', shape: cleared },
    help: examples('psd2 sandbox fault clear'),
  },
  (command) => command.argument('[id]', 'id of a fault; default: all'),
  async (context, id) => {
    const path = id === undefined ? '/faults' : `/faults/${readWholeNumber('The id', id, 1)}`;
    const running = await requireRunning(context);
    const removed = await control(running, { method: 'DELETE', path }, z.object({ cleared: z.int() }));
    if (id !== undefined && removed.cleared === 0)
      throw new Psd2Error('usage', `There is no fault ${id}`, {
        hint: 'See the faults with:',
        next: [['sandbox', 'fault', 'list']],
      });
    if (context.output.format === 'table') context.terminal.say(`Faults cleared: ${removed.cleared}.`);
    else context.output.record(removed, cleared);
  },
);

export const fault: Noun = {
  declare: (command) =>
    command.addHelpText('after', examples('psd2 sandbox fault list', 'psd2 sandbox fault clear')),
  commands: {
    add: { description: 'make calls fail from now on', load: async () => add },
    list: {
      description: 'show the faults, and how many calls each matched and changed',
      load: async () => list,
    },
    clear: { description: 'remove faults', load: async () => clear },
  },
};

/** @throws Psd2Error `sandbox` if it is not running */
async function listFaults(context: Context): Promise<void> {
  const running = await requireRunning(context);
  const faults = await control(running, { method: 'GET', path: '/faults' }, z.array(faultRecord));
  await context.output.table(faults, printedFault, 'There are no faults.');
}

function readFaultOrder(
  fault: string,
  { on, times, after, probability, seed, for: lasting }: FaultOptions,
): FaultOrder {
  try {
    parseFault(fault);
    if (on !== undefined) parseTarget(on);
  } catch (error) {
    if (error instanceof BadFault) throw new Psd2Error('usage', error.message, { hint: error.hint });
    throw error;
  }
  if (seed !== undefined && probability === undefined)
    throw new Psd2Error('usage', '--seed needs --probability');
  return {
    fault,
    ...(on !== undefined && { on }),
    ...(times !== undefined && { times: readWholeNumber('--times', times, 1) }),
    ...(after !== undefined && { after: readWholeNumber('--after', after, 0) }),
    ...(probability !== undefined && { probability: readShare(probability) }),
    ...(seed !== undefined && { seed }),
    ...(lasting !== undefined && { forSeconds: readDuration('--for', lasting, MAX_LASTING_MS) / 1000 }),
  };
}

const MAX_LASTING_MS = 365 * 86_400_000;

function readShare(text: string): number {
  const share = /^(?:0?\.\d{1,9}|1(?:\.0+)?)$/.test(text) ? Number(text) : 0;
  if (share > 0) return share;
  throw new Psd2Error(
    'usage',
    `--probability ${JSON.stringify(text)} is not a decimal above 0 and at most 1`,
    { hint: 'For example --probability 0.25.' },
  );
}

function conditionsOf({ times, after, probability, seed, until }: FaultRecord): string {
  return [
    ...(after > 0 ? [`after ${after}`] : []),
    ...(probability < 1 ? [`${probability} of them (seed ${seed})`] : []),
    times === null ? 'always' : `${times} times`,
    ...(until === null ? [] : [`until ${until}`]),
  ].join(', ');
}

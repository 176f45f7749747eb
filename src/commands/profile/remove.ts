import { isOpen } from '../../domain/flow-states.ts';
import { isOutcomeOpen } from '../../domain/next-step.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { parseProfileName } from '../../store/machine/profiles.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { always, object, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { collect } from '../flow/list.ts';
import { confirmed } from '../shared/confirmed.ts';
import { recordProfileChange } from '../shared/record-in-audit.ts';
import { noSuchProfile } from './change.ts';

const shape = object({ name: text('name of the profile'), removed: always(true) });

export const remove = verb(
  {
    prints: { what: 'what was removed', shape },
    help: `
psd2 refuses while another psd2 works on one of the profile's flows, and while a payment is authorised but not executed,
or has an unknown outcome: psd2 transfer resume <flow> ends such a payment. It also refuses if a journal is damaged,
because the journal may belong to such a payment. It names other unfinished flows; their journals stay.
${examples('psd2 profile remove mybank')}`,
  },
  (command) => command.argument('<profile>'),
  (context, name) => profileRemove(context, name),
);

/** Removes settings and tokens after a confirmation. The record of payments stays. */
export async function profileRemove(context: Context, name: string): Promise<void> {
  const { profiles, terminal, output } = context;
  if (!profiles.list().includes(parseProfileName(name))) throw noSuchProfile(name, profiles.list());
  const { flows, tokens, customers } = (await context.forProfile(name).wholeStore()).open(name);
  // No new transfer can begin between the check and the removal.
  await flows.exclusively(async () => {
    const [working] = await flows.atWork();
    if (working) {
      const { flow, holder } = working;
      throw new Psd2Error('config', `Another psd2 is working on ${flow} of the profile ${name}: ${holder}`, {
        hint: 'Wait for it to end, or interrupt it. Nothing was removed.',
      });
    }
    // A damaged journal stops the removal, because the outcome of its payment may be unknown.
    const operations = [
      ...(await collect(flows.list('transfer'))),
      ...(await collect(flows.list('operation'))),
    ];
    refuseInDoubt(operations, name);
    await confirmRemoval(context, operations, name);
    await recordProfileChange(context, name, 'removed');
    await customers.forgetAll();
    await tokens.forgetAll();
    profiles.remove(name);
    await forgetKey(context, name);
  });
  const recorded = await flows.recordedIn();
  if (output.format === 'table')
    terminal.say(
      recorded !== undefined
        ? `The profile ${name} is removed. The record of its flows stays in ${recorded}.`
        : `The profile ${name} is removed.`,
    );
  else output.record({ name, removed: true }, shape);
}

/** Removes the key. The profile is gone by now, so a failure is only a warning. */
async function forgetKey({ profiles, terminal }: Context, name: string): Promise<void> {
  try {
    await profiles.vault(name).forget();
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'config') throw error;
    terminal.warn(
      `psd2 could not remove the profile's key, which is useless now: ${endSentence(error.message)}`,
    );
  }
}

/** @throws Psd2Error `config` if a payment is authorised but not executed, or its outcome is unknown */
function refuseInDoubt(operations: (Transfer | GenericOperation)[], name: string): void {
  const inDoubt = operations.filter(
    (operation) =>
      operation.state === 'authorized' ||
      isOutcomeOpen(operation, 'instant' in operation.order && needsSettlement(operation.order)),
  );
  if (inDoubt.length === 0) return;
  throw new Psd2Error('config', `The profile ${name} has unfinished payments: ${nameFlows(inDoubt)}`, {
    hint: 'Finish them first:',
    next: inDoubt.slice(0, 3).map(({ kind, flow }) => ['--profile', name, kind, 'resume', flow]),
  });
}

/** @throws Psd2Error `cancelled`, `confirmation_needed` */
async function confirmRemoval(
  context: Context,
  operations: (Transfer | GenericOperation)[],
  name: string,
): Promise<void> {
  const { terminal } = context;
  const begun = operations.filter(isOpen);
  if (begun.length > 0)
    terminal.warn(`Unfinished flows, which psd2 cannot resume without the profile: ${nameFlows(begun)}.`);
  markProduction(context, name);
  await confirmed(context, {
    text: `Remove the profile ${name} with its certificates and tokens?`,
    unasked: 'Removing a profile needs a confirmation',
    hint: 'Add --yes.',
    declined: 'Nothing was removed',
  });
}

function nameFlows(flows: { flow: string; state: string }[]): string {
  const named = flows.slice(0, 5).map(({ flow, state }) => `${flow} (${state})`);
  return named.concat(flows.length > 5 ? [`and ${flows.length - 5} more`] : []).join(', ');
}

/** What is stored counts here, and not the environment. A profile with a damaged file can be removed too. */
function markProduction({ profiles, terminal }: Context, name: string): void {
  try {
    if (profiles.read(name)?.environment === 'production') terminal.mark(`PRODUCTION ${name}`);
  } catch {
    // Nobody knows what it was for.
  }
}

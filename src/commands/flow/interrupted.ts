import { writeCommand } from '../../advice.ts';
import type { Flows, LeftBehind } from '../../store/ports/flows.ts';
import type { ProfileContext } from '../context.ts';
import { commandThatContinues } from './next-command.ts';

const MAX_NAMED = 3;

/**
 * Names the interrupted flows, and those that wait for their customer, of the profile and the commands that continue them, on stderr, for a person at a
 * terminal. A flow is interrupted if it has not ended and no process works on it.
 *
 * @param own the flow of this command, as the operator named it; it is left out
 */
export async function nameInterruptedFlows(
  context: ProfileContext,
  flows: Flows,
  own?: string,
): Promise<void> {
  if (!context.isForPerson) return;
  const { flows: interrupted, more } = await flows.leftBehind(MAX_NAMED, own);
  const [first] = interrupted;
  if (!first) return;
  const count = interrupted.length + more;
  const what = count === 1 ? `${first.kind} ${first.flow} (${first.state})` : `${count} flows`;
  const next = await commandsOf(flows, interrupted);
  // Nothing stopped what only waits for its customer.
  const waiting = interrupted.filter(({ state }) => state === 'authorizing').length;
  const hint =
    waiting === interrupted.length
      ? `Waiting: ${what}. Ask the bank with:`
      : `${waiting > 0 ? 'Unfinished' : 'Interrupted'}: ${what}. Continue with:`;
  // A command has a line of its own, so that it is not broken.
  const commands = next.map((words) => `  ${writeCommand(words, context.repeated)}`);
  const others = more > 0 ? [`  And ${more} more: see psd2 transfer, consent and operation list.`] : [];
  context.terminal.say([hint, ...commands, ...others].join('\n'));
}

/** The commands that continue flows, each once. */
async function commandsOf(flows: Flows, interrupted: LeftBehind['flows']): Promise<string[][]> {
  const commands = new Map<string, string[]>();
  for (const { kind, flow } of interrupted) {
    const command = commandThatContinues(await flows.find(kind, flow));
    commands.set(command.join(' '), command);
  }
  return [...commands.values()];
}

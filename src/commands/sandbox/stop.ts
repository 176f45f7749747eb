import { flag, object } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { sandboxFolderOf } from './running.ts';

const shape = object({ stopped: flag('false if no sandbox was running') });

export const stop = bareVerb(
  { what: 'whether the sandbox was running', shape },
  examples('psd2 sandbox stop'),
  stopBank,
);

/** It is not an error if the bank does not run. */
async function stopBank(context: Context): Promise<void> {
  const { terminal, output } = context;
  const { stopSandbox } = await import('../../sandbox/folder/running.ts');
  const stopped = await stopSandbox(sandboxFolderOf(context));
  if (output.format === 'table')
    terminal.say(stopped ? `The sandbox at ${stopped.baseUrl} has stopped.` : 'The sandbox is not running.');
  else output.record({ stopped: stopped !== undefined }, shape);
}

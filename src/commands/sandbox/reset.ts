import { flag, object } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { SANDBOX_PROFILE } from './profile.ts';
import { sandboxFolderOf } from './running.ts';

const shape = object({ reset: flag('false if no sandbox was running') });

export const reset = bareVerb(
  { what: 'whether the sandbox was running', shape },
  examples('psd2 sandbox reset'),
  resetBank,
);

/** Resets the bank to its start. It is not an error if the bank does not run: there is nothing to reset. */
async function resetBank(context: Context): Promise<void> {
  const { terminal, output } = context;
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  const running = await runningSandbox(sandboxFolderOf(context));
  if (running) await (await import('../../sandbox/control/control-client.ts')).resetSandbox(running);
  if (output.format !== 'table') output.record({ reset: running !== undefined }, shape);
  else if (!running) terminal.say('The sandbox is not running.');
  else {
    terminal.say(
      [
        `The sandbox at ${running.baseUrl} is reset to its start.`,
        `The stored logins have ended. Log in again: psd2 --profile ${SANDBOX_PROFILE} auth login`,
      ].join('\n'),
    );
  }
}

import type { Context } from '../context.ts';
import { sandboxFolderOf } from './folder.ts';
import { SANDBOX_PROFILE } from './profile.ts';
import { reset } from './shape.ts';

/**
 * `psd2 sandbox reset`: the ledger as it was at the start, and nothing of what came after. One that does not run is
 * no error: there is nothing to take back.
 */
export async function sandboxReset(context: Context): Promise<void> {
  const { terminal, output } = context;
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  const running = await runningSandbox(sandboxFolderOf(context));
  if (running) {
    await (await import('../../sandbox/control/control-client.ts')).resetSandbox(running);
  }
  if (output.format !== 'table') output.record({ reset: running !== undefined }, [], reset);
  else if (!running) terminal.say('The sandbox is not running.');
  else {
    terminal.say(
      [
        `The sandbox at ${running.baseUrl} is as it was when it started.`,
        `The logins that psd2 stored for it have ended: psd2 --profile ${SANDBOX_PROFILE} auth login`,
      ].join('\n'),
    );
  }
}

import type { Context } from '../context.ts';
import { sandboxFolderOf } from './folder.ts';

/** `psd2 sandbox stop`: it is not an error if the bank does not run. */
export async function sandboxStop(context: Context): Promise<void> {
  const { terminal, output } = context;
  const { stopSandbox } = await import('../../sandbox/folder/running.ts');
  const stopped = await stopSandbox(sandboxFolderOf(context));
  if (output.format === 'table')
    terminal.say(stopped ? `The sandbox at ${stopped.baseUrl} has stopped.` : 'The sandbox is not running.');
  else output.record({ stopped: stopped !== undefined }, []);
}

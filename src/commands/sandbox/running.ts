import { Psd2Error } from '../../errors.ts';
import type { RunningSandbox } from '../../sandbox/folder/running.ts';
import type { Context } from '../context.ts';
import { sandboxFolderOf } from './folder.ts';

/** @throws Psd2Error `sandbox` if it is not running */
export async function requireRunning(context: Context): Promise<RunningSandbox> {
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  const running = await runningSandbox(sandboxFolderOf(context));
  if (running) return running;
  throw new Psd2Error('sandbox', 'The sandbox is not running', {
    hint: 'Start it with:',
    next: [['sandbox', 'start', '--detach']],
  });
}

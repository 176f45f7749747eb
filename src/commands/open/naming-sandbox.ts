import type { Exchange, Said } from '../../bank/call/call.ts';
import { CallFailed } from '../../bank/transport/connection.ts';
import { Psd2Error } from '../../errors.ts';
import type { Profile } from '../../store/machine/settings.ts';
import type { ProfileContext } from '../context.ts';
import { isOwnSandbox } from '../sandbox/profile.ts';

/**
 * Wraps the calls of the sandbox's profile: if the sandbox is not running, the error says so. Other profiles' calls stay
 * as they are.
 */
export function namingSandbox<What extends Said>(
  context: Pick<ProfileContext, 'folder'>,
  { settings }: Profile,
  exchange: Exchange<What>,
): Exchange<What> {
  if (!isOwnSandbox(settings, context)) return exchange;
  return async (call) => {
    try {
      return await exchange(call);
    } catch (error) {
      if (!isUnreachable(error) || (await isRunning(context))) throw error;
      throw new Psd2Error(error.code, 'The sandbox is not running', {
        ...error.context,
        hint: 'Start it with:',
        next: [['sandbox', 'start', '--detach']],
      });
    }
  };
}

function isUnreachable(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.cause instanceof CallFailed && error.cause.neverSent;
}

async function isRunning({ folder }: Pick<ProfileContext, 'folder'>): Promise<boolean> {
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  return (await runningSandbox(folder.sandbox)) !== undefined;
}

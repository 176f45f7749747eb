import type { Caller, Said } from '../../bank/call/call.ts';
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
  calls: Caller<What>,
  context: Pick<ProfileContext, 'folder'>,
  { settings }: Profile,
): Caller<What> {
  if (!isOwnSandbox(settings, context)) return calls;
  const naming = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      if (!isUnreachable(error) || (await isRunning(context))) throw error;
      throw new Psd2Error(error.code, 'The sandbox is not running', {
        ...error.context,
        hint: 'Start it with:',
        next: [['sandbox', 'start', '--detach']],
      });
    }
  };
  return {
    send: (call) => naming(() => calls.send(call)),
    ask: (call, read) => naming(() => calls.ask(call, read)),
  };
}

function isUnreachable(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.cause instanceof CallFailed && error.cause.neverSent;
}

async function isRunning({ folder }: Pick<ProfileContext, 'folder'>): Promise<boolean> {
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  return (await runningSandbox(folder.sandbox)) !== undefined;
}

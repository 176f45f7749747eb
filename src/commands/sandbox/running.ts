import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import type { RunningSandbox } from '../../sandbox/folder/running.ts';
import { refuseUnsafeFilesIn } from '../../store/disk/permissions.ts';
import { object, text, type ValueOf, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { Printed } from '../declare.ts';
import { SANDBOX_PROFILE } from './profile.ts';

export const addresses = object({
  baseUrl: text("base URL of the bank's interface").as('Interface'),
  customerSiteUrl: text('site where the customers log in').as('Customer site'),
  consoleUrl: text('console that shows the calls, for this computer').as('Console'),
  pid: whole('process id').as('Process'),
  profile: text('profile that psd2 stores for the sandbox').as('Profile'),
});

export const ADDRESSES: Printed = { what: 'addresses of the sandbox', shape: addresses };

/** The addresses of a running sandbox. */
export function addressesOf({
  baseUrl,
  customerSiteUrl,
  outsideUrl,
  pid,
}: RunningSandbox): ValueOf<typeof addresses> {
  const consoleUrl = `${customerSiteUrl}/console`;
  return {
    baseUrl,
    customerSiteUrl: outsideUrl ?? customerSiteUrl,
    consoleUrl,
    pid,
    profile: SANDBOX_PROFILE,
  };
}

/**
 * The folder of the sandbox's registration, certificates and addresses. This function checks the files, because the
 * sandbox itself does not.
 *
 * @throws Psd2Error `config` if a file in it belongs to another user, or others can read or change it
 */
export function sandboxFolderOf({ folder }: Pick<Context, 'folder'>): string {
  refuseUnsafeFilesIn(folder.sandbox);
  refuseUnsafeFilesIn(join(folder.sandbox, 'certificates'));
  return folder.sandbox;
}

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

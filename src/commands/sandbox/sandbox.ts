import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import type { RunningSandbox } from '../../sandbox/folder/running.ts';
import type { Context } from '../context.ts';
import { sandboxFolderOf } from './folder.ts';
import { addressesOf, SANDBOX_FIELDS, SANDBOX_PROFILE } from './start.ts';

/** `psd2 sandbox status`. @throws Psd2Error `sandbox` when it does not run */
export async function sandboxStatus(context: Context): Promise<void> {
  context.output.record(addressesOf(await requireRunning(context)), SANDBOX_FIELDS);
}

/** `psd2 sandbox stop`: one that does not run is no error. */
export async function sandboxStop(context: Context): Promise<void> {
  const { terminal, output } = context;
  const { stopSandbox } = await import('../../sandbox/folder/running.ts');
  const stopped = await stopSandbox(sandboxFolderOf(context));
  if (output.format === 'table')
    terminal.say(stopped ? `The sandbox at ${stopped.baseUrl} has ended.` : 'The sandbox is not running.');
  else output.record({ stopped: stopped !== undefined }, []);
}

/**
 * `psd2 sandbox env`: export lines for `eval`, or the variables as one object. The secrets among them open
 * nothing but this sandbox.
 *
 * @throws Psd2Error `sandbox` when it does not run
 */
export async function sandboxEnv(context: Context): Promise<void> {
  const { baseUrl } = await requireRunning(context);
  const { loadOrCreateRegistration } = await import('../../sandbox/folder/registration.ts');
  const registration = await loadOrCreateRegistration(sandboxFolderOf(context));
  const { authorizationCode, clientCredentials } = registration.applications;
  const variables = {
    PSD2_BASE_URL: baseUrl,
    PSD2_CLIENT_ID: authorizationCode.clientId,
    PSD2_CLIENT_SECRET: authorizationCode.clientSecret,
    PSD2_APP_NAME: authorizationCode.applicationName,
    PSD2_CC_CLIENT_ID: clientCredentials.clientId,
    PSD2_CC_CLIENT_SECRET: clientCredentials.clientSecret,
    PSD2_CC_APP_NAME: clientCredentials.applicationName,
    PSD2_QWAC_CERT: registration.qwacCertFile,
    PSD2_QWAC_KEY: registration.qwacKeyFile,
    PSD2_QSEAL_CERT: registration.qsealCertFile,
    PSD2_QSEAL_KEY: registration.qsealKeyFile,
    PSD2_CA: registration.caFile,
    PSD2_BANK_SIGNING_CERT: registration.bankSigningCertFile,
  };
  if (context.output.format !== 'table') return context.output.record(variables, []);
  for (const [name, value] of Object.entries(variables)) {
    context.output.text(`export ${name}=${quoteForShell(value)}`);
  }
}

/** `psd2 sandbox customer <url>`: plays the customer, so that a whole flow runs in a pipeline. */
export async function sandboxCustomer(
  { terminal, world, output }: Context,
  url: string,
  { refuse, user }: { refuse: boolean; user: string | undefined },
): Promise<void> {
  const { playCustomer } = await import('../../sandbox/player/play-customer.ts');
  const { pages, finalUrl } = await playCustomer(url, {
    refuse,
    signal: world.signal,
    ...(user !== undefined && { user }),
  });
  if (output.format === 'table') terminal.say([...pages, `Back at ${finalUrl}`].join('\n'));
  else output.record({ pages, finalUrl }, []);
}

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
  if (output.format !== 'table') output.record({ reset: running !== undefined }, []);
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

/** @throws Psd2Error `sandbox` when it does not run */
export async function requireRunning(context: Context): Promise<RunningSandbox> {
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  const running = await runningSandbox(sandboxFolderOf(context));
  if (running) return running;
  throw new Psd2Error('sandbox', 'The sandbox is not running', {
    hint: 'Start it with:',
    next: [['sandbox', 'start', '--detach']],
  });
}

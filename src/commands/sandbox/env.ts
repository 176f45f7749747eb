import { quoteForShell } from '../../quote-for-shell.ts';
import type { Context } from '../context.ts';
import { sandboxFolderOf } from './folder.ts';
import { requireRunning } from './running.ts';
import { variables as variablesShape } from './shape.ts';

/**
 * `psd2 sandbox env`: prints export lines for `eval`, or the variables as one object. Their secrets are valid for this
 * sandbox only.
 *
 * @throws Psd2Error `sandbox` if it is not running
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
  if (context.output.format !== 'table') return context.output.record(variables, [], variablesShape);
  for (const [name, value] of Object.entries(variables)) {
    context.output.text(`export ${name}=${quoteForShell(value)}`);
  }
}

import { isLoopback } from '../../domain/local-address.ts';
import { type Profile, redirectUriOf } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { finding } from '../shared/checks.ts';
import type { Check } from './check.ts';
import type { Finding } from './diagnosis.ts';

const NAME = 'redirect port';

/** Whether psd2 can listen where the customer's browser returns to. */
export const redirect: Check = {
  id: 'redirect',
  needs: ['settings'],
  names: async () => [NAME],
  async run({ context, diagnosis }) {
    await diagnosis.make(NAME, async () => checkRedirectPort(context, await context.unsealed()));
    return undefined;
  },
};

async function checkRedirectPort({ env }: Context, profile: Profile): Promise<Finding> {
  const uri = new URL(redirectUriOf(profile));
  if (!isLoopback(uri)) return finding('skip', `${uri.href} is not on this computer: log in with --paste`);
  const { serveOnLoopback } = await import('../../callback/loopback-server.ts');
  const { makeLoopbackCertificate } = await import('../../certificates/loopback.ts');
  const stop = await serveOnLoopback(
    uri,
    () => makeLoopbackCertificate([uri.hostname]),
    (_, response) => response.end(),
  );
  await stop();
  const port = uri.port || (uri.protocol === 'https:' ? '443' : '80');
  const forward = `For a browser on your own computer: ssh -L ${port}:127.0.0.1:${port} <this computer>`;
  return finding('ok', `psd2 can listen at ${uri.href}`, env.SSH_CONNECTION ? { hint: forward } : null);
}

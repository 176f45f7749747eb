import { Command } from '@commander-js/extra-typings';
import type { Run } from './declare.ts';

export function declareSandbox(run: Run) {
  const sandbox = new Command('sandbox').description(
    'a bank on this machine to try and test with, never for production',
  );

  sandbox
    .command('start')
    .description('start the bank and store the profile "sandbox"')
    .option('--port <n>', 'port of the interface; 0 for any', '8443')
    .option('--detach', 'return when it is ready, and leave it running')
    .action(({ port, detach = false }) =>
      run(async (context) =>
        (await import('../../commands/sandbox-start.ts')).sandboxStart(context, { port, detach }),
      ),
    );

  sandbox
    .command('status')
    .description('show whether it runs, and where')
    .action(() => run(async (context) => (await import('../../commands/sandbox.ts')).sandboxStatus(context)));

  sandbox
    .command('stop')
    .description('stop the bank that runs')
    .action(() => run(async (context) => (await import('../../commands/sandbox.ts')).sandboxStop(context)));

  sandbox
    .command('env')
    .description('print export lines, so that no profile is needed')
    .addHelpText('after', '\nExample:\n  $ eval "$(psd2 sandbox env)"')
    .action(() => run(async (context) => (await import('../../commands/sandbox.ts')).sandboxEnv(context)));

  sandbox
    .command('customer')
    .argument('<url>')
    .description(
      "play the customer without a browser: walk the bank's pages from this address and submit their forms",
    )
    .option('--refuse', 'refuse at the first page that can be refused')
    .addHelpText(
      'after',
      '\nExample:\n  $ PSD2_BROWSER="psd2 sandbox customer" psd2 --profile sandbox auth login',
    )
    .action((url, { refuse = false }) =>
      run(async (context) =>
        (await import('../../commands/sandbox.ts')).sandboxCustomer(context, url, { refuse }),
      ),
    );

  return sandbox;
}

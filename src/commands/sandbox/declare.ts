import { Command, Option } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareSandbox(sandbox: Command, run: Run): void {
  sandbox.addHelpText(
    'after',
    examples('psd2 sandbox start --detach', 'psd2 --profile sandbox auth login', 'psd2 sandbox stop'),
  );
  declareStart(sandbox, run);
  declareRunning(sandbox, run);
  declareCustomer(sandbox, run);
  sandbox.addCommand(declareFault(run));
}

function declareStart(sandbox: Command, run: Run): void {
  sandbox
    .command('start')
    .description('start the bank and store the profile "sandbox"')
    .option('--port <n>', 'port of the interface; 0 for any', '8443')
    .option('--detach', 'return when it is ready, and leave it running')
    .option(
      '--no-enforce-consents',
      'serve calls for products and categories that the customer did not consent to',
    )
    .option('--roles <list>', 'check the PSD2 roles of the TPP: AISP, PISP, PIISP, separated by commas')
    .option('--token-ttl <seconds>', 'lifetime of access tokens (default: 3500)')
    .option('--no-rotation', 'a refresh leaves the refresh token as it is')
    .option('--rate-limit <n>', 'calls that an application may make a minute')
    .option('--daily-limit <n>', 'calls that client credentials may make a day')
    .option('--customers <n>', 'make up so many customers besides anna, bruno and carla')
    .option('--transactions <n>', "booked transactions of anna's and of each made up account")
    .option('--page-size <n>', 'transactions on a page (default: 10)')
    .addOption(
      new Option('--persona <name>', 'answer as specified, or in every odd shape that the real bank has')
        .choices(['clean', 'lived-in'] as const)
        .default('clean' as const),
    )
    .addHelpText(
      'after',
      `
The name of a beneficiary can choose how a transfer ends: docs/sandbox.md, "Magic values".
${examples('psd2 sandbox start', 'psd2 sandbox start --detach --port 0 --persona lived-in')}`,
    )
    .action(({ detach = false, ...options }) =>
      run(async (context) =>
        (await import('./start.ts')).sandboxStart(context, {
          detach,
          ...options,
        }),
      ),
    );
}

/** What there is to do with one that runs. */
function declareRunning(sandbox: Command, run: Run): void {
  sandbox
    .command('status')
    .description('show whether it runs, and where')
    .addHelpText('after', examples('psd2 sandbox status'))
    .action(() => run(async (context) => (await import('./status.ts')).sandboxStatus(context)));

  sandbox
    .command('stop')
    .description('stop the bank that runs')
    .addHelpText('after', examples('psd2 sandbox stop'))
    .action(() => run(async (context) => (await import('./stop.ts')).sandboxStop(context)));

  sandbox
    .command('reset')
    .description('take it back to how it was when it started: ledger, logins, consents, operations, faults')
    .addHelpText('after', examples('psd2 sandbox reset'))
    .action(() => run(async (context) => (await import('./reset.ts')).sandboxReset(context)));

  sandbox
    .command('env')
    .description('print export lines, so that no profile is needed')
    .addHelpText('after', '\nExample:\n  $ eval "$(psd2 sandbox env)"')
    .action(() => run(async (context) => (await import('./env.ts')).sandboxEnv(context)));

  sandbox
    .command('console')
    .description('open its console in the browser: what the bank saw of each call, and why it refused one')
    .addHelpText(
      'after',
      `
With --no-browser, or PSD2_BROWSER=none, it prints the address.
${examples('psd2 sandbox console', 'psd2 sandbox console --no-browser')}`,
    )
    .action(() => run(async (context) => (await import('./console.ts')).sandboxConsole(context)));
}

function declareCustomer(sandbox: Command, run: Run): void {
  sandbox
    .command('customer')
    .argument('<url>')
    .description(
      "play the customer without a browser: walk the bank's pages from this address and submit their forms",
    )
    .option('--refuse', 'refuse at the first page that can be refused')
    .option('--user <name>', 'who logs in (default: anna)')
    .addHelpText(
      'after',
      examples(
        'PSD2_BROWSER="psd2 sandbox customer" psd2 --profile sandbox auth login',
        "psd2 sandbox customer --refuse 'http://127.0.0.1:8444/login?request=...'",
      ),
    )
    .action((url, { refuse = false, user }) =>
      run(async (context) => (await import('./customer.ts')).sandboxCustomer(context, url, { refuse, user })),
    );
}

function declareFault(run: Run) {
  const fault = new Command('fault')
    .description('have calls go wrong, to see what a client makes of it')
    .addHelpText('after', examples('psd2 sandbox fault list', 'psd2 sandbox fault clear'));

  fault
    .command('add')
    .argument('<fault>', 'for example cut-after-effect, delay=500, status=503, clock=-7')
    .description('have calls go wrong from now on')
    .option('--on <call>', 'which calls: execute, token, ..., or "GET /private/*"; default: all')
    .option('--times <n>', 'how many go wrong; default: all')
    .option('--after <n>', 'how many go well before')
    .option('--probability <p>', 'the share of the calls that go wrong, for example 0.25')
    .option('--seed <text>', 'which of them, with --probability: the same at every run')
    .addHelpText(
      'after',
      `
Faults and calls are listed in docs/sandbox.md, "Faults"; a wrong one names them all.

Example:
  $ psd2 sandbox fault add cut-after-effect --on execute --times 1`,
    )
    .action((name, options) =>
      run(async (context) => (await import('./fault.ts')).addFault(context, name, options)),
    );

  fault
    .command('list')
    .description('show the faults, and how many calls each was for and spoilt')
    .addHelpText('after', examples('psd2 sandbox fault list'))
    .action(() => run(async (context) => (await import('./fault.ts')).listFaults(context)));

  fault
    .command('clear')
    .argument('[id]', 'one of them; default: all')
    .description('have calls go well again')
    .addHelpText('after', examples('psd2 sandbox fault clear'))
    .action((id) => run(async (context) => (await import('./fault.ts')).clearFaults(context, id)));

  return fault;
}

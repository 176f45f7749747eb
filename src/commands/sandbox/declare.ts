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
    .description('start the sandbox bank and store the profile "sandbox"')
    .option('--port <n>', 'port of the interface; 0 for any free port', '8443')
    .option('--detach', 'leave the bank running in the background, and return when it is ready')
    .option(
      '--no-enforce-consents',
      'answer calls even if the customer gave no consent for the product or category',
    )
    .option('--roles <list>', 'check the PSD2 roles of the TPP: AISP, PISP, PIISP, separated by commas')
    .option('--token-ttl <seconds>', 'lifetime of access tokens (default: 3500)')
    .option('--no-rotation', 'keep the same refresh token when an access token is refreshed')
    .option('--rate-limit <n>', 'maximum number of calls of an application a minute')
    .option('--daily-limit <n>', 'maximum number of calls with client credentials a day')
    .option('--customers <n>', 'number of generated customers, in addition to anna, bruno and carla')
    .option(
      '--transactions <n>',
      "number of booked transactions of anna's account and of each generated account",
    )
    .option('--page-size <n>', 'number of transactions on a page (default: 10)')
    .addOption(
      new Option(
        '--persona <name>',
        'answer as specified (clean), or with all oddities of the real bank (lived-in)',
      )
        .choices(['clean', 'lived-in'] as const)
        .default('clean' as const),
    )
    .addHelpText(
      'after',
      `
The payee's name can choose how a transfer ends: docs/sandbox.md, "Magic values".
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

/** Declares the commands for a running sandbox. */
function declareRunning(sandbox: Command, run: Run): void {
  sandbox
    .command('status')
    .description('show whether the bank runs, and its addresses')
    .addHelpText('after', examples('psd2 sandbox status'))
    .action(() => run(async (context) => (await import('./status.ts')).sandboxStatus(context)));

  sandbox
    .command('stop')
    .description('stop the running bank')
    .addHelpText('after', examples('psd2 sandbox stop'))
    .action(() => run(async (context) => (await import('./stop.ts')).sandboxStop(context)));

  sandbox
    .command('reset')
    .description('reset the bank to its start: ledger, logins, consents, operations, faults')
    .addHelpText('after', examples('psd2 sandbox reset'))
    .action(() => run(async (context) => (await import('./reset.ts')).sandboxReset(context)));

  sandbox
    .command('env')
    .description('print the settings as export lines, so that you need no profile')
    .addHelpText('after', '\nExample:\n  $ eval "$(psd2 sandbox env)"')
    .action(() => run(async (context) => (await import('./env.ts')).sandboxEnv(context)));

  sandbox
    .command('console')
    .description('open the console in the browser: every call as the bank saw it, and why it refused one')
    .addHelpText(
      'after',
      `
With --no-browser, or PSD2_BROWSER=none, psd2 prints the address instead.
${examples('psd2 sandbox console', 'psd2 sandbox console --no-browser')}`,
    )
    .action(() => run(async (context) => (await import('./console.ts')).sandboxConsole(context)));
}

function declareCustomer(sandbox: Command, run: Run): void {
  sandbox
    .command('customer')
    .argument('<url>')
    .description(
      "play the customer without a browser: open the bank's page at this address and submit its forms",
    )
    .option('--refuse', 'refuse on the first page that allows it')
    .option('--user <name>', 'user who logs in (default: anna)')
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
    .description('make calls fail, to test a client')
    .addHelpText('after', examples('psd2 sandbox fault list', 'psd2 sandbox fault clear'));

  fault
    .command('add')
    .argument('<fault>', 'for example cut-after-effect, delay=500, status=503, clock=-7')
    .description('make calls fail from now on')
    .option('--on <call>', 'calls that fail: execute, token, ..., or "GET /private/*"; default: all')
    .option('--times <n>', 'number of calls that fail; default: all')
    .option('--after <n>', 'number of calls that succeed first')
    .option('--probability <p>', 'share of the calls that fail, for example 0.25')
    .option('--seed <text>', 'with --probability: choose the same calls in every run')
    .addHelpText(
      'after',
      `
docs/sandbox.md, "Faults", lists all faults and calls. So does the error for an unknown one.

Example:
  $ psd2 sandbox fault add cut-after-effect --on execute --times 1`,
    )
    .action((name, options) =>
      run(async (context) => (await import('./fault.ts')).addFault(context, name, options)),
    );

  fault
    .command('list')
    .description('show the faults, and how many calls each matched and changed')
    .addHelpText('after', examples('psd2 sandbox fault list'))
    .action(() => run(async (context) => (await import('./fault.ts')).listFaults(context)));

  fault
    .command('clear')
    .argument('[id]', 'id of a fault; default: all')
    .description('remove faults')
    .addHelpText('after', examples('psd2 sandbox fault clear'))
    .action((id) => run(async (context) => (await import('./fault.ts')).clearFaults(context, id)));

  return fault;
}

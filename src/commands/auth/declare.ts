import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

/** `psd2 auth`: from the login of a customer to the logout. */
export function declareAuth(auth: Command, run: Run): void {
  auth.addHelpText('after', examples('psd2 auth login', 'psd2 auth status'));
  declareLogin(auth, run);
  declareStatusAndList(auth, run);
  declareRefreshAndToken(auth, run);
  declareLogout(auth, run);
}

function declareLogin(auth: Command, run: Run): void {
  auth
    .command('login')
    .description('log a customer in through the browser')
    .option('--client-credentials', 'log in the client_credentials application instead; needs no customer')
    .option(
      '--paste',
      "ask you for the address that the customer's browser ended at, instead of waiting for the callback",
    )
    .addHelpText(
      'after',
      `
psd2 opens the system's browser, or runs the command in PSD2_BROWSER ("none" opens nothing, like --no-browser).

Examples:
  $ psd2 auth login
  $ PSD2_BROWSER=firefox psd2 --profile mybank auth login
  $ psd2 auth login --json | jq -r .customerId`,
    )
    .action(({ clientCredentials = false, paste = false }) =>
      run(async (context) =>
        (await import('./login.ts')).authLogin(context, {
          clientCredentials,
          paste,
        }),
      ),
    );
}

function declareStatusAndList(auth: Command, run: Run): void {
  auth
    .command('status')
    .description('show who is logged in and when the tokens end, without asking the bank')
    .addHelpText(
      'after',
      examples('psd2 auth status', 'psd2 auth status --json | jq -r .refreshTokenExpiresAt'),
    )
    .action(() => run(async (context) => (await import('./status.ts')).authStatus(context)));

  auth
    .command('list')
    .description('list the customers with stored tokens')
    .addHelpText('after', examples('psd2 auth list'))
    .action(() => run(async (context) => (await import('./list.ts')).authList(context)));
}

function declareRefreshAndToken(auth: Command, run: Run): void {
  auth
    .command('refresh')
    .description('get a new access token now')
    .addHelpText('after', examples('psd2 auth refresh'))
    .action(() => run(async (context) => (await import('./refresh.ts')).authRefresh(context)));

  auth
    .command('token')
    .description('print a valid access token; psd2 renews it first if it is about to end')
    .addHelpText(
      'after',
      '\nThe token is a secret: anyone who has it can read the accounts.\n\nExample:\n  $ TOKEN=$(psd2 auth token)',
    )
    .action(() => run(async (context) => (await import('./token.ts')).authToken(context)));
}

function declareLogout(auth: Command, run: Run): void {
  auth
    .command('logout')
    .description('delete the stored tokens')
    .addHelpText('after', examples('psd2 auth logout --revoke'))
    .option('--revoke', 'first ask the bank to revoke them')
    .action(({ revoke = false }) =>
      run(async (context) => (await import('./logout.ts')).authLogout(context, { revoke })),
    );
}

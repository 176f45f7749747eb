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
    .option(
      '--client-credentials',
      'log the client_credentials application in instead; no customer is needed',
    )
    .option(
      '--paste',
      "ask for the address that the customer's browser ended at, instead of listening for it",
    )
    .addHelpText(
      'after',
      `
The browser is the system's, or the command in PSD2_BROWSER ("none" opens nothing, as --no-browser does).

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
    .description('show who is logged in and how long the tokens are good, without asking the bank')
    .addHelpText(
      'after',
      examples('psd2 auth status', 'psd2 auth status --json | jq -r .refreshTokenExpiresAt'),
    )
    .action(() => run(async (context) => (await import('./status.ts')).authStatus(context)));

  auth
    .command('list')
    .description('list the customers whose tokens are kept')
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
    .description('print a good access token; it is renewed first when it is about to end')
    .addHelpText(
      'after',
      '\nThe token is a secret: whoever has it can read the accounts.\n\nExample:\n  $ TOKEN=$(psd2 auth token)',
    )
    .action(() => run(async (context) => (await import('./token.ts')).authToken(context)));
}

function declareLogout(auth: Command, run: Run): void {
  auth
    .command('logout')
    .description('forget the tokens')
    .addHelpText('after', examples('psd2 auth logout --revoke'))
    .option('--revoke', 'have the bank revoke them first')
    .action(({ revoke = false }) =>
      run(async (context) => (await import('./logout.ts')).authLogout(context, { revoke })),
    );
}

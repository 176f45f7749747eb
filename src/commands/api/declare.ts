import type { Command } from '@commander-js/extra-typings';
import { collect, type Run } from '../declare.ts';

export function declareApi(api: Command, run: Run): void {
  api
    .argument('<method>', 'GET, POST, PUT or DELETE')
    .argument('<path>', 'path below the base URL, percent-encoded, with its query')
    .option('--data <json>', 'body: JSON, @file, or - for standard input')
    .option('--header <name:value>', 'add a header; may be repeated', collect, [])
    .option('--no-token', 'call without the access token')
    .option('--transaction <uuid>', 'TPP-Transaction-ID; default: a new one')
    .option('--dry-run', 'print the request and its signing string instead of sending it')
    .option('--curl', 'print a curl command for the call instead of sending it')
    .addHelpText(
      'after',
      `
psd2 replaces {customerId} in the path with the id of the customer who is logged in.

Examples:
  $ psd2 api GET /private/customers/customerid-info
  $ psd2 api GET "/private/customers/{customerId}/accounts" --raw
  $ psd2 api POST /private/customers/{customerId}/consent/request --data @consent.json --dry-run`,
    )
    .action((method, path, { token, dryRun = false, curl = false, ...options }) =>
      run(
        async (context) =>
          (await import('./api.ts')).api(context, method, path, {
            ...options,
            token,
            dryRun,
            curl,
          }),
        'inquiry',
      ),
    );
}

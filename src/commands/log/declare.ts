import type { Command } from '@commander-js/extra-typings';
import { optionsOf, type Run } from '../declare.ts';

/** `psd2 log`: the calls, and a file of them for the bank's support. */
export function declareLog(log: Command, run: Run, version: string): void {
  const list = declareList(log, run);
  declareBundle(log, run, version);
  log
    .usage('[list] [options]')
    .addHelpText('after', (help) => optionsOf(list, help))
    .addHelpText(
      'after',
      `
\`psd2 log --failed\` is \`psd2 log list --failed\`.

Examples:
  $ psd2 log
  $ psd2 log --transaction tr-0mh8k2x7vq3ab
  $ psd2 log bundle --since 2h`,
    );
}

function declareList(log: Command, run: Run) {
  return selection(log.command('list', { isDefault: true }))
    .description('list the calls, newest first: the last 100, unless a filter or --limit is given')
    .addHelpText(
      'after',
      `
Each attempt is a call of its own, retries and calls that failed without an answer too. There are no queries,
headers and bodies in the log. With --profile only the calls of that profile are shown. With --transaction a
table becomes a timeline from the beginning, with what happened to the flow between its calls.

Examples:
  $ psd2 log --failed --since 1d
  $ psd2 log --transaction 6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44
  $ psd2 log --json | jq -r '.[] | select(.milliseconds > 2000) | .path'`,
    )
    .action((options) =>
      run(async (context) =>
        (await import('./list.ts')).logList(context, {
          ...options,
          failed: options.failed === true,
        }),
      ),
    );
}

function declareBundle(log: Command, run: Run, version: string): void {
  selection(log.command('bundle'))
    .option('--file <path>', 'where to save it; default: psd2-log-<time>.json here')
    .description("save calls in a file for the bank's support, without what identifies customers")
    .addHelpText(
      'after',
      `
Customers, products and IBANs are replaced by names (customer-1, product-1, ...); the ids that a support asks
for stay. The file is JSON, for you to read before you send it.

Examples:
  $ psd2 log bundle --transaction tr-0mh8k2x7vq3ab
  $ psd2 log bundle --failed --since 2h --file for-the-bank.json`,
    )
    .action((options) =>
      run(async (context) =>
        (await import('./bundle.ts')).logBundle(
          context,
          { ...options, failed: options.failed === true },
          version,
        ),
      ),
    );
}

/** Which calls: the same for both commands. */
function selection(command: Command) {
  return command
    .option('--transaction <id>', 'of this transaction or flow, or whose id begins so')
    .option('--request <id>', "of this request: our id or the bank's, or the beginning of either")
    .option('--since <time>', 'sent since then: 2026-11-21, 2026-11-21T09:30:00Z, or 2h, 30m, 1d ago')
    .option('--failed', 'that the bank refused, or that had no answer')
    .option('--limit <n>', 'at most so many');
}

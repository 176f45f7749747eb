import type { Command } from '@commander-js/extra-typings';
import { optionsOf, type Run } from '../declare.ts';

/** `psd2 log`: lists the calls, or saves them in a file for the bank's support. */
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
    .description('list the calls, newest first: the last 100, or all that match a filter')
    .addHelpText(
      'after',
      `
The log has one entry for each attempt, also for retries and for calls that got no answer. It has no queries, headers
or bodies. With --profile, psd2 shows only the calls of that profile. With --customer, it shows the calls whose path names that
customer, and the other calls of the same transactions. With --transaction, the table becomes a timeline from the beginning,
with the events of the flow between its calls.

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
    .option('--file <path>', 'file to save the calls in; default: psd2-log-<time>.json here')
    .description("save calls in a file for the bank's support, without customer data")
    .addHelpText(
      'after',
      `
psd2 replaces customers, products and IBANs with names (customer-1, product-1, ...). The ids that the bank's support
asks for stay. The file is JSON: read it before you send it.

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

/** Adds the options that select calls, the same for both commands. */
function selection(command: Command) {
  return command
    .option('--transaction <id>', 'show calls of this transaction or flow: its id or the beginning of it')
    .option('--request <id>', "show this request: psd2's id or the bank's, or the beginning of either")
    .option(
      '--since <time>',
      'show calls since this time: 2026-11-21, 2026-11-21T09:30:00Z, or 2h, 30m, 1d ago',
    )
    .option('--failed', 'show calls that the bank refused or did not answer')
    .option('--limit <n>', 'maximum number of calls to show');
}

import type { AddHelpTextContext, Command, CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from './context.ts';
import type { ResolveOptions } from './flow/resolve.ts';

/**
 * An inquiry reads from the bank and changes nothing, so `--raw` can print the bank's own answers. A diagnosis checks the
 * configuration folder itself and reports it among its checks.
 */
export type CommandKind = 'inquiry' | 'diagnosis';

/** Runs a command once its arguments are read. The command imports what it needs only then. */
export type Run = (command: (context: Context) => Promise<void>, kind?: CommandKind) => Promise<void>;

/** Help text with examples, one a line. */
export function examples(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}

/** The options of a group's default command, for the help of the group: `psd2 transfer --help` shows those of `create`. */
export function optionsOf(child: CommandUnknownOpts, context: AddHelpTextContext): string {
  const help = child.createHelp();
  help.prepareContext({ error: context.error, helpWidth: child.configureOutput().getOutHelpWidth?.() ?? 80 });
  const width = help.longestOptionTermLength(child, help);
  const lines = help
    .visibleOptions(child)
    .filter(({ long }) => long !== '--help')
    .map((option) => help.formatItem(help.optionTerm(option), width, help.optionDescription(option), help));
  return `\nOptions of ${child.name()}:\n${lines.join('\n')}`;
}

/** An option that may be repeated. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

/** The help of `--attention`, for the list of every kind of flow. */
export const ATTENTION_NOTE = `
--attention shows what a person must look at: each flow whose outcome is not known, and each unfinished flow that you can
continue or cancel. The outcome is not known either if an instant transfer is executed but not settled, or if the bank's refusal
of execute or confirm is all that psd2 knows. Flows that a running psd2 works on are left out.

With --customer, the list has only the flows of that customer.`;

/** Declares `cancel <flow>`: the operator gives up a flow. @param sent the call after which it is too late */
export function declareCancel(
  parent: Command,
  { kind, sent, example }: { kind: string; sent: 'execute' | 'confirm'; example: string },
  action: (flow: string) => Promise<void>,
): void {
  parent
    .command('cancel')
    .argument('<flow>')
    .description(`give up ${kind}, unless psd2 has already sent \`${sent}\``)
    .addHelpText(
      'after',
      `
The command shows the flow and asks you; --yes confirms in advance. It sends nothing to the bank. If psd2 has already sent
\`${sent}\`, the command refuses with exit code 2 and says what to do instead.
${examples(example)}`,
    )
    .action((flow) => action(flow));
}

/** The help of `resolve` for one kind of flow. */
interface ResolveHelp {
  description: string;
  executed: string;
  notExecuted: string;
  /** The text before the examples. */
  note: string;
  examples: string[];
}

/** Declares `resolve <flow>`: a person says what became of a flow. */
export function declareResolve(
  parent: Command,
  help: ResolveHelp,
  action: (flow: string, options: ResolveOptions) => Promise<void>,
): void {
  parent
    .command('resolve')
    .argument('<flow>')
    .description(help.description)
    .option('--executed', help.executed)
    .option('--not-executed', help.notExecuted)
    .option('--note <text>', 'how you know it, at most 500 characters; stored in the journal')
    .addHelpText('after', `\n${help.note}\n${examples(...help.examples)}`)
    .action((flow, { executed = false, notExecuted = false, note }) =>
      action(flow, { executed, notExecuted, note }),
    );
}

import type { AddHelpTextContext, Command, CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from './context.ts';
import type { ResolveOptions } from './flow/resolve.ts';

/**
 * An inquiry reads from the bank and changes nothing: its answers can be printed as they came (`--raw`). A diagnosis
 * judges the configuration folder itself, to tell of it among its checks.
 */
export type CommandKind = 'inquiry' | 'diagnosis';

/** Runs a command once its arguments are read. What it needs is imported only then. */
export type Run = (command: (context: Context) => Promise<void>, kind?: CommandKind) => Promise<void>;

/** Help text with examples, one a line. */
export function examples(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}

/**
 * The options of a command that its group means by itself, for the help of the group: who types `psd2 transfer --help` wants
 * to know what `psd2 transfer` takes.
 */
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

/** Declares `cancel <flow>`: the operator gives a flow up. @param sent the call after which it is too late */
export function declareCancel(
  parent: Command,
  { kind, sent, example }: { kind: string; sent: 'execute' | 'confirm'; example: string },
  action: (flow: string) => Promise<void>,
): void {
  parent
    .command('cancel')
    .argument('<flow>')
    .description(`give up ${kind} that was begun, as long as \`${sent}\` was not sent`)
    .addHelpText(
      'after',
      `
The command shows what it is about and asks; --yes gives that confirmation beforehand. Nothing is sent to the bank. Where
\`${sent}\` was sent already, the command refuses with exit code 2 and names what to do instead.
${examples(example)}`,
    )
    .action((flow) => action(flow));
}

/** How `resolve` is told of one kind of flow. */
interface ResolveHelp {
  description: string;
  executed: string;
  notExecuted: string;
  /** What stands before the examples. */
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
    .option('--note <text>', 'how you know it, at most 500 characters; kept in the journal')
    .addHelpText('after', `\n${help.note}\n${examples(...help.examples)}`)
    .action((flow, { executed = false, notExecuted = false, note }) =>
      action(flow, { executed, notExecuted, note }),
    );
}

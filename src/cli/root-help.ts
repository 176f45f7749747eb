import type { CommandUnknownOpts, Help } from '@commander-js/extra-typings';

/** The groups of commands in `psd2 --help`. A command that is not named here goes to the last group. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  Customers: ['auth', 'customer', 'consent'],
  Accounts: ['accounts', 'products', 'sync'],
  Payments: ['transfer', 'operation'],
  Operations: ['doctor', 'expiring', 'log', 'api'],
  Setup: ['profile', 'cert', 'store', 'schema', 'completion', 'help'],
  Sandbox: ['sandbox', 'demo'],
};

/** The global options that `psd2 --help` shows; `psd2 help options` has all of them. */
const SHOWN_OPTIONS = ['--profile', '--output', '--json', '--yes', '--verbose', '--help', '--version'];

/** The help of psd2 itself, one page long: first the commands by groups, then the most used options. */
export function formatRootHelp(program: CommandUnknownOpts, helper: Help): string {
  const options = helper
    .visibleOptions(program)
    .filter(({ long }) => SHOWN_OPTIONS.some((shown) => shown === long));
  const commands = helper.visibleCommands(program);
  const width = Math.max(
    ...commands.map((command) => helper.subcommandTerm(command).length),
    ...options.map((option) => helper.optionTerm(option).length),
  );
  const grouped = new Set(Object.values(COMMAND_GROUPS).flat());
  const last = Object.keys(COMMAND_GROUPS).at(-1);
  const sections = Object.entries(COMMAND_GROUPS).map(([title, names]) => {
    const own = [
      ...names.flatMap((name) => commands.filter((command) => command.name() === name)),
      ...(title === last ? commands.filter((command) => !grouped.has(command.name())) : []),
    ];
    return [
      `${title}:`,
      ...own.map((command) =>
        helper.formatItem(
          helper.subcommandTerm(command),
          width,
          helper.subcommandDescription(command),
          helper,
        ),
      ),
    ];
  });
  sections.push([
    'Options (all of them: psd2 help options):',
    ...options.map((option) =>
      helper.formatItem(helper.optionTerm(option), width, helper.optionDescription(option), helper),
    ),
  ]);
  const usage = [`Usage: ${helper.commandUsage(program)}`];
  const head = [usage, [helper.commandDescription(program)]];
  return [...head, ...sections].map((lines) => `${lines.join('\n')}\n`).join('\n');
}

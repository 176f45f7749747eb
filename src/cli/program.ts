import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { declareAccounts, declareCustomer, declareProducts } from './declare/accounts.ts';
import { declareApi } from './declare/api.ts';
import { declareAuth } from './declare/auth.ts';
import { declareConsent } from './declare/consent.ts';
import type { Run } from './declare/declare.ts';
import { declareLog } from './declare/log.ts';
import { declareOperation } from './declare/operation.ts';
import { declareProfile } from './declare/profile.ts';
import { declareSandbox } from './declare/sandbox.ts';
import { declareSync } from './declare/sync.ts';
import { declareTransfer } from './declare/transfer.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { GLOBAL_OPTIONS as G } from './globals.ts';

/** The command tree. Nothing is loaded but declarations until a command runs. */
export function buildProgram(version: string): CommandUnknownOpts {
  const program = new Command('psd2')
    .description(
      "Work with a bank's PSD2 interface: log a customer in, get consent, read accounts, make transfers.",
    )
    .version(version, '-V, --version')
    .addOption(G.profile)
    .addOption(G.customer)
    .addOption(G.grant)
    .addOption(G.output)
    .addOption(G.json)
    .addOption(G.query)
    .addOption(G.raw)
    .addOption(G.input)
    .addOption(G.yes)
    .addOption(G.quiet)
    .addOption(G.verbose)
    .addOption(G.timeout)
    .addOption(G.browser)
    .addOption(G.qr)
    .addOption(G.scaTimeout)
    .addOption(G.psuIp)
    .addOption(G.lang)
    .addOption(G.trace)
    .addOption(G.color);

  const run: Run = async (command, kind) =>
    (await import('./run.ts')).runCommand(program.opts(), command, kind);

  const commands: CommandUnknownOpts[] = [
    declareAuth(run),
    declareProfile(run),
    declareCustomer(run),
    declareProducts(run),
    declareAccounts(run),
    declareSync(run),
    declareConsent(run),
    declareTransfer(run),
    declareOperation(run),
    declareApi(run),
    declareLog(run, version),
    declareSandbox(run),
    new Command('demo')
      .description(
        'show the whole way against a sandbox bank of its own: login, consent, accounts, an instant transfer',
      )
      .action(() => run(async (context) => (await import('../commands/demo.ts')).demo(context))),
    new Command('help')
      .argument('[command...]', 'a command, or the topic exit-codes')
      .description('show the help of a command or a topic')
      .action((words) => showHelp(program, words)),
  ];
  for (const command of commands) program.addCommand(command);
  program.addHelpText(
    'after',
    `
Examples:
  $ psd2 sandbox start --detach            a bank to try everything with
  $ psd2 --profile sandbox auth login
  $ psd2 --profile sandbox accounts list

Topics: psd2 help exit-codes`,
  );
  configure(program);
  return program;
}

/** Errors are thrown to the caller, who writes them; the help that stands for a missing command goes to stderr. */
function configure(command: CommandUnknownOpts): void {
  command
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  if (command.parent) {
    command.addHelpText(
      'after',
      '\nThe global options (--profile, --json, --yes, ...) are shown by psd2 --help.',
    );
  }
  for (const child of command.commands) configure(child);
}

function showHelp(program: CommandUnknownOpts, words: string[]): void {
  if (words[0] === 'exit-codes') {
    const lines = Object.entries(EXIT_CODES).map(([code, meaning]) => `${code.padStart(5)}  ${meaning}`);
    process.stdout.write(`Exit codes of psd2:\n\n${lines.join('\n')}\n`);
    return;
  }
  let command = program;
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word);
    if (!child) program.error(`error: there is no help on '${words.join(' ')}'`);
    else command = child;
  }
  command.outputHelp();
}

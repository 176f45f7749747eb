import { Argument, type Command } from '@commander-js/extra-typings';
import { printAtOnce } from '../print-at-once.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function declareCompletion(completion: Command): void {
  completion
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
The script completes profiles, customers, products, flows and operations from psd2's data on this machine. It never asks
the bank, and it needs no other package.

Examples:
  $ psd2 completion bash > ~/.local/share/bash-completion/completions/psd2
  $ echo 'source <(psd2 completion bash)' >> ~/.bashrc
  $ psd2 completion zsh > ~/.zfunc/_psd2
  $ echo 'source <(psd2 completion zsh)' >> ~/.zshrc
  $ psd2 completion fish > ~/.config/fish/completions/psd2.fish

For bash, the first line needs the bash-completion package; the second needs nothing. For zsh, ~/.zfunc is a folder of
$fpath; put the second line after compinit.`,
    )
    .action(async (shell) => {
      const { SCRIPTS } = await import('./scripts.ts');
      printAtOnce(SCRIPTS[shell] ?? '');
    });
}

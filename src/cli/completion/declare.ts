import { Argument, type Command } from '@commander-js/extra-typings';
import { printAtOnce } from '../print-at-once.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function declareCompletion(completion: Command): void {
  completion
    .addArgument(new Argument('<shell>', 'for which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Profiles, customers, products, flows and operations are completed from what psd2 keeps on this machine; the
bank is never asked. The script needs no other package.

Examples:
  $ psd2 completion bash > ~/.local/share/bash-completion/completions/psd2
  $ echo 'source <(psd2 completion bash)' >> ~/.bashrc
  $ psd2 completion zsh > ~/.zfunc/_psd2
  $ echo 'source <(psd2 completion zsh)' >> ~/.zshrc
  $ psd2 completion fish > ~/.config/fish/completions/psd2.fish

For bash the first wants the bash-completion package, the second nothing. For zsh, ~/.zfunc stands for a folder of
$fpath; the other way goes after compinit.`,
    )
    .action(async (shell) => {
      const { SCRIPTS } = await import('./scripts.ts');
      printAtOnce(SCRIPTS[shell] ?? '');
    });
}

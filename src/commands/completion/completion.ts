import { Argument } from '@commander-js/extra-typings';
import type { Verb } from '../declare.ts';

// Each script hands the words up to the cursor to `psd2 __complete`, and never evaluates the line. (Existing generators,
// @bomb.sh/tab and those that follow cobra, use `eval`, and their bash scripts need the bash-completion package.) The first
// line of the answer says what follows: `values` (one per line, with a tab before the description), `files` or `folders`.

const bash = `# bash completion for psd2; needs no other package. From 'psd2 completion bash'.
_psd2() {
  local kind value current=\${COMP_WORDS[COMP_CWORD]}
  local typed=\${COMP_LINE:0:COMP_POINT}
  COMPREPLY=()
  {
    IFS= read -r kind
    case $kind in
      files) compopt -o default 2>/dev/null || while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current") ;;
      folders) compopt -o dirnames 2>/dev/null || while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -d -- "$current") ;;
      values)
        # bash ends a word at = and :, so the answer must not repeat the text before them. bash leaves a word's first @
        # out of $current, but replaces it.
        local word=\${typed##*[[:space:]]} before
        [[ $current == [=:@] ]] && current=
        if [[ $current == --*=* ]]; then
          before=
          word=\${current%%=*}=
        else
          [[ $word == --*=* ]] && word=\${word#*=}
          before=\${word%"$current"}
          before=\${before%@}
          word=
        fi
        while IFS=$'\\t' read -r value _; do
          printf -v value %q "\${value#"$before"}"
          COMPREPLY+=("$word$value")
        done
        [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
        ;;
    esac
  } < <(psd2 __complete line "$typed" 2>/dev/null)
  return 0
}
complete -F _psd2 psd2
`;

const zsh = `#compdef psd2
# zsh completion for psd2. From 'psd2 completion zsh'.
_psd2() {
  local -a answer values bare folders
  local line value
  answer=("\${(@f)$(psd2 __complete words "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  # In --option=value, complete only the value.
  [[ $words[CURRENT] == --*=* ]] && compset -P '*='
  case $answer[1] in
    files) _files ;;
    folders) _files -/ ;;
    values)
      for line in "\${(@)answer[2,-1]}"; do
        [[ -n $line ]] || continue
        value=\${line%%$'\\t'*}
        if [[ $value == */ ]]; then folders+=("$value"); continue; fi
        if [[ -z \${line#*$'\\t'} ]]; then bare+=("$value"); continue; fi
        values+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
      done
      (( $#folders )) && compadd -S '' -- "\${folders[@]}"
      (( $#bare )) && compadd -- "\${bare[@]}"
      (( $#values )) && _describe -t values 'psd2' values
      ;;
  esac
}
if [[ $funcstack[1] == _psd2 ]]; then _psd2 "$@"; else compdef _psd2 psd2; fi
`;

const fish = `# fish completion for psd2. From 'psd2 completion fish'.
function __psd2_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (psd2 __complete words $words[2..] "$current" 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current"
        case values
            # In --option=value, repeat the option before the value.
            set -l option (string match -r -- '^--[^=]+=' "$current")
            for line in $answer[2..]
                echo -- "$option$line"
            end
    end
end
complete -c psd2 -e
complete -c psd2 -f -a '(__psd2_complete)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish };

export const completion: Verb = {
  declare: (command, run) =>
    command
      .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
      .addHelpText(
        'after',
        `
The script completes profiles, customers, accounts, flows, batches and operations from psd2's data on this machine. Flows
and batches have beside their ids what they are about. The script never asks the bank, and it needs no other package.

Examples:
  $ psd2 completion bash > ~/.local/share/bash-completion/completions/psd2
  $ echo 'source <(psd2 completion bash)' >> ~/.bashrc
  $ psd2 completion zsh > ~/.zfunc/_psd2
  $ echo 'source <(psd2 completion zsh)' >> ~/.zshrc
  $ psd2 completion fish > ~/.config/fish/completions/psd2.fish

For bash, the first line needs the bash-completion package; the second needs nothing. For zsh, ~/.zfunc is a folder of
$fpath; put the second line after compinit.`,
      )
      .action((shell) => run(async ({ output }) => output.lines([(SCRIPTS[shell] ?? '').trimEnd()]))),
};

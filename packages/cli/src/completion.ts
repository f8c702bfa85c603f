// Completion scripts of bash, zsh and fish, made from the commands themselves. Where `mediary` is not
// installed, they define it as `npx mediary`: shells complete a command by its first word.
import type { Command } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';

type Option = { readonly flag: string; readonly values: readonly string[]; readonly text: string };
/** A command or a group of commands; `path` is empty for the program itself. */
type Entry = {
  readonly path: string;
  /** Also the values of arguments that have a choice. */
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly Option[];
};

const RENDERERS: Readonly<Record<Shell, (entries: readonly Entry[]) => string>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

export const SHELLS = Object.keys(RENDERERS) as Shell[];

export const renderCompletion = (program: Command, shell: Shell): string =>
  RENDERERS[shell](collectEntries(program, '', toOptions(program)));

function collectEntries(command: Command, path: string, shared: readonly Option[]): Entry[] {
  const { commands, registeredArguments } = command;
  const choices = registeredArguments.flatMap(({ argChoices = [], description: text }) =>
    argChoices.map((name) => ({ name, text })),
  );
  const entry = {
    path,
    commands: [...commands.map((child) => ({ name: child.name(), text: child.description() })), ...choices],
    options: path === '' ? shared : [...toOptions(command), ...shared],
  };
  return [
    entry,
    ...commands.flatMap((child) => collectEntries(child, `${path} ${child.name()}`.trim(), shared)),
  ];
}

const toOptions = ({ options }: Command): Option[] =>
  options.map((option) => ({
    flag: option.long ?? option.flags,
    values: option.argChoices ?? [],
    text: option.description,
  }));

const flagsOf = ({ options }: Entry): string => options.map(({ flag }) => flag).join(' ');
const namesOf = ({ commands }: Entry): string => commands.map(({ name }) => name).join(' ');

function renderBash(entries: readonly Entry[]): string {
  const paths = entries.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`);
  const values = entries.flatMap(({ path, options }) =>
    options
      .filter((option) => option.values.length > 0)
      .map((option) => `    "${path}:${option.flag}") words="${option.values.join(' ')}" ;;`),
  );
  const words = entries.map(
    (entry) => `      "${entry.path}") words="${namesOf(entry)}"; flags="${flagsOf(entry)}" ;;`,
  );
  return `# bash completion for mediary: eval "$(mediary completion bash)"
command -v mediary >/dev/null || mediary() { npx --no -- mediary "$@"; }
_mediary() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path="" next="" words="" flags="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case "$next" in
      ${paths.join('|')}) path=$next ;;
    esac
  done
  case "$path:$prev" in
${values.join('\n')}
  esac
  if [ -z "$words" ]; then
    case "$path" in
${words.join('\n')}
    esac
    if [[ $cur == -* ]]; then words=$flags; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _mediary mediary
`;
}

/** Single quotes end a quoted text in every shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function renderZsh(entries: readonly Entry[]): string {
  const cases = entries.map((entry) => {
    const commands = entry.commands.map(({ name, text }) => quote(`${name}:${text}`));
    const options = entry.options.map(({ flag, text }) => quote(`${flag}:${text.replaceAll(':', '\\:')}`));
    return `    ${quote(entry.path)}) commands=(${commands.join(' ')}); options=(${options.join(' ')}) ;;`;
  });
  const paths = entries.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  return `#compdef mediary
# zsh completion for mediary: source <(mediary completion zsh)
whence mediary >/dev/null || mediary() { npx --no -- mediary "$@" }
_mediary() {
  local -a commands options
  local at="" word next
  for word in \${words[2,CURRENT-1]}; do
    next="\${at:+$at }$word"
    case "$next" in
      (${paths.join('|')}) at=$next ;;
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  elif (( \${#commands} )); then _describe command commands
  else _files
  fi
}
compdef _mediary mediary
`;
}

function renderFish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, commands, options }) => {
    const condition = quote(`test (__mediary_path) = ${JSON.stringify(path)}`);
    return [
      ...commands.map(
        ({ name, text }) => `complete -c mediary -n ${condition} -f -a ${name} -d ${quote(text)}`,
      ),
      ...options.map(({ flag, values, text }) => {
        const choices = values.length > 0 ? ` -x -a ${quote(values.join(' '))}` : '';
        const name = flag.replace(/^--/, '');
        return `complete -c mediary -n ${condition} -l ${name}${choices} -d ${quote(text)}`;
      }),
    ];
  });
  const paths = entries.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  return `# fish completion for mediary: mediary completion fish | source
type -q mediary; or function mediary; npx --no -- mediary $argv; end
function __mediary_path
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$at $word")
    if contains -- $next ${paths.join(' ')}
      set at $next
    end
  end
  echo $at
end
${lines.join('\n')}
`;
}

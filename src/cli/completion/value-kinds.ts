/** What kind of value to complete. `json` may be `@file`. */
export type ValueKind =
  | 'files'
  | 'folders'
  | 'json'
  | 'profile'
  | 'customer'
  | 'product'
  | 'flow'
  | 'anyFlow'
  | 'operation'
  | 'category'
  | 'output'
  | { choices: readonly string[] };

/** By an option's whole flags, where the name of its value is not enough. */
const OPTIONS: Record<string, ValueKind> = {
  '--profile <name>': 'profile',
  '--customer <id>': 'customer',
  '--product <id>': 'product',
  '--category <name>': 'category',
  '--resource <id>': 'flow',
  '--transaction <id>': 'anyFlow',
  '-o, --output <format>': 'output',
};

/** By the name of an option's value. */
const OPTION_VALUES: Record<string, ValueKind> = {
  productId: 'product',
  flow: 'flow',
  file: 'files',
  path: 'files',
  folder: 'folders',
  json: 'json',
};

/** By the name of a command's argument. */
const ARGUMENTS: Record<string, ValueKind> = {
  productId: 'product',
  flow: 'flow',
  operationName: 'operation',
  profile: 'profile',
  file: 'files',
};

/** @param flags as commander writes them: `-o, --output <format>` */
export function optionKind(flags: string): ValueKind | null {
  return OPTIONS[flags] ?? OPTION_VALUES[/[<[](\w+)[\]>.]/.exec(flags)?.[1] ?? ''] ?? null;
}

export function argumentKind(name: string): ValueKind | null {
  return ARGUMENTS[name] ?? null;
}

import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';
import { PRINTED } from './printed.ts';
import { schemas } from './shape.ts';

/** `psd2 schema`: lists the schemas. With `--json`, it prints all of them. */
export async function schemaList({ output }: Context): Promise<void> {
  const all = await Promise.all(
    Object.entries(PRINTED).map(async ([command, { what }]) => ({
      command,
      what,
      // A table does not show the schema.
      schema: output.format === 'table' ? {} : await schemaOf(command),
    })),
  );
  await output.table(
    all,
    [
      { title: 'COMMAND', value: ({ command }) => command, whole: true },
      { title: 'PRINTS', value: ({ what }) => what },
    ],
    '',
    schemas,
  );
}

/** `psd2 schema <command>`: the JSON Schema of what the command prints. @throws Psd2Error `usage` */
export async function schemaShow({ output }: Context, words: string[]): Promise<void> {
  const command = findCommand(
    words
      .join(' ')
      .trim()
      .replace(/\s+/g, ' ')
      .replace(/^psd2 /, ''),
  );
  output.json(await schemaOf(command));
}

/** @param command a name in {@link PRINTED} */
export async function schemaOf(command: string): Promise<JsonSchema> {
  const printed = PRINTED[command];
  if (!printed) throw new TypeError(`${command} has no shape`);
  return toJsonSchema(
    await printed.shape(),
    isOfStderr(command) ? `psd2: ${printed.what}` : `psd2 ${command}: ${printed.what}`,
  );
}

function isOfStderr(name: string): boolean {
  return name === 'error' || name === 'event';
}

/** The commands that these words mean without a subcommand. */
const DEFAULT_COMMANDS: Readonly<Record<string, string>> = {
  transfer: 'transfer create',
  log: 'log list',
  sync: 'sync run',
};

/** @throws Psd2Error `usage` */
function findCommand(name: string): string {
  const names = Object.keys(PRINTED);
  const meant = DEFAULT_COMMANDS[name] ?? name;
  if (names.includes(meant)) return meant;
  const inGroup = names.filter((each) => each.startsWith(`${name} `));
  throw new Psd2Error('usage', `There is no schema for ${JSON.stringify(name)}`, {
    ...(inGroup.length > 0
      ? { hint: `There are schemas for: ${inGroup.join(', ')}.` }
      : { hint: `${didYouMean(name, names)}See all schemas with:`, next: [['schema']] }),
  });
}

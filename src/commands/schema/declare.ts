import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareSchema(schema: Command, run: Run): void {
  schema
    .argument('[command...]', 'the words of a command, or "error" or "event" for lines of stderr')
    // `--chart` and its like say which of the two things that a command prints is meant.
    .allowUnknownOption()
    .addHelpText(
      'after',
      `
Without a command it lists what there are schemas of; with --json it prints them all. With -o ndjson a list
is printed one element a line, each as the "items" of the schema say. A later psd2 may print further fields.

${examples('psd2 schema accounts list', 'psd2 schema accounts transactions --chart', 'psd2 schema error', 'psd2 schema transfer create > transfer.schema.json').trimStart()}`,
    )
    .action((words) =>
      run(async (context) => {
        const { schemaList, schemaShow } = await import('./schema.ts');
        await (words.length === 0 ? schemaList(context) : schemaShow(context, words));
      }),
    );
}

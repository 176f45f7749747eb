import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareSchema(schema: Command, run: Run): void {
  schema
    .argument('[command...]', 'the words of a command, or "error" or "event" for lines of stderr')
    // Options such as `--chart` choose between the two outputs of a command.
    .allowUnknownOption()
    .addHelpText(
      'after',
      `
Without a command, psd2 lists all schemas; with --json it prints them. With -o ndjson, psd2 prints a list one element a
line, and "items" in the schema describes each element. A later psd2 may print further fields.

${examples('psd2 schema accounts list', 'psd2 schema accounts transactions --chart', 'psd2 schema error', 'psd2 schema transfer create > transfer.schema.json').trimStart()}`,
    )
    .action((words) =>
      run(async (context) => {
        const { schemaList, schemaShow } = await import('./schema.ts');
        await (words.length === 0 ? schemaList(context) : schemaShow(context, words));
      }),
    );
}

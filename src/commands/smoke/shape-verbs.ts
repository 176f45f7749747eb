import { existsSync } from 'node:fs';
import { Psd2Error } from '../../errors.ts';
import { findingOf, type ShapeFile } from '../../smoke/shapes.ts';
import { removeStored } from '../../store/disk/files.ts';
import { list as listOf, object, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, type Noun, verb } from '../declare.ts';
import { openRecords } from './record.ts';
import { readShapes, saveShapes, shapesPath } from './shapes.ts';

const answer = object({
  answer: text('method, route and status').as('Answer', { whole: true }),
  fields: whole('fields that were seen').as('Fields'),
  runs: whole('runs that saw the answer').as('Runs'),
});
const seenField = object({
  answer: text('method, route and status').as('Answer'),
  path: text('the field').as('Field', { whole: true }),
  seen: whole('how many parents had it')
    .as('In')
    .shown(({ seen, parents }: Record<'seen' | 'parents', number>) => `${seen} of ${parents}`),
  parents: whole('how many parents were seen'),
  runs: whole('runs that saw it'),
  kinds: listOf(text(), 'what it was').as('Kinds'),
});
const changed = object({
  changed: whole('findings that were accepted, or files that were removed').as('Accepted'),
});
const FILE = '--shapes-file <path>';
const FILE_HELP = 'file of the shapes, for example in a repository; default: one of this profile';

/** @throws Psd2Error `usage` if nothing was learnt yet */
function learnt(context: Context, path: string): ShapeFile {
  const file = readShapes(path);
  if (file) return file;
  throw new Psd2Error(
    'usage',
    `psd2 has not learned the shapes of the profile ${context.profileName()} yet`,
    {
      hint: 'It learns them with each run of:',
      next: [['smoke']],
    },
  );
}

const list = verb(
  {
    prints: { what: 'the answers whose form psd2 knows', shape: listOf(answer) },
    help: examples('psd2 smoke shapes list'),
  },
  (command) => command.option(FILE, FILE_HELP),
  async (context, { shapesFile }) => {
    const { shapes } = learnt(context, shapesPath(context, shapesFile));
    const rows = Object.entries(shapes).map(([answer, each]) => ({
      answer,
      fields: Object.keys(each).length,
      runs: each.$?.runs ?? 0,
    }));
    await context.output.table(rows, answer, '');
  },
);

const show = verb(
  {
    prints: { what: 'the fields of the answers', shape: listOf(seenField) },
    help: examples('psd2 smoke shapes show balances'),
  },
  (command) =>
    command.argument('[answer]', 'only answers whose name contains this text').option(FILE, FILE_HELP),
  async (context, wanted, { shapesFile }) => {
    const { shapes } = learnt(context, shapesPath(context, shapesFile));
    const rows = Object.entries(shapes)
      .filter(([answer]) => answer.includes(wanted ?? ''))
      .flatMap(([answer, each]) =>
        Object.entries(each).map(
          ([
            path,
            {
              in: [seen, parents],
              runs,
              kinds,
            },
          ]) => ({ answer, path, seen, parents, runs, kinds }),
        ),
      );
    await context.output.table(rows, seenField, '');
  },
);

const accept = verb(
  {
    prints: { what: 'how many findings were accepted', shape: changed },
    help: `
The fields of the findings are forgotten and learnt anew, so the next runs take them as they are now.
${examples('psd2 smoke shapes accept', 'psd2 smoke shapes accept dr-0k3f9a2')}`,
  },
  (command) =>
    command
      .argument('[finding]', 'its id in the last run; default: all findings of the last run')
      .option(FILE, FILE_HELP),
  async (context, id, { shapesFile }) => {
    const path = shapesPath(context, shapesFile);
    const file = learnt(context, path);
    const { drift } = openRecords(context.folder.smoke(context.profileName())).find(undefined);
    const accepted = id === undefined ? drift : [findingOf(drift, id)];
    for (const finding of accepted) delete file.shapes[finding.answer]?.[finding.path];
    saveShapes(path, file);
    context.output.record({ changed: accepted.length }, changed);
  },
);

const forget = verb(
  {
    prints: { what: 'how many files were removed', shape: changed },
    help: examples('psd2 smoke shapes forget'),
  },
  (command) => command.option(FILE, FILE_HELP),
  async (context, { shapesFile }) => {
    const path = shapesPath(context, shapesFile);
    const isThere = existsSync(path);
    removeStored(path);
    const removed = { title: 'Removed', value: () => (isThere ? path : 'nothing') };
    context.output.record(
      { changed: isThere ? 1 : 0 },
      changed.withLines(() => [removed]),
    );
  },
);

/** `psd2 smoke shapes`: the forms of the bank's answers, as earlier runs saw them. */
export const shapeVerbs: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      `
psd2 learns the forms in three runs, and then tells what has changed. It keeps no values.
${examples('psd2 smoke shapes list', 'psd2 smoke shapes accept')}`,
    ),
  commands: {
    list: { description: 'list the answers whose form psd2 knows', load: async () => list },
    show: { description: 'show the fields of the answers', load: async () => show },
    accept: { description: 'accept what has changed', load: async () => accept },
    forget: { description: 'forget the forms, and learn them anew', load: async () => forget },
  },
};

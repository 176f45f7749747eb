import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { sourceFiles } from '../../scripts/docs/imports.ts';
import { purposeOf } from '../../src/advice.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { leaves } from '../cli/leaves.ts';

/** Ends of hints that people copy (a command, an address, a name), so no full stop may follow them. */
const COPIED = [
  'set-ntp true',
  '<this computer>',
  'openssl base64 -A',
  '-out <file>.pem',
  '.damaged',
  'https://jmespath.org',
];

const node = z.looseObject({ type: z.string() });
const property = z.object({
  type: z.literal('Property'),
  key: z.object({ name: z.literal('hint') }),
  value: node,
});
const literal = z.object({ type: z.literal('Literal'), value: z.string() });
const template = z.object({
  type: z.literal('TemplateLiteral'),
  quasis: z.array(z.object({ value: z.object({ cooked: z.string() }) })),
});
const either = z.object({ type: z.literal('ConditionalExpression'), consequent: node, alternate: node });

/** Most parts of a tree are not of the wanted type, and checking their whole shape takes long. */
const isA = (type: string, tree: unknown) =>
  typeof tree === 'object' && tree !== null && 'type' in tree && tree.type === type;

const trees = sourceFiles().map((file) => ({
  file,
  tree: parseSync(file, readFileSync(`src/${file}`, 'utf8')).program.body,
}));

/** The text of a hint, with … for each value in it. A conditional gives both texts, and a bare value gives none. */
function textsOf(hint: unknown): string[] {
  if (!['Literal', 'TemplateLiteral', 'ConditionalExpression'].some((type) => isA(type, hint))) return [];
  const plain = literal.safeParse(hint);
  if (plain.success) return [plain.data.value];
  const written = template.safeParse(hint);
  if (written.success) return [written.data.quasis.map(({ value }) => value.cooked).join('…')];
  const chosen = either.safeParse(hint);
  return chosen.success ? [...textsOf(chosen.data.consequent), ...textsOf(chosen.data.alternate)] : [];
}

function hintsIn(tree: unknown): string[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const found = isA('Property', tree) ? property.safeParse(tree) : undefined;
  return [...(found?.success ? textsOf(found.data.value) : []), ...Object.values(tree).flatMap(hintsIn)];
}

const list = z.object({ type: z.literal('ArrayExpression'), elements: z.array(z.unknown()) });
const nextProperty = z.object({
  type: z.literal('Property'),
  key: z.object({ name: z.literal('next') }),
  value: node,
});

/** The arguments of each command in a literal `next`, with … for each that is not a literal. */
function commandsIn(tree: unknown): string[][] {
  return groupsIn(tree).flat();
}

/** The same, by the `next` that they stand in. */
function groupsIn(tree: unknown): string[][][] {
  if (typeof tree !== 'object' || tree === null) return [];
  const found = isA('Property', tree) ? nextProperty.safeParse(tree) : undefined;
  const commands = found?.success ? list.safeParse(found.data.value) : undefined;
  const own = (commands?.data?.elements ?? []).flatMap((command) => {
    const words = list.safeParse(command).data?.elements;
    return words ? [words.map((word) => literal.safeParse(word).data?.value ?? '…')] : [];
  });
  return [own, ...Object.values(tree).flatMap(groupsIn)];
}

/** All texts, with … for each value in them. */
function textsIn(tree: unknown): string[] {
  if (typeof tree !== 'object' || tree === null) return [];
  return [...textsOf(tree), ...Object.values(tree).flatMap(textsIn)];
}

describe('the hints of errors', () => {
  const hints = trees.flatMap(({ file, tree }) => hintsIn(tree).map((hint) => ({ file, hint })));

  it('every hint ends in punctuation, because psd2 prints it unchanged', () => {
    expect(hints.length).toBeGreaterThan(150);
    const hasEnd = (hint: string) => /[.!?:…]$/.test(hint) || COPIED.some((end) => hint.endsWith(end));
    expect(hints.filter(({ hint }) => !hasEnd(hint))).toEqual([]);
  });

  it('no message writes out a command with its arguments, because only advice.ts adds the options to repeat', () => {
    const spelled = trees.flatMap(({ file, tree }) =>
      textsIn(tree)
        .filter((text) => /(?:: |[Rr]un |[Cc]ontinue with )psd2 [a-z]+ [a-z]+ …/.test(text))
        .map((text) => ({ file, text })),
    );
    // The help shows how a command is typed.
    expect(spelled.filter(({ file }) => !/declare\.ts$|topics\.ts$/.test(file))).toEqual([]);
  });

  it('every command in the list after a hint exists, so advice.ts knows for whom it acts', async () => {
    const known = leaves(await buildProgram('1.0.0'));
    const groups = known.map((name) => name.split(' ')[0]);
    const named = trees.flatMap(({ file, tree }) => commandsIn(tree).map((words) => ({ file, words })));
    expect(named.length).toBeGreaterThan(50);
    const exists = (words: string[]) => {
      const [noun = '', verb = ''] = words.filter((word) => word !== '--profile');
      if (noun === '…' || noun === '--help') return true;
      if (verb === '' || verb === '…' || verb.startsWith('-')) return groups.includes(noun);
      return known.some((name) => `${words.join(' ')} `.startsWith(`${name} `));
    };
    expect(named.filter(({ words }) => !exists(words))).toEqual([]);
  });

  it('where a hint offers several commands, psd2 can say what each is for', () => {
    const groups = trees.flatMap(({ tree }) => groupsIn(tree)).filter(({ length }) => length > 1);
    expect(groups.length).toBeGreaterThan(8);
    // The kind of a flow is no literal. Nor is what a list begins with.
    const known = groups
      .flat()
      .filter(([, verb]) => !verb?.startsWith('--'))
      .map(([noun = '', ...rest]) => [noun === '…' ? 'transfer' : noun, ...rest]);
    expect(known.filter((words) => purposeOf(words) === undefined)).toEqual([]);
  });

  it('no hint contains a psd2 command, because commands belong in the list after the hint', () => {
    expect(hints.filter(({ hint }) => /: psd2 [a-z]|Run psd2 [a-z]+ [a-z<]/.test(hint))).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { sourceFiles } from '../../scripts/docs/imports.ts';

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

/** The text of a hint, with … for each value in it. A conditional gives both texts, and a bare value gives none. */
function textsOf(hint: unknown): string[] {
  const plain = literal.safeParse(hint);
  if (plain.success) return [plain.data.value];
  const written = template.safeParse(hint);
  if (written.success) return [written.data.quasis.map(({ value }) => value.cooked).join('…')];
  const chosen = either.safeParse(hint);
  return chosen.success ? [...textsOf(chosen.data.consequent), ...textsOf(chosen.data.alternate)] : [];
}

function hintsIn(tree: unknown): string[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const found = property.safeParse(tree);
  return [...(found.success ? textsOf(found.data.value) : []), ...Object.values(tree).flatMap(hintsIn)];
}

describe('the hints of errors', () => {
  const hints = sourceFiles().flatMap((file) =>
    hintsIn(parseSync(file, readFileSync(`src/${file}`, 'utf8')).program.body).map((hint) => ({
      file,
      hint,
    })),
  );

  it('every hint ends in punctuation, because psd2 prints it unchanged', () => {
    expect(hints.length).toBeGreaterThan(150);
    const hasEnd = (hint: string) => /[.!?:…]$/.test(hint) || COPIED.some((end) => hint.endsWith(end));
    expect(hints.filter(({ hint }) => !hasEnd(hint))).toEqual([]);
  });

  it('no hint contains a psd2 command, because commands belong in the list after the hint', () => {
    expect(hints.filter(({ hint }) => /: psd2 [a-z]|Run psd2 [a-z]+ [a-z<]/.test(hint))).toEqual([]);
  });
});

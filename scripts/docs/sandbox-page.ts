import { VARIATIONS } from '../../src/sandbox/nextgenpsd2/variations.ts';
import { BLOCK, table } from './generated-table.ts';

/** Writes the table of variations in `docs/sandbox.md`. @param page as it stands. The rest of it does not change */
export function writeSandboxPage(page: string): string {
  if (page.match(BLOCK)?.length !== 1) throw new Error('docs/sandbox.md has lost its marks');
  const rows = Object.entries(VARIATIONS).map(([name, effect]) => `| \`${name}\` | ${effect} |`);
  return page.replace(BLOCK, () => table(['variation', 'what it does'], rows));
}

import { faultKinds, usageOf } from '../../src/sandbox/faults/fault.ts';
import { VARIATIONS } from '../../src/sandbox/nextgenpsd2/variations.ts';
import { BLOCK, table } from './generated-table.ts';

/** Writes the tables of faults and of variations in `docs/sandbox.md`. @param page as it stands. The rest of it does not change */
export function writeSandboxPage(page: string): string {
  const faults = [...faultKinds].map(([name, kind]) => `| \`${usageOf(name, kind)}\` | ${kind.says} |`);
  const variations = Object.entries(VARIATIONS).map(([name, effect]) => `| \`${name}\` | ${effect} |`);
  const tables = [table(['fault', 'what happens'], faults), table(['variation', 'what it does'], variations)];
  if (page.match(BLOCK)?.length !== tables.length) throw new Error('docs/sandbox.md has lost its marks');
  return page.replace(BLOCK, () => tables.shift() ?? '');
}

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readImports } from '../../../scripts/docs/imports.ts';
import type { Check } from '../../../src/commands/checks/check.ts';
import { STEP_IDS } from '../../../src/smoke/steps.ts';

// A check is one check, whoever asks: each is chosen by a verb, and the page says by which.

const ROOM = 'commands/checks/';
const PAGE = 'docs/troubleshooting.md';
/** The files of each verb that may choose a check. */
const VERBS: Readonly<Record<string, RegExp>> = {
  'psd2 doctor': /^commands\/doctor\//,
  'psd2 smoke': /^commands\/smoke\//,
  'psd2 bank check --online': /^commands\/bank\/online\.ts$/,
  'psd2 bank learn': /^commands\/bank\/learn/,
  'psd2 expiring': /^commands\/expiring\//,
  'psd2 status': /^commands\/status\//,
};

const isCheck = (value: unknown): value is Check =>
  typeof value === 'object' && value !== null && 'id' in value && 'needs' in value && 'run' in value;

/** Each check, by the file that has it. */
const checks = new Map<string, Check>();
for (const file of readdirSync(`src/${ROOM}`)) {
  const values: unknown[] = Object.values(await import(`../../../src/${ROOM}${file}`));
  for (const value of values.filter(isCheck)) checks.set(`${ROOM}${file}`, value);
}

/** The checks that a verb takes something from. */
const choosers = new Map(Object.keys(VERBS).map((verb) => [verb, new Set<string>()]));
for (const { from, to, isType } of readImports())
  for (const [verb, files] of Object.entries(VERBS)) {
    const check = checks.get(to);
    if (check && !isType && files.test(from)) choosers.get(verb)?.add(check.id);
  }

/** What the page says of each verb. */
const told = new Map(
  [...readFileSync(PAGE, 'utf8').matchAll(/^\| [^|]+ \| `(psd2 [^|`]+)` \| ([^|]+) \|$/gm)].map(
    ([, verb = '', list = '']) => [
      verb,
      list
        .split(',')
        .map((id) => id.trim())
        .filter((id) => !id.includes(' ')),
    ],
  ),
);

it('there is one check for each question, in the file of its name', () => {
  expect([...checks].map(([file, { id }]) => [file, id])).toEqual(
    [...checks].map(([file]) => [file, file.slice(ROOM.length, -'.ts'.length)]),
  );
  expect(checks.size).toBeGreaterThan(0);
});

it.each([...checks.values()].map(({ id }) => [id]))('a verb chooses the check %s', (id) => {
  const verbs = [...choosers].filter(([, chosen]) => chosen.has(id)).map(([verb]) => verb);
  expect(verbs, `No verb chooses the check ${id}: choose it in doctor, smoke or another verb`).not.toEqual(
    [],
  );
});

it.each(Object.keys(VERBS))(`${PAGE} says what %s checks`, (verb) => {
  expect(
    told.get(verb)?.toSorted(),
    `The table "Which verb checks what" of ${PAGE} must name for ${verb} what its files take from src/${ROOM}`,
  ).toEqual([...(choosers.get(verb) ?? [])].toSorted());
});

it('what a check needs comes before it, and nothing needs itself', () => {
  const ids = new Set([...checks.values()].map(({ id }) => id));
  const needed = (id: string): string[] => {
    const check = [...checks.values()].find((each) => each.id === id);
    return (check?.needs ?? []).flatMap((each) => [each, ...needed(each)]);
  };
  for (const { id, needs } of checks.values()) {
    expect(needs.filter((each) => !ids.has(each))).toEqual([]);
    expect(needed(id)).not.toContain(id);
  }
});

it('each check that is a step of the smoke test has the name of that step', () => {
  const steps: readonly string[] = STEP_IDS;
  const shared = [...checks.values()].map(({ id }) => id).filter((id) => steps.includes(id));
  expect(shared.toSorted()).toEqual(
    ['settings', 'certificates', 'connection', 'signature', 'login', 'consent'].toSorted(),
  );
});

import { Psd2Error } from '../errors.ts';
import type { DriftFinding } from './result.ts';

// The forms of the bank's answers: which fields they have, and of what kind. Never a value.

/** What was seen of a field. */
export interface FieldShape {
  /** How many parents had it, of how many. */
  in: [seen: number, parents: number];
  /** How many runs saw it. */
  runs: number;
  kinds: string[];
  /** The forms of a day by account, under four digits of its hash: a bank may write them one way here and another way there. */
  days?: Record<string, string[]> | undefined;
}

/** The forms of all answers of a profile, as the file has them. */
export interface ShapeFile {
  version: 1;
  interface: string;
  bank: string;
  /** The day of the first run. */
  learnedFrom: string;
  /** The day of the last run that was learnt from. */
  learnedTo: string;
  /** The number of days with such a run. */
  days: number;
  runs: number;
  shapes: Record<string, Record<string, FieldShape>>;
}

/** An answer, without its ids. */
export interface ObservedAnswer {
  method: string;
  route: string;
  status: number;
  contentType: string | undefined;
  /** Undefined: it is not JSON. */
  json: unknown;
  /** Four digits of the hash of the account that it is of. Undefined: of none. */
  account?: string | undefined;
}

/** What psd2 knows of the fields of an interface. */
export interface Vocabulary {
  /** Names that are fields, and no ids of the bank. */
  names: ReadonlySet<string>;
  /** Fields that psd2 reads. */
  reads: ReadonlySet<string>;
  /** Fields that the standard requires wherever they may be. */
  required: ReadonlySet<string>;
  /** The values that psd2 knows of a field of codes, by its name. */
  codes: Readonly<Record<string, ReadonlySet<string>>>;
}

/** Before that many runs, nothing is compared. */
export const LEARNING_RUNS = 3;
/** A field is always there only after so many parents, runs and days. */
const ALWAYS = { parents: 20, runs: 3, days: 2 };
const ANY = '*';

/** The form of answers: by answer and path. */
export function shapesOf(answers: readonly ObservedAnswer[], { names }: Vocabulary): ShapeFile['shapes'] {
  const shapes: ShapeFile['shapes'] = {};
  for (const answer of answers) {
    const key = answerKey(answer);
    const shape = shapes[key] ?? {};
    shapes[key] = shape;
    const add = (path: string, kind: string, isThere: boolean) => {
      const field = shape[path] ?? { in: [0, 0], runs: 1, kinds: [] };
      shape[path] = field;
      field.in[1] += 1;
      if (!isThere) return;
      field.in[0] += 1;
      if (!field.kinds.includes(kind)) field.kinds.push(kind);
      if (answer.account !== undefined && isDay(kind))
        field.days = union(field.days, { [answer.account]: [kind] });
    };
    if (answer.json === undefined) add('$', 'not JSON', true);
    else walk('$', answer.json, add, names);
  }
  for (const shape of Object.values(shapes)) countParents(shape);
  return shapes;
}

/** A text that is a day or a time. */
const isDay = (kind: string) => /^string:.*(date|time|day)/.test(kind);

/** All forms of a day that were seen, by account. */
function union(one: FieldShape['days'] = {}, other: FieldShape['days'] = {}): Record<string, string[]> {
  const merge = ([account, kinds]: [string, string[]]): [string, string[]] => [
    account,
    [...new Set([...(one[account] ?? []), ...kinds])].sort(),
  ];
  return { ...one, ...Object.fromEntries(Object.entries(other).map(merge)) };
}

function answerKey({ method, route, status }: ObservedAnswer): string {
  return `${method} ${route} ${status < 400 ? status : `${Math.floor(status / 100)}xx`}`;
}

type Add = (path: string, kind: string, isThere: boolean) => void;

function walk(path: string, value: unknown, add: Add, names: ReadonlySet<string>): void {
  add(path, kindOfValue(value), true);
  if (Array.isArray(value)) for (const item of value) walk(`${path}[]`, item, add, names);
  else if (isObject(value))
    // A key may be an IBAN, an id, a day or a name.
    for (const [name, child] of Object.entries(value))
      walk(`${path}.${names.has(name) ? name : ANY}`, child, add, names);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumber(value);
}

/** A number with all its digits, as the reader of answers keeps it. */
function isNumber(value: unknown): boolean {
  return (
    typeof value === 'number' || (typeof value === 'object' && value !== null && 'isLosslessNumber' in value)
  );
}

/** A field is in as many of its parents as there were: the parent's own count says how many. */
function countParents(shape: Record<string, FieldShape>): void {
  for (const [path, field] of Object.entries(shape)) {
    const parent = shape[parentOf(path)];
    if (parent && !path.endsWith('[]')) field.in[1] = Math.max(field.in[0], parent.in[0]);
    else field.in[1] = field.in[0];
  }
}

function parentOf(path: string): string {
  return path.endsWith('[]') ? path.slice(0, -2) : path.slice(0, path.lastIndexOf('.'));
}

const STRINGS: readonly [kind: string, pattern: RegExp][] = [
  ['empty', /^$/],
  ['date', /^\d{4}-\d{2}-\d{2}$/],
  ['date-time', /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:?\d{2})?$/],
  ['day-first', /^\d{2}\/\d{2}\/\d{4}$/],
  ['compact-time', /^\d{8}T\d{2}:\d{2}:\d{2}$/],
  ['iban', /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/],
  ['uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i],
  ['digits', /^\d+$/],
  ['decimal', /^[+-]?\d+[.,]\d+$/],
  ['uri', /^(https?:\/)?\/\S*$/],
];

function kindOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isNumber(value)) return /[.eE]/.test(String(value)) ? 'number' : 'integer';
  if (typeof value === 'string')
    return `string:${STRINGS.find(([, pattern]) => pattern.test(value))?.[0] ?? 'text'}`;
  return typeof value;
}

/** Adds what a run saw. Kinds and fields only grow: nothing that was seen once is a surprise. */
export function merged(file: ShapeFile, seen: ShapeFile['shapes'], today: string): ShapeFile {
  const shapes: ShapeFile['shapes'] = { ...file.shapes };
  for (const [answer, fields] of Object.entries(seen)) {
    const earlier = shapes[answer] ?? {};
    const grown = { ...earlier };
    for (const [path, field] of Object.entries(fields)) {
      const before = grown[path];
      grown[path] = before
        ? {
            in: [before.in[0] + field.in[0], before.in[1] + field.in[1]],
            runs: before.runs + 1,
            kinds: [...new Set([...before.kinds, ...field.kinds])].sort(),
            ...((before.days || field.days) && { days: union(before.days, field.days) }),
          }
        : {
            ...field,
            in: [field.in[0], field.in[1] + parentsOf(earlier, path)],
            kinds: field.kinds.toSorted(),
          };
    }
    // A field that is missing now was in none of the parents.
    for (const [path, before] of Object.entries(grown)) {
      const parents = fields[parentOf(path)]?.in[0] ?? 0;
      if (fields[path] === undefined && parents > 0 && !path.endsWith('[]'))
        grown[path] = { ...before, in: [before.in[0], before.in[1] + parents] };
    }
    shapes[answer] = grown;
  }
  return {
    ...file,
    runs: file.runs + 1,
    days: file.days + (file.learnedTo === today ? 0 : 1),
    learnedTo: today,
    shapes,
  };
}

/** How many parents were seen before a field that is new. */
function parentsOf(earlier: Record<string, FieldShape>, path: string): number {
  return path.endsWith('[]') ? 0 : (earlier[parentOf(path)]?.in[0] ?? 0);
}

/** A file that has learnt nothing. */
export function emptyShapes(bank: string, name: string, today: string): ShapeFile {
  return {
    version: 1,
    interface: name,
    bank,
    learnedFrom: today,
    learnedTo: '',
    days: 0,
    runs: 0,
    shapes: {},
  };
}

/**
 * What is different from what was learnt (smoke contract, "Shape file"). A kind that is new beside the old one, and a field that was
 * not always there, is no surprise.
 */
export function driftOf(
  file: ShapeFile,
  answers: readonly ObservedAnswer[],
  vocabulary: Vocabulary,
): DriftFinding[] {
  const seen = shapesOf(answers, vocabulary);
  const findings: Omit<DriftFinding, 'id'>[] = [];
  for (const [answer, fields] of Object.entries(seen)) {
    const learned = file.shapes[answer];
    if (!learned) continue;
    for (const [path, field] of Object.entries(fields)) {
      const before = learned[path];
      const find = (severity: DriftFinding['severity'], message: string) =>
        findings.push({ answer, path, severity, message });
      if (!before) {
        find('info', 'a new field');
        continue;
      }
      const changed =
        changedDay(before, field, vocabulary.reads.has(fieldName(path))) ??
        changeOf(before, field, vocabulary.reads.has(fieldName(path)));
      if (changed) find(...changed);
    }
    for (const [path, before] of Object.entries(learned)) {
      const lost = lostOf(file, path, before, fields);
      if (lost)
        findings.push({
          answer,
          path,
          severity: vocabulary.reads.has(fieldName(path)) ? 'breaking' : 'warning',
          message: vocabulary.required.has(fieldName(path)) ? `${lost}; against the standard` : lost,
        });
    }
  }
  findings.push(...unknownCodes(answers, vocabulary), ...wrongTypes(file, answers));
  return findings.map((finding) => ({ id: findingId(finding), ...finding })).sort(bySeverity);
}

const ORDER = { breaking: 0, warning: 1, info: 2 } as const;

function bySeverity(one: DriftFinding, other: DriftFinding): number {
  return ORDER[one.severity] - ORDER[other.severity] || one.id.localeCompare(other.id);
}

/** Names a finding, the same in each run. */
function findingId({ answer, path, message }: Omit<DriftFinding, 'id'>): string {
  let sum = 0;
  for (const character of `${answer} ${path} ${message}`)
    sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return `dr-${sum.toString(36).padStart(7, '0')}`;
}

function fieldName(path: string): string {
  return path.replace(/\[\]$/, '').split('.').at(-1) ?? '';
}

const isReal = (kind: string) => kind !== 'null' && kind !== 'string:empty';

/**
 * How the form of a day has changed. It is compared with that of the same account; the form of an account that psd2 sees for the
 * first time is new and no change.
 *
 * @returns undefined if it is no day, or was learnt before psd2 knew forms by account
 */
function changedDay(
  { days: before }: FieldShape,
  { kinds, days: now }: FieldShape,
  isRead: boolean,
): [DriftFinding['severity'], string] | undefined {
  if (!before || !now || !kinds.filter(isReal).every(isDay)) return undefined;
  for (const [account, forms] of Object.entries(now)) {
    const earlier = before[account];
    const fresh = earlier && forms.filter((form) => !earlier.includes(form));
    if (!earlier || !fresh || fresh.length === 0) continue;
    if (forms.some((form) => earlier.includes(form))) return ['warning', `also ${fresh.join(', ')}`];
    return [isRead ? 'breaking' : 'warning', `${fresh.join(', ')} instead of ${earlier.join(', ')}`];
  }
  const isNew = Object.keys(now).some((account) => !before[account]);
  return isNew &&
    Object.values(now)
      .flat()
      .some((form) => !Object.values(before).flat().includes(form))
    ? ['info', 'another form of a day, of another account']
    : undefined;
}

/** How the kinds of a field have changed, and what it means. */
function changeOf(
  before: FieldShape,
  { kinds }: FieldShape,
  isRead: boolean,
): [DriftFinding['severity'], string] | undefined {
  const fresh = kinds.filter((kind) => !before.kinds.includes(kind));
  if (fresh.length === 0) return undefined;
  if (fresh.every((kind) => kind === 'string:empty')) return undefined;
  if (fresh.includes('null') && !before.kinds.includes('null') && fresh.length === 1)
    return ['warning', 'null for the first time'];
  const change = `${fresh.filter(isReal).join(', ')} instead of ${before.kinds.join(', ')}`;
  const isGone =
    !kinds.some((kind) => isReal(kind) && before.kinds.includes(kind)) && before.kinds.some(isReal);
  // Two texts that look different are texts, unless a date or a number lost its form.
  const isTextual = [...fresh, ...before.kinds].filter(isReal).every((kind) => kind.startsWith('string:'));
  const hasForm = before.kinds.filter(isReal).every((kind) => /date|time|day/.test(kind));
  if (isTextual && !hasForm) return ['info', `another text: ${change}`];
  if (!isGone) return ['warning', `also ${fresh.filter(isReal).join(', ')}`];
  return [isRead ? 'breaking' : 'warning', change];
}

/** Says that a field is missing that was always there. */
function lostOf(
  { days }: ShapeFile,
  path: string,
  { in: [count, parents], runs }: FieldShape,
  fields: Record<string, FieldShape>,
): string | undefined {
  const isAlways =
    count === parents && parents >= ALWAYS.parents && runs >= ALWAYS.runs && days >= ALWAYS.days;
  const parent = fields[parentOf(path)];
  if (!isAlways || path.endsWith('[]') || path === '$' || !parent || parent.in[0] === 0) return undefined;
  const now = fields[path];
  if (!now) return `missing; it was in all of ${parents}`;
  return now.in[0] < now.in[1] ? `in ${now.in[0]} of ${now.in[1]}; it was in all of ${parents}` : undefined;
}

/** Codes that psd2 does not know. It shows them as they are, and they decide nothing. */
function unknownCodes(answers: readonly ObservedAnswer[], { codes }: Vocabulary): Omit<DriftFinding, 'id'>[] {
  const unknown = new Map<string, Omit<DriftFinding, 'id'>>();
  const look = (value: unknown, path: string, answer: string): void => {
    if (Array.isArray(value)) for (const item of value) look(item, `${path}[]`, answer);
    else if (isObject(value))
      for (const [name, child] of Object.entries(value)) {
        const knownCodes = Object.hasOwn(codes, name) ? codes[name] : undefined;
        const isCode =
          knownCodes && typeof child === 'string' && /^[A-Za-z]{2,32}$/.test(child) && !knownCodes.has(child);
        const at = `${path}.${name}`;
        if (isCode)
          unknown.set(`${answer} ${at} ${child}`, {
            answer,
            path: at,
            severity: 'warning',
            message: `psd2 does not know the code ${child}`,
          });
        if (knownCodes === undefined && typeof child === 'object') look(child, at, answer);
      }
  };
  for (const answer of answers) look(answer.json, '$', answerKey(answer));
  return [...unknown.values()];
}

/** Answers that are not JSON, or say that they are something else. */
function wrongTypes({ shapes }: ShapeFile, answers: readonly ObservedAnswer[]): Omit<DriftFinding, 'id'>[] {
  return answers.flatMap((answer) => {
    const key = answerKey(answer);
    const isJson = answer.json !== undefined && /\bjson\b/i.test(answer.contentType ?? '');
    const wasJson = shapes[key]?.$ && !shapes[key].$.kinds.includes('not JSON');
    if (isJson || !wasJson || answer.status === 204) return [];
    const type = answer.json === undefined ? 'no JSON' : `the Content-Type is not JSON`;
    return [{ answer: key, path: '$', severity: 'breaking' as const, message: type }];
  });
}

/** Writes the file: sorted, one line for each field, so that it can be compared. */
export function writeShapes(file: ShapeFile): string {
  const { shapes, ...head } = file;
  const facts = JSON.stringify(head).slice(1, -1);
  const answers = Object.keys(shapes)
    .sort()
    .map((answer) => {
      const fields = Object.entries(shapes[answer] ?? {})
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([path, field]) => `  ${JSON.stringify(path)}:${JSON.stringify(field)}`);
      return `${JSON.stringify(answer)}:{\n${fields.join(',\n')}}`;
    });
  return `{${facts},"shapes":{${answers.join(',\n')}}}\n`;
}

/** A finding by its id or the beginning of it. @throws Psd2Error `usage` */
export function findingOf(findings: readonly DriftFinding[], id: string): DriftFinding {
  const [match, ...more] = findings.filter((finding) => finding.id.startsWith(id));
  if (match && more.length === 0) return match;
  throw new Psd2Error('usage', `There is no finding ${id} in the last run`, {
    hint: 'See the findings with:',
    next: [['smoke', 'show']],
  });
}

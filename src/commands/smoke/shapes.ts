import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { bankDay } from '../../domain/calendar.ts';
import { jsonIn } from '../../domain/json.ts';
import { Psd2Error } from '../../errors.ts';
import type { DriftFinding } from '../../smoke/result.ts';
import {
  driftOf,
  emptyShapes,
  LEARNING_RUNS,
  merged,
  type ObservedAnswer,
  type ShapeFile,
  shapesOf,
  writeShapes,
} from '../../smoke/shapes.ts';
import { vocabularyOf } from '../../smoke/vocabulary.ts';
import { makePrivateFolder } from '../../store/disk/files.ts';
import { replaceDurably } from '../../store/disk/replace.ts';
import type { Context } from '../context.ts';
import type { Found, Smoke } from './smoke.ts';

const field = z.object({
  in: z.tuple([z.number(), z.number()]),
  runs: z.number(),
  kinds: z.array(z.string()),
  days: z.optional(z.record(z.string(), z.array(z.string()))),
});
const file = z.object({
  version: z.literal(1),
  interface: z.string(),
  bank: z.string(),
  learnedFrom: z.string(),
  learnedTo: z.string(),
  days: z.number(),
  runs: z.number(),
  shapes: z.record(z.string(), z.record(z.string(), field)),
});

/** Reads a file of shapes. @returns undefined if there is none. @throws Psd2Error `config` if it is damaged */
export function readShapes(path: string): ShapeFile | undefined {
  if (!existsSync(path)) return undefined;
  const { data } = file.safeParse(jsonIn(readFileSync(path, 'utf8')));
  if (data) return data;
  throw new Psd2Error('config', `The shapes in ${path} are damaged`, {
    hint: 'Learn them anew with:',
    next: [['smoke', 'shapes', 'forget']],
  });
}

export function saveShapes(path: string, shapes: ShapeFile): void {
  makePrivateFolder(dirname(path));
  replaceDurably(path, writeShapes(shapes));
}

/** Where the shapes of the profile are, unless the operator names another file. */
export function shapesPath(context: Context, namedPath: string | undefined): string {
  return namedPath ?? context.folder.shapes(context.profileName());
}

/** The answers as the shapes see them. */
function observed({ answers, accountId }: Smoke): ObservedAnswer[] {
  const account = accountId === undefined ? undefined : hash('sha256', accountId, 'hex').slice(0, 4);
  return answers
    .filter(({ route }) => route.kind === 'ais' || route.kind === 'pis')
    .map(({ method, route, status, contentType, json }) => ({
      method,
      route: route.path,
      status,
      contentType,
      json,
      // Lists name no account. All others are of the one that is read.
      account: /\{(account|product)\}/.test(route.path) ? account : undefined,
    }));
}

/** Step 13: compares the answers of this run with those of earlier ones, and learns from them. */
export async function shapes(smoke: Smoke): Promise<Found> {
  const { context, plan } = smoke;
  const seen = observed(smoke);
  if (seen.length === 0) return { skipped: 'no answer was read' };
  const { name, fieldsRead } = await context.bankInterface();
  const vocabulary = vocabularyOf(name, (await fieldsRead?.()) ?? new Set());
  const path = shapesPath(context, plan.shapesFile);
  const today = bankDay(context.world.now());
  const file = readShapes(path) ?? emptyShapes(context.profile().name, name, today);
  const isLearning = plan.shapes === 'learn' || file.runs < LEARNING_RUNS;
  const drift = isLearning || plan.shapes === 'accept' ? [] : driftOf(file, seen, vocabulary);
  smoke.drift = drift;
  const grave = drift.filter(({ severity }) => severity !== 'info');
  const learnt = shapesOf(seen, vocabulary);
  // What has changed stays as it was until somebody accepts it.
  for (const { answer, path: at } of grave) delete learnt[answer]?.[at];
  saveShapes(path, merged(file, learnt, today));
  if (isLearning && plan.shapes !== 'learn')
    return { detail: `learning, ${file.runs + 1} of ${LEARNING_RUNS}` };
  return foundDrift(drift, grave);
}

/** @throws Psd2Error `drift` if something has changed that psd2 reads */
function foundDrift(drift: readonly DriftFinding[], grave: readonly DriftFinding[]): Found {
  const [breaking] = grave.filter(({ severity }) => severity === 'breaking');
  const says = ({ answer, path, message }: DriftFinding) => `${path} of ${answer}: ${message}`;
  if (breaking)
    throw new Psd2Error('drift', `The answers have changed: ${says(breaking)}${more(grave.length)}`, {
      hint: 'Look at all of it, and accept it if it is right, with:',
      next: [
        ['smoke', 'show', '--json'],
        ['smoke', 'shapes', 'accept'],
      ],
    });
  const [first] = grave;
  if (!first) return { detail: drift.length === 0 ? 'as before' : `${drift.length} new and harmless` };
  return { warnings: [{ code: 'drift', message: `${says(first)}${more(grave.length)}` }] };
}

function more(count: number): string {
  return count > 1 ? `, and ${count - 1} more` : '';
}

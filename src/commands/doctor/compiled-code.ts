import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod/mini';
import { finding } from '../shared/checks.ts';
import type { Finding } from './diagnosis.ts';

/** What the loader of the built program says of its compiled code (bin/loader.js). */
const loader = z.object({
  kept: z.union([z.object({ folder: z.string(), build: z.string() }), z.object({ why: z.string() })]),
});

/** The paths of the loader: from a chunk of the build, and from this file. */
const LOADERS = ['../../bin/loader.js', '../../../bin/loader.js'] as const;

/**
 * Whether psd2 keeps its compiled code between runs. Without that it starts more slowly, and nothing else changes.
 *
 * @param path of the loader
 */
export function checkCompiledCode(path: string = loaderPath()): Finding {
  const { kept } = loader.parse(createRequire(import.meta.url)(path));
  if ('folder' in kept) return finding('ok', `psd2 keeps it in ${kept.folder}`);
  return finding('warn', `psd2 compiles itself at each start: ${kept.why}`, {
    hint: 'Give the user a home folder that only this user can change. Slower starts are the only consequence.',
  });
}

function loaderPath(): string {
  const [built, source] = LOADERS;
  return existsSync(new URL(built, import.meta.url)) ? built : source;
}

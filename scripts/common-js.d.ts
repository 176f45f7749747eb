import type { Metafile } from 'esbuild';

export function asCommonJs(text: string, passedOn?: Map<string, string>, zod?: Set<string>): Promise<string>;
export function chunksForEffect(metafile: Metafile): string[];
export function chunksPassedOn(outputFiles: readonly { path: string; text: string }[]): Map<string, string>;

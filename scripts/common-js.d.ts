import type { Metafile } from 'esbuild';

export function asCommonJs(text: string, files?: Map<string, string>, zod?: Set<string>): Promise<string>;
export function chunksForEffect(metafile: Metafile): string[];

import type { Metafile } from 'esbuild';

export function asCommonJs(text: string): Promise<string>;
export function chunksForEffect(metafile: Metafile): string[];

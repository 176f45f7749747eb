import type { Metafile } from 'esbuild';

export function filesOfChunks(
  metafile: Metafile,
  main: string,
  joined: Record<string, { sources: string[] } | { importedBy: string[] }>,
): Map<string, string>;
export function joinChunks(chunks: Map<string, string>): Promise<string>;

type Standing = 'as it is' | 'stale' | 'never';
export function standingOf(
  file: string,
  results: Record<string, { content: string }>,
  contentOf: (file: string) => string,
): Standing;
export function inOrder<Source extends { standing: Standing }>(
  sources: Source[],
  isSample?: boolean,
): Source[];
export function partOf<Source extends { file: string; size: number }>(
  sources: Source[],
  text: string,
): Source[] | undefined;
export function mustHaveScore(standings: Standing[]): boolean;
export function merged<Result extends { content: string }>(
  own: Record<string, Result>,
  other: Record<string, Result>,
  contentOf: (file: string) => string | undefined,
): Record<string, Result>;

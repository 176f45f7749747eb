export function contentOf(file: string): string;
export function isMeasured(file: string, results: Record<string, { content: string }>): boolean;

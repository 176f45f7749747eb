export function contentOf(file: string): string;

export const ROOMS: Record<string, { least: number; mutate: string[]; tests: string[]; left?: string }>;
export const LEFT_OUT: Record<string, string>;
export function roomOf(file: string): string | undefined;
export function testsOf(name: string, files: string[]): string[];

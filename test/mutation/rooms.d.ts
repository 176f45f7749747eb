export const ROOMS: Record<string, { least: number; mutate: string[]; tests: string[] }>;

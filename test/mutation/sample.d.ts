export const SAMPLE: string;
export function sampleOf(ids: string[], size: { most: number; seed: string }): Set<string>;
export function estimateOf(results: { mutants: number; noticed: number; of?: number }[]): {
  score: number;
  within: number;
};

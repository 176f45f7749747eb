export function roundsWithin(
  seconds: number,
  limits: { atLeast?: number; atMost: number },
): Generator<number, void>;
export function timeProcesses(
  commands: Record<string, string[]>,
  options: { rounds: number; atLeast?: number; seconds: number },
): { ratios(name: string, baseline: string): number[] };
export function intervalOf(ratios: number[]): {
  median: number;
  low: number;
  high: number;
  differs: boolean;
};

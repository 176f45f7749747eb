export const DAYS: Record<string, (day: Date) => boolean>;
export function dayOfRun(text: string, now: number): { name: string; aheadMs: number };

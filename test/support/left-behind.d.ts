export const WELL: string;
export function leftBehind(folder: string, withRunner?: boolean): { pid: number; command: string }[];
export function stillLeft(folder: string, milliseconds: number): Promise<{ pid: number; command: string }[]>;
export function endAll(folder: string, withRunner?: boolean): Promise<void>;

import type { Context } from '../../commands/context.ts';

/** Runs a command once its arguments are read. What it needs is imported only then. */
export type Run = (command: (context: Context) => Promise<void>) => Promise<void>;

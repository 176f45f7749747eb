import type { Command } from '@commander-js/extra-typings';
import type { Context } from '../../commands/context.ts';

/** A command that others are declared under. */
export type Parent = Command<unknown[], Record<string, unknown>, Record<string, unknown>>;

/** Runs a command once its arguments are read. What it needs is imported only then. */
export type Run = (command: (context: Context) => Promise<void>) => Promise<void>;

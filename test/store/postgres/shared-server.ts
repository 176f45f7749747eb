import type { TestProject } from 'vitest/node';
import { startServer } from './server.ts';

/**
 * Starts a server that all test files of a run share, if `MUTATION_ROOM` is the room of PostgreSQL: the files run again for each
 * mutant.
 *
 * @returns a function that stops it
 */
export default function setUp({ provide }: TestProject): (() => void) | undefined {
  if (process.env.MUTATION_ROOM !== 'postgres') return undefined;
  const server = startServer(undefined, 300, ['synchronous_commit=off']);
  provide('postgres', server.folder);
  return () => server.stop();
}

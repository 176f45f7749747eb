import type { TestProject } from 'vitest/node';
import { makeTemplate } from './databases.ts';
import { startServer } from './server.ts';

const ROOM = process.env.MUTATION_ROOM;

/**
 * Starts a server that the test files of a run share. The runs of the mutation tests need it in the rooms of PostgreSQL only.
 *
 * @returns a function that stops it
 */
export default async function setUp({ provide }: TestProject): Promise<(() => void) | undefined> {
  if (ROOM !== undefined && !ROOM.startsWith('postgres')) return undefined;
  const server = startServer(undefined, 300, ROOM === undefined ? [] : ['synchronous_commit=off']);
  await makeTemplate(server);
  provide('postgres', { folder: server.folder, isAlone: ROOM !== undefined });
  return () => server.stop();
}

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROOMS } from './rooms.js';

it.each(Object.entries(ROOMS))('the sources and the tests that the room %s names are there', (_, room) => {
  const paths = [...room.mutate, ...room.tests].map((glob) => glob.replace('/**', ''));
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());

it('psd2 log --follow shows the last calls, and each new one once it has ended, until it is told to stop', async () => {
  const [last] = await operator.json(shapes.log, ['log', '--limit', '1']);
  const following = await operator.start(['log', '--follow', '--limit', '1', '-o', 'ndjson']);
  await following.prints(new RegExp(last?.tppRequestId ?? 'no call'));
  const refused = readError(await operator.psd2(['api', 'GET', '/followed', '--json']));
  await following.prints(new RegExp(refused.tppRequestId ?? 'no call'));
  following.kill('SIGTERM');
  const { code, stdout } = await following.ended;
  const paths = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).path);
  expect([code, paths]).toEqual([0, [last?.path, '/followed']]);
});

it('psd2 log bundle without --file makes a file with the time in its name', async () => {
  const { file } = await operator.json(z.looseObject({ file: z.string() }), ['log', 'bundle']);
  expect(file).toMatch(/^psd2-log-\d{8}-\d{6}\.json$/);
  expect(existsSync(join(operator.folder, file))).toBe(true);
});

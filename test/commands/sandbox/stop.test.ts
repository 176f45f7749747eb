import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { IDENTITY_PATH } from '../../../src/sandbox/folder/running.ts';
import { type Served, serve } from '../../sandbox/fake-bank.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-25T10:00:00.000Z';
const BASE_URL = 'https://127.0.0.1:8443';

let folder = newConfigFolder(temporary);
let site: Served;
/** The process of the sandbox, and the file that says where it runs. */
let bank: ChildProcess;
const file = () => join(folder.sandbox, 'running.json');
beforeEach(async () => {
  folder = newConfigFolder(temporary);
  bank = spawn('sleep', ['600']);
  await once(bank, 'spawn');
  const { pid } = bank;
  site = await serve(({ url }, response) =>
    response.end(JSON.stringify(url === IDENTITY_PATH ? { pid, startedAt: NOW } : {})),
  );
  const running = {
    ...{ pid, baseUrl: BASE_URL, customerSiteUrl: site.origin, startedAt: NOW, controlToken: 'secret' },
  };
  mkdirSync(folder.sandbox, { recursive: true, mode: 0o700 });
  writeFileSync(file(), `${JSON.stringify(running, null, 2)}\n`, { mode: 0o600 });
});
afterEach(async () => {
  bank.kill('SIGKILL');
  await site.close();
});

/** Runs `psd2 sandbox stop`. @returns what it printed and said */
async function stop(format: 'json' | 'table') {
  const command = openCommand(folder, NOW, { format });
  await runIn(command.context, 'sandbox', 'stop');
  return [command.printed(), command.said()];
}

it.each([
  ['json', ['{"stopped":true}\n', '']],
  ['table', ['', `The sandbox at ${BASE_URL} has stopped.\n`]],
] as const)('psd2 sandbox stop ends its process, and the record of it: %s', async (format, output) => {
  const ended = once(bank, 'exit');
  expect(await stop(format)).toEqual(output);
  expect([await ended, existsSync(file())]).toEqual([[null, 'SIGTERM'], false]);
});

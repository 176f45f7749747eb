import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Answer, openCaller } from '../../../src/bank/call/call.ts';
import { CallFailed } from '../../../src/bank/transport/connection.ts';
import { namingSandbox } from '../../../src/commands/open/naming-sandbox.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { IDENTITY_PATH, recordRunning } from '../../../src/sandbox/folder/running.ts';
import { serve } from '../../sandbox/fake-bank.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { failureOf } from '../failure.ts';
import { callsTo, reading } from './calls.ts';

const temporary = temporaryFolder();

function unreachable(neverSent = true) {
  const cause = new CallFailed('ECONNREFUSED', { neverSent, passing: true, cause: undefined });
  const context = { status: 502, flow: 'tr-1', hint: 'Try again.', cause };
  return new Psd2Error('bank_unreachable', 'The bank cannot be reached', context);
}

/** Calls the bank of a profile whose certificate is in this folder. @param end of the call */
function calling(end: () => Promise<Answer>, certificate = 'sandbox/qwac.pem') {
  const folder = newConfigFolder(temporary);
  const settings = certificate === '' ? {} : { qwacCertificate: { path: join(folder.root, certificate) } };
  const calls = namingSandbox(
    openCaller(end, () => {}),
    { folder },
    { name: 'bank', settings },
  );
  return { folder, call: () => calls.send(reading(null)) };
}

it('if the sandbox of the profile does not run, the error says how to start it', async () => {
  expect(await failureOf(calling(() => Promise.reject(unreachable())).call())).toEqual({
    ...{ code: 'bank_unreachable', exitCode: 11, message: 'The sandbox is not running' },
    ...{ hint: 'Start it with:', next: [['sandbox', 'start', '--detach']], flow: 'tr-1' },
  });
});

it.each<[string, unknown, string?]>([
  ['another error of a call', new Psd2Error('bank_refused', 'No')],
  ['an error of a call that was sent', unreachable(false)],
  ['an error that is none of psd2', new TypeError('a fault')],
  ['an error whose cause is another one', new Psd2Error('bank_unreachable', 'No', { cause: new Error('x') })],
  ['that the bank of another profile does not answer', unreachable(), 'elsewhere/qwac.pem'],
  ['that the bank of a profile without certificates does not answer', unreachable(), ''],
])('%s stays as it is', async (_, error, certificate) => {
  await expect(calling(() => Promise.reject(error), certificate).call()).rejects.toBe(error);
});

it('an answer passes', async () => {
  const answer = await callsTo().caller.send(reading(null));
  expect(await calling(async () => answer).call()).toBe(answer);
});

it('if the sandbox of the profile runs, the error stays as it is', async () => {
  const startedAt = '2026-11-20T11:00:00.000Z';
  const { pid } = process;
  const site = await serve(({ url }, response) => {
    response.end(JSON.stringify(url === IDENTITY_PATH ? { pid, startedAt } : {}));
  });
  onTestFinished(() => site.close());
  const error = unreachable();
  const { folder, call } = calling(() => Promise.reject(error));
  mkdirSync(folder.sandbox, { recursive: true, mode: 0o700 });
  const running = { baseUrl: 'https://127.0.0.1:1', customerSiteUrl: site.origin, controlToken: 'secret' };
  await recordRunning(folder.sandbox, { pid, startedAt, ...running });
  await expect(call()).rejects.toBe(error);
});

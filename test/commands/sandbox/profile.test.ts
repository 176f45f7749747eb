import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import type { Answer } from '../../../src/bank/call/exchange.ts';
import { CallFailed } from '../../../src/bank/transport/connection.ts';
import { namingSandbox } from '../../../src/commands/open/sandbox-down.ts';
import { isOwnSandbox, SANDBOX_PROFILE, storeProfile } from '../../../src/commands/sandbox/profile.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const ADDRESS = 'https://127.0.0.1:8443';
const OTHER = { baseUrl: 'https://psd2.bank.example/', qwacCertificate: { path: '/etc/sandbox/qwac.pem' } };
const open = () => openCommand(newConfigFolder(temporary), NOW).context;

it("psd2 sandbox start leaves the user's own profile of that name, and the chosen profile, as they are", async () => {
  const registration = await loadOrCreateRegistration(inject('registration'));
  const context = open();
  const { profiles } = context;
  await profiles.write(SANDBOX_PROFILE, OTHER);
  await storeProfile(context, ADDRESS, registration);
  expect(profiles.read(SANDBOX_PROFILE)).toEqual(OTHER);
  expect(profiles.current()).toBeUndefined();

  const another = open();
  await another.profiles.write('mybank', OTHER);
  await another.profiles.use('mybank');
  await storeProfile(another, ADDRESS, registration);
  expect(another.profiles.read(SANDBOX_PROFILE)).toMatchObject({ baseUrl: ADDRESS });
  expect(another.profiles.current()).toBe('mybank');
});

it("only a profile with certificates in this configuration's sandbox folder is the sandbox's", () => {
  const { folder } = open();
  const inFolder = { path: join(folder.sandbox, 'certificates', 'qwac.pem') };
  expect(isOwnSandbox({ qwacCertificate: inFolder }, { folder })).toBe(true);
  expect(isOwnSandbox(OTHER, { folder })).toBe(false);
  expect(isOwnSandbox({ qwacCertificate: { pem: '' } }, { folder })).toBe(false);
});

it.each([
  ['that never left', true, 'The sandbox is not running'],
  ['that may have reached the sandbox', false, 'The connection was lost'],
])(
  'psd2 names a sandbox that does not run only for a call that never left: one %s',
  async (_, neverSent, message) => {
    const context = open();
    const qwacCertificate = { path: join(context.folder.sandbox, 'qwac.pem') };
    const cause = new CallFailed('lost', { neverSent, passing: true, cause: undefined });
    const exchange = namingSandbox(context, { name: SANDBOX_PROFILE, settings: { qwacCertificate } }, () =>
      Promise.reject<Answer>(new Psd2Error('bank_unreachable', 'The connection was lost', { cause })),
    );
    const call = { method: 'GET', path: '/x', transactionId: 't1' } as const;
    await expect(exchange(call)).rejects.toMatchObject({ code: 'bank_unreachable', message });
  },
);

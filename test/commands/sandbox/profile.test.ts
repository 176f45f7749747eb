import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import {
  DOOR_PROFILE,
  isOwnSandbox,
  SANDBOX_PROFILE,
  storeProfile,
} from '../../../src/commands/sandbox/profile.ts';
import { doorBankFile } from '../../../src/sandbox/folder/door-bank-file.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const ADDRESS = 'https://127.0.0.1:8443';
const OTHER = { baseUrl: 'https://psd2.bank.example/', qwacCertificate: { path: '/etc/sandbox/qwac.pem' } };
/** A folder of a sandbox whose second door plays the standard. */
const folder = temporaryFolder();
writeFileSync(doorBankFile(folder), JSON.stringify({ interface: 'nextgenpsd2', name: 'The sandbox' }));
const open = () => openCommand(newConfigFolder(temporary), NOW).context;

it('psd2 sandbox start stores a profile for the second door, but never over a bank of the user', async () => {
  const registration = await loadOrCreateRegistration(inject('registration'));
  const context = open();
  await storeProfile(context, ADDRESS, registration, folder);
  const { profiles } = context;
  expect(profiles.read(DOOR_PROFILE)).toMatchObject({
    baseUrl: `${ADDRESS}/nextgenpsd2`,
    bank: expect.stringContaining('"nextgenpsd2"'),
    qwacCertificate: { path: registration.qwacCertFile },
  });
  expect(profiles.read(DOOR_PROFILE)).not.toHaveProperty('clientId');
  expect(profiles.current()).toBe(SANDBOX_PROFILE);

  const another = open();
  await another.profiles.write(DOOR_PROFILE, OTHER);
  await storeProfile(another, ADDRESS, registration, folder);
  expect(another.profiles.read(DOOR_PROFILE)).toEqual(OTHER);
});

it("only a profile with certificates in this configuration's sandbox folder is the sandbox's", () => {
  const { folder } = open();
  const inFolder = { path: join(folder.sandbox, 'certificates', 'qwac.pem') };
  expect(isOwnSandbox({ qwacCertificate: inFolder }, { folder })).toBe(true);
  expect(isOwnSandbox(OTHER, { folder })).toBe(false);
  const beside = { path: join(`${folder.sandbox}-old`, 'certificates', 'qwac.pem') };
  expect(isOwnSandbox({ qwacCertificate: beside }, { folder })).toBe(false);
  expect(isOwnSandbox({ qwacCertificate: { pem: '' } }, { folder })).toBe(false);
});

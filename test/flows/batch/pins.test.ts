import { expect, it } from 'vitest';
import { PinsOfRun } from '../../../src/flows/batch/pins.ts';
import type { CredentialPorts, CredentialQuestion, ReturnPorts } from '../../../src/flows/ports.ts';

const QUESTION: CredentialQuestion = { subject: { kind: 'consent', flow: 'co-1', order: {} } };

function watched(password: CredentialPorts['password'] = async () => null) {
  const pins = new PinsOfRun();
  const noted: string[] = [];
  const note: CredentialPorts['note'] = async (what, _question, result) =>
    void noted.push(`${what} ${result}`);
  const returns: ReturnPorts = Object.create({ credentials: { password, note } });
  const { credentials } = pins.watching(Object.assign(returns, { credentials: returns.credentials }));
  if (!credentials) throw new TypeError('Nothing is watched');
  return { pins, noted, credentials };
}

it('a PIN that the bank did not accept stops a run, until one is accepted. A TAN does not', async () => {
  const { pins, noted, credentials } = watched();
  const after: boolean[] = [];
  for (const [what, result] of [
    ['password', 'accepted'],
    ['code', 'refused'],
    ['password', 'refused'],
    ['code', 'accepted'],
    ['password', 'accepted'],
    ['password', 'unknown'],
  ] as const) {
    await credentials.note(what, QUESTION, result);
    after.push(pins.isRefused);
  }
  expect(after).toEqual([false, false, true, true, false, true]);
  expect(noted).toHaveLength(6);
});

it('so does the question that only a person can answer', async () => {
  const { pins, credentials } = watched(() => Promise.reject(new TypeError('a person must say')));
  await expect(credentials.password(QUESTION)).rejects.toThrow('a person must say');
  expect(pins.isRefused).toBe(true);
});

it('interfaces without credentials have nothing to watch', () => {
  const returns: ReturnPorts = Object.create({});
  expect(new PinsOfRun().watching(returns)).toBe(returns);
});

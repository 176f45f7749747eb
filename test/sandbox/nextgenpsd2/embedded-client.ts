import * as z from 'zod/mini';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import { order } from '../tpp.ts';
import { type Bank, type DoorReply, linkOf, newDoor, type TestDoor } from './door-client.ts';

/** A door at which the customer authorises with PIN and TAN, for the test that runs. */
export function embeddedDoor(bank: Bank = {}, variations: readonly Variation[] = []): Promise<TestDoor> {
  return newDoor({ sca: { approaches: ['embedded'] }, ...bank }, variations);
}

export const pin = (password = 'pin-anna') => ({ psuData: { password } });
export const method = (authenticationMethodId: string) => ({ authenticationMethodId });
export const tan = (scaAuthenticationData: string) => ({ scaAuthenticationData });

/** Sends a step to an address: an id of an authorisation in the path is updated, else one begins. `null`: without PSU-ID. */
export function step(
  { client }: TestDoor,
  path: string,
  body: object,
  psuId: string | null = 'anna',
  headers: Record<string, string> = {},
): Promise<DoorReply> {
  const isUpdate = /\/(?:cancellation-)?authorisations\/[^/]+$/.test(path);
  return client.send({
    ...{ method: isUpdate ? 'PUT' : 'POST', path, body },
    headers: { ...(psuId !== null && { 'psu-id': psuId }), ...headers },
  });
}

/** Follows a link of an answer with a step. */
export function follow(
  at: TestDoor,
  reply: DoorReply,
  link: string,
  body: object,
  psuId: string | null = 'anna',
  headers: Record<string, string> = {},
): Promise<DoorReply> {
  return step(at, linkOf(reply, link), body, psuId, headers);
}

const read = z.nullable(z.object({ method: z.string(), text: z.string(), tan: z.string() }));

/** What the customer's device shows, once. */
export async function readDevice({ sandbox }: TestDoor, user = 'anna'): Promise<z.infer<typeof read>> {
  return read.parse((await order(sandbox, 'POST', `/customers/${user}/read-tan`)).json);
}

/** The newest TAN of a customer. */
export async function tanOf(at: TestDoor, user = 'anna'): Promise<string> {
  return (await readDevice(at, user))?.tan ?? 'none';
}

/** The names of the links of an answer, but for those that every answer has. */
export function stepsOf({ json }: DoorReply): string[] {
  const others = ['self', 'status', 'scaStatus'];
  return Object.keys(json._links ?? {}).filter((name) => !others.includes(name));
}

/** PIN, SMS and TAN, from an answer with a link to the PIN. @returns the last answer */
export async function authorise(at: TestDoor, reply: DoorReply, user = 'anna'): Promise<DoorReply> {
  const link = stepsOf(reply)[0] ?? '';
  const known = await follow(at, reply, link, pin(`pin-${user}`), user);
  const chosen =
    String(known.json.scaStatus) === 'psuAuthenticated'
      ? await follow(at, known, 'selectAuthenticationMethod', method('901'), user)
      : known;
  return follow(at, chosen, 'authoriseTransaction', tan(await tanOf(at, user)), user);
}

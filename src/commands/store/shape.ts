import * as z from 'zod/mini';
import { list, oneOf, orNull, text, whole } from '../shared/fields.ts';

export const initialised = () =>
  z.object({
    place: text('host, port and database'),
    before: whole('version of the schema before; 0: there was none'),
    version: whole('version of the schema now'),
  });

/** What was copied, and found on both sides in the end. */
export const storeCopied = () =>
  z.object({
    from: text('the home that was copied: a folder; or host, port and database'),
    to: text('the home that it was copied to'),
    profiles: whole('whose data there is'),
    logins: whole('of customers and applications'),
    flows: whole('payments, operations and consents'),
    events: whole('of all flows'),
    others: whole('counts of calls and reads, notes of refusals, who logged in last'),
    written: whole('records that were written now; 0: all were there already'),
    newer: whole('records that the destination has newer, since it was used after an earlier copy'),
    isSame: z.literal(true).check(z.describe('all records were read again on both sides and compared')),
  });

/** How much is kept, and who works on it. */
export const storeStatus = () =>
  z.object({
    home: oneOf(['files', 'postgres'] as const, 'which home'),
    place: text('the folder; or host, port and database'),
    schema: orNull(
      z
        .object({
          version: whole('that is there; 0: there is none'),
          needed: whole('that this psd2 reads and writes'),
        })
        .check(z.describe('of a database; null for files')),
    ),
    profiles: list(
      z.object({
        profile: text('its name'),
        customers: whole('who is logged in'),
        flows: list(
          z.object({
            kind: text('transfer, operation or consent'),
            state: text('its state'),
            count: whole('how many'),
          }),
          'how many flows of each kind are in each state',
        ),
      }),
      'what is kept of each profile',
    ),
    claims: list(
      z.object({
        profile: text('its name'),
        kind: text('what is claimed: tokens, flow, sync or begin'),
        name: text('the customer or the flow'),
        worker: text('who has it'),
        until: orNull(text('ISO 8601 with zone; null where it has no end of its own')),
      }),
      'what workers work on at this moment',
    ),
    bytes: whole('that it takes on the disk'),
  });

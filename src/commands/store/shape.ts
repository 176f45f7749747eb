import * as z from 'zod/mini';
import { list, oneOf, orNull, text, whole } from '../shared/fields.ts';

export const initialised = () =>
  z.object({
    place: text('host, port and database'),
    before: whole('version of the schema before; 0 if there was none'),
    version: whole('version of the schema now'),
  });

/** The result of a copy. */
export const storeCopied = () =>
  z.object({
    from: text('home that was copied: a folder; or host, port and database'),
    to: text('home that it was copied to'),
    profiles: whole('profiles with data'),
    logins: whole('logins of customers and applications'),
    flows: whole('payments, operations and consents'),
    events: whole('events of all flows'),
    others: whole('counts of calls and reads, notes of refusals, who logged in last'),
    written: whole('records that this copy wrote; 0 if the destination had all of them'),
    newer: whole('records that are newer in the destination, because it was used after an earlier copy'),
    isSame: z.literal(true).check(z.describe('all records were read again on both sides and compared')),
  });

/** What the store contains, and which workers use it. */
export const storeStatus = () =>
  z.object({
    home: oneOf(['files', 'postgres'] as const, 'kind of home'),
    place: text('the folder; or host, port and database'),
    source: oneOf(
      ['environment', 'profile', 'default'] as const,
      'where the choice of this store comes from',
    ),
    schema: orNull(
      z
        .object({
          version: whole('version of the tables; 0 if there are none'),
          needed: whole('version that this psd2 needs'),
        })
        .check(z.describe('schema of a database; null for files')),
    ),
    profiles: list(
      z.object({
        profile: text('its name'),
        customers: whole('customers who are logged in'),
        flows: list(
          z.object({
            kind: text('transfer, operation or consent'),
            state: text('its state'),
            count: whole('number of flows'),
          }),
          'number of flows of each kind in each state',
        ),
      }),
      'data of each profile',
    ),
    claims: list(
      z.object({
        profile: text('its name'),
        kind: text('what is claimed: tokens, flow, sync or begin'),
        name: text('the customer or the flow'),
        worker: text('worker that holds the claim'),
        until: orNull(text('ISO 8601 with zone; null if the claim does not expire')),
      }),
      'claims that workers hold now',
    ),
    bytes: whole('size on the disk'),
  });

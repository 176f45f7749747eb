// Writes a store in files, as if psd2 had been used for months.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const START = Date.parse('2026-01-01T00:00:00.000Z');

export function writeLogins(folder, count, baseUrl) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  for (let number = 1; number <= count; number += 1) {
    const stored = {
      ...{ accessToken: randomUUID(), accessTokenExpiresAt: later },
      ...{ refreshToken: randomUUID(), refreshTokenExpiresAt: later },
      ...{ scope: 'oob', baseUrl: new URL(baseUrl).href },
    };
    const customer = join(folder, `customer-${5_000_000 + number}`);
    mkdirSync(customer, { mode: 0o700 });
    writeFileSync(join(customer, '1.json'), JSON.stringify(stored), { mode: 0o600 });
  }
}

/**
 * Writes executed transfers, one minute apart.
 *
 * @param open how many of the newest wait for the customer
 * @returns the middle one
 */
export function writeFlows(flows, count, open = 0) {
  mkdirSync(flows, { recursive: true, mode: 0o700 });
  let middle;
  for (const { flow, resourceId, at, events, index } of transfers(count, open)) {
    if (index === count / 2) middle = { flow, resourceId };
    const lines = events.map((event, line) => `${JSON.stringify({ at, n: line + 1, event })}\n`).join('');
    writeFileSync(join(flows, `${flow}.ndjson`), lines, { mode: 0o600 });
  }
  return middle;
}

/** The events of transfers, one minute apart. @param open how many of the newest wait for the customer */
export function* transfers(count, open) {
  for (let index = 0; index < count; index += 1) {
    const at = new Date(START + index * 60_000).toISOString();
    const flow = `tr-${Date.parse(at).toString(36).padStart(9, '0')}${index.toString(36).padStart(5, '0')}`;
    const resourceId = randomUUID();
    const events = [
      {
        type: 'created',
        flow,
        transactionId: randomUUID(),
        commits: 'on execute',
        order: {
          ...{
            customerId: '5000001',
            from: '0010482620',
            to: 'DE89370400440532013000',
            name: 'Ada Lovelace',
          },
          ...{ amount: '12.50', currency: 'EUR', description: 'Invoice', instant: false, type: null },
          ...{ executionDate: at.slice(0, 10), futureDated: false, urgent: false, reference: `INV-${index}` },
        },
      },
      { type: 'verify-sent', requestId: randomUUID(), digest: 'SHA-256=x' },
      {
        ...{ type: 'verified', resourceId, bankName: 'Bank', nextStep: 'execute' },
        totalAmount: { amount: '13.50', currency: 'EUR' },
        commissions: { amount: '1.00', currency: 'EUR' },
      },
      { type: 'accepted' },
      { type: 'approach-sent', requestId: randomUUID(), digest: null },
      { type: 'sca-started' },
      { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
      { type: 'execute-sent', requestId: randomUUID(), digest: 'SHA-256=x' },
      { type: 'executed', cro: '1' },
    ];
    if (index >= count - open) events.length = 6;
    yield { flow, resourceId, at, events, index };
  }
}

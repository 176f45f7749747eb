import { isBlockedPort } from '../../domain/blocked-ports.ts';
import { Psd2Error } from '../../errors.ts';
import { readWholeNumber } from '../shared/whole-number.ts';

/** The options as typed. */
export interface SandboxStartOptions {
  port: string;
  detach: boolean;
  enforceConsents: boolean;
  /** Separated by commas. */
  roles?: string | undefined;
  tokenTtl?: string | undefined;
  rotation: boolean;
  rateLimit?: string | undefined;
  dailyLimit?: string | undefined;
  customers?: string | undefined;
  transactions?: string | undefined;
  pageSize?: string | undefined;
  persona: 'clean' | 'lived-in';
}

const ROLES = ['AISP', 'PISP', 'PIISP'] as const;

/** The rules of the bank. @throws Psd2Error `usage` */
export function readRules(options: SandboxStartOptions) {
  const { enforceConsents, roles, tokenTtl, rotation, rateLimit, dailyLimit, persona } = options;
  const { customers, transactions, pageSize } = options;
  return {
    persona,
    consents: enforceConsents ? 'enforced' : 'recorded',
    rotateRefreshTokens: rotation,
    ...(roles !== undefined && { roles: roles.split(',').map(parseRole) }),
    ...(tokenTtl !== undefined && { tokenTtlSeconds: readWholeNumber('--token-ttl', tokenTtl, 1) }),
    ...(rateLimit !== undefined && { callsPerMinute: readWholeNumber('--rate-limit', rateLimit, 1) }),
    ...(dailyLimit !== undefined && {
      clientCredentialsCallsPerDay: readWholeNumber('--daily-limit', dailyLimit, 1),
    }),
    ...(customers !== undefined && { customers: readWholeNumber('--customers', customers, 1, 999_999) }),
    ...(transactions !== undefined && {
      transactions: readWholeNumber('--transactions', transactions, 1, 10_000_000),
    }),
    ...(pageSize !== undefined && { rowsAPage: readWholeNumber('--page-size', pageSize, 1, 10_000) }),
  } as const;
}

function parseRole(text: string): (typeof ROLES)[number] {
  const role = ROLES.find((known) => known === text.trim().toUpperCase());
  if (role) return role;
  throw new Psd2Error('usage', `Unknown role ${JSON.stringify(text)}`, {
    hint: `Use one or more of ${ROLES.join(',')}.`,
  });
}

/** @throws Psd2Error `usage` */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (port !== 0 && isBlockedPort(port)) {
    throw new Psd2Error('usage', `--port ${port} is a port that browsers and fetch refuse to open`, {
      hint: 'Choose another port, or 0 for any free port.',
    });
  }
  if (port <= 65_535) return port;
  throw new Psd2Error('usage', `--port ${JSON.stringify(text)} is not a port from 0 to 65535`);
}

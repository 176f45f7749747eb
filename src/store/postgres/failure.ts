import { Psd2Error } from '../../errors.ts';
import { halfCopied, movedAway } from '../copy/moved.ts';
import { systemCode } from '../disk/files.ts';

interface Known {
  what: string;
  hint: string;
  next?: string[][];
}

const NO_TABLES: Known = {
  what: 'has no tables of psd2',
  hint: 'Create them with the rights of the owner:',
  next: [['store', 'init']],
};
const UNKNOWN_CA: Known = {
  what: 'has a TLS certificate of a CA that this machine does not know',
  hint: 'Name the CA in the URL: ?sslmode=verify-full&sslrootcert=<file>.',
};

/** Errors of PostgreSQL and of the connection (PostgreSQL, appendix A, "Error Codes"; Node.js, `tls`), with hints. */
const KNOWN: Record<string, Known> = {
  ECONNREFUSED: {
    what: 'cannot be reached: nothing listens there',
    hint: 'Check the address, and that PostgreSQL runs.',
  },
  ENOENT: {
    what: 'cannot be reached: there is no such socket',
    hint: 'Check the address, and that PostgreSQL runs.',
  },
  ENOTFOUND: {
    what: 'cannot be reached: the host name is not known',
    hint: 'Check the host name in PSD2_STORE.',
  },
  EAI_AGAIN: {
    what: 'cannot be reached: the host name cannot be looked up',
    hint: 'Check the network and its DNS.',
  },
  ETIMEDOUT: {
    what: 'cannot be reached: it does not answer',
    hint: 'Check the address, the network and the firewall.',
  },
  EHOSTUNREACH: { what: 'cannot be reached', hint: 'Check the network and the firewall.' },
  ENETUNREACH: { what: 'cannot be reached', hint: 'Check the network.' },
  ECONNRESET: { what: 'has closed the connection', hint: 'Check that PostgreSQL runs, and its log.' },
  EPIPE: { what: 'has closed the connection', hint: 'Check that PostgreSQL runs, and its log.' },
  '28P01': {
    what: 'refuses the password',
    hint: 'Check PGPASSWORD, or the line of this host in the file PGPASSFILE names.',
  },
  '28000': {
    what: 'does not let this user in',
    hint: 'Check the user in PSD2_STORE, and pg_hba.conf at the server.',
  },
  '3D000': {
    what: 'has no such database',
    hint: 'Check the name of the database in PSD2_STORE, or create it: createdb.',
  },
  '3F000': NO_TABLES,
  '42P01': NO_TABLES,
  '42501': {
    what: 'does not let this user do that',
    hint: 'Give the user the role: grant psd2_worker to <user>. Create the role with:',
    next: [['store', 'init', '--roles']],
  },
  // psd2.check_batch_event raises it.
  PD004: {
    what: 'refuses to begin a payment of a batch that too few people have approved',
    hint: 'psd2 has sent nothing. Others must approve it first, each with a database role of their own.',
  },
  PD005: {
    what: 'refuses an event of a batch that psd2 does not write',
    hint: 'psd2 has sent nothing. Update psd2 on this machine.',
  },
  PD003: {
    what: 'does not let this user do that with a batch',
    hint: 'Only members of the role psd2_approver may approve and reject: grant psd2_approver to <user>.',
  },
  '25006': { what: 'is a read-only replica', hint: 'Name the primary server in PSD2_STORE.' },
  '53100': { what: 'has a full disk', hint: 'Free some space on the server, then run this again.' },
  '53200': { what: 'is out of memory', hint: 'Check the log of the server.' },
  '53300': {
    what: 'accepts no more connections',
    hint: 'Raise max_connections at the server, run fewer workers, or put PgBouncer in front.',
  },
  '57P01': { what: 'is being stopped', hint: 'Run this again when it is back.' },
  '57P02': { what: 'has been stopped', hint: 'Run this again when it is back.' },
  '57P03': { what: 'is starting', hint: 'Run this again in a moment.' },
  '57014': {
    what: 'took too long for a statement',
    hint: 'Check the log of the server for the cause.',
  },
  CERT_HAS_EXPIRED: {
    what: 'has a TLS certificate that has expired',
    hint: 'Renew the certificate of the server.',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    what: 'has a self-signed TLS certificate',
    hint: 'Name the certificate, or the CA that signed it, in the URL: ?sslmode=verify-full&sslrootcert=<file>.',
  },
  INVALID_PURPOSE: {
    what: 'has a TLS certificate that is not for a server',
    hint: 'Give the server a certificate with the extended key usage serverAuth.',
  },
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    what: 'has a TLS certificate that cannot be verified',
    hint: 'Name the CA in the URL: ?sslmode=verify-full&sslrootcert=<file>.',
  },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  ERR_TLS_CERT_ALTNAME_INVALID: {
    what: 'has a TLS certificate for another host name',
    hint: 'Use the host name that the certificate is for.',
  },
};

/** After these errors, it is unknown whether the statement took effect. */
const LOST = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01', '57P02', '08000', '08003', '08006'];
/** These errors may be over in a moment. */
const PASSING = [
  ...LOST,
  'ECONNREFUSED',
  'ENOENT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '57P03',
  '53300',
];

/** The SQLSTATE, or the code of the system or of TLS. */
export function codeOf(error: unknown): string {
  const code = systemCode(error);
  if (code !== undefined) return code;
  // The driver gives these errors no code, only words.
  const text = error instanceof Error ? error.message : '';
  if (/timeout/i.test(text)) return 'ETIMEDOUT';
  if (/terminated|connection ended|not queryable/i.test(text)) return 'ECONNRESET';
  return '';
}

/** Whether the connection was lost, so that the statement may or may not have taken effect. */
export function isLost(error: unknown): boolean {
  return LOST.includes(codeOf(error));
}

/** Whether the same statement may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  return PASSING.includes(codeOf(error));
}

/** Whether no connection was made, so that nothing was sent, and the same statement may succeed in a moment. */
export function isUnsent(error: unknown): boolean {
  return isPassing(error) && !isLost(error);
}

/** Failures that may be over in a moment. */
const passing = new WeakSet<Psd2Error>();

/** Whether an error is a {@link storeFailure} that may be over when the database is back. */
export function isAway(error: unknown): boolean {
  return error instanceof Psd2Error && passing.has(error);
}

/** The error for the operator. It never contains a password. @param shown host, port and database */
export function storeFailure(shown: string, error: unknown): Psd2Error {
  const failure = describeFailure(shown, error);
  if (isPassing(error)) passing.add(failure);
  return failure;
}

function describeFailure(shown: string, error: unknown): Psd2Error {
  const text = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  // psd2.refuse_moved raises these, with the other store's place as the message.
  if (code === 'PD001') return movedAway(`PostgreSQL at ${shown}`, text);
  if (code === 'PD002') return halfCopied(`PostgreSQL at ${shown}`, text);
  const { what, ...advice } = KNOWN[code] ?? explain(text);
  return new Psd2Error('config', `PostgreSQL at ${shown} ${what}`, { ...advice, cause: error });
}

/** Some errors have no code, only words. */
function explain(text: string): Known {
  if (/does not support SSL/.test(text))
    return {
      what: 'does not speak TLS',
      hint: 'Turn on ssl at the server. On a network where nobody can listen, you can use ?sslmode=disable.',
    };
  if (/password must be a string|no password/i.test(text))
    return {
      what: 'requires a password',
      hint: 'Set PGPASSWORD, or name a file with the line of this host in PGPASSFILE.',
    };
  return { what: `says: ${text}`, hint: 'Check the log of the server.' };
}

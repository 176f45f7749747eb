import { createHash, randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder, readOwnFile } from '../disk/files.ts';

/** The build names the rules for bank files: other rules make other values of the same text. Tests of sources have none. */
declare const PSD2_BANK_FILE_RULES: string | undefined;

/**
 * What a bank file meant when psd2 checked it: to check it takes a tenth of the time of a short command. A profile has one
 * such file. psd2 can always do without: one that is missing, damaged or about another text is checked again.
 */
export interface CheckedBank {
  /** The values in force, as they were written; undefined if psd2 must check the text. @param text of the bank file */
  read(text: string): unknown;
  /** Keeps the values in force. Does nothing if it cannot. */
  write(text: string, description: object): void;
}

/** @param path where the profile's is kept */
export function checkedBank(path: string): CheckedBank {
  return {
    read(text) {
      try {
        const [seal, body = ''] = readOwnFile(path)?.toString('utf8').split('\n') ?? [];
        return seal !== undefined && seal === sealOf(text, body) ? JSON.parse(body) : undefined;
      } catch {
        return undefined;
      }
    },
    write(text, description) {
      const body = JSON.stringify(description);
      const seal = sealOf(text, body);
      if (seal === undefined) return;
      const unfinished = `${path}.${randomUUID()}.tmp`;
      try {
        makePrivateFolder(dirname(path));
        writeFileSync(unfinished, `${seal}\n${body}`, { mode: 0o600 });
        renameSync(unfinished, path);
      } catch {
        // For example a full disk, or a folder that is read-only.
      }
    },
  };
}

/** Shows that these values belong to this text, and are whole. */
function sealOf(text: string, body: string): string | undefined {
  if (typeof PSD2_BANK_FILE_RULES === 'undefined') return undefined;
  return createHash('sha256')
    .update(JSON.stringify([PSD2_BANK_FILE_RULES, text, body]))
    .digest('hex');
}

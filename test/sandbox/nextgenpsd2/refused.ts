import {
  type BankDescription,
  type BankFile,
  bankFile,
} from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { DoorRefusal, refusalText } from '../../../src/sandbox/nextgenpsd2/refusal.ts';

/** What a bank file says of a bank, with the defaults of the standard. */
export function bankOf(file: Omit<BankFile, 'interface'> = {}): BankDescription {
  return bankFile.parse({ interface: 'nextgenpsd2', ...file });
}

/** What the client reads about its call: `400 FORMAT_ERROR PSU-ID: The header PSU-ID came twice.`, or `taken`. */
export function answerTo(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    if (!(error instanceof DoorRefusal)) throw error;
    const { status, code, path } = error;
    return `${status} ${code}${path === undefined ? '' : ` ${path}`}: ${refusalText(error)}`;
  }
  return 'taken';
}

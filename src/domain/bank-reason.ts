import type { BankReason, Psd2Error } from '../errors.ts';

/** Where a bank may say why, the lowest first. */
export const REASON_LEVELS = [
  'payment',
  'group',
  'file',
  'message',
] as const satisfies readonly BankReason['level'][];

/** More reasons than this, and longer texts, say nothing more. */
const MOST = 20;
const LONGEST = 1000;

/** A code of ISO 20022 (`ExternalStatusReason1Code`) has four characters. Any other is the bank's own, or its interface's. */
const ISO_CODE = /^[A-Z0-9]{4}$/;

/** A code as the bank wrote it, as a code of ISO 20022 or as its own. */
export function codeOf(code: string | null): Pick<BankReason, 'code' | 'proprietary'> {
  const isIso = code !== null && ISO_CODE.test(code);
  return { code: isIso ? code : null, proprietary: isIso ? null : code };
}

/** Reasons by their levels: the first is the one that counts. Without those that say nothing, and each once. */
export function ranked(reasons: readonly BankReason[]): BankReason[] {
  const rankOf = ({ level }: BankReason) => REASON_LEVELS.indexOf(level);
  const byWords = new Map<string, BankReason>();
  for (const { level, code, proprietary, text } of reasons.toSorted(
    (one, other) => rankOf(one) - rankOf(other),
  )) {
    const reason = {
      level,
      code: code || null,
      proprietary: proprietary?.slice(0, LONGEST) || null,
      text: text?.slice(0, LONGEST) || null,
    };
    const words = writeReason(reason);
    if (words !== '' && !byWords.has(words)) byWords.set(words, reason);
  }
  return [...byWords.values()].slice(0, MOST);
}

/** The reasons in the messages of a refusal, for its error. */
export function toldReasons(
  messages: readonly { code: string | null; text: string | null; detail?: string | null }[],
): { reasons?: BankReason[] } {
  const reasons = messages.map(({ code, text, detail }): BankReason => {
    return { level: 'message', ...codeOf(code), text: [text, detail].filter(Boolean).join(' ') };
  });
  return reasons.length > 0 ? { reasons: ranked(reasons) } : {};
}

/** Reasons as people read them, the one that counts first: `AC01: IBAN does not exist; X9: see below`. Null: there are none. */
export function writeReasons(reasons: readonly BankReason[]): string | null {
  return reasons.map(writeReason).join('; ').slice(0, LONGEST) || null;
}

function writeReason({ code, proprietary, text }: BankReason): string {
  return [code, proprietary, text].filter(Boolean).join(': ');
}

/** The reasons as an event has them, with the same in words. Empty if there are none. */
export function because(reasons: readonly BankReason[] = []): {
  description?: string;
  reasons?: BankReason[];
} {
  const description = writeReasons(reasons);
  return description === null ? {} : { description, reasons: [...reasons] };
}

/** A refusal as an event has it. */
export function refusedBecause({ message, reasons }: Psd2Error): {
  description: string;
  reasons?: BankReason[];
} {
  return { description: message, ...(reasons && { reasons }) };
}

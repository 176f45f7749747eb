import type { Bank, BankInterface } from '../../../src/bank/ports/bank.ts';
import type { TransferOrder } from '../../../src/domain/transfer.ts';
import type { Received } from '../recorded-bank.ts';

/** The calls of the ports that the contract makes. */
export type AskedCall = 'list' | 'begin' | 'request a consent' | 'execute' | 'start SCA' | 'status';

/** The calls that make a resource at the bank. */
export type Making = Extract<AskedCall, 'begin' | 'request a consent'>;

/** What a bank answers, in psd2's words. The subject writes it in those of its interface. */
export type Said =
  | { accounts: string[] }
  | { begun: string }
  | { executed: string | null }
  | { link: string }
  | { status: 'open' | 'authorised' | 'refused' | 'executed' | 'in no list' }
  | { about: string }
  | { refused: number; by: 'the bank' | 'a gateway' }
  | 'nothing';

/** An interface under the contract, with a bank that it talks to. */
export interface Subject {
  interface: BankInterface;
  bank: Bank;
  customerId: string;
  order: TransferOrder;
  /** Expects a call next, and answers it. */
  answer(call: AskedCall, said: Said): void;
  /** The requests that arrived. Code that psd2 does not share has verified their signatures and digests. */
  received(): readonly Received[];
  /** The token of its calls, which no message may contain. */
  token: string;
}

/** Opens a subject for the tests of a file. */
export type UseSubject = () => () => Subject;

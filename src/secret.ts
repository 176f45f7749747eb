import { inspect } from 'node:util';

/** A value of a customer that psd2 passes on once and never shows or keeps: a PIN or a TAN. Only the body of a call reveals it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

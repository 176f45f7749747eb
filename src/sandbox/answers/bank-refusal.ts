/**
 * The bank refuses a request, at any door. `message` names the rule. `detail` says what was expected and what was received. Neither may
 * repeat a token or a client secret.
 */
export class BankRefusal<Code extends string = string, Status extends number = number> extends Error {
  override readonly name: string = 'BankRefusal';
  readonly code: Code;
  readonly status: Status;
  readonly detail: string;

  constructor(code: Code, status: Status, message: string, detail: string) {
    super(message);
    this.code = code;
    this.status = status;
    this.detail = detail;
  }
}

/** The `detail` of a refusal because of a wrong value. */
export function expectedAndReceived(expected: string, received: string): string {
  return `Expected: ${expected}. Received: ${received}.`;
}

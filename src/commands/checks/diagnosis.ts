import { adviceIn, type ErrorCode, Psd2Error } from '../../errors.ts';
import { type Check, finding } from '../shared/checks.ts';

/** What a check found, with the kind of error that a failure is. */
export type Finding = Omit<Check, 'name'> & { code?: ErrorCode };

/** The checks that were made. None of them throws: if a check throws a Psd2Error, it has failed. */
export class Diagnosis {
  readonly checks: Check[] = [];
  /** When each certificate ends. */
  readonly ends = new Map<string, string>();
  readonly #codes: ErrorCode[] = [];
  /** What the checks threw that failed. */
  readonly #thrown = new Map<Check, Psd2Error>();

  /** Makes a check. Returns the value of a successful check. @returns undefined when it failed */
  async make<Value = undefined>(
    name: string,
    check: () => Promise<Finding & { value?: Value }>,
  ): Promise<Value | undefined> {
    let value: Value | undefined;
    await this.add(name, async () => {
      const { value: checked, ...finding } = await check();
      value = checked;
      return [{ name, ...finding }];
    });
    return value;
  }

  /** Makes a check that finds several things. @param name of the check that is reported if it throws */
  async add(name: string, check: () => Promise<(Finding & { name: string })[]>): Promise<void> {
    try {
      for (const { code, ...result } of await check()) {
        this.checks.push(result);
        if (result.status === 'fail') this.#codes.push(code ?? 'config');
      }
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      const failed = { name, ...finding('fail', error.message, adviceIn(error)) };
      this.checks.push(failed);
      this.#thrown.set(failed, error);
      this.#codes.push(error.code);
    }
  }

  /** Puts a check that found something before the others. */
  beginWith(name: string): void {
    const at = this.checks.findIndex((check) => check.name === name && check.status === 'ok');
    if (at > 0) this.checks.unshift(...this.checks.splice(at, 1));
  }

  skip(names: readonly string[], detail: string): void {
    for (const name of names) this.checks.push({ name, ...finding('skip', detail) });
  }

  hasFailed(name: string): boolean {
    return this.checks.some((check) => check.name === name && check.status === 'fail');
  }

  get ok(): boolean {
    return this.#codes.length === 0;
  }

  /** The first check that failed, as an error. */
  get failure(): Psd2Error | undefined {
    const first = this.checks.find(({ status }) => status === 'fail');
    return (
      first &&
      (this.#thrown.get(first) ?? new Psd2Error(this.#codes[0] ?? 'config', first.detail, first.fix ?? {}))
    );
  }

  /** @throws Psd2Error of the kind of the first check that failed */
  fail(): never {
    const failed = this.checks.filter(({ status }) => status === 'fail');
    const [first] = failed;
    throw new Psd2Error(
      this.#codes[0] ?? 'config',
      `${failed.length} of ${this.checks.length} checks failed: ${failed.map(({ name }) => name).join(', ')}`,
      first?.fix ?? {},
    );
  }
}

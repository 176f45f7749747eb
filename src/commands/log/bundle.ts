import { arch, platform } from 'node:process';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { saveDocument } from '../shared/save-document.ts';
import { type LogOptions, selectCalls } from './select-calls.ts';
import { bundle } from './shape.ts';

const ABOUT =
  "Calls to the bank's PSD2 interface, oldest first, for the bank's support. Names such as customer-1 replace " +
  'customers, products and IBANs; the same name means the same one throughout this file. The file contains no ' +
  'queries, headers, bodies, tokens, keys or certificates. tppRequestId and transactionId are the TPP-Request-ID and ' +
  "TPP-Transaction-ID that psd2 sent, requestId is result.requestId of the bank's answer, apiTrackId is " +
  'cb-apitrack-id. Times are UTC.';

/**
 * `psd2 log bundle`: saves calls in a file for the bank's support. A person can read the file before sending it.
 *
 * @throws Psd2Error `usage` if no call matches, `config` if psd2 cannot write the file
 */
export async function logBundle(
  context: Context,
  options: LogOptions & { file?: string | undefined },
  version: string,
): Promise<void> {
  const { output, terminal, world } = context;
  const calls = [...selectCalls(context, options)].reverse();
  const [first] = calls;
  const last = calls.at(-1);
  if (!first || !last) {
    throw new Psd2Error('usage', 'No call in the log matches, so psd2 saved no file', {
      hint: 'See the calls in the log with:',
      next: [['log']],
    });
  }
  const made = world.now().toISOString();
  const file = options.file || `psd2-log-${made.slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.json`;
  const pseudonyms = new Pseudonyms();
  const content = {
    about: ABOUT,
    made,
    psd2: version,
    node: process.versions.node,
    platform: `${platform} ${arch}`,
    hosts: [...new Set(calls.map(({ host }) => host))],
    calls: calls.map(({ profile: _, ...call }) => ({
      ...call,
      path: pseudonyms.inPath(call.path),
      failure: call.failure && pseudonyms.inText(call.failure),
    })),
  };
  await saveDocument(context, file, Buffer.from(`${JSON.stringify(content, null, 2)}\n`));
  terminal.say(
    [
      `The file contains ${calls.length} call${calls.length === 1 ? '' : 's'} to ${content.hosts.join(', ')} from ${terminal.writeTime(first.at)} to ${terminal.writeTime(last.at)}:`,
      '  times, methods, paths, statuses, durations, the ids of requests, transactions, resources and flows,',
      '  and the versions of psd2 and Node.js.',
      `Replaced: ${pseudonyms.summary}.`,
      'Left out: queries, headers, bodies, tokens, keys, certificates, the name of the profile.',
      'Read it before you send it.',
    ].join('\n'),
  );
  if (output.format !== 'table' && file !== '-')
    output.record({ file, calls: calls.length, from: first.at, to: last.at }, [], bundle);
}

/** The form of an IBAN, with right or wrong check digits. */
const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/i;

/** Replaces what identifies a customer with `customer-1`, `product-1`, ...: the same value gets the same name. */
class Pseudonyms {
  readonly #known = new Map<string, string>();
  readonly #counts = { customer: 0, product: 0, iban: 0 };

  inPath(path: string): string {
    const parts = path.split('/');
    return parts
      .map((part, index) => {
        if (parts[index - 1] === 'customers' && part !== 'customerid-info') return this.#of('customer', part);
        if (parts[index - 1] === 'products') return this.#of('product', part);
        if (IBAN.test(part)) return this.#of('iban', part);
        return this.#known.get(part) ?? part;
      })
      .join('/');
  }

  /** Replaces ids in the paths that a sentence contains. */
  inText(text: string): string {
    return text.replace(/\/\S+/g, (path) => this.inPath(path));
  }

  get summary(): string {
    return Object.entries(this.#counts)
      .map(([kind, count]) => `${count} ${kind === 'iban' ? 'IBAN' : kind}${count === 1 ? '' : 's'}`)
      .join(', ');
  }

  #of(kind: 'customer' | 'product' | 'iban', value: string): string {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    this.#counts[kind] += 1;
    const name = `${kind}-${this.#counts[kind]}`;
    this.#known.set(value, name);
    return name;
  }
}

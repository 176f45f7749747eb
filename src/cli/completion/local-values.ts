import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { CONSENT_CATEGORIES } from '../../domain/consent.ts';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { type StoreFolder, storeFolder } from '../../store/machine/folder.ts';
import { cleanText } from '../../terminal/clean.ts';
import { OUTPUT_FORMATS } from '../../terminal/output.ts';
import type { ValueKind } from './value-kinds.ts';

/** A value and what it is. */
export type Value = [value: string, description: string];

/** So many flows are looked at, the newest. */
const MOST_FLOWS = 100;
/** More than the first line of any journal has. */
const FIRST_LINE = 8 * 1024;

const FLOW_PREFIXES: Record<string, string> = { transfer: 'tr-', consent: 'co-', operation: 'op-' };

/**
 * What can be completed from the files of the configuration folder. They are read without the store's own
 * checks, which would cost more than a keystroke may: what is odd or missing gives no value, and no error.
 */
export class LocalValues {
  readonly #folder: StoreFolder;
  readonly #named: string | undefined;

  /** @param profile the one named on the line */
  constructor(env: NodeJS.ProcessEnv, profile: string | undefined) {
    this.#folder = storeFolder(env.PSD2_CONFIG_DIR);
    this.#named = profile || env.PSD2_PROFILE || undefined;
  }

  /** @param begun what is written of the value so far */
  valuesOf(
    kind: Exclude<ValueKind, 'files' | 'folders'>,
    command: CommandUnknownOpts,
    begun: string,
  ): Value[] {
    if (typeof kind === 'object') return kind.choices.map(plain);
    switch (kind) {
      case 'profile':
        return namesIn(this.#folder.profiles, /^(.+)\.json$/).map(plain);
      case 'customer':
        return namesIn(this.#folder.tokens(this.#profile), /^customer-(\d+)(?:\.json)?$/).map(plain);
      case 'product':
        return [...new Set(this.#begun('').flatMap(productsOf))].sort().map(plain);
      case 'operation':
        return [...new Set(this.#begun('op-').flatMap(operationOf))]
          .filter((name) => !isMoneyTransfer(name))
          .map(plain);
      case 'flow':
      case 'anyFlow': {
        const prefix = kind === 'flow' ? FLOW_PREFIXES[command.parent?.name() ?? ''] : '';
        return this.#begun(prefix ?? '').map((flow): Value => [flow.id, describe(flow)]);
      }
      case 'category':
        return CONSENT_CATEGORIES.map(plain);
      case 'output':
        return OUTPUT_FORMATS.map(plain);
      case 'json':
        return begun.startsWith('@') ? filesAt(begun) : [];
    }
  }

  get #profile(): string {
    if (this.#named !== undefined) return this.#named;
    const config = parse(readIfThere(this.#folder.config));
    return text(config, 'currentProfile') ?? 'env';
  }

  /** How the newest flows of the profile began. */
  #begun(prefix: string): BegunFlow[] {
    const folder = this.#folder.flows(this.#profile);
    return namesIn(folder, /^((?:tr|co|op)-.+)\.ndjson$/)
      .filter((id) => id.startsWith(prefix))
      .sort((one, other) => (one.slice(3) < other.slice(3) ? 1 : -1))
      .slice(0, MOST_FLOWS)
      .flatMap((id) => {
        const created = parse(firstLineOf(join(folder, `${id}.ndjson`)));
        const event = object(created, 'event');
        return event ? [{ id, at: text(created, 'at') ?? '', event }] : [];
      });
  }
}

interface BegunFlow {
  id: string;
  at: string;
  event: object;
}

function describe({ at, event }: BegunFlow): string {
  const order = object(event, 'order');
  const what = order
    ? (text(order, 'operation') ??
      `${text(order, 'amount')} ${text(order, 'currency')} to ${text(order, 'name')}`)
    : categoriesOf(event)
        .map((category) => text(category, 'name'))
        .join(', ');
  return cleanText(`${what}, ${at.slice(0, 16).replace('T', ' ')}`);
}

function productsOf({ event }: BegunFlow): string[] {
  const from = text(object(event, 'order'), 'from');
  return [
    ...(from === undefined ? [] : [from]),
    ...categoriesOf(event).flatMap((category) => {
      const products = member(category, 'products');
      return Array.isArray(products) ? products.filter((product) => typeof product === 'string') : [];
    }),
  ];
}

function operationOf({ event }: BegunFlow): string[] {
  return [text(object(event, 'order'), 'operation') ?? []].flat();
}

function categoriesOf(event: object): object[] {
  const categories = member(event, 'categories');
  return Array.isArray(categories) ? categories.filter((each) => typeof each === 'object' && each) : [];
}

/** The files beside what is written behind the `@`; a folder ends with a slash. */
function filesAt(begun: string): Value[] {
  const path = begun.slice(1);
  const folder = path.endsWith('/') ? path : path.includes('/') ? `${dirname(path)}/` : '';
  const hidden = basename(path).startsWith('.') && !path.endsWith('/');
  try {
    return readdirSync(folder || '.', { withFileTypes: true })
      .filter(({ name }) => hidden || !name.startsWith('.'))
      .map((entry): Value => [`@${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`, '']);
  } catch {
    return [];
  }
}

const plain = (value: string): Value => [value, ''];

/** What the pattern finds in the names of a folder's entries, sorted. */
function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .sort();
  } catch {
    return [];
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function firstLineOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const block = Buffer.alloc(FIRST_LINE);
      const [line = ''] = block.toString('utf8', 0, readSync(file, block)).split('\n', 1);
      return line;
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' ? found : undefined;
}

function object(value: unknown, name: string): object | undefined {
  const found = member(value, name);
  return typeof found === 'object' && found !== null ? found : undefined;
}

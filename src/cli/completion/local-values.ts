import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { CONSENT_CATEGORIES } from '../../domain/consent-category.ts';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { glanceAtProfiles, type StoreFolder, storeFolder } from '../../store/machine/folder.ts';
import { glanceAt } from '../../store/open.ts';
import type { Kind } from '../../store/ports/flows.ts';
import type { Glance } from '../../store/ports/store.ts';
import { cleanText } from '../../terminal/clean.ts';
import { OUTPUT_FORMATS } from '../../terminal/output/output.ts';

/** What kind of value to complete. `json` may be `@file`. */
export type ValueKind =
  | 'files'
  | 'folders'
  | 'bank'
  | 'json'
  | 'profile'
  | 'customer'
  | 'account'
  | 'flow'
  | 'anyFlow'
  | 'consent'
  | 'batch'
  | 'operation'
  | 'category'
  | 'output'
  | { choices: readonly string[] };

/** A value and what it is. */
export type Value = [value: string, description: string];

/** Only this many flows are read, the newest first. */
const MAX_FLOWS = 100;

/** The kind of flow that each command works on. */
const KINDS: Readonly<Record<string, Kind>> = {
  transfer: 'transfer',
  consent: 'consent',
  operation: 'operation',
};

/** Values to complete from the stored data. Odd or missing data gives no value and no error. */
export class LocalValues {
  readonly #folder: StoreFolder;
  readonly #named: string | undefined;

  /** @param profile the profile named on the line */
  constructor(env: NodeJS.ProcessEnv, profile: string | undefined) {
    this.#folder = storeFolder(env.PSD2_CONFIG_DIR);
    this.#named = profile || env.PSD2_PROFILE || undefined;
  }

  /** @param begun the part of the value that is already typed */
  async valuesOf(
    kind: Exclude<ValueKind, 'files' | 'folders'>,
    command: CommandUnknownOpts,
    begun: string,
  ): Promise<Value[]> {
    if (typeof kind === 'object') return kind.choices.map(plain);
    switch (kind) {
      case 'profile':
        return glanceAtProfiles(this.#folder).names().map(plain);
      case 'customer':
        return (await (await this.#glance()).customers()).map(plain);
      case 'account':
        return [...new Set((await this.#begun(undefined)).flatMap(productsOf))]
          .filter((account) => !PSEUDONYM.test(account))
          .sort()
          .map(plain);
      case 'operation':
        return [...new Set((await this.#begun('operation')).flatMap(operationWords))]
          .filter((name) => !isMoneyTransfer(name))
          .map(plain);
      case 'flow':
      case 'anyFlow': {
        const about = kind === 'flow' ? KINDS[command.parent?.name() ?? ''] : undefined;
        return (await this.#begun(about)).map((flow): Value => [flow.flow, flowLabel(flow)]);
      }
      case 'consent':
        return (await this.#begun('consent')).map((flow): Value => [flow.flow, flowLabel(flow)]);
      case 'batch':
        return (await (await this.#glance()).batches(MAX_FLOWS)).map(
          (added): Value => [added.batch, describeBatch(added)],
        );
      case 'bank':
        return [...(await platforms()), ...filesAt(begun)];
      case 'category':
        return CONSENT_CATEGORIES.map(plain);
      case 'output':
        return OUTPUT_FORMATS.map(plain);
      case 'json':
        return begun.startsWith('@')
          ? filesAt(begun.slice(1)).map(([path, what]): Value => [`@${path}`, what])
          : [];
    }
  }

  #glance(): Promise<Glance> {
    const profile = this.#named ?? glanceAtProfiles(this.#folder).current() ?? 'env';
    return glanceAt(this.#folder, profile, process.env);
  }

  /** The first events of the profile's newest flows. */
  async #begun(kind: Kind | undefined): Promise<BegunFlow[]> {
    return (await this.#glance()).begun(kind, MAX_FLOWS);
  }
}

/** What the journals call a customer whom psd2 has forgotten, and each of their accounts. */
const PSEUDONYM = /^pseudonym-[0-9a-f]{16}$/;

interface BegunFlow {
  flow: string;
  at: string;
  event: object;
}

function flowLabel({ at, event }: BegunFlow): string {
  const order = objectField(event, 'order');
  const what = order
    ? (textField(order, 'operation') ??
      `${textField(order, 'amount')} ${textField(order, 'currency')} to ${textField(order, 'name')}`)
    : categoriesOf(event)
        .map((category) => textField(category, 'name'))
        .join(', ');
  return cleanText(`${what}, ${at.slice(0, 16).replace('T', ' ')}`);
}

function describeBatch({ at, event }: Omit<BegunFlow, 'flow'>): string {
  const count = member(event, 'count');
  const note = textField(event, 'note');
  const what = `${typeof count === 'number' ? count : '?'} payments by ${textField(event, 'by') ?? '?'}`;
  return cleanText([what, note, at.slice(0, 16).replace('T', ' ')].filter(Boolean).join(', '));
}

function productsOf({ event }: BegunFlow): string[] {
  const from = textField(objectField(event, 'order'), 'from');
  return [
    ...(from === undefined ? [] : [from]),
    ...textsIn(member(objectField(objectField(event, 'terms'), 'access'), 'accounts')),
    ...categoriesOf(event).flatMap((category) => {
      return textsIn(member(category, 'products'));
    }),
  ];
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

function operationWords({ event }: BegunFlow): string[] {
  return [textField(objectField(event, 'order'), 'operation') ?? []].flat();
}

function categoriesOf(event: object): object[] {
  const categories = member(event, 'categories');
  return Array.isArray(categories) ? categories.filter((each) => typeof each === 'object' && each) : [];
}

/** The platforms that come with psd2. */
async function platforms(): Promise<Value[]> {
  const { platformNames, readPlatform } = await import('../../bank-file/platforms.ts');
  return platformNames().map((name): Value => {
    const { name: bank } = readPlatform(name).content;
    return [name, typeof bank === 'string' ? bank : ''];
  });
}

/** The files in the folder of a path. A folder ends with a slash. */
function filesAt(path: string): Value[] {
  const folder = path.endsWith('/') ? path : path.includes('/') ? `${dirname(path)}/` : '';
  const hidden = basename(path).startsWith('.') && !path.endsWith('/');
  try {
    return readdirSync(folder || '.', { withFileTypes: true })
      .filter(({ name }) => hidden || !name.startsWith('.'))
      .map((entry): Value => [`${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`, '']);
  } catch {
    return [];
  }
}

const plain = (value: string): Value => [value, ''];

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textField(value: unknown, name: string): string | undefined {
  const field = member(value, name);
  return typeof field === 'string' ? field : undefined;
}

function objectField(value: unknown, name: string): object | undefined {
  const field = member(value, name);
  return typeof field === 'object' && field !== null ? field : undefined;
}

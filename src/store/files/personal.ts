import { join, relative } from 'node:path';
import * as z from 'zod/mini';
import { jsonIn } from '../../domain/json.ts';
import { customerIn } from '../../domain/pseudonymised.ts';
import { listFolder, readJsonFile, readOwnFile, removeStored, syncFolder } from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import { replaceDurably } from '../disk/replace.ts';
import { KINDS, kindOf } from '../flow/kinds.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type {
  CollectedData,
  PersonalData,
  Pseudonym,
  Removed,
  StoredRows,
  SyncedFolder,
} from '../ports/personal.ts';
import { nameOfRead } from './access.ts';
import type { FileAudit } from './audit.ts';
import type { FileCustomers } from './customers.ts';
import { nameOfHolder } from './file-names.ts';
import { FlowsAtRest } from './flows/at-rest.ts';
import { damagedAt, readFlowFile } from './flows/file.ts';
import { FlowFolder } from './flows/lookup.ts';
import { FlowSteps } from './flows/steps.ts';
import { syncedInto } from './sync/customer-folder.ts';
import { roundWithout } from './sync/rounds.ts';
import { Generations, tokenGeneration } from './token-file.ts';
import type { FileTokens } from './tokens.ts';

/** A bit longer than it takes to see that another process is dead. */
const PATIENCE_MS = 8_000;

/** What else of a profile is kept on the disk. */
interface Parts {
  tokens: FileTokens;
  customers: FileCustomers;
  audit: FileAudit;
  /** Refuses a change if the data of the profile is in another store. @throws Psd2Error `config` */
  assertHere: () => void;
}

/** What the configuration folder keeps about a customer of one profile. */
export class FilePersonalData implements PersonalData {
  readonly #folder: StoreFolder;
  readonly #tokens: string;
  readonly #journals: string;
  readonly #flows: FlowFolder;
  readonly #atRest: FlowsAtRest;
  readonly #parts: Parts;

  constructor(folder: StoreFolder, profile: string, parts: Parts) {
    this.#folder = folder;
    this.#tokens = folder.tokens(profile);
    this.#journals = folder.flows(profile);
    this.#flows = new FlowFolder(this.#journals);
    this.#atRest = new FlowsAtRest(this.#journals);
    this.#parts = parts;
  }

  async collect(customerId: string): Promise<CollectedData> {
    const login = this.#login(customerId);
    return {
      logins: login ? [login] : [],
      flows: this.#flowsOf(customerId),
      rows: await this.#rowsOf(customerId),
    };
  }

  async assertMayForget(): Promise<void> {
    this.#parts.assertHere();
  }

  pseudonymOf(customerId: string, word: string): Promise<string> {
    this.#parts.assertHere();
    return this.#parts.audit.pseudonymOf(customerId, word);
  }

  async pseudonyms(): Promise<Pseudonym[]> {
    return this.#parts.audit.pseudonyms();
  }

  async rewriteFlow(flow: string, change: (event: unknown) => unknown): Promise<void> {
    const path = this.#flows.pathOf(flow);
    const rewrite = async () => {
      this.#parts.assertHere();
      rewriteFlowFile(path, change);
      await new FlowSteps(this.#journals).hold(flow, null);
      this.#atRest.forget(flow);
    };
    await withLock(path, flow, rewrite, PATIENCE_MS, this.#folder.interrupted);
  }

  async removeRows(customerId: string): Promise<Removed[]> {
    const { tokens, customers } = this.#parts;
    const rows = await this.#rowsOf(customerId);
    const removed = rows.map(({ name, rows: { length } }) => ({ name, count: length }));
    if (tokens.holders().includes(customerId)) removed.unshift({ name: 'tokens', count: 1 });
    await tokens.erase(customerId);
    await customers.erase(customerId);
    const holder = nameOfHolder(customerId);
    removeStored(join(this.#tokens, 'access-notes', `${holder}.json`));
    if ((await tokens.last()) === customerId) removeStored(join(this.#tokens, 'last-login.json'));
    // Copies of damaged files have the customer in their names.
    for (const folder of [this.#tokens, join(this.#tokens, 'access-notes')])
      for (const name of listFolder(folder))
        if (name.startsWith(`${holder}.json`)) removeStored(join(folder, name));
    for (const path of this.#lineFiles())
      rewriteLines(path, (line) => (isAbout(line, customerId) ? undefined : line));
    rewriteLines(join(this.#tokens, 'last-round.json'), (line) => roundWithout(line, customerId));
    if (listFolder(this.#tokens).length > 0) syncFolder(this.#tokens);
    return removed;
  }

  forgetPseudonyms(customerId: string): Promise<void> {
    return this.#parts.audit.forgetPseudonyms(customerId);
  }

  syncedInto(out: string): SyncedFolder {
    return syncedInto(out);
  }

  /** The login at any bank, without its tokens. @throws Psd2Error `config` if it is damaged */
  #login(customerId: string): CollectedData['logins'][number] | undefined {
    const folder = join(this.#tokens, nameOfHolder(customerId));
    const generations = new Generations(folder);
    const newest = generations.newest();
    const file = newest === 0 ? undefined : readJsonFile(generations.pathOf(newest), tokenGeneration);
    if (!file) return undefined;
    const { baseUrl, accessTokenExpiresAt, refreshTokenExpiresAt, scope } = file;
    return { baseUrl, accessTokenExpiresAt, refreshTokenExpiresAt, scope };
  }

  /** The journals of the customer, also with their pseudonym. @throws Psd2Error `config` if one is damaged */
  #flowsOf(customerId: string): CollectedData['flows'] {
    const pseudonym = this.#parts.audit
      .pseudonyms()
      .find((each) => each.customerId === customerId && each.word === customerId)?.pseudonym;
    const names = pseudonym === undefined ? [customerId] : [customerId, pseudonym];
    const all = Object.values(KINDS).flatMap((kind) => this.#flows.newestFirst(kind).reverse());
    return all.flatMap((flow) => {
      const text = this.#flows.textOf(flow) ?? '';
      if (!names.some((name) => text.includes(JSON.stringify(name)))) return [];
      const events = eventsIn(this.#flows.pathOf(flow));
      const isTheirs = names.includes(customerIn(events[0]?.event) ?? '');
      return isTheirs ? [{ flow, kind: kindOf(flow) ?? '', events }] : [];
    });
  }

  async #rowsOf(customerId: string): Promise<StoredRows[]> {
    const { tokens, customers } = this.#parts;
    const stored: StoredRows[] = [];
    const records = customers.ofCustomer(customerId);
    if (records.length > 0) stored.push({ name: 'customers', rows: records });
    const notes = readOwnFile(join(this.#tokens, 'access-notes', `${nameOfHolder(customerId)}.json`));
    if (notes) stored.push({ name: 'access-notes', rows: [jsonIn(notes.toString('utf8'))] });
    if ((await tokens.last()) === customerId) stored.push({ name: 'last-login', rows: [{ customerId }] });
    for (const path of this.#lineFiles()) {
      const lines = readLines(path).filter((line) => isAbout(line, customerId));
      if (lines.length > 0)
        stored.push({ name: relative(this.#tokens, path), rows: lines.map((line) => jsonIn(line) ?? line) });
    }
    return stored;
  }

  /** The files with lines about many customers. */
  #lineFiles(): string[] {
    const reads = join(this.#tokens, 'unattended-reads');
    const days = listFolder(reads).map((day) => join(reads, day));
    const results = listFolder(this.#tokens).filter((name) => name.endsWith('.ndjson'));
    return [...days, ...results.map((name) => join(this.#tokens, name))];
  }
}

/** Whether a line is about a customer: JSON with their id, or the name of a read. */
function isAbout(line: string, customerId: string): boolean {
  const begin = nameOfRead({ customerId, productId: null }).slice(0, -1);
  return line.startsWith(begin) || line.includes(`"customerId":${JSON.stringify(customerId)}`);
}

function readLines(path: string): string[] {
  return (readOwnFile(path)?.toString('utf8') ?? '').split('\n').filter((line) => line !== '');
}

/** Rewrites a file if a line changes. @param change undefined: the line goes */
function rewriteLines(path: string, change: (line: string) => string | undefined): void {
  const before = readLines(path);
  const after = before.map(change);
  if (after.every((line, index) => line === before[index])) return;
  const remaining = after.filter((line) => line !== undefined);
  replaceDurably(path, remaining.map((line) => `${line}\n`).join(''));
}

const anyLine = z.looseObject({ at: z.string(), event: z.unknown() });

/** The events of a journal in their order, as they were written. @throws Psd2Error `config` if it is damaged */
function eventsIn(path: string): { at: string; event: unknown }[] {
  return (
    readFlowFile<{ at: string; event: unknown }[], unknown>(path, z.unknown(), (events = [], event, at) => [
      ...events,
      { at, event },
    ])?.current ?? []
  );
}

/**
 * Replaces the events of a journal: all lines or none, durably. The holder of the flow's lock alone may call it. Numbers, times
 * and writers stay. A line that a crash has cut short goes.
 *
 * @throws Psd2Error `config` if the journal is damaged or cannot be written
 */
function rewriteFlowFile(path: string, change: (event: unknown) => unknown): void {
  // Damage is reported before anything is changed.
  const journal = readFlowFile(path, z.unknown(), () => true);
  if (!journal) throw damagedAt(path, 1);
  const lines = (readOwnFile(path)?.toString('utf8') ?? '').split('\n').flatMap((text) => {
    const { data } = anyLine.safeParse(jsonIn(text));
    if (!data) return [];
    const { event, ...rest } = data;
    return [`${JSON.stringify({ ...rest, event: change(event) })}\n`];
  });
  replaceDurably(path, lines.join(''));
}
